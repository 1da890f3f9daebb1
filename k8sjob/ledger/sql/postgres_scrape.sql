-- What an exporter reads of the Postgres ledger. Each query stands under its name.

-- name: begin
SELECT set_config('TimeZone', 'UTC', true), set_config('jit', 'off', true), set_config('statement_timeout', %(timeout)s, true)

-- name: head
SELECT clock_timestamp(), (SELECT max(m.version) FROM k8sjob.migrations m),
       (SELECT count(*) FROM k8sjob.outbox o WHERE o.state = 'pending'),
       (SELECT count(*) FROM k8sjob.outbox o WHERE o.state = 'dead'),
       (SELECT min(o.created_at) FROM k8sjob.outbox o WHERE o.state = 'pending')

-- name: jobs
SELECT g.job, g.kind, v.expr, v.zone, coalesce(v.suspended, false), j.gone_at IS NOT NULL, j.catch_up, j.owner, j.severity,
       j.grace_s, j.max_duration_s, j.tracked_since, j.done_until,
       (SELECT p.period FROM k8sjob.periods p WHERE p.job = g.job AND p.state = 'done' ORDER BY p.period DESC LIMIT 1),
       j.last_success_at, coalesce(j.consecutive_failures, 0), j.unstarted_since,
       r.running_since, extract(epoch FROM a.ended_at - a.started_at)::float8, extract(epoch FROM a.started_at - k8sjob.period_instant(a.period))::float8
  FROM k8sjob.gate g
  LEFT JOIN k8sjob.jobs j ON j.job = g.job
  LEFT JOIN LATERAL (SELECT s.expr, s.zone, s.suspended FROM k8sjob.schedule_versions s WHERE s.job = g.job ORDER BY s.n DESC LIMIT 1) v ON true
  LEFT JOIN LATERAL (SELECT x.period, x.started_at, x.ended_at FROM k8sjob.attempts x
                      WHERE x.job = g.job AND x.ended_at IS NOT NULL AND x.outcome IN ('applied', 'awaiting', 'failed', 'unproven')
                      ORDER BY x.started_at DESC LIMIT 1) a ON true
  LEFT JOIN (SELECT k8sjob.whole_job(y.job) AS job, min(y.started_at) AS running_since FROM k8sjob.attempts y
              WHERE y.ended_at IS NULL AND greatest(y.started_at, y.heartbeat_at) > clock_timestamp() - interval '3 minutes'
              GROUP BY 1) r ON r.job = g.job

-- name: versions
SELECT s.job, s.n, s.expr, s.zone, s.suspended, s.earliest_from, s.valid_from, s.earliest_to, s.valid_to
  FROM k8sjob.schedule_versions s JOIN k8sjob.jobs j ON j.job = s.job
 WHERE s.valid_to IS NULL OR s.valid_to > j.done_until
 ORDER BY s.job, s.n

-- name: owed
SELECT x.job, x.state, count(*), min(x.nominal), min(x.deadline_at), min(x.changed_at), min(x.await_deadline)
  FROM (SELECT k8sjob.whole_job(p.job) AS job, p.changed_at, p.await_deadline,
               coalesce(p.scheduled_for, k8sjob.period_instant(p.period), p.changed_at) AS nominal,
               coalesce(p.deadline_at, p.scheduled_for, k8sjob.period_instant(p.period), p.changed_at) AS deadline_at,
               CASE WHEN p.state = 'awaiting' THEN 'awaiting'
                    WHEN p.state = 'blocked' AND (p.until IS NULL OR p.until > clock_timestamp()) THEN 'blocked'
                    WHEN EXISTS (SELECT FROM k8sjob.attempts a WHERE a.job = p.job AND a.period = p.period AND a.ended_at IS NULL
                                    AND greatest(a.started_at, a.heartbeat_at) > clock_timestamp() - interval '3 minutes') THEN 'running'
                    WHEN p.scheduled_for > clock_timestamp() THEN 'upcoming'
                    WHEN p.deadline_at > clock_timestamp() OR (p.deadline_at IS NULL AND p.origin <> 'reconciler') THEN 'due'
                    WHEN p.uncertain THEN 'uncertain'
                    ELSE 'missing' END AS state
          FROM k8sjob.periods p WHERE p.state IN ('open', 'blocked', 'awaiting')) x
 GROUP BY x.job, x.state

-- name: counters
SELECT k8sjob.whole_job(c.job), c.outcome, sum(c.n)::bigint FROM k8sjob.counters c GROUP BY 1, 2

-- name: holds
SELECT h.namespace, h.job, min(h.from_at) FROM k8sjob.holds h
 WHERE h.lifted_at IS NULL AND h.from_at <= clock_timestamp() AND (h.until IS NULL OR h.until > clock_timestamp())
 GROUP BY 1, 2

-- name: passes
SELECT s.scope,
       (SELECT p.started_at FROM k8sjob.passes p WHERE p.scope = s.scope AND p.ok ORDER BY p.started_at DESC LIMIT 1),
       coalesce(extract(epoch FROM l.ended_at - l.started_at)::float8, 0), coalesce(l.failing, 0)
  FROM k8sjob.scopes s
  LEFT JOIN LATERAL (SELECT p.* FROM k8sjob.passes p WHERE p.scope = s.scope AND p.ended_at IS NOT NULL ORDER BY p.started_at DESC LIMIT 1) l ON true
 ORDER BY s.scope

-- name: tail
SELECT k.job, k.period, p.job IS NOT NULL,
       EXISTS (SELECT FROM k8sjob.attempts a WHERE a.job = k.job AND a.period = k.period AND a.ended_at IS NULL
                  AND greatest(a.started_at, a.heartbeat_at) > clock_timestamp() - interval '3 minutes')
  FROM unnest(%(jobs)s::text[], %(periods)s::text[]) k (job, period)
  LEFT JOIN k8sjob.periods p ON p.job = k.job AND p.period = k.period
