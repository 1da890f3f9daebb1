-- What the Postgres ledger sends. Each query stands under its name; k8sjob/ledger/queries.py reads it.

-- name: known
SELECT g.kind, g.floor, j.zone, j.limits, j.grace_s, j.tracked_since, j.done_until, clock_timestamp() AS now_at,
       (SELECT jsonb_agg(jsonb_build_object('n', v.n, 'expr', v.expr, 'zone', v.zone, 'suspended', v.suspended,
                                            'earliest_from', v.earliest_from, 'valid_from', v.valid_from,
                                            'earliest_to', v.earliest_to, 'valid_to', v.valid_to, 'direct', v.direct) ORDER BY v.n)
          FROM k8sjob.schedule_versions v WHERE v.job = k.job) AS versions,
       (SELECT min(o.job) FROM k8sjob.jobs o
         WHERE o.job > split_part(k.job, '/', 1) || '/' AND o.job < split_part(k.job, '/', 1) || '0'
           AND o.cronjob = split_part(k.job, '/', 2) AND o.gone_at IS NULL
        HAVING count(*) = 1 AND min(o.job) <> k.job) AS called
  FROM (SELECT %(job)s::text) k (job) LEFT JOIN k8sjob.gate g ON g.job = k.job LEFT JOIN k8sjob.jobs j ON j.job = k.job

-- name: resolution
SELECT (SELECT ARRAY[r.job, r.period, r.source, r.supersedes] FROM k8sjob.resolutions r WHERE r.job_uid = %(job_uid)s)

-- name: remember
SELECT r.job, r.period, r.source, r.supersedes FROM k8sjob.resolve_job(%(job_uid)s, %(job)s, %(period)s, %(source)s, %(supersedes)s) r

-- name: missing
WITH alive AS MATERIALIZED (
  SELECT a.period FROM k8sjob.attempts a
   WHERE a.job = %(job)s AND a.ended_at IS NULL AND greatest(a.started_at, a.heartbeat_at) > clock_timestamp() - %(alive_for)s::interval
)
SELECT array(
  SELECT m.period FROM (
    SELECT p.period FROM k8sjob.periods p
     WHERE p.job = %(job)s AND p.state IN ('open', 'blocked') AND (p.state = 'open' OR p.until <= clock_timestamp())
       AND NOT p.uncertain AND coalesce(p.scheduled_for, k8sjob.earliest_start(p.period), '-infinity') <= clock_timestamp()
    UNION
    SELECT t.period FROM unnest(%(tail)s::text[]) t (period)
     WHERE NOT EXISTS (SELECT FROM k8sjob.periods p WHERE p.job = %(job)s AND p.period = t.period)
  ) m WHERE m.period NOT IN (SELECT a.period FROM alive a) ORDER BY m.period COLLATE "C")

-- name: lapse
SELECT k8sjob.lapse(%(job)s, %(period)s, %(reason)s, %(attempt)s, %(alive_for)s, %(lock_timeout)s)

-- name: supersede
SELECT k8sjob.supersede(%(job)s, %(period)s, %(first)s, %(last)s, %(attempt)s)

-- name: start_attempt
SELECT k8sjob.start_attempt(
  id => %(id)s, job => %(job)s, period => %(period)s, mode => %(mode)s, source => %(source)s, client => %(client)s,
  pid => %(pid)s, job_uid => %(job_uid)s, job_name => %(job_name)s, pod_uid => %(pod_uid)s, pod_name => %(pod_name)s, node => %(node)s,
  lock_timeout => %(lock_timeout)s)

-- name: end_attempt
SELECT k8sjob.end_attempt(
  id => %(id)s, outcome => %(outcome)s, exit_code => %(exit_code)s, speaker => %(speaker)s, message => %(message)s, tail => %(tail)s)

-- name: run_claim
-- A session that is at a statement does not notice by itself that its client was killed, and would hold
-- the key until the statement's end. Not every server can look, and older ones elsewhere refuse to.
SELECT outcome, reason, until, done_at, attempt, payload_sha256, generation
  FROM k8sjob.run_claim(%(job)s, %(period)s, %(payload_sha256)s, %(attempt)s, %(scheduled_for)s, %(window_end)s, %(zone)s,
                        %(lock_timeout)s, %(sql_file)s)
 WHERE CASE WHEN version() ~ 'linux' THEN set_config('client_connection_check_interval', '5s', true) ELSE '' END IS NOT NULL

-- name: claim_answer
SELECT outcome, reason, until, done_at, attempt, payload_sha256, generation
  FROM k8sjob.claim_answer(%(job)s, %(period)s, %(payload_sha256)s, coalesce(%(attempt)s, k8sjob.current_attempt(), %(new)s),
                           %(scheduled_for)s)

-- name: be_alone
-- An advisory lock of the transaction: it works through a pooler, and ends with the connection. The
-- transaction reads and writes nothing while the command runs, so it holds back no vacuum.
SELECT pg_try_advisory_xact_lock(hashtextextended('k8sjob:' || %(job)s || ':' || %(period)s, 0)),
       set_config('idle_in_transaction_session_timeout', '0', true),
       set_config('tcp_keepalives_idle', '30', true), set_config('tcp_keepalives_interval', '10', true),
       set_config('tcp_keepalives_count', '3', true)

-- name: heartbeat
SELECT k8sjob.heartbeat(%(id)s)

-- name: seal
SELECT k8sjob.seal(%(attempt)s)

-- name: block
SELECT k8sjob.block(%(job)s, %(period)s, %(reason)s, until => %(until)s, attempt => %(attempt)s)

-- name: skip
SELECT k8sjob.skip(%(job)s, %(period)s, %(reason)s, attempt => %(attempt)s)

-- name: await
SELECT k8sjob.await(
  %(job)s, %(period)s, %(reason)s, attempt => %(attempt)s, indicator => %(indicator)s, before => %(before)s,
  expected_delta => %(expected_delta)s, recheck_after => %(recheck_after)s, deadline => %(deadline)s)

-- name: landed
SELECT k8sjob.landed(%(job)s, %(period)s, %(attempt)s, %(lock_timeout)s)

-- name: holders
SELECT attempt, started_at, pod_name, application_name FROM k8sjob.holders(%(job)s, %(period)s)

-- name: current_key
SELECT k8sjob.current_job(), k8sjob.current_period()
