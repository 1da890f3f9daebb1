-- What people ask of the SQLite ledger and change in it. Each query stands under its name.

-- name: row
SELECT job, period, state, generation, reason, until, done_at, changed_at, attempt, zone
  FROM k8sjob_periods WHERE job = :job AND period = :period

-- name: rows_between
SELECT job, period, state, generation, reason, until, done_at, changed_at, attempt, zone
  FROM k8sjob_periods WHERE job = :job AND period BETWEEN :first AND :last ORDER BY period

-- name: jobs
SELECT k.job, g.kind, g.floor, j.zone
  FROM (SELECT job FROM k8sjob_gate UNION SELECT job FROM k8sjob_jobs WHERE job NOT LIKE '%/%/%') k
  LEFT JOIN k8sjob_gate g ON g.job = k.job
  LEFT JOIN k8sjob_jobs j ON j.job = k.job
 ORDER BY k.job

-- name: holds
SELECT id, namespace, job, reason, until, set_by, set_at FROM k8sjob_holds
 WHERE lifted_at IS NULL AND from_at <= :now AND (until IS NULL OR until > :now) ORDER BY id

-- name: flights
SELECT id, job, period, started_at, pod_name FROM k8sjob_attempts WHERE ended_at IS NULL ORDER BY started_at, id

-- name: blocked
SELECT job FROM k8sjob_periods WHERE state = 'blocked' AND (until IS NULL OR until > :now)

-- name: awaited
SELECT job, period FROM k8sjob_periods WHERE indicator = :indicator AND state = 'awaiting' AND expected_delta IS NULL

-- name: make_gate
INSERT INTO k8sjob_gate (job, kind) VALUES (:whole_job, :kind) ON CONFLICT DO NOTHING

-- name: gate
SELECT kind, floor FROM k8sjob_gate WHERE job = :whole_job

-- name: whole_row
SELECT * FROM k8sjob_periods WHERE job = :job AND period = :period

-- name: insert
INSERT INTO k8sjob_periods (job, period, scheduled_for, state, origin, reason, until, indicator, await_deadline, changed_at)
VALUES (:job, :period, :scheduled_for, :to_state, 'operator', :reason, :until, :indicator, :deadline, :now)

-- name: forward
UPDATE k8sjob_periods SET state = :to_state, reason = CASE WHEN :to_state = 'done' THEN NULL ELSE :reason END, until = :until,
       done_at = CASE WHEN :to_state = 'done' THEN :now END, changed_at = :now,
       indicator = CASE WHEN :to_state = 'awaiting' THEN :indicator ELSE indicator END,
       await_deadline = CASE WHEN :to_state = 'awaiting' THEN :deadline ELSE await_deadline END
 WHERE job = :job AND period = :period

-- name: back
UPDATE k8sjob_periods SET state = 'open', generation = generation + 1, reason = :reason, until = NULL, done_at = NULL,
       changed_at = :now, attempt = NULL, payload_sha256 = NULL, indicator = NULL, before = NULL, after = NULL,
       expected_delta = NULL, recheck_after = NULL, await_deadline = NULL
 WHERE job = :job AND period = :period

-- name: event
INSERT INTO k8sjob_events (job, period, generation, kind, from_state, to_state, "by", at, reason, prior)
VALUES (:job, :period, :generation, :verb, :from_state, :to_state, :by, :now, :reason, :prior)

-- name: set_hold
INSERT INTO k8sjob_holds (namespace, job, from_at, until, reason, set_by, set_at)
VALUES (:namespace, :job, :now, :until, :reason, :by, :now)

-- name: lift_hold
UPDATE k8sjob_holds SET lifted_at = :now, lifted_by = :by, lift_reason = :reason WHERE id = :id AND lifted_at IS NULL RETURNING id
