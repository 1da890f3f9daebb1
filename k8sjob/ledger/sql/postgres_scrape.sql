-- What an exporter reads of the Postgres ledger: nothing but SELECT on its tables. All of it is one
-- snapshot, seen at %(now)s. Times that people give may be infinite, which Python's are not.
-- Three minutes without a sign of life: k8sjob/view/state.py says the same.

-- name: settings
SELECT set_config('TimeZone', 'UTC', true), set_config('jit', 'off', true), set_config('statement_timeout', %(timeout)s, true)

-- name: head
SELECT clock_timestamp(), (SELECT max(m.version) FROM k8sjob.migrations m),
       (SELECT count(*) FROM k8sjob.outbox o WHERE o.state = 'pending'),
       (SELECT count(*) FROM k8sjob.outbox o WHERE o.state = 'dead'),
       (SELECT min(o.created_at) FROM k8sjob.outbox o WHERE o.state = 'pending')

-- name: jobs
-- A slot's run has its period from one of the sources that tell when a schedule fired: a backfill, or a
-- person, is not late. A try that is not the first one is as late as that was.
SELECT g.job, g.kind, g.floor, v.expr, coalesce(v.zone, j.zone), coalesce(v.suspended, j.suspended, false), j.gone_at IS NOT NULL,
       j.catch_up, j.owner, j.severity, j.cronjob, j.grace_s, j.max_duration_s, j.tracked_since, j.done_until,
       d.period, coalesce(d.scheduled_for, k8sjob.period_instant(d.period)), d.done_at,
       j.last_success_at, coalesce(j.consecutive_failures, 0), j.unstarted_since,
       extract(epoch FROM a.ended_at - a.started_at)::float8,
       extract(epoch FROM least(a.started_at, f.started_at) - coalesce(k8sjob.period_instant(a.period), a.slot))::float8, a.slot
  FROM k8sjob.gate g
  LEFT JOIN k8sjob.jobs j ON j.job = g.job
  LEFT JOIN LATERAL (SELECT s.expr, s.zone, s.suspended FROM k8sjob.schedule_versions s WHERE s.job = g.job ORDER BY s.n DESC LIMIT 1) v ON true
  LEFT JOIN LATERAL (SELECT p.period, p.scheduled_for, p.done_at FROM k8sjob.periods p
                      WHERE p.job = g.job AND p.state = 'done' ORDER BY p.period DESC LIMIT 1) d ON true
  LEFT JOIN LATERAL (SELECT x.period, x.job_name, x.started_at, x.ended_at,
                            CASE WHEN x.source ~ '^((context|remembered) \()*(scheduled-timestamp|downward-api|job-name)\)*$'
                                 THEN coalesce(k8sjob.period_instant(x.period), to_timestamp(60 * substring(x.job_name FROM '-([1-9][0-9]{7})$')::bigint))
                             END AS slot
                       FROM k8sjob.attempts x
                      WHERE x.job = g.job AND x.outcome IN ('applied', 'awaiting', 'failed', 'unproven')
                      ORDER BY x.started_at DESC LIMIT 1) a ON true
  LEFT JOIN LATERAL (SELECT min(x.started_at) AS started_at FROM k8sjob.attempts x
                      WHERE x.job = g.job AND x.period = a.period
                        AND (k8sjob.period_instant(a.period) IS NOT NULL OR x.job_name = a.job_name)  -- a day has slots
                        AND (x.outcome IS NULL OR x.outcome NOT IN ('applied', 'duplicate', 'expired', 'future'))) f ON true

-- name: versions
SELECT s.job, s.n, s.expr, s.zone, s.suspended, s.earliest_from, s.valid_from, s.earliest_to, s.valid_to, s.direct
  FROM k8sjob.schedule_versions s JOIN k8sjob.jobs j ON j.job = s.job
 WHERE s.valid_to IS NULL OR s.valid_to > j.done_until
 ORDER BY s.job, s.n

-- name: holds
SELECT h.namespace, h.job, min(h.from_at) FROM k8sjob.holds h
 WHERE h.lifted_at IS NULL AND h.from_at <= %(now)s AND (h.until IS NULL OR h.until > %(now)s)
 GROUP BY h.namespace, h.job

-- name: alive
SELECT k8sjob.whole_job(a.job), a.job, a.period, min(a.started_at), bool_or(p.job IS NOT NULL)
  FROM k8sjob.attempts a LEFT JOIN k8sjob.periods p ON p.job = a.job AND p.period = a.period
 WHERE a.ended_at IS NULL AND greatest(a.started_at, a.heartbeat_at) > %(now)s - interval '3 minutes'
 GROUP BY a.job, a.period

-- name: counted
-- Open rows without a deadline are not counted here: see undated.
SELECT x.job, x.state, count(*), min(x.nominal), min(x.period) FILTER (WHERE x.nominal IS NULL), min(x.deadline_at), min(x.changed_at),
       min(x.await_deadline) FILTER (WHERE isfinite(x.await_deadline))
  FROM (SELECT k8sjob.whole_job(p.job) AS job, p.period, p.deadline_at, p.changed_at, p.await_deadline,
               coalesce(p.scheduled_for, k8sjob.period_instant(p.period)) AS nominal,
               CASE WHEN p.state = 'awaiting' THEN 'awaiting'
                    WHEN p.state = 'blocked' AND (p.until IS NULL OR p.until > %(now)s) THEN 'blocked'
                    WHEN p.deadline_at IS NULL AND p.origin <> 'reconciler' THEN NULL
                    WHEN EXISTS (SELECT FROM k8sjob.attempts a WHERE a.job = p.job AND a.period = p.period AND a.ended_at IS NULL
                                    AND greatest(a.started_at, a.heartbeat_at) > %(now)s - interval '3 minutes') THEN 'running'
                    WHEN p.scheduled_for > %(now)s THEN NULL
                    WHEN p.deadline_at > %(now)s THEN 'due'
                    WHEN p.uncertain THEN 'uncertain'
                    ELSE 'missing' END AS state
          FROM k8sjob.periods p WHERE p.state IN ('open', 'blocked', 'awaiting')) x
 WHERE x.state IS NOT NULL
 GROUP BY x.job, x.state

-- name: undated
SELECT k8sjob.whole_job(p.job), p.job, p.period
  FROM k8sjob.periods p
 WHERE p.state IN ('open', 'blocked') AND (p.state = 'open' OR p.until <= %(now)s)
   AND p.deadline_at IS NULL AND p.origin <> 'reconciler' AND coalesce(p.scheduled_for <= %(now)s, true)

-- name: stored
SELECT p.job, p.period
  FROM unnest(%(jobs)s::text[], %(periods)s::text[]) k (job, period)
  JOIN k8sjob.periods p ON p.job = k.job AND p.period = k.period

-- name: counters
SELECT k8sjob.whole_job(c.job), c.outcome, sum(c.n)::bigint FROM k8sjob.counters c GROUP BY 1, 2

-- name: passes
-- A scope that nobody passes over any more is forgotten with its last pass. Scopes are found by the index:
-- there is a pass a minute. Complete: all was looked at, be it that something failed for some jobs.
WITH RECURSIVE scopes AS (
  (SELECT p.scope FROM k8sjob.passes p ORDER BY p.scope LIMIT 1)
  UNION ALL
  SELECT (SELECT p.scope FROM k8sjob.passes p WHERE p.scope > s.scope ORDER BY p.scope LIMIT 1) FROM scopes s WHERE s.scope IS NOT NULL
)
SELECT s.scope, c.started_at, coalesce(extract(epoch FROM l.ended_at - l.started_at)::float8, 0), coalesce(c.failing, 0)
  FROM scopes s
  LEFT JOIN LATERAL (SELECT p.started_at, p.failing FROM k8sjob.passes p WHERE p.scope = s.scope AND p.ended_at IS NOT NULL AND (p.ok OR p.failing > 0)
                      ORDER BY p.started_at DESC LIMIT 1) c ON true
  LEFT JOIN LATERAL (SELECT p.started_at, p.ended_at FROM k8sjob.passes p WHERE p.scope = s.scope AND p.ended_at IS NOT NULL
                      ORDER BY p.started_at DESC LIMIT 1) l ON true
 WHERE s.scope IS NOT NULL
 ORDER BY s.scope
