-- oldest-client: 0.1.0
-- What people decide, one period at a time; k8sjob/people/plan.py has the same table of moves.

-- Compare and set: false, and nothing is changed, where the row is not as from_state (null: no row)
-- and generation say. A block whose time is up counts as open for block, skip and await. The caller
-- owns the transaction, and rolls all of it back on false if half of a decision is none.
CREATE FUNCTION k8sjob.decide(
  verb text, job text, period text, from_state text, generation integer, reason text, by text,
  until timestamptz DEFAULT NULL, indicator text DEFAULT NULL, deadline timestamptz DEFAULT NULL
) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
DECLARE
  v_kind text := k8sjob.check_key(job, period);
  v_timeout text := current_setting('lock_timeout');
  v_to text;
  v_from text[];
  v_floor text;
  v_row k8sjob.periods;
  v_state text;
BEGIN
  SELECT m.to_state, m.from_states INTO v_to, v_from FROM (VALUES
    ('block', 'blocked', '{absent,open}'::text[]),
    ('skip', 'skipped', '{absent,open}'),
    ('await', 'awaiting', '{absent,open}'),
    ('confirm', 'done', '{awaiting,blocked}'),
    ('release', 'open', '{blocked}'),
    ('reopen', 'open', '{done,skipped,blocked,awaiting}')) m (verb, to_state, from_states) WHERE m.verb = decide.verb;
  IF v_to IS NULL THEN
    RAISE EXCEPTION 'not a decision: "%"', verb USING ERRCODE = 'KJ015', DETAIL = 'Nothing was changed.',
      HINT = 'Decide to block, skip, await, confirm, release or reopen.';
  END IF;
  PERFORM k8sjob.check_reason(reason, format('%s %s:%s', verb, job, period));
  IF NOT coalesce(from_state, 'absent') = ANY (v_from) THEN RETURN false; END IF;

  -- As the claim does: gate, then period, and no longer than it waits.
  PERFORM set_config('lock_timeout', coalesce(nullif(current_setting('k8sjob.lock_timeout', true), ''), '30s'), true);
  v_floor := k8sjob.enter_gate(job, v_kind);
  IF from_state IS NULL THEN
    IF period <= v_floor COLLATE "C" THEN RETURN false; END IF;
    INSERT INTO k8sjob.periods (job, period, scheduled_for, state, origin, reason, until, indicator, await_deadline)
    VALUES (job, period, k8sjob.period_instant(period), v_to, 'operator', reason,
            CASE WHEN v_to = 'blocked' THEN until END, indicator, deadline)
    ON CONFLICT ON CONSTRAINT periods_pkey DO NOTHING;
    IF NOT FOUND THEN RETURN false; END IF;
    INSERT INTO k8sjob.events (job, period, kind, from_state, to_state, by, reason)
    VALUES (job, period, verb, NULL, v_to, by, reason);
  ELSE
    SELECT * INTO v_row FROM k8sjob.periods p WHERE p.job = decide.job AND p.period = decide.period FOR UPDATE;
    v_state := v_row.state;
    IF v_state = 'blocked' AND v_row.until <= clock_timestamp() AND 'open' = ANY (v_from) THEN
      v_state := 'open';
    END IF;
    IF v_state IS DISTINCT FROM from_state OR v_row.generation IS DISTINCT FROM generation THEN RETURN false; END IF;
    IF k8sjob.move(job, period, v_to, ARRAY[from_state], reason, by, p_kind => verb,
                   p_until => CASE WHEN v_to = 'blocked' THEN until END) IS DISTINCT FROM v_to THEN
      RETURN false;
    END IF;
    IF v_to = 'awaiting' THEN
      UPDATE k8sjob.periods p SET indicator = decide.indicator, await_deadline = decide.deadline
       WHERE p.job = decide.job AND p.period = decide.period;
    END IF;
  END IF;
  PERFORM set_config('lock_timeout', v_timeout, true);
  RETURN true;
END $$;
COMMENT ON FUNCTION k8sjob.decide IS
  'block, skip, await, confirm, release or reopen a period that is in from_state (null: no row) and generation; false if it is not.';
