-- What people ask of the Postgres ledger and change in it. Each query stands under its name.

-- name: now
SELECT clock_timestamp()

-- name: rows
SELECT p.job, p.period, p.state, p.generation, p.reason, p.until, p.done_at, p.changed_at, p.attempt, p.zone
  FROM unnest(%(jobs)s::text[], %(periods)s::text[]) k (job, period)
  JOIN k8sjob.periods p ON p.job = k.job AND p.period = k.period
 UNION
SELECT p.job, p.period, p.state, p.generation, p.reason, p.until, p.done_at, p.changed_at, p.attempt, p.zone
  FROM unnest(%(range_jobs)s::text[], %(firsts)s::text[], %(lasts)s::text[]) r (job, first, last)
  JOIN k8sjob.periods p ON p.job = r.job AND p.period BETWEEN r.first AND r.last
 ORDER BY 1, 2

-- name: jobs
SELECT k.job, g.kind, g.floor, j.zone, coalesce(j.tracked_since, j.done_until) IS NOT NULL, j.done_until, j.retention_s
  FROM (SELECT job FROM k8sjob.gate UNION SELECT job FROM k8sjob.jobs WHERE part IS NULL) k
  LEFT JOIN k8sjob.gate g ON g.job = k.job
  LEFT JOIN k8sjob.jobs j ON j.job = k.job
 WHERE k.job = ANY (%(whole_jobs)s::text[]) OR split_part(k.job, '/', 1) = ANY (%(scope_namespaces)s::text[]) OR %(all)s
 ORDER BY k.job

-- name: holds
SELECT h.id, h.namespace, h.job, h.reason, h.until, h.set_by, h.set_at
  FROM k8sjob.holds h
 WHERE h.lifted_at IS NULL AND h.from_at <= clock_timestamp() AND (h.until IS NULL OR h.until > clock_timestamp())
   AND (h.namespace IS NULL OR h.namespace = ANY (%(hold_namespaces)s::text[]) OR %(all)s)
 ORDER BY h.id

-- name: flights
SELECT a.id, a.job, a.period, a.started_at, a.pod_name
  FROM k8sjob.attempts a
 WHERE a.ended_at IS NULL
   AND ((a.job, a.period) IN (SELECT * FROM unnest(%(jobs)s::text[], %(periods)s::text[]))
        OR EXISTS (SELECT FROM unnest(%(range_jobs)s::text[], %(firsts)s::text[], %(lasts)s::text[]) r (job, first, last)
                    WHERE a.job = r.job AND a.period BETWEEN r.first AND r.last)
        OR k8sjob.whole_job(a.job) = ANY (%(scope_jobs)s::text[])
        OR split_part(a.job, '/', 1) = ANY (%(scope_namespaces)s::text[])
        OR %(all)s)
 ORDER BY a.started_at, a.id

-- name: blocked
SELECT count(*) FROM k8sjob.periods p
 WHERE p.state = 'blocked' AND (p.until IS NULL OR p.until > clock_timestamp())
   AND (%(namespace)s::text IS NULL OR split_part(p.job, '/', 1) = %(namespace)s)
   AND (%(job)s::text IS NULL OR k8sjob.whole_job(p.job) = %(job)s)

-- name: awaited
SELECT p.job, p.period FROM k8sjob.periods p
 WHERE p.indicator = %(indicator)s AND p.state = 'awaiting' AND p.expected_delta IS NULL

-- name: settings
SELECT set_config('lock_timeout', %(lock_timeout)s, true), set_config('k8sjob.lock_timeout', %(lock_timeout)s, true),
       set_config('TimeZone', 'UTC', true), set_config('DateStyle', 'ISO', true)

-- name: decide
SELECT k8sjob.decide(
  %(verb)s, %(job)s, %(period)s, %(before)s, %(generation)s, %(reason)s, %(by)s,
  until => %(until)s, indicator => %(indicator)s, deadline => %(deadline)s)

-- name: set_hold
SELECT k8sjob.set_hold(%(namespace)s, %(job)s, %(reason)s, %(by)s, until => %(until)s)

-- name: lift_hold
SELECT k8sjob.lift_hold(%(id)s, %(reason)s, %(by)s)

-- name: finished
SELECT count(*) FROM k8sjob.periods p
 WHERE (p.job = %(job)s OR (p.job > %(job)s || '/' AND p.job < %(job)s || '0'))
   AND p.period <= %(upto)s COLLATE "C" AND p.state IN ('done', 'skipped')

-- name: old_attempts
SELECT count(*) FILTER (WHERE a.ended_at < %(before)s AND NOT EXISTS (
         SELECT FROM k8sjob.periods p WHERE p.job = a.job AND p.period = a.period AND p.state IN ('open', 'blocked', 'awaiting'))),
       count(*) FILTER (WHERE a.ended_at IS NULL)
  FROM k8sjob.attempts a
 WHERE (a.job = %(job)s OR (a.job > %(job)s || '/' AND a.job < %(job)s || '0')) AND a.started_at < %(before)s

-- name: prune_periods
SELECT k8sjob.prune_periods(%(job)s, %(upto)s, %(batch)s)

-- name: prune_attempts
SELECT k8sjob.prune_attempts(%(job)s, %(before)s, %(batch)s)
