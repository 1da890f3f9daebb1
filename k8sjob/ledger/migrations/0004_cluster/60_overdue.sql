-- oldest-client: 0.1.0
-- What is open again has to be done by some time, or nobody is told that it was not: a period that a
-- claim had made done has no deadline of its own.

-- The one place that moves a row. Returns the state that the period has afterwards, which is not
-- the wanted one where the move is not allowed from where it is: nothing is changed then.
CREATE OR REPLACE FUNCTION k8sjob.move(
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
         deadline_at = coalesce(p.deadline_at, CASE WHEN p_to = 'open' THEN clock_timestamp()
           + make_interval(secs => coalesce((SELECT j.grace_s FROM k8sjob.jobs j WHERE j.job = k8sjob.whole_job(p_job)), 3600)) END),
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

-- A hand-over is no failure, and ends a row of them.
-- Closes an attempt once, and only one's own. Counters move here and never inside a claim.
CREATE OR REPLACE FUNCTION k8sjob.end_attempt(id uuid, outcome text, exit_code integer, speaker text, message text DEFAULT NULL, tail text DEFAULT NULL) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
DECLARE
  v_job text;
BEGIN
  UPDATE k8sjob.attempts a SET ended_at = clock_timestamp(), outcome = end_attempt.outcome, exit_code = end_attempt.exit_code,
         speaker = end_attempt.speaker, message = end_attempt.message, tail = end_attempt.tail
   WHERE a.id = end_attempt.id AND a.ended_at IS NULL AND a.db_user = session_user RETURNING a.job INTO v_job;
  IF NOT FOUND THEN RETURN false; END IF;
  INSERT INTO k8sjob.counters AS c (job, outcome, n) VALUES (v_job, outcome, 1)
  ON CONFLICT ON CONSTRAINT counters_pkey DO UPDATE SET n = c.n + 1;
  IF outcome = 'applied' THEN
    UPDATE k8sjob.jobs j SET last_success_at = clock_timestamp(), consecutive_failures = 0 WHERE j.job = v_job;
  ELSIF outcome = 'awaiting' THEN
    UPDATE k8sjob.jobs j SET consecutive_failures = 0 WHERE j.job = v_job;
  ELSIF outcome IN ('failed', 'unproven', 'lost') THEN
    UPDATE k8sjob.jobs j SET consecutive_failures = j.consecutive_failures + 1 WHERE j.job = v_job;
  END IF;
  RETURN true;
END $$;

SELECT k8sjob.close_to_all('{move,end_attempt}');
