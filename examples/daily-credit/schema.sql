-- The business tables. Nothing in them keeps a day from being credited twice: the ledger beside them does.
CREATE SCHEMA shop;
CREATE TABLE shop.accounts (name text PRIMARY KEY, balance numeric NOT NULL);
CREATE TABLE shop.credits (day date NOT NULL, account text NOT NULL, amount numeric NOT NULL);
INSERT INTO shop.accounts VALUES ('alice', 0), ('bob', 5);
