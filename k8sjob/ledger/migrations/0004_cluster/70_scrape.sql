-- oldest-client: 0.1.0
-- What an exporter looks up of each job at each scrape, however much else has happened since.

CREATE INDEX attempts_at_work ON k8sjob.attempts (job, started_at) WHERE outcome IN ('applied', 'awaiting', 'failed', 'unproven');
CREATE INDEX outbox_dead ON k8sjob.outbox (created_at) WHERE state = 'dead';
