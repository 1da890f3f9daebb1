-- What the reconciler asks of the Postgres ledger. Each query stands under its name.

-- name: now
SELECT clock_timestamp()

-- name: settings
SELECT set_config('lock_timeout', %(lock_timeout)s, true), set_config('jit', 'off', true), set_config('TimeZone', 'UTC', true)

-- name: last_list
SELECT last_complete_list_at FROM k8sjob.scopes WHERE scope = %(scope)s

-- name: jobs
SELECT j.job, g.kind, j.done_until, j.observed_at, j.blind_since, j.unstarted_since, j.gone_at IS NOT NULL,
       jsonb_build_object('cronjob', j.cronjob, 'cronjob_uid', j.cronjob_uid, 'spec_generation', j.spec_generation,
         'metadata_sha', j.metadata_sha, 'zone', j.zone, 'suspended', j.suspended, 'catch_up', j.catch_up, 'limits', j.limits,
         'grace_s', j.grace_s, 'max_duration_s', j.max_duration_s, 'retention_s', j.retention_s,
         'owner', j.owner, 'severity', j.severity, 'runbook', j.runbook)
  FROM k8sjob.jobs j JOIN k8sjob.gate g ON g.job = j.job
 WHERE j.part IS NULL AND (%(namespaces)s::text[] IS NULL OR j.namespace = ANY (%(namespaces)s))

-- name: versions
SELECT v.job, v.n, v.expr, v.zone, v.suspended, v.earliest_from, v.valid_from, v.earliest_to, v.valid_to, v.direct
  FROM k8sjob.schedule_versions v JOIN k8sjob.jobs j ON j.job = v.job
 WHERE (v.valid_to IS NULL OR v.valid_to > j.done_until) AND (%(namespaces)s::text[] IS NULL OR j.namespace = ANY (%(namespaces)s))
 ORDER BY v.job, v.n

-- name: last_numbers
SELECT v.job, max(v.n) FROM k8sjob.schedule_versions v GROUP BY v.job

-- name: launches
SELECT l.job, l.created_at FROM k8sjob.launches l JOIN k8sjob.jobs j ON j.job = l.job
 WHERE j.catch_up IN ('every', 'latest') AND l.reason = 'catch-up' AND l.uid IS NOT NULL
   AND l.created_at > clock_timestamp() - make_interval(secs => coalesce((j.limits->>'catch_up_max_age_s')::float8, %(max_age)s))
   AND (%(namespaces)s::text[] IS NULL OR j.namespace = ANY (%(namespaces)s))

-- name: unfinished
SELECT p.job, p.period, p.state, p.generation, p.scheduled_for, p.deadline_at, p.uncertain, p.origin, p.reason_code, p.reason,
       p.until, p.await_deadline,
       (SELECT coalesce(max(l.try), 0) FROM k8sjob.launches l
         WHERE l.job = p.job AND l.period = p.period AND l.generation = p.generation AND l.uid IS NOT NULL)
  FROM k8sjob.periods p
 WHERE p.state IN ('open', 'blocked', 'awaiting')
   AND (%(namespaces)s::text[] IS NULL OR split_part(p.job, '/', 1) = ANY (%(namespaces)s))
 ORDER BY p.job, p.period

-- name: attempts
SELECT a.id, a.job, a.period, a.mode, a.job_uid, a.job_name, a.pod_uid, a.pod_name, a.started_at, a.heartbeat_at,
       CASE WHEN p.attempt = a.id AND p.state = 'done' THEN 'applied' WHEN p.attempt = a.id AND p.state = 'awaiting' THEN 'awaiting' END
  FROM k8sjob.attempts a LEFT JOIN k8sjob.periods p ON p.job = a.job AND p.period = a.period
 WHERE a.ended_at IS NULL
   AND (%(namespaces)s::text[] IS NULL OR split_part(a.job, '/', 1) = ANY (%(namespaces)s))

-- name: holds
SELECT h.namespace, h.job FROM k8sjob.holds h
 WHERE h.lifted_at IS NULL AND h.from_at <= clock_timestamp() AND (h.until IS NULL OR h.until > clock_timestamp())

-- name: states
SELECT p.job, p.period, p.state
  FROM unnest(%(jobs)s::text[], %(periods)s::text[]) k (job, period)
  JOIN k8sjob.periods p ON p.job = k.job AND p.period = k.period

-- name: done_at
SELECT p.job, p.period, p.done_at
  FROM unnest(%(jobs)s::text[], %(periods)s::text[]) k (job, period)
  JOIN k8sjob.periods p ON p.job = k.job AND p.period = k.period
 WHERE p.state = 'done' AND p.done_at IS NOT NULL

-- name: last_tries
SELECT k.job, k.period, a.outcome, a.exit_code, a.message
  FROM unnest(%(jobs)s::text[], %(periods)s::text[]) k (job, period)
  JOIN LATERAL (SELECT x.outcome, x.exit_code, x.message FROM k8sjob.attempts x
                 WHERE x.job = k.job AND x.period = k.period AND x.ended_at IS NOT NULL ORDER BY x.started_at DESC LIMIT 1) a ON true

-- name: is_connected
SELECT k8sjob.is_connected(%(job)s, %(period)s)

-- name: enter_list
SELECT k8sjob.enter_list(%(scope)s, %(seen)s, %(began)s)

-- name: track_job
SELECT k8sjob.track_job(%(job)s, %(began)s, %(kind)s, %(settings)s)

-- name: change_version
SELECT k8sjob.change_version(%(job)s, %(began)s, %(known_n)s, %(earliest_to)s, %(valid_to)s,
                             %(expr)s, %(zone)s, %(suspended)s, %(earliest_from)s, %(valid_from)s, %(direct)s, %(cronjob_uid)s)

-- name: note_blind
SELECT k8sjob.note_blind(%(job)s, %(since)s)

-- name: expect_periods
SELECT period, answer FROM k8sjob.expect_periods(%(job)s, %(kind)s, %(wanted)s, %(by)s)

-- name: move_mark
SELECT k8sjob.move_mark(%(job)s, %(mark)s)

-- name: explain_period
SELECT k8sjob.explain_period(%(job)s, %(period)s, %(generation)s, %(code)s, %(reason)s)

-- name: note_unstarted
SELECT k8sjob.note_unstarted(%(job)s, %(since)s)

-- name: skip
SELECT k8sjob.decide('skip', %(job)s, %(period)s, 'open', %(generation)s, %(reason)s, %(by)s)

-- name: note_launch
SELECT k8sjob.note_launch(%(job)s, %(period)s, %(generation)s, %(try)s, %(name)s, %(reason)s, %(uid)s)

-- name: close_attempt
SELECT k8sjob.close_attempt(%(id)s, %(message)s, %(exit_code)s)

-- name: overdue
SELECT k8sjob.overdue_awaiting(%(job)s, %(period)s, %(generation)s, %(reason)s, %(by)s, false)

-- name: start_pass
SELECT k8sjob.start_pass(%(scope)s)

-- name: end_pass
SELECT k8sjob.end_pass(%(id)s, %(ok)s, %(failing)s, %(message)s)

-- name: scopes
SELECT k.scope, (SELECT count(*) FROM k8sjob.passes p WHERE p.scope = k.scope)
  FROM (SELECT s.scope FROM k8sjob.scopes s UNION SELECT p.scope FROM k8sjob.passes p) k
 ORDER BY k.scope

-- name: forget_scope
SELECT k8sjob.forget_scope(%(scope)s)
