-- What people look up in the Postgres ledger: nothing but SELECT on its tables.
-- Between first and last lie all names that are wanted: that is what an index can use.
-- Until infinity, which Python's times do not have, is until somebody lifts it.

-- name: settings
SELECT set_config('TimeZone', 'UTC', true), set_config('DateStyle', 'ISO', true),
       set_config('statement_timeout', coalesce(%(timeout)s, current_setting('statement_timeout')), true)

-- name: now
SELECT clock_timestamp() AS now_at

-- name: names
SELECT job FROM k8sjob.gate UNION SELECT job FROM k8sjob.jobs UNION
SELECT DISTINCT job FROM k8sjob.periods WHERE state IN ('open', 'blocked', 'awaiting') ORDER BY job

-- name: jobs
SELECT k.job, g.kind, g.floor, coalesce(j.zone, v.zone) AS zone, j.grace_s, coalesce(v.suspended, j.suspended, false) AS suspended,
       j.tracked_since, j.done_until, j.gone_at, j.last_success_at, coalesce(j.consecutive_failures, 0) AS consecutive_failures,
       v.expr AS schedule, v.zone AS schedule_zone,
       (SELECT p.period FROM k8sjob.periods p WHERE p.job = k.job AND p.state = 'done' ORDER BY p.period DESC LIMIT 1) AS last_done,
       j.cronjob, j.catch_up, j.limits, j.max_duration_s, j.retention_s, j.owner, j.severity, j.runbook, j.blind_since, j.unstarted_since,
       (SELECT jsonb_agg(to_jsonb(s) - '{job,cronjob_uid}'::text[] ORDER BY s.n) FROM k8sjob.schedule_versions s
         WHERE s.job = k.job AND (s.valid_to IS NULL OR s.valid_to > least(j.done_until, %(versions_since)s::timestamptz))) AS versions,
       CASE WHEN %(passes)s THEN (
         SELECT jsonb_agg(to_jsonb(r) - 'id' ORDER BY r.id DESC) FROM (
           SELECT q.* FROM k8sjob.passes q
            WHERE q.scope = '*' OR split_part(k.job, '/', 1) = ANY (string_to_array(q.scope, ','))
            ORDER BY q.id DESC LIMIT 20) r) END AS passes
  FROM (SELECT job FROM k8sjob.gate UNION SELECT job FROM k8sjob.jobs WHERE part IS NULL) k
  LEFT JOIN k8sjob.gate g ON g.job = k.job
  LEFT JOIN k8sjob.jobs j ON j.job = k.job
  LEFT JOIN LATERAL (SELECT s.* FROM k8sjob.schedule_versions s WHERE s.job = k.job ORDER BY s.n DESC LIMIT 1) v ON true
 WHERE %(everything)s OR k.job = ANY (%(names)s::text[]) OR split_part(k.job, '/', 1) = ANY (%(names)s::text[])
 ORDER BY k.job

-- name: unfinished
SELECT p.job, p.period, p.state, p.generation, p.scheduled_for, p.zone, p.deadline_at, p.uncertain, p.origin, p.reason, nullif(p.until, 'infinity') AS until,
       p.attempt, p.payload_sha256, p.done_at, p.changed_at, p.db_user, p.indicator, p.await_deadline, p.superseded_by
  FROM k8sjob.periods p
 WHERE p.state IN ('open', 'blocked', 'awaiting')
   AND p.job >= %(first)s AND p.job <= %(last)s
   AND (%(everything)s
        OR EXISTS (SELECT FROM unnest(%(prefixes)s::text[]) x (name)
                    WHERE p.job = x.name OR (p.job > x.name || '/' AND p.job < x.name || '0'))
        OR (p.job, p.period) IN (SELECT * FROM unnest(%(key_jobs)s::text[], %(key_periods)s::text[])))
   AND p.period >= CASE length(p.period) WHEN 20 THEN %(low20)s WHEN 10 THEN %(low10)s WHEN 8 THEN %(low8)s WHEN 7 THEN %(low7)s ELSE '' END
   AND p.period <= CASE length(p.period) WHEN 20 THEN %(high20)s WHEN 10 THEN %(high10)s WHEN 8 THEN %(high8)s WHEN 7 THEN %(high7)s ELSE '~' END

-- name: finished
SELECT p.job, p.period, p.state, p.generation, p.scheduled_for, p.zone, p.deadline_at, p.uncertain, p.origin, p.reason, nullif(p.until, 'infinity') AS until,
       p.attempt, p.payload_sha256, p.done_at, p.changed_at, p.db_user, p.indicator, p.await_deadline, p.superseded_by
  FROM k8sjob.periods p
 WHERE p.state = ANY (%(states)s::text[])
   AND p.job >= %(first)s AND p.job <= %(last)s
   AND (%(everything)s
        OR EXISTS (SELECT FROM unnest(%(prefixes)s::text[]) x (name)
                    WHERE p.job = x.name OR (p.job > x.name || '/' AND p.job < x.name || '0'))
        OR (p.job, p.period) IN (SELECT * FROM unnest(%(key_jobs)s::text[], %(key_periods)s::text[])))
   AND p.period >= CASE length(p.period) WHEN 20 THEN %(low20)s WHEN 10 THEN %(low10)s WHEN 8 THEN %(low8)s WHEN 7 THEN %(low7)s ELSE '' END
   AND p.period <= CASE length(p.period) WHEN 20 THEN %(high20)s WHEN 10 THEN %(high10)s WHEN 8 THEN %(high8)s WHEN 7 THEN %(high7)s ELSE '~' END
 ORDER BY coalesce(p.scheduled_for, p.changed_at) DESC, p.job, p.period DESC LIMIT %(limit)s

-- name: rowless
-- An attempt that was refused for the kind of its period stands for no period of the job.
SELECT DISTINCT a.job, a.period
  FROM k8sjob.attempts a
 WHERE (a.outcome IS NULL OR a.outcome NOT IN ('applied', 'duplicate', 'expired', 'future'))
   AND NOT EXISTS (SELECT 1 FROM k8sjob.periods p WHERE p.job = a.job AND p.period = a.period)
   AND NOT EXISTS (SELECT FROM k8sjob.gate g WHERE (a.period <= g.floor OR g.kind <> k8sjob.period_kind(a.period))
                      AND g.job = array_to_string((string_to_array(a.job, '/'))[1:2], '/'))
   AND a.job >= %(first)s AND a.job <= %(last)s
   AND (%(everything)s
        OR EXISTS (SELECT FROM unnest(%(prefixes)s::text[]) x (name)
                    WHERE a.job = x.name OR (a.job > x.name || '/' AND a.job < x.name || '0'))
        OR (a.job, a.period) IN (SELECT * FROM unnest(%(key_jobs)s::text[], %(key_periods)s::text[])))
   AND a.period >= CASE length(a.period) WHEN 20 THEN %(low20)s WHEN 10 THEN %(low10)s WHEN 8 THEN %(low8)s WHEN 7 THEN %(low7)s ELSE '' END
   AND a.period <= CASE length(a.period) WHEN 20 THEN %(high20)s WHEN 10 THEN %(high10)s WHEN 8 THEN %(high8)s WHEN 7 THEN %(high7)s ELSE '~' END

-- name: absent
SELECT k.job, k.period
  FROM unnest(%(key_jobs)s::text[], %(key_periods)s::text[]) k (job, period)
 WHERE NOT EXISTS (SELECT FROM k8sjob.periods p WHERE p.job = k.job AND p.period = k.period)

-- name: tries
SELECT * FROM (
  SELECT a.id, a.job, a.period, a.generation, a.mode, a.source, a.pod_name, a.node, a.db_user, a.started_at,
         a.heartbeat_at, a.ended_at, a.outcome, a.exit_code, a.message, NULL AS tail,
         count(*) OVER (PARTITION BY a.job, a.period) AS tried,
         row_number() OVER (PARTITION BY a.job, a.period ORDER BY a.started_at DESC, a.id DESC) AS rank
    FROM k8sjob.attempts a
   WHERE (a.job, a.period) IN (SELECT * FROM unnest(%(key_jobs)s::text[], %(key_periods)s::text[]))) t
 WHERE t.rank = 1 OR t.ended_at IS NULL

-- name: attempts
SELECT a.id, a.job, a.period, a.generation, a.mode, a.source, a.pod_name, a.node, a.db_user, a.started_at,
       a.heartbeat_at, a.ended_at, a.outcome, a.exit_code, a.message, a.tail
  FROM k8sjob.attempts a
 WHERE a.job >= %(first)s AND a.job <= %(last)s
   AND (%(everything)s
        OR EXISTS (SELECT FROM unnest(%(prefixes)s::text[]) x (name)
                    WHERE a.job = x.name OR (a.job > x.name || '/' AND a.job < x.name || '0'))
        OR (a.job, a.period) IN (SELECT * FROM unnest(%(key_jobs)s::text[], %(key_periods)s::text[]))
        OR a.id::text LIKE ANY (%(ids)s::text[]))
   AND (%(since)s::timestamptz IS NULL OR a.started_at >= %(since)s::timestamptz)
   AND a.period >= CASE length(a.period) WHEN 20 THEN %(low20)s WHEN 10 THEN %(low10)s WHEN 8 THEN %(low8)s WHEN 7 THEN %(low7)s ELSE '' END
   AND a.period <= CASE length(a.period) WHEN 20 THEN %(high20)s WHEN 10 THEN %(high10)s WHEN 8 THEN %(high8)s WHEN 7 THEN %(high7)s ELSE '~' END
 ORDER BY a.started_at DESC, a.id DESC LIMIT %(limit)s

-- name: events
SELECT e.kind, e.generation, e.from_state, e.to_state, e."by", e.db_user, e.at, e.reason
  FROM k8sjob.events e WHERE e.job = %(job)s AND e.period = %(period)s ORDER BY e.id

-- name: launches
SELECT l.generation, l.try AS try_, l.k8s_name AS name, l.reason, l.uid, l.created_at AS noted_at
  FROM k8sjob.launches l WHERE l.job = %(job)s AND l.period = %(period)s ORDER BY l.generation, l.try

-- name: holds
SELECT h.id, h.namespace, h.job, h.reason, h.from_at, nullif(h.until, 'infinity') AS until, h.set_by, h.set_at
  FROM k8sjob.holds h WHERE h.lifted_at IS NULL ORDER BY h.id

-- name: passes
SELECT p.scope, p.started_at, p.ended_at, p.ok, p.failing, p.message
  FROM (SELECT s.scope FROM k8sjob.scopes s UNION
        SELECT l.scope FROM (SELECT q.scope FROM k8sjob.passes q ORDER BY q.id DESC LIMIT 50) l) k
 CROSS JOIN LATERAL (SELECT q.* FROM k8sjob.passes q WHERE q.scope = k.scope ORDER BY q.started_at DESC LIMIT 20) p
 ORDER BY p.started_at DESC, p.id DESC

-- name: counters
SELECT c.outcome, c.n FROM k8sjob.counters c WHERE c.job = %(job)s ORDER BY c.outcome
