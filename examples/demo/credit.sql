-- The same as a file: it runs in the transaction that carries the claim, and knows its period.
INSERT INTO statements (day, text)
VALUES (k8sjob.current_period(), 'credited 10 each at ' || k8sjob.scheduled_for());

UPDATE accounts SET balance = balance + 10;
