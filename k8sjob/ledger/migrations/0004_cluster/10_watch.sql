-- oldest-client: 0.1.0
-- What the reconciler writes: versions of schedules, periods that are due, attempts that are lost.

ALTER TABLE k8sjob.schedule_versions
  ADD COLUMN earliest_to timestamptz CHECK (earliest_to <= valid_to),
  ADD COLUMN direct boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN k8sjob.schedule_versions.direct IS 'One write led from the version before it to this one: there was nothing else in between.';
ALTER TABLE k8sjob.jobs
  ADD COLUMN cronjob_uid text,
  ADD COLUMN spec_generation bigint,
  ADD COLUMN metadata_sha text,
  ADD COLUMN observed_at timestamptz,
  ADD COLUMN blind_since timestamptz,
  ADD COLUMN unstarted_since timestamptz;
COMMENT ON COLUMN k8sjob.jobs.observed_at IS 'When the list of CronJobs began that the row was last written from: an older list changes nothing.';
COMMENT ON COLUMN k8sjob.jobs.blind_since IS 'The last list of CronJobs that told its schedule; of those since its CronJob could not be read or written. Null: all did.';
COMMENT ON COLUMN k8sjob.jobs.unstarted_since IS 'Since when a Job of it stands created and has started nothing.';
CREATE INDEX attempts_endless ON k8sjob.attempts (started_at) WHERE ended_at IS NULL;
CREATE INDEX launches_by_time ON k8sjob.launches (job, created_at);
-- Periods that were tried and have no row are looked for at each look: among these, and not among all attempts.
CREATE INDEX attempts_undone ON k8sjob.attempts (job, period)
 WHERE outcome IS NULL OR outcome NOT IN ('applied', 'duplicate', 'expired', 'future');

-- A complete list of CronJobs is taken in once, and in its order. Returns ok; stale where a list that
-- began later was here before; changed where another one was since the plan was made.
CREATE FUNCTION k8sjob.enter_list(scope text, seen_last timestamptz, list_began timestamptz) RETURNS text
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
DECLARE
  v_last timestamptz;
BEGIN
  INSERT INTO k8sjob.scopes (scope) VALUES (enter_list.scope) ON CONFLICT DO NOTHING;
  SELECT s.last_complete_list_at INTO v_last FROM k8sjob.scopes s WHERE s.scope = enter_list.scope FOR UPDATE;
  IF v_last >= list_began THEN RETURN 'stale'; END IF;
  IF v_last IS DISTINCT FROM seen_last THEN RETURN 'changed'; END IF;
  UPDATE k8sjob.scopes s SET last_complete_list_at = list_began WHERE s.scope = enter_list.scope;
  RETURN 'ok';
END $$;
COMMENT ON FUNCTION k8sjob.enter_list IS 'Reconciler: takes in a complete list of CronJobs of a scope, in the order of lists.';

-- The settings of a job as its CronJob has them. False where a later list has been here.
CREATE FUNCTION k8sjob.track_job(job text, list_began timestamptz, kind text, s jsonb) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
BEGIN
  INSERT INTO k8sjob.jobs (job) VALUES (track_job.job) ON CONFLICT DO NOTHING;
  PERFORM k8sjob.enter_gate(track_job.job, track_job.kind);
  UPDATE k8sjob.jobs j SET observed_at = list_began,
         cronjob = s->>'cronjob', cronjob_uid = s->>'cronjob_uid', spec_generation = (s->>'spec_generation')::bigint,
         metadata_sha = s->>'metadata_sha', zone = s->>'zone', suspended = (s->>'suspended')::boolean, gone_at = NULL, blind_since = NULL,
         catch_up = s->>'catch_up', limits = coalesce(s->'limits', '{}'), grace_s = (s->>'grace_s')::integer,
         max_duration_s = (s->>'max_duration_s')::integer, retention_s = (s->>'retention_s')::bigint,
         owner = s->>'owner', severity = s->>'severity', runbook = s->>'runbook'
   WHERE j.job = track_job.job AND coalesce(j.observed_at, '-infinity') <= list_began;
  RETURN FOUND;
END $$;
COMMENT ON FUNCTION k8sjob.track_job IS 'Reconciler: what the CronJob of a job says of it.';

-- Ends the version that is in force (number known_n; 0: there is none) and begins the next one, or
-- none where expr is null. False, and nothing is changed, where another version is in force.
CREATE FUNCTION k8sjob.change_version(
  job text, list_began timestamptz, known_n integer, earliest_to timestamptz, valid_to timestamptz,
  expr text, zone text, suspended boolean, earliest_from timestamptz, valid_from timestamptz, direct boolean, cronjob_uid text
) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
DECLARE
  v_last k8sjob.schedule_versions;
BEGIN
  PERFORM FROM k8sjob.jobs j WHERE j.job = change_version.job AND coalesce(j.observed_at, '-infinity') <= list_began FOR UPDATE;
  IF NOT FOUND THEN RETURN false; END IF;
  SELECT * INTO v_last FROM k8sjob.schedule_versions v WHERE v.job = change_version.job ORDER BY v.n DESC LIMIT 1;
  IF (CASE WHEN v_last.valid_to IS NULL THEN coalesce(v_last.n, 0) ELSE 0 END) <> known_n THEN RETURN false; END IF;
  IF known_n > 0 THEN
    UPDATE k8sjob.schedule_versions v SET earliest_to = change_version.earliest_to, valid_to = change_version.valid_to
     WHERE v.job = change_version.job AND v.n = known_n;
  END IF;
  IF expr IS NOT NULL THEN
    INSERT INTO k8sjob.schedule_versions (job, n, expr, zone, suspended, earliest_from, valid_from, direct, cronjob_uid)
    VALUES (change_version.job, coalesce(v_last.n, 0) + 1, expr, zone, suspended, earliest_from, valid_from, direct, cronjob_uid);
  END IF;
  UPDATE k8sjob.jobs j SET observed_at = list_began, blind_since = NULL,
         gone_at = CASE WHEN expr IS NULL THEN list_began END,
         tracked_since = coalesce(j.tracked_since, change_version.earliest_from),
         done_until = coalesce(j.done_until, change_version.earliest_from)
   WHERE j.job = change_version.job;
  RETURN true;
END $$;
COMMENT ON FUNCTION k8sjob.change_version IS 'Reconciler: the schedule was edited, suspended, resumed, made or deleted.';

-- A list that cannot be read as far as this job goes, or not be written: what comes after the one before
-- it is not known, and a change that is seen later may be as old as that.
CREATE FUNCTION k8sjob.note_blind(job text, since timestamptz) RETURNS boolean
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  UPDATE k8sjob.jobs j SET blind_since = coalesce(j.blind_since, since) WHERE j.job = note_blind.job RETURNING true
$$;

-- Periods that are due and have no row are stored as open. Each answers with made, the state that was
-- there, expired, or busy: a claim that is under way holds its key, and the mark stays before it.
CREATE FUNCTION k8sjob.expect_periods(job text, kind text, wanted jsonb, by text) RETURNS TABLE (period text, answer text)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '200ms' AS $$
#variable_conflict use_column
DECLARE
  v_floor text := k8sjob.enter_gate(expect_periods.job, kind);
  v_job text := expect_periods.job;
  w record;
BEGIN
  FOR w IN SELECT * FROM jsonb_to_recordset(wanted) AS x (
      period text, scheduled_for timestamptz, window_end timestamptz, zone text, schedule_n integer,
      deadline_at timestamptz, uncertain boolean, reason_code text, reason text) LOOP
    period := w.period;
    answer := NULL;
    BEGIN
      IF v_floor IS NULL OR w.period > v_floor COLLATE "C" THEN
        INSERT INTO k8sjob.periods AS p (job, period, scheduled_for, window_end, zone, schedule_n, state, deadline_at, uncertain, origin, reason_code, reason)
        VALUES (v_job, w.period, w.scheduled_for, w.window_end, w.zone, w.schedule_n, 'open', w.deadline_at, w.uncertain, 'reconciler', w.reason_code, w.reason)
        ON CONFLICT ON CONSTRAINT periods_pkey DO NOTHING;
        IF FOUND THEN
          INSERT INTO k8sjob.events (job, period, kind, from_state, to_state, by, reason)
          VALUES (v_job, w.period, 'expected', NULL, 'open', expect_periods.by, w.reason);
          answer := 'made';
        END IF;
      END IF;
      IF answer IS NULL THEN
        SELECT p.state INTO answer FROM k8sjob.periods p WHERE p.job = v_job AND p.period = w.period;
        IF answer IN ('open', 'blocked', 'awaiting') THEN  -- a later fire may be certain where an earlier one was not
          UPDATE k8sjob.periods p SET deadline_at = w.deadline_at, schedule_n = w.schedule_n, zone = coalesce(p.zone, w.zone),
                 scheduled_for = coalesce(p.scheduled_for, w.scheduled_for), window_end = coalesce(p.window_end, w.window_end),
                 uncertain = p.uncertain AND w.uncertain,
                 reason_code = CASE WHEN p.uncertain AND p.state = 'open' THEN w.reason_code ELSE p.reason_code END,
                 reason = CASE WHEN p.uncertain AND p.state = 'open' THEN w.reason ELSE p.reason END
           WHERE p.job = v_job AND p.period = w.period AND (p.deadline_at IS NULL OR p.uncertain AND NOT w.uncertain)
             AND p.state IN ('open', 'blocked', 'awaiting');
        END IF;
      END IF;
      answer := coalesce(answer, 'expired');
    EXCEPTION WHEN lock_not_available THEN
      answer := 'busy';
    END;
    RETURN NEXT;
  END LOOP;
END $$;
COMMENT ON FUNCTION k8sjob.expect_periods IS 'Reconciler: stores as open what is due and has no row.';

-- Everything up to it has a row, or needs none.
CREATE FUNCTION k8sjob.move_mark(job text, done_until timestamptz) RETURNS boolean
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  UPDATE k8sjob.jobs j SET done_until = greatest(j.done_until, move_mark.done_until) WHERE j.job = move_mark.job RETURNING true
$$;

-- Why an open period is not done, as far as Kubernetes tells. No state moves.
CREATE FUNCTION k8sjob.explain_period(job text, period text, generation integer, reason_code text, reason text) RETURNS boolean
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  UPDATE k8sjob.periods p SET reason_code = explain_period.reason_code, reason = explain_period.reason
   WHERE p.job = explain_period.job AND p.period = explain_period.period AND p.generation = explain_period.generation
     AND p.state = 'open' RETURNING true
$$;

CREATE FUNCTION k8sjob.note_unstarted(job text, since timestamptz) RETURNS boolean
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  UPDATE k8sjob.jobs j SET unstarted_since = since WHERE j.job = note_unstarted.job RETURNING true
$$;

-- Ends an attempt that cannot do so itself any more. What the period's row says goes first: an attempt
-- that is in it has applied, whatever became of its Pod. Returns the outcome; null where it has an end.
CREATE FUNCTION k8sjob.close_attempt(id uuid, message text, exit_code integer DEFAULT NULL) RETURNS text
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
DECLARE
  v_job text;
  v_outcome text;
BEGIN
  UPDATE k8sjob.attempts a SET ended_at = clock_timestamp(), speaker = 'k8sjob', exit_code = close_attempt.exit_code,
         outcome = CASE WHEN EXISTS (SELECT FROM k8sjob.periods p WHERE p.job = a.job AND p.period = a.period
                                        AND p.attempt = a.id AND p.state = 'done') THEN 'applied'
                        WHEN EXISTS (SELECT FROM k8sjob.periods p WHERE p.job = a.job AND p.period = a.period
                                        AND p.attempt = a.id AND p.state = 'awaiting') THEN 'awaiting'
                        ELSE 'lost' END,
         message = close_attempt.message
   WHERE a.id = close_attempt.id AND a.ended_at IS NULL RETURNING a.job, a.outcome INTO v_job, v_outcome;
  IF NOT FOUND THEN RETURN NULL; END IF;
  INSERT INTO k8sjob.counters AS c (job, outcome, n) VALUES (v_job, v_outcome, 1)
  ON CONFLICT ON CONSTRAINT counters_pkey DO UPDATE SET n = c.n + 1;
  IF v_outcome = 'applied' THEN
    UPDATE k8sjob.jobs j SET last_success_at = clock_timestamp(), consecutive_failures = 0 WHERE j.job = v_job;
  ELSIF v_outcome = 'lost' THEN
    UPDATE k8sjob.jobs j SET consecutive_failures = j.consecutive_failures + 1 WHERE j.job = v_job;
  END IF;
  RETURN v_outcome;
END $$;
COMMENT ON FUNCTION k8sjob.close_attempt IS 'Reconciler: ends an attempt whose process is known to be gone.';

-- An effect that did not show by its deadline: blocked, for a person; open again only where the job
-- says that handing over twice does no harm.
CREATE FUNCTION k8sjob.overdue_awaiting(job text, period text, generation integer, reason text, by text, repeatable boolean) RETURNS text
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
BEGIN
  PERFORM FROM k8sjob.periods p WHERE p.job = overdue_awaiting.job AND p.period = overdue_awaiting.period AND p.state = 'awaiting'
      AND p.generation = overdue_awaiting.generation AND p.await_deadline <= clock_timestamp();
  IF NOT FOUND THEN RETURN NULL; END IF;
  RETURN k8sjob.move(job, period, CASE WHEN repeatable THEN 'open' ELSE 'blocked' END, '{awaiting}', reason, by, p_kind => 'overdue');
END $$;

-- Whether a session of an attempt's claim stands: the runner calls its connection by the key.
CREATE FUNCTION k8sjob.is_connected(job text, period text) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT EXISTS (SELECT FROM pg_stat_activity s WHERE s.datname = current_database()
                    AND s.application_name = left('k8sjob ' || job || ':' || period, 63))
$$;

CREATE FUNCTION k8sjob.start_pass(scope text) RETURNS bigint
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  INSERT INTO k8sjob.passes (scope) VALUES (start_pass.scope) RETURNING id
$$;

CREATE FUNCTION k8sjob.end_pass(id bigint, ok boolean, failing integer, message text) RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  UPDATE k8sjob.passes p SET ended_at = clock_timestamp(), ok = end_pass.ok, failing = end_pass.failing, message = end_pass.message
   WHERE p.id = end_pass.id;
  DELETE FROM k8sjob.passes p WHERE p.started_at < clock_timestamp() - interval '30 days';
$$;

-- A scope that is passed over no more would look like a reconciler that died. Returns how many passes
-- went; null: there is no such scope.
CREATE FUNCTION k8sjob.forget_scope(scope text) RETURNS bigint
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  WITH list AS (DELETE FROM k8sjob.scopes s WHERE s.scope = forget_scope.scope RETURNING 1),
       went AS (DELETE FROM k8sjob.passes p WHERE p.scope = forget_scope.scope RETURNING 1)
  SELECT CASE WHEN EXISTS (SELECT FROM list) OR EXISTS (SELECT FROM went) THEN (SELECT count(*) FROM went) END
$$;
COMMENT ON FUNCTION k8sjob.forget_scope IS 'Reconciler: forgets the passes and the last list of a scope that is passed over no more.';

INSERT INTO k8sjob.rights (function, capability)
SELECT unnest('{enter_list,track_job,change_version,note_blind,expect_periods,move_mark,explain_period,note_unstarted,close_attempt,
                overdue_awaiting,is_connected,start_pass,end_pass,forget_scope}'::text[]), 'operator';
SELECT k8sjob.close_to_all('{enter_list,track_job,change_version,note_blind,expect_periods,move_mark,explain_period,note_unstarted,close_attempt,
                             overdue_awaiting,is_connected,start_pass,end_pass,forget_scope}');
