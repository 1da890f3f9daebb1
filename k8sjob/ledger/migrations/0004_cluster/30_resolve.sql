-- oldest-client: 0.1.0
-- Which period a Kubernetes Job stands for, and what becomes of periods that are too late for it.

ALTER TABLE k8sjob.resolutions ADD COLUMN supersedes text;
COMMENT ON COLUMN k8sjob.resolutions.supersedes IS 'FIRST..LAST: the older periods that a run of the Job makes needless.';

-- The first one to say so is right: two Pods of one Job that resolve at once get the same answer.
CREATE FUNCTION k8sjob.resolve_job(job_uid text, job text, period text, source text, supersedes text DEFAULT NULL) RETURNS k8sjob.resolutions
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '30s' AS $$
#variable_conflict use_variable
DECLARE
  v_row k8sjob.resolutions;
BEGIN
  PERFORM k8sjob.check_key(job, period);
  INSERT INTO k8sjob.resolutions (job_uid, job, period, source, supersedes) VALUES (job_uid, job, period, source, supersedes)
  ON CONFLICT ON CONSTRAINT resolutions_pkey DO NOTHING;
  SELECT * INTO v_row FROM k8sjob.resolutions r WHERE r.job_uid = resolve_job.job_uid;
  RETURN v_row;
END $$;
COMMENT ON FUNCTION k8sjob.resolve_job IS 'Keeps which period a Kubernetes Job stands for, unless that is known; returns what is kept.';

-- Skips a period that came too late. A live attempt is not overruled, be it in a transaction (the row is
-- locked), between two (a sign of life) or beside a command (the advisory lock): busy.
CREATE FUNCTION k8sjob.lapse(
  job text, period text, reason text, attempt uuid, alive_for interval DEFAULT '3 minutes', lock_timeout text DEFAULT '30s'
) RETURNS text
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
BEGIN
  PERFORM set_config('k8sjob.lock_timeout', lock_timeout, true);
  IF NOT pg_try_advisory_xact_lock(hashtextextended('k8sjob:' || job || ':' || period, 0)) OR EXISTS (
    SELECT FROM k8sjob.attempts a
     WHERE a.job = lapse.job AND a.period = lapse.period AND a.id <> lapse.attempt AND a.ended_at IS NULL
       AND greatest(a.started_at, a.heartbeat_at) > clock_timestamp() - alive_for) THEN
    RETURN 'busy';
  END IF;
  RETURN k8sjob.move(job, period, 'skipped', '{absent,open}', reason, 'attempt', attempt, p_reason_code => 'late');
EXCEPTION WHEN lock_not_available THEN
  RETURN 'busy';
END $$;
COMMENT ON FUNCTION k8sjob.lapse IS 'Skips a period that is too late. Returns its state, or busy where another attempt is at it.';

-- What a run of the newest period makes needless. Only in the transaction that has claimed it (xmin, as in
-- await), or once it is done by an attempt of the caller's own that is under way: a command has claimed in a
-- transaction of its own. So nothing is superseded by what was not done. And without waiting: a row that
-- somebody holds is somebody's, and one that a person has opened is that person's. A later claim of a row that is skipped here waits for this commit and sees it.
CREATE FUNCTION k8sjob.supersede(job text, period text, first text, last text, attempt uuid) RETURNS integer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
DECLARE
  v_kind text := k8sjob.check_key(job, period);
  v_reason text := format('superseded by %s', period);
  v_old k8sjob.periods;
  v_count integer := 0;
BEGIN
  IF k8sjob.period_kind(first) IS DISTINCT FROM v_kind OR k8sjob.period_kind(last) IS DISTINCT FROM v_kind THEN
    RAISE EXCEPTION '%:% is of kind %, and one of %..% is not', job, period, v_kind, first, last
      USING ERRCODE = 'KJ012', DETAIL = 'Nothing was changed.', HINT = 'Name two periods of its kind.';
  END IF;
  PERFORM FROM k8sjob.periods p
    WHERE p.job = supersede.job AND p.period = supersede.period AND p.state IN ('done', 'awaiting')
      AND (p.xmin = pg_current_xact_id()::xid
           OR (p.attempt = supersede.attempt AND EXISTS (
                 SELECT FROM k8sjob.attempts a
                  WHERE a.id = supersede.attempt AND a.job = p.job AND a.period = p.period AND a.ended_at IS NULL AND a.db_user = session_user)));
  IF NOT FOUND THEN
    RAISE EXCEPTION '%:% was not claimed in this transaction', job, period USING ERRCODE = 'KJ015', DETAIL = 'Nothing was changed.',
      HINT = 'Supersede older periods in the transaction that has claimed the newer one, outside of savepoints, or by the attempt that has done it.';
  END IF;
  FOR v_old IN
    SELECT p.* FROM k8sjob.periods p
     WHERE p.job = supersede.job AND p.state = 'open' AND NOT p.uncertain AND p.generation = 0 AND p.origin = 'reconciler'
       AND k8sjob.period_kind(p.period) = v_kind
       AND p.period >= first COLLATE "C" AND p.period <= last COLLATE "C" AND p.period < supersede.period COLLATE "C"
       AND NOT EXISTS (SELECT FROM k8sjob.attempts a WHERE a.job = p.job AND a.period = p.period AND a.ended_at IS NULL)
     ORDER BY p.period FOR UPDATE OF p SKIP LOCKED
  LOOP
    UPDATE k8sjob.periods p SET state = 'skipped', reason = v_reason, reason_code = 'superseded', superseded_by = supersede.period,
           attempt = supersede.attempt, changed_at = clock_timestamp(), db_user = session_user
     WHERE p.job = v_old.job AND p.period = v_old.period;
    INSERT INTO k8sjob.events (job, period, generation, kind, from_state, to_state, by, reason, attempt, prior)
    VALUES (v_old.job, v_old.period, v_old.generation, 'superseded', 'open', 'skipped', 'attempt', v_reason, supersede.attempt, to_jsonb(v_old));
    v_count := v_count + 1;
  END LOOP;
  RETURN v_count;
END $$;
COMMENT ON FUNCTION k8sjob.supersede IS
  'After the claim of a period, in its transaction or by its attempt: skips the older periods of a range that were found missing and that nobody is at. Returns how many.';

INSERT INTO k8sjob.rights (function, capability) VALUES
  ('resolve_job', 'runner'), ('lapse', 'runner'), ('supersede', 'runner');
SELECT k8sjob.close_to_all('{resolve_job,lapse,supersede}');
