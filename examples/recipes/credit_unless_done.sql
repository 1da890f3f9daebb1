-- psql -X -v job=billing/daily-credit -v period=2026-09-13 -v amount=10 -f credit_unless_done.sql
-- A duplicate ends it with exit code 0 and nothing changed; so does a blocked or skipped period.
-- region: credit
\set ON_ERROR_STOP on
BEGIN;
SELECT outcome, outcome = 'applied' AS applied
  FROM k8sjob.try_claim(:'job', :'period', convert_to(:'amount', 'UTF8')) \gset
\if :applied
  UPDATE accounts SET balance = balance + :amount WHERE name = 'alice';
\endif
COMMIT;
\echo :outcome
-- endregion
