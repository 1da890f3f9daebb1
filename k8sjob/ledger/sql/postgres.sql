-- What the Postgres ledger sends. Each query stands under its name; k8sjob/ledger/queries.py reads it.

-- name: start_attempt
SELECT k8sjob.start_attempt(
  id => %(id)s, job => %(job)s, period => %(period)s, mode => %(mode)s, source => %(source)s, client => %(client)s,
  pid => %(pid)s, job_uid => %(job_uid)s, job_name => %(job_name)s, pod_uid => %(pod_uid)s, pod_name => %(pod_name)s, node => %(node)s,
  lock_timeout => %(lock_timeout)s)

-- name: end_attempt
SELECT k8sjob.end_attempt(
  id => %(id)s, outcome => %(outcome)s, exit_code => %(exit_code)s, speaker => %(speaker)s, message => %(message)s, tail => %(tail)s)

-- name: run_claim
SELECT outcome, reason, until, done_at, attempt, payload_sha256, generation
  FROM k8sjob.run_claim(%(job)s, %(period)s, %(payload_sha256)s, %(attempt)s, %(scheduled_for)s, %(window_end)s, %(zone)s,
                        %(lock_timeout)s, %(sql_file)s)

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
