-- Changes of state other than the claim. Each is an event; each needs a reason.

CREATE FUNCTION k8sjob.check_reason(p_reason text, p_doing text) RETURNS void
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  IF p_reason IS NULL OR p_reason !~ '[^[:space:]]' THEN
    RAISE EXCEPTION 'a reason is needed to %', p_doing
      USING ERRCODE = 'KJ015', DETAIL = 'Nothing was changed.', HINT = 'Say in one line why: whoever finds it later has only this line.';
  END IF;
END $$;

-- The one place that moves a row. Returns the state that the period has afterwards, which is not
-- the wanted one where the move is not allowed from where it is: nothing is changed then.
CREATE FUNCTION k8sjob.move(
  p_job text, p_period text, p_to text, p_from text[], p_reason text, p_by text, p_attempt uuid DEFAULT NULL,
  p_until timestamptz DEFAULT NULL, p_kind text DEFAULT 'state', p_reason_code text DEFAULT NULL
) RETURNS text
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  v_kind text := k8sjob.check_key(p_job, p_period);
  v_timeout text := current_setting('lock_timeout');
  v_floor text;
  v_old k8sjob.periods;
  v_from text;
BEGIN
  PERFORM k8sjob.check_reason(p_reason, format('make %s:%s %s', p_job, p_period, p_to));
  -- As the claim does: whoever holds the key may hold it for hours.
  PERFORM set_config('lock_timeout', coalesce(nullif(current_setting('k8sjob.lock_timeout', true), ''), '30s'), true);
  v_floor := k8sjob.enter_gate(p_job, v_kind);
  IF v_floor IS NULL OR p_period > v_floor COLLATE "C" THEN
    IF 'absent' = ANY (p_from) THEN
      INSERT INTO k8sjob.periods (job, period, scheduled_for, state, origin, reason, reason_code, until, attempt)
      VALUES (p_job, p_period, k8sjob.period_instant(p_period), p_to, p_by, p_reason, p_reason_code, p_until, p_attempt)
      ON CONFLICT DO NOTHING;
      IF FOUND THEN
        INSERT INTO k8sjob.events (job, period, kind, from_state, to_state, by, reason, attempt)
        VALUES (p_job, p_period, p_kind, NULL, p_to, p_by, p_reason, p_attempt);
        PERFORM set_config('lock_timeout', v_timeout, true);
        RETURN p_to;
      END IF;
    END IF;
  END IF;
  SELECT * INTO v_old FROM k8sjob.periods p WHERE p.job = p_job AND p.period = p_period FOR UPDATE;
  PERFORM set_config('lock_timeout', v_timeout, true);
  IF v_old.job IS NULL THEN RETURN NULL; END IF;
  v_from := v_old.state;
  IF v_from = 'blocked' AND v_old.until <= clock_timestamp() AND 'open' = ANY (p_from) THEN
    v_from := 'open';  -- its time is up
  END IF;
  IF NOT (v_from = ANY (p_from)) OR NOT k8sjob.may_move(v_from, p_to) THEN RETURN v_from; END IF;
  UPDATE k8sjob.periods p SET state = p_to, changed_at = clock_timestamp(), db_user = session_user,
         reason = CASE WHEN p_to = 'done' THEN NULL ELSE p_reason END, reason_code = p_reason_code, until = p_until,
         done_at = CASE WHEN p_to = 'done' THEN clock_timestamp() END,
         attempt = CASE WHEN p_to = 'open' THEN NULL ELSE coalesce(p_attempt, p.attempt) END,
         payload_sha256 = CASE WHEN p_to = 'open' THEN NULL ELSE p.payload_sha256 END,
         generation = p.generation + CASE WHEN p_to = 'open' THEN 1 ELSE 0 END
   WHERE p.job = p_job AND p.period = p_period;
  IF p_to = 'open' THEN  -- what held for the last generation only; the event keeps it
    UPDATE k8sjob.periods p SET superseded_by = NULL, indicator = NULL, before = NULL, after = NULL, expected_delta = NULL,
           recheck_after = NULL, await_deadline = NULL
     WHERE p.job = p_job AND p.period = p_period;
  END IF;
  INSERT INTO k8sjob.events (job, period, generation, kind, from_state, to_state, by, reason, attempt, prior)
  VALUES (p_job, p_period, v_old.generation, p_kind, v_from, p_to, p_by, p_reason, p_attempt, to_jsonb(v_old));
  RETURN p_to;
END $$;

-- What an attempt may say of its period (runner): only ever forward, from nothing or open. A block
-- whose time is up counts as open.
CREATE FUNCTION k8sjob.block(job text, period text, reason text, until timestamptz DEFAULT NULL, attempt uuid DEFAULT NULL, by text DEFAULT NULL) RETURNS text
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT k8sjob.move(job, period, 'blocked', '{absent,open}', reason, coalesce(by, 'attempt'), attempt, until)
$$;
COMMENT ON FUNCTION k8sjob.block(text, text, text, timestamptz, uuid, text) IS 'Says that a period cannot be done now, and why. Returns its state.';

CREATE FUNCTION k8sjob.skip(job text, period text, reason text, attempt uuid DEFAULT NULL, by text DEFAULT NULL) RETURNS text
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT k8sjob.move(job, period, 'skipped', '{absent,open}', reason, coalesce(by, 'attempt'), attempt)
$$;
COMMENT ON FUNCTION k8sjob.skip IS 'Says that a period need not be done, and why. Returns its state.';

-- done to awaiting, in the claim's own transaction: xmin is this transaction only for the row that
-- it has claimed itself (outside savepoints), so nobody can take back a done that others saw.
CREATE FUNCTION k8sjob.await(
  job text, period text, reason text, attempt uuid DEFAULT NULL, indicator text DEFAULT NULL, before jsonb DEFAULT NULL,
  expected_delta numeric DEFAULT NULL, recheck_after interval DEFAULT NULL, deadline interval DEFAULT NULL, by text DEFAULT NULL
) RETURNS text
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
BEGIN
  PERFORM k8sjob.check_reason(reason, format('make %s:%s awaiting', job, period));
  UPDATE k8sjob.periods p SET state = 'awaiting', done_at = NULL, changed_at = clock_timestamp(), reason = await.reason,
         indicator = await.indicator, before = await.before, expected_delta = await.expected_delta,
         recheck_after = clock_timestamp() + await.recheck_after, await_deadline = clock_timestamp() + await.deadline
   WHERE p.job = await.job AND p.period = await.period AND p.state = 'done' AND p.xmin = pg_current_xact_id()::xid;
  IF NOT FOUND THEN
    RAISE EXCEPTION '%:% was not claimed in this transaction', job, period USING ERRCODE = 'KJ015', DETAIL = 'Nothing was changed.',
      HINT = 'Hand a period over in the transaction that has claimed it, outside of savepoints.';
  END IF;
  INSERT INTO k8sjob.events (job, period, generation, kind, from_state, to_state, by, reason, attempt)
  SELECT p.job, p.period, p.generation, 'state', 'done', 'awaiting', coalesce(await.by, 'attempt'), await.reason, await.attempt
    FROM k8sjob.periods p WHERE p.job = await.job AND p.period = await.period;
  RETURN 'awaiting';
END $$;
COMMENT ON FUNCTION k8sjob.await IS 'Says, after the claim and in its transaction, that the effect was handed over and shows later.';

-- Operators only: back to open. The row as it was goes into the event.
CREATE FUNCTION k8sjob.reopen(job text, period text, reason text, by text) RETURNS text
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT k8sjob.move(job, period, 'open', '{done,blocked,skipped,awaiting}', reason, by, NULL, NULL, 'reopen')
$$;
COMMENT ON FUNCTION k8sjob.reopen IS 'Lets a period be done again. Returns its state.';

CREATE FUNCTION k8sjob.set_hold(namespace text, job text, reason text, by text, until timestamptz DEFAULT NULL) RETURNS bigint
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT k8sjob.check_reason(reason, 'set a hold');
  INSERT INTO k8sjob.holds (namespace, job, reason, set_by, until)
  VALUES (coalesce(namespace, split_part(job, '/', 1)), job, reason, by, until) RETURNING id
$$;
COMMENT ON FUNCTION k8sjob.set_hold IS 'Stops claims that begin from now on: of a job, of a namespace (job null) or of all (both null).';

CREATE FUNCTION k8sjob.lift_hold(id bigint, reason text, by text) RETURNS boolean
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT k8sjob.check_reason(reason, format('lift hold %s', id));
  UPDATE k8sjob.holds h SET lifted_at = clock_timestamp(), lifted_by = lift_hold.by, lifted_by_user = session_user,
         lift_reason = lift_hold.reason
   WHERE h.id = lift_hold.id AND h.lifted_at IS NULL RETURNING true
$$;

-- One batch of pruning: the floor first (the gate's row is locked against claims until the end of
-- the transaction), then the rows. Unfinished rows below the floor stay. Returns how many went.
CREATE FUNCTION k8sjob.prune_periods(job text, before text, batch integer DEFAULT 1000) RETURNS integer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
DECLARE
  v_kind text;
  v_keys text[];
  v_count integer;
BEGIN
  SELECT g.kind INTO v_kind FROM k8sjob.gate g WHERE g.job = prune_periods.job FOR UPDATE;
  IF v_kind IS NULL OR v_kind = 'once' THEN RETURN 0; END IF;
  IF k8sjob.period_kind(before) IS DISTINCT FROM v_kind THEN
    RAISE EXCEPTION '% has periods of kind %: "%" is not one', job, v_kind, before USING ERRCODE = 'KJ012';
  END IF;
  -- Parts sort behind their job: job || '/' to job || '0' ('0' follows '/').
  SELECT array_agg(DISTINCT x.period ORDER BY x.period) INTO v_keys FROM (
    SELECT p.period FROM k8sjob.periods p
     WHERE (p.job = prune_periods.job OR (p.job > prune_periods.job || '/' AND p.job < prune_periods.job || '0'))
       AND p.period <= before COLLATE "C" AND p.state IN ('done', 'skipped')
     ORDER BY p.period LIMIT batch) x;
  IF v_keys IS NULL THEN RETURN 0; END IF;
  UPDATE k8sjob.gate g SET floor = greatest(g.floor, v_keys[array_upper(v_keys, 1)] COLLATE "C") WHERE g.job = prune_periods.job;
  DELETE FROM k8sjob.periods p
   WHERE (p.job = prune_periods.job OR (p.job > prune_periods.job || '/' AND p.job < prune_periods.job || '0'))
     AND p.period = ANY (v_keys) AND p.state IN ('done', 'skipped');
  GET DIAGNOSTICS v_count = ROW_COUNT;
  RETURN v_count;
END $$;
COMMENT ON FUNCTION k8sjob.prune_periods IS 'Deletes finished periods up to a text, raising the floor first. Call again until it returns 0.';
