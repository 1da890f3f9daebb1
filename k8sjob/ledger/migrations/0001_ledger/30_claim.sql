-- The claim. Every function here runs in the caller's transaction and opens, commits and swallows
-- nothing. SQLSTATEs of class KJ are k8sjob's own; k8sjob/ledger/sqlstates.py has the same table.

CREATE TYPE k8sjob.answer AS (
  outcome text,           -- applied, duplicate, conflict, blocked, awaiting, skipped, expired, future
  reason text,            -- why somebody blocked or skipped it, why it waits
  until timestamptz,      -- until when it is blocked
  done_at timestamptz,    -- of the row that was there
  attempt uuid,           -- of the row that was there
  payload_sha256 bytea,   -- of the row that was there
  generation integer
);

CREATE FUNCTION k8sjob.hold_reason(p_job text) RETURNS TABLE (reason text, until timestamptz)
LANGUAGE sql STABLE AS $$
  SELECT h.reason, h.until FROM k8sjob.holds h
   WHERE h.lifted_at IS NULL AND h.from_at <= clock_timestamp()
     AND (h.until IS NULL OR h.until > clock_timestamp())
     AND (h.namespace IS NULL OR h.namespace = split_part(p_job, '/', 1))
     AND (h.job IS NULL OR h.job = k8sjob.whole_job(p_job))
   ORDER BY h.job IS NULL, h.namespace IS NULL, h.id LIMIT 1
$$;

-- Locks the gate, made here where nobody did before, and checks that the kind is the job's kind.
CREATE FUNCTION k8sjob.enter_gate(p_job text, p_kind text) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  v_gate text := k8sjob.whole_job(p_job);
  v_kind text;
  v_floor text;
BEGIN
  SELECT g.kind, g.floor INTO v_kind, v_floor FROM k8sjob.gate g WHERE g.job = v_gate FOR SHARE;
  IF NOT FOUND THEN
    INSERT INTO k8sjob.gate (job, kind) VALUES (v_gate, p_kind) ON CONFLICT DO NOTHING;
    SELECT g.kind, g.floor INTO v_kind, v_floor FROM k8sjob.gate g WHERE g.job = v_gate FOR SHARE;
  END IF;
  IF v_kind <> p_kind THEN
    RAISE EXCEPTION '% has periods of kind %, this one is of kind %', v_gate, v_kind, p_kind
      USING ERRCODE = 'KJ012', DETAIL = 'Nothing was changed.',
            HINT = 'The kind of a job''s periods is fixed. Give the job a new name, or pass a period of its kind.';
  END IF;
  RETURN v_floor;
END $$;

CREATE FUNCTION k8sjob.check_key(p_job text, p_period text) RETURNS text
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  v_kind text := k8sjob.period_kind(p_period);
BEGIN
  IF v_kind IS NULL THEN
    RAISE EXCEPTION 'not a period: "%"', p_period USING ERRCODE = 'KJ011',
      HINT = 'Write 2026-09-13T00:00:00Z (UTC), 2026-09-13, 2026-W37, 2026-09 or once.';
  END IF;
  IF p_job IS NULL OR NOT k8sjob.is_job(p_job) THEN
    RAISE EXCEPTION 'not a job: "%"', p_job USING ERRCODE = 'KJ011',
      HINT = 'Write namespace/name or namespace/name/part.';
  END IF;
  RETURN v_kind;
END $$;

-- The one claim that all others call. It answers and does not raise, but for what no caller can go
-- on after (a bad key, another kind, a lock not had in time: 55P03).
--   INSERT ... DO NOTHING and then UPDATE, not DO UPDATE ... WHERE: the latter locks the row even where
-- its WHERE is false, and a duplicate would make others wait until its transaction ends.
--   Under READ COMMITTED each statement sees what was committed before it began, so the row that a
-- statement has waited for is seen by the next one; the stricter levels get 40001 instead.
CREATE FUNCTION k8sjob.claim_answer(
  p_job text, p_period text, p_payload_sha256 bytea, p_attempt uuid,
  p_scheduled_for timestamptz DEFAULT NULL, p_window_end timestamptz DEFAULT NULL, p_zone text DEFAULT NULL
) RETURNS k8sjob.answer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '30s' AS $$
DECLARE
  v_kind text := k8sjob.period_kind(p_period);
  v_for timestamptz;
  v_gate_kind text;
  v_floor text;
  v_hold text;
  v_hold_until timestamptz;
  v_done_at timestamptz;
  v_generation integer := 0;
  v_row k8sjob.periods;
  v_tries integer := 0;
  v_stack text;
  v_set text; -- takes what set_config returns: PERFORM would be a query of its own
  v_answer k8sjob.answer;
BEGIN
  IF v_kind IS NULL OR k8sjob.is_job(p_job) IS NOT TRUE THEN
    PERFORM k8sjob.check_key(p_job, p_period); -- raises
  END IF;
  v_for := coalesce(k8sjob.period_instant(p_period), p_scheduled_for);
  IF coalesce(v_for, k8sjob.earliest_start(p_period)) > clock_timestamp() + interval '5 minutes' THEN
    v_answer.outcome := 'future';
    RETURN v_answer;
  END IF;
  -- The function's own SET is what gives the caller's lock_timeout back, whichever way this ends.
  IF current_setting('k8sjob.lock_timeout', true) <> '' THEN
    v_set := set_config('lock_timeout', current_setting('k8sjob.lock_timeout'), true);
  END IF;
  LOOP
    SELECT g.kind, g.floor, h.reason, h.until INTO v_gate_kind, v_floor, v_hold, v_hold_until
      FROM k8sjob.gate g LEFT JOIN LATERAL k8sjob.hold_reason(p_job) h ON true
     WHERE g.job = k8sjob.whole_job(p_job) FOR SHARE OF g;
    EXIT WHEN v_gate_kind = v_kind;
    PERFORM k8sjob.enter_gate(p_job, v_kind); -- makes the gate, or raises
  END LOOP;

  LOOP
    IF v_hold IS NULL AND (v_floor IS NULL OR p_period > v_floor COLLATE "C") THEN
      v_done_at := clock_timestamp();
      INSERT INTO k8sjob.periods (job, period, scheduled_for, window_end, zone, state, origin, attempt, payload_sha256, done_at)
      VALUES (p_job, p_period, v_for, p_window_end, p_zone, 'done', 'claim', p_attempt, p_payload_sha256, v_done_at)
      ON CONFLICT (job, period) DO NOTHING;
      EXIT WHEN FOUND;
    END IF;
    IF v_hold IS NULL THEN
      UPDATE k8sjob.periods p SET state = 'done', done_at = clock_timestamp(), changed_at = clock_timestamp(),
             attempt = p_attempt, payload_sha256 = p_payload_sha256, db_user = session_user,
             scheduled_for = coalesce(p.scheduled_for, v_for), window_end = coalesce(p.window_end, p_window_end),
             zone = coalesce(p.zone, p_zone), reason = NULL, reason_code = NULL, until = NULL
       WHERE p.job = p_job AND p.period = p_period
         AND (p.state = 'open' OR (p.state = 'blocked' AND p.until <= clock_timestamp()))
      RETURNING p.done_at, p.generation INTO v_done_at, v_generation;
      EXIT WHEN FOUND;
    END IF;

    SELECT * INTO v_row FROM k8sjob.periods p WHERE p.job = p_job AND p.period = p_period;
    IF v_row.state = 'done' THEN
      v_answer.outcome := CASE WHEN v_row.payload_sha256 IS DISTINCT FROM p_payload_sha256 THEN 'conflict' ELSE 'duplicate' END;
    ELSIF v_row.state IN ('awaiting', 'skipped') OR (v_row.state = 'blocked' AND (v_row.until IS NULL OR v_row.until > clock_timestamp())) THEN
      v_answer.outcome := v_row.state;
    ELSIF v_hold IS NOT NULL THEN
      RETURN ('blocked', v_hold, v_hold_until, NULL, NULL, NULL, coalesce(v_row.generation, 0))::k8sjob.answer;
    ELSIF v_row.job IS NULL AND p_period <= v_floor COLLATE "C" THEN
      v_answer.outcome := 'expired';
    END IF;
    IF v_answer.outcome IS NOT NULL THEN
      v_answer.reason := v_row.reason;
      v_answer.until := v_row.until;
      v_answer.done_at := v_row.done_at;
      v_answer.attempt := v_row.attempt;
      v_answer.payload_sha256 := v_row.payload_sha256;
      v_answer.generation := v_row.generation;
      RETURN v_answer;
    END IF;
    -- No answer yet: somebody opened the row again between the two statements. Once more.
    v_tries := v_tries + 1;
    IF v_tries = 100 THEN
      RAISE EXCEPTION 'the state of %:% changes faster than it can be claimed', p_job, p_period USING ERRCODE = '40001';
    END IF;
  END LOOP;

  -- Applied. A commit within this very statement, called at top level, is a claim alone: guard_commit
  -- compares. Called from a block or a function of the user, the last line of the stack is theirs.
  GET DIAGNOSTICS v_stack = PG_CONTEXT;
  IF starts_with(split_part(v_stack, E'\n', -1), 'PL/pgSQL function k8sjob.') THEN
    v_set := set_config('k8sjob.alone', extract(epoch FROM statement_timestamp())::text, true);
  END IF;
  RETURN ('applied', NULL, NULL, v_done_at, p_attempt, p_payload_sha256, v_generation)::k8sjob.answer;
END $$;

CREATE FUNCTION k8sjob.guard_commit() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF NEW.state <> 'done' OR (current_setting('k8sjob.alone', true) IS DISTINCT FROM extract(epoch FROM statement_timestamp())::text
     AND coalesce(current_setting('k8sjob.run', true), '') = coalesce(current_setting('k8sjob.seal', true), '')) THEN
    RETURN NULL;
  END IF;
  IF current_setting('k8sjob.alone', true) = extract(epoch FROM statement_timestamp())::text THEN
    RAISE EXCEPTION 'the claim of %:% would commit alone, without the work it stands for', NEW.job, NEW.period
      USING ERRCODE = 'KJ013', DETAIL = 'Nothing was changed.',
            HINT = 'Put the claim and the work in one transaction: BEGIN, claim, work, COMMIT, each sent as a statement of its own.';
  END IF;
  IF coalesce(current_setting('k8sjob.run', true), '') <> coalesce(current_setting('k8sjob.seal', true), '') THEN
    RAISE EXCEPTION 'the target of %:% ended the transaction that k8sjob holds for it', NEW.job, NEW.period
      USING ERRCODE = 'KJ014', DETAIL = 'Nothing was changed.',
            HINT = 'Take COMMIT, ROLLBACK and SET CONSTRAINTS ALL IMMEDIATE out of the target: k8sjob commits the work together with the claim.';
  END IF;
  RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER guard_commit AFTER INSERT OR UPDATE OF state ON k8sjob.periods
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION k8sjob.guard_commit();

-- Raises what an answer says, one SQLSTATE an outcome. conflict, expired and future raise always.
CREATE FUNCTION k8sjob.raise_answer(p_job text, p_period text, p_payload_sha256 bytea, a k8sjob.answer) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_key text := p_job || ':' || p_period;
BEGIN
  CASE a.outcome
    WHEN 'applied' THEN RETURN;
    WHEN 'duplicate' THEN
      RAISE EXCEPTION '% is done since % by attempt %', v_key, a.done_at, coalesce(a.attempt::text, 'unknown')
        USING ERRCODE = 'KJ001', DETAIL = 'Nothing was changed.', HINT = 'There is nothing to do. k8sjob.try_claim answers instead of raising.';
    WHEN 'conflict' THEN
      RAISE EXCEPTION '% was done with payload sha256:% (attempt %), this one brings sha256:%', v_key,
        coalesce(encode(a.payload_sha256, 'hex'), '(none)'), coalesce(a.attempt::text, 'unknown'), coalesce(encode(p_payload_sha256, 'hex'), '(none)')
        USING ERRCODE = 'KJ002', DETAIL = 'Nothing was changed.', HINT = format('If the new payload is the right one: k8sjob reopen %s --reason "..."', v_key);
    WHEN 'blocked' THEN
      RAISE EXCEPTION '% is blocked%: %', v_key, coalesce(' until ' || a.until, ''), a.reason
        USING ERRCODE = 'KJ003', DETAIL = 'Nothing was changed.', HINT = format('Once the reason is gone: k8sjob release %s --reason "..."', v_key);
    WHEN 'awaiting' THEN
      RAISE EXCEPTION '% awaits its effect: %', v_key, a.reason
        USING ERRCODE = 'KJ004', DETAIL = 'Nothing was changed.', HINT = format('Once the effect is seen: k8sjob confirm %s --reason "..."', v_key);
    WHEN 'skipped' THEN
      RAISE EXCEPTION '% was skipped: %', v_key, a.reason
        USING ERRCODE = 'KJ005', DETAIL = 'Nothing was changed.', HINT = format('If it must be done after all: k8sjob reopen %s --reason "..."', v_key);
    WHEN 'expired' THEN
      RAISE EXCEPTION '% lies at or below the retention floor and its row is gone', v_key
        USING ERRCODE = 'KJ006', DETAIL = 'Nothing was changed: it may have been done and then pruned.', HINT = 'A period below the floor is never done again.';
    ELSE
      RAISE EXCEPTION '% lies in the future', v_key
        USING ERRCODE = 'KJ007', DETAIL = 'Nothing was changed.', HINT = 'Claim a period once its time has come (5 minutes of clock difference are allowed).';
  END CASE;
END $$;

CREATE FUNCTION k8sjob.claim(job text, period text, payload bytea DEFAULT NULL, attempt uuid DEFAULT NULL) RETURNS text
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  v_sha bytea := sha256(payload);
BEGIN
  PERFORM k8sjob.raise_answer(job, period, v_sha, k8sjob.claim_answer(job, period, v_sha, coalesce(attempt, k8sjob.current_attempt())));
  RETURN 'applied';
END $$;
COMMENT ON FUNCTION k8sjob.claim IS 'Takes the period inside your transaction or raises (SQLSTATE class KJ). Payload: bytes that must be the same at each try.';

CREATE FUNCTION k8sjob.try_claim(job text, period text, payload bytea DEFAULT NULL, attempt uuid DEFAULT NULL) RETURNS k8sjob.answer
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  v_sha bytea := sha256(payload);
  v_answer k8sjob.answer := k8sjob.claim_answer(job, period, v_sha, coalesce(attempt, k8sjob.current_attempt()));
BEGIN
  IF v_answer.outcome IN ('conflict', 'expired', 'future') THEN
    PERFORM k8sjob.raise_answer(job, period, v_sha, v_answer);
  END IF;
  RETURN v_answer;
END $$;
COMMENT ON FUNCTION k8sjob.try_claim IS 'As claim, but answers applied, duplicate, blocked, awaiting or skipped. Do the work only after applied.';

CREATE FUNCTION k8sjob.claim_text(job text, period text, payload text DEFAULT NULL, attempt uuid DEFAULT NULL) RETURNS text
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN k8sjob.claim(job, period, convert_to(payload, 'UTF8'), attempt);
END $$;
COMMENT ON FUNCTION k8sjob.claim_text IS 'As claim, with a payload of text (its UTF-8 bytes count).';

-- What the runner has set for its transaction; null elsewhere.
CREATE FUNCTION k8sjob.current_job() RETURNS text LANGUAGE sql STABLE AS
  $$ SELECT nullif(current_setting('k8sjob.job', true), '') $$;
CREATE FUNCTION k8sjob.current_period() RETURNS text LANGUAGE sql STABLE AS
  $$ SELECT nullif(current_setting('k8sjob.period', true), '') $$;
CREATE FUNCTION k8sjob.current_attempt() RETURNS uuid LANGUAGE sql STABLE AS
  $$ SELECT nullif(current_setting('k8sjob.attempt', true), '')::uuid $$;
CREATE FUNCTION k8sjob.scheduled_for() RETURNS timestamptz LANGUAGE sql STABLE AS
  $$ SELECT nullif(current_setting('k8sjob.scheduled_for', true), '')::timestamptz $$;
CREATE FUNCTION k8sjob.window_end() RETURNS timestamptz LANGUAGE sql STABLE AS
  $$ SELECT nullif(current_setting('k8sjob.window_end', true), '')::timestamptz $$;
