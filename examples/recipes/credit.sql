-- psql -X -v job=billing/daily-credit -v period=2026-09-13 -v amount=10 -f credit.sql
-- A duplicate ends it with exit code 3 and nothing changed.
-- region: credit
\set ON_ERROR_STOP on
BEGIN;
SELECT k8sjob.claim_text(:'job', :'period', :'amount');
UPDATE accounts SET balance = balance + :amount WHERE name = 'alice';
COMMIT;
-- endregion
