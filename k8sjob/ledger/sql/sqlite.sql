-- What the SQLite ledger sends. Each query stands under its name; k8sjob/ledger/queries.py reads it.

-- name: start_job
INSERT INTO k8sjob_jobs (job, created_at) VALUES (:job, :now) ON CONFLICT DO NOTHING

-- name: make_gate
INSERT INTO k8sjob_gate (job, kind) VALUES (:whole_job, :kind) ON CONFLICT DO NOTHING

-- name: start_attempt
INSERT INTO k8sjob_attempts (id, job, period, generation, mode, source, client, pid, job_uid, job_name, pod_uid, pod_name, node, started_at)
VALUES (:id, :job, :period, coalesce((SELECT generation FROM k8sjob_periods WHERE job = :job AND period = :period), 0),
        :mode, :source, :client, :pid, :job_uid, :job_name, :pod_uid, :pod_name, :node, :now)

-- name: end_attempt
UPDATE k8sjob_attempts SET ended_at = :now, outcome = :outcome, exit_code = :exit_code, speaker = :speaker, message = :message, tail = :tail
 WHERE id = :id AND ended_at IS NULL RETURNING job

-- name: heartbeat
UPDATE k8sjob_attempts SET heartbeat_at = :now WHERE id = :id AND ended_at IS NULL

-- name: count
INSERT INTO k8sjob_counters (job, outcome, n) VALUES (:job, :outcome, 1) ON CONFLICT DO UPDATE SET n = n + 1

-- name: succeeded
UPDATE k8sjob_jobs SET last_success_at = :now, consecutive_failures = 0 WHERE job = :job

-- name: handed_over
UPDATE k8sjob_jobs SET consecutive_failures = 0 WHERE job = :job

-- name: failed
UPDATE k8sjob_jobs SET consecutive_failures = consecutive_failures + 1 WHERE job = :job

-- name: gate
SELECT kind, floor FROM k8sjob_gate WHERE job = :whole_job

-- name: hold
SELECT reason, until FROM k8sjob_holds
 WHERE lifted_at IS NULL AND from_at <= :now AND (until IS NULL OR until > :now)
   AND (namespace IS NULL OR namespace = :namespace) AND (job IS NULL OR job = :whole_job)
 ORDER BY job IS NULL, namespace IS NULL, id LIMIT 1

-- name: insert_done
INSERT INTO k8sjob_periods (job, period, scheduled_for, window_end, zone, state, origin, attempt, payload_sha256, done_at, changed_at)
VALUES (:job, :period, :scheduled_for, :window_end, :zone, 'done', 'claim', :attempt, :payload_sha256, :now, :now)
ON CONFLICT DO NOTHING RETURNING generation

-- name: update_done
UPDATE k8sjob_periods SET state = 'done', done_at = :now, changed_at = :now, attempt = :attempt, payload_sha256 = :payload_sha256,
       scheduled_for = coalesce(scheduled_for, :scheduled_for), window_end = coalesce(window_end, :window_end),
       zone = coalesce(zone, :zone), reason = NULL, until = NULL
 WHERE job = :job AND period = :period AND (state = 'open' OR (state = 'blocked' AND until <= :now)) RETURNING generation

-- name: period
SELECT state, reason, until, done_at, attempt, payload_sha256, generation FROM k8sjob_periods WHERE job = :job AND period = :period

-- name: insert_state
INSERT INTO k8sjob_periods (job, period, scheduled_for, state, origin, reason, until, attempt, changed_at)
VALUES (:job, :period, :scheduled_for, :state, 'attempt', :reason, :until, :attempt, :now) ON CONFLICT DO NOTHING RETURNING state

-- name: update_state
UPDATE k8sjob_periods SET state = :state, reason = :reason, until = :until, attempt = :attempt, changed_at = :now
 WHERE job = :job AND period = :period AND (state = 'open' OR (state = 'blocked' AND until <= :now)) RETURNING state

-- name: update_awaiting
UPDATE k8sjob_periods SET state = 'awaiting', done_at = NULL, changed_at = :now, reason = :reason, indicator = :indicator, before = :before,
       expected_delta = :expected_delta, recheck_after = :recheck_after, await_deadline = :deadline
 WHERE job = :job AND period = :period AND state = 'done' AND attempt = :attempt

-- name: event
INSERT INTO k8sjob_events (job, period, generation, kind, from_state, to_state, "by", at, reason, attempt)
VALUES (:job, :period, coalesce((SELECT generation FROM k8sjob_periods WHERE job = :job AND period = :period), 0),
        'state', :from_state, :to_state, 'attempt', :now, :reason, :attempt)

-- name: holders
SELECT id, started_at, pod_name, pid FROM k8sjob_attempts WHERE job = :job AND period = :period AND ended_at IS NULL ORDER BY started_at LIMIT 10

-- name: landed
SELECT attempt FROM k8sjob_periods WHERE job = :job AND period = :period

-- name: known
SELECT g.kind, g.floor, j.zone FROM (SELECT :job AS job) k
  LEFT JOIN k8sjob_gate g ON g.job = k.job LEFT JOIN k8sjob_jobs j ON j.job = k.job

-- name: has_resolutions
SELECT 1 FROM sqlite_schema WHERE name = 'k8sjob_resolutions'

-- name: make_resolutions
CREATE TABLE IF NOT EXISTS k8sjob_resolutions (
  job_uid TEXT PRIMARY KEY NOT NULL,
  job TEXT NOT NULL,
  period TEXT NOT NULL,
  source TEXT NOT NULL,
  supersedes TEXT,
  at TEXT NOT NULL
) STRICT, WITHOUT ROWID

-- name: remember
INSERT INTO k8sjob_resolutions (job_uid, job, period, source, supersedes, at)
VALUES (:job_uid, :job, :period, :source, :supersedes, :now) ON CONFLICT DO NOTHING

-- name: resolution
SELECT job, period, source, supersedes FROM k8sjob_resolutions WHERE job_uid = :job_uid

-- name: missing
SELECT p.period FROM k8sjob_periods p
 WHERE p.job = :job AND (p.state = 'open' OR (p.state = 'blocked' AND p.until <= :now)) AND coalesce(p.scheduled_for, '') <= :now
   AND NOT EXISTS (SELECT 1 FROM k8sjob_attempts a WHERE a.job = p.job AND a.period = p.period AND a.ended_at IS NULL
                      AND max(a.started_at, coalesce(a.heartbeat_at, '')) > :alive_after)
 ORDER BY p.period

-- name: another_is_alive
SELECT 1 FROM k8sjob_attempts WHERE job = :job AND period = :period AND id <> :attempt AND ended_at IS NULL
    AND max(started_at, coalesce(heartbeat_at, '')) > :alive_after
