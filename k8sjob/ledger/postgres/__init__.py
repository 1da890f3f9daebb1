"""The ledger in Postgres 14 or later: the claim is an SQL function in the business database."""
