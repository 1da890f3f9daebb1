-- What people look up in the SQLite ledger: nothing but SELECT on its tables.
-- Between first and last lie all names that are wanted: that is what an index can use.

-- name: names
SELECT job FROM k8sjob_gate UNION SELECT job FROM k8sjob_jobs UNION
SELECT DISTINCT job FROM k8sjob_periods WHERE state IN ('open', 'blocked', 'awaiting') ORDER BY job

-- name: jobs
SELECT k.job, g.kind, g.floor, j.zone, NULL AS grace_s, 0 AS suspended, NULL AS tracked_since, NULL AS done_until, NULL AS gone_at,
       j.last_success_at, coalesce(j.consecutive_failures, 0) AS consecutive_failures, NULL AS schedule, NULL AS schedule_zone,
       (SELECT p.period FROM k8sjob_periods p WHERE p.job = k.job AND p.state = 'done' ORDER BY p.period DESC LIMIT 1) AS last_done
  FROM (SELECT job FROM k8sjob_gate UNION SELECT job FROM k8sjob_jobs WHERE job NOT LIKE '%/%/%') k
  LEFT JOIN k8sjob_gate g ON g.job = k.job
  LEFT JOIN k8sjob_jobs j ON j.job = k.job
 WHERE :everything OR k.job IN (SELECT value FROM json_each(:names))
    OR substr(k.job, 1, instr(k.job, '/') - 1) IN (SELECT value FROM json_each(:names))
 ORDER BY k.job

-- name: unfinished
SELECT p.job, p.period, p.state, p.generation, p.scheduled_for, p.zone, NULL AS deadline_at, 0 AS uncertain, p.origin, p.reason, p.until,
       p.attempt, p.payload_sha256, p.done_at, p.changed_at, NULL AS db_user, p.indicator, p.await_deadline
  FROM k8sjob_periods p
 WHERE p.state IN ('open', 'blocked', 'awaiting')
   AND p.job >= :first AND p.job <= :last
   AND (:everything
        OR EXISTS (SELECT 1 FROM json_each(:prefixes) x
                    WHERE p.job = x.value OR (p.job > x.value || '/' AND p.job < x.value || '0'))
        OR (p.job, p.period) IN (SELECT value ->> 0, value ->> 1 FROM json_each(:keys)))
   AND p.period >= CASE length(p.period) WHEN 20 THEN :low20 WHEN 10 THEN :low10 WHEN 8 THEN :low8 WHEN 7 THEN :low7 ELSE '' END
   AND p.period <= CASE length(p.period) WHEN 20 THEN :high20 WHEN 10 THEN :high10 WHEN 8 THEN :high8 WHEN 7 THEN :high7 ELSE '~' END

-- name: finished
SELECT p.job, p.period, p.state, p.generation, p.scheduled_for, p.zone, NULL AS deadline_at, 0 AS uncertain, p.origin, p.reason, p.until,
       p.attempt, p.payload_sha256, p.done_at, p.changed_at, NULL AS db_user, p.indicator, p.await_deadline
  FROM k8sjob_periods p
 WHERE p.state IN (SELECT value FROM json_each(:states))
   AND p.job >= :first AND p.job <= :last
   AND (:everything
        OR EXISTS (SELECT 1 FROM json_each(:prefixes) x
                    WHERE p.job = x.value OR (p.job > x.value || '/' AND p.job < x.value || '0'))
        OR (p.job, p.period) IN (SELECT value ->> 0, value ->> 1 FROM json_each(:keys)))
   AND p.period >= CASE length(p.period) WHEN 20 THEN :low20 WHEN 10 THEN :low10 WHEN 8 THEN :low8 WHEN 7 THEN :low7 ELSE '' END
   AND p.period <= CASE length(p.period) WHEN 20 THEN :high20 WHEN 10 THEN :high10 WHEN 8 THEN :high8 WHEN 7 THEN :high7 ELSE '~' END
 ORDER BY coalesce(p.scheduled_for, p.changed_at) DESC, p.job, p.period DESC LIMIT :limit

-- name: rowless
-- An attempt that was refused for the kind of its period stands for no period of the job.
SELECT DISTINCT a.job, a.period
  FROM k8sjob_attempts a
 WHERE coalesce(a.outcome, 'none') NOT IN ('applied', 'duplicate', 'expired', 'future')
   AND NOT EXISTS (SELECT 1 FROM k8sjob_periods p WHERE p.job = a.job AND p.period = a.period)
   AND NOT EXISTS (SELECT 1 FROM k8sjob_gate g
                    WHERE (a.period <= g.floor
                           OR g.kind <> CASE length(a.period) WHEN 20 THEN 'scheduled' WHEN 10 THEN 'day' WHEN 8 THEN 'week' WHEN 7 THEN 'month' ELSE 'once' END)
                      AND (a.job = g.job OR (a.job > g.job || '/' AND a.job < g.job || '0')))
   AND a.job >= :first AND a.job <= :last
   AND (:everything
        OR EXISTS (SELECT 1 FROM json_each(:prefixes) x
                    WHERE a.job = x.value OR (a.job > x.value || '/' AND a.job < x.value || '0'))
        OR (a.job, a.period) IN (SELECT value ->> 0, value ->> 1 FROM json_each(:keys)))
   AND a.period >= CASE length(a.period) WHEN 20 THEN :low20 WHEN 10 THEN :low10 WHEN 8 THEN :low8 WHEN 7 THEN :low7 ELSE '' END
   AND a.period <= CASE length(a.period) WHEN 20 THEN :high20 WHEN 10 THEN :high10 WHEN 8 THEN :high8 WHEN 7 THEN :high7 ELSE '~' END

-- name: tries
SELECT * FROM (
  SELECT a.id, a.job, a.period, a.generation, a.mode, a.source, a.pod_name, a.node, NULL AS db_user, a.started_at,
         a.heartbeat_at, a.ended_at, a.outcome, a.exit_code, a.message, NULL AS tail,
         count(*) OVER (PARTITION BY a.job, a.period) AS tried,
         row_number() OVER (PARTITION BY a.job, a.period ORDER BY a.started_at DESC, a.id DESC) AS rank
    FROM k8sjob_attempts a
   WHERE (a.job, a.period) IN (SELECT value ->> 0, value ->> 1 FROM json_each(:keys))) t
 WHERE t.rank = 1 OR t.ended_at IS NULL

-- name: attempts
SELECT a.id, a.job, a.period, a.generation, a.mode, a.source, a.pod_name, a.node, NULL AS db_user, a.started_at,
       a.heartbeat_at, a.ended_at, a.outcome, a.exit_code, a.message, a.tail
  FROM k8sjob_attempts a
 WHERE a.job >= :first AND a.job <= :last
   AND (:everything
        OR EXISTS (SELECT 1 FROM json_each(:prefixes) x
                    WHERE a.job = x.value OR (a.job > x.value || '/' AND a.job < x.value || '0'))
        OR (a.job, a.period) IN (SELECT value ->> 0, value ->> 1 FROM json_each(:keys))
        OR EXISTS (SELECT 1 FROM json_each(:ids) i WHERE a.id LIKE i.value))
   AND (:since IS NULL OR a.started_at >= :since)
   AND a.period >= CASE length(a.period) WHEN 20 THEN :low20 WHEN 10 THEN :low10 WHEN 8 THEN :low8 WHEN 7 THEN :low7 ELSE '' END
   AND a.period <= CASE length(a.period) WHEN 20 THEN :high20 WHEN 10 THEN :high10 WHEN 8 THEN :high8 WHEN 7 THEN :high7 ELSE '~' END
 ORDER BY a.started_at DESC, a.id DESC LIMIT :limit

-- name: events
SELECT e.kind, e.generation, e.from_state, e.to_state, e."by", NULL AS db_user, e.at, e.reason
  FROM k8sjob_events e WHERE e.job = :job AND e.period = :period ORDER BY e.id

-- name: holds
SELECT h.id, h.namespace, h.job, h.reason, h.from_at, h.until, h.set_by, h.set_at
  FROM k8sjob_holds h WHERE h.lifted_at IS NULL ORDER BY h.id

-- name: passes
SELECT NULL AS scope WHERE 0

-- name: counters
SELECT c.outcome, c.n FROM k8sjob_counters c WHERE c.job = :job ORDER BY c.outcome
