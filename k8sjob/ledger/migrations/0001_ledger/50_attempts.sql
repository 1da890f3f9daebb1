-- Attempts: a row before the work, closed after it. And what the runner needs around its transaction.

-- Compares versions such as 0.12.3 by their numbers; what follows them (.dev1, rc2) does not count.
CREATE FUNCTION k8sjob.version_numbers(version text) RETURNS integer[]
LANGUAGE sql IMMUTABLE AS $$
  SELECT string_to_array(coalesce(substring(version FROM '^[0-9]+(?:[.][0-9]+)*'), '0'), '.')::integer[]
$$;

CREATE FUNCTION k8sjob.check_client(client text) RETURNS void
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  v_oldest text;
BEGIN
  SELECT m.oldest_client INTO v_oldest FROM k8sjob.migrations m ORDER BY k8sjob.version_numbers(m.oldest_client) DESC LIMIT 1;
  IF k8sjob.version_numbers(client) < k8sjob.version_numbers(v_oldest) THEN
    RAISE EXCEPTION 'this ledger takes clients from % on, this one is %', v_oldest, client
      USING ERRCODE = 'KJ016', DETAIL = 'Nothing was changed.', HINT = format('Put k8sjob %s or later into the image of this job.', v_oldest);
  END IF;
END $$;

-- The runner's start transaction. Makes the rows of job and gate, so that no long claim has to make
-- them: others would wait for it.
CREATE FUNCTION k8sjob.start_attempt(
  id uuid, job text, period text, mode text, source text, client text, pid integer DEFAULT NULL,
  job_uid text DEFAULT NULL, job_name text DEFAULT NULL, pod_uid text DEFAULT NULL, pod_name text DEFAULT NULL, node text DEFAULT NULL,
  lock_timeout text DEFAULT '30s'
) RETURNS timestamptz
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
DECLARE
  v_kind text := k8sjob.check_key(job, period);
  v_now timestamptz := clock_timestamp();
BEGIN
  PERFORM k8sjob.check_client(client);
  PERFORM set_config('lock_timeout', start_attempt.lock_timeout, true);
  INSERT INTO k8sjob.jobs (job) VALUES (start_attempt.job) ON CONFLICT DO NOTHING;
  INSERT INTO k8sjob.gate (job, kind) VALUES (k8sjob.whole_job(start_attempt.job), v_kind) ON CONFLICT DO NOTHING;
  INSERT INTO k8sjob.attempts (id, job, period, generation, mode, source, client, pid, job_uid, job_name, pod_uid, pod_name, node, started_at)
  VALUES (start_attempt.id, start_attempt.job, start_attempt.period,
          coalesce((SELECT p.generation FROM k8sjob.periods p WHERE p.job = start_attempt.job AND p.period = start_attempt.period), 0),
          mode, source, client, pid, job_uid, job_name, pod_uid, pod_name, node, v_now);
  RETURN v_now;
END $$;

-- Closes an attempt once, and only one's own. Counters move here and never inside a claim.
CREATE FUNCTION k8sjob.end_attempt(id uuid, outcome text, exit_code integer, speaker text, message text DEFAULT NULL, tail text DEFAULT NULL) RETURNS boolean
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
  ELSIF outcome IN ('failed', 'unproven', 'lost') THEN
    UPDATE k8sjob.jobs j SET consecutive_failures = j.consecutive_failures + 1 WHERE j.job = v_job;
  END IF;
  RETURN true;
END $$;

-- The claim of the runner, in one round trip with all that holds for its transaction: the key for
-- current_job() and friends, the mark that makes guard_commit ask for the seal, and keepalives, so
-- that a dead node does not hold the key for the two hours of the kernel's default.
CREATE FUNCTION k8sjob.run_claim(
  p_job text, p_period text, p_payload_sha256 bytea, p_attempt uuid, p_scheduled_for timestamptz, p_window_end timestamptz,
  p_zone text, p_lock_timeout text, p_sql_file boolean
) RETURNS k8sjob.answer
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  PERFORM set_config('k8sjob.run', p_attempt::text, true), set_config('k8sjob.seal', '', true),
          set_config('k8sjob.job', p_job, true), set_config('k8sjob.period', p_period, true),
          set_config('k8sjob.attempt', p_attempt::text, true),
          set_config('k8sjob.scheduled_for', coalesce(p_scheduled_for::text, ''), true),
          set_config('k8sjob.window_end', coalesce(p_window_end::text, ''), true),
          set_config('k8sjob.lock_timeout', p_lock_timeout, true),
          set_config('tcp_keepalives_idle', '30', true), set_config('tcp_keepalives_interval', '10', true),
          set_config('tcp_keepalives_count', '3', true), set_config('tcp_user_timeout', '60000', true);
  IF p_sql_file THEN
    -- Between two statements of a file there is no work elsewhere that could take long; and the file
    -- was cut into statements by the rules of standard strings.
    PERFORM set_config('idle_in_transaction_session_timeout', '60s', true),
            set_config('standard_conforming_strings', 'on', true);
  END IF;
  RETURN k8sjob.claim_answer(p_job, p_period, p_payload_sha256, p_attempt, p_scheduled_for, p_window_end, p_zone);
END $$;

-- The runner's last word before COMMIT. A transaction that the target has replaced by another
-- (ROLLBACK AND CHAIN, say) has not the runner's mark any more.
CREATE FUNCTION k8sjob.seal(p_attempt uuid) RETURNS void
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF current_setting('k8sjob.run', true) IS DISTINCT FROM p_attempt::text THEN
    RAISE EXCEPTION 'the target ended the transaction that k8sjob holds for it'
      USING ERRCODE = 'KJ014', DETAIL = 'What it did after that was rolled back.', HINT = 'Take COMMIT and ROLLBACK out of the target.';
  END IF;
  PERFORM set_config('k8sjob.seal', p_attempt::text, true), set_config('idle_in_transaction_session_timeout', '60s', true);
END $$;

-- After a commit whose answer was lost: takes the key, so it waits for whoever still holds it, looks,
-- and gives it back in a subtransaction that is rolled back. True: the row is this attempt's.
CREATE FUNCTION k8sjob.landed(p_job text, p_period text, p_attempt uuid, p_lock_timeout text DEFAULT '30s') RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  v_timeout text := current_setting('lock_timeout');
  v_attempt uuid;
BEGIN
  IF pg_is_in_recovery() THEN
    RAISE EXCEPTION 'a standby cannot tell whether a commit has landed' USING ERRCODE = '25006';
  END IF;
  PERFORM set_config('lock_timeout', p_lock_timeout, true);
  PERFORM k8sjob.enter_gate(p_job, k8sjob.check_key(p_job, p_period));
  BEGIN
    INSERT INTO k8sjob.periods (job, period, scheduled_for, state, origin)
    VALUES (p_job, p_period, k8sjob.period_instant(p_period), 'open', 'probe') ON CONFLICT DO NOTHING;
    RAISE EXCEPTION 'give the key back' USING ERRCODE = 'KJ000';
  EXCEPTION WHEN SQLSTATE 'KJ000' THEN NULL;
  END;
  -- An open row being claimed is locked, not inserted: wait for that too.
  SELECT p.attempt INTO v_attempt FROM k8sjob.periods p WHERE p.job = p_job AND p.period = p_period FOR SHARE;
  PERFORM set_config('lock_timeout', v_timeout, true);
  RETURN v_attempt IS NOT DISTINCT FROM p_attempt AND v_attempt IS NOT NULL;
END $$;
COMMENT ON FUNCTION k8sjob.landed IS 'Whether the commit of this attempt has landed. Waits while that is still open; call it on the primary.';

-- For the message of an attempt that could not have the key: who is at it.
CREATE FUNCTION k8sjob.holders(p_job text, p_period text) RETURNS TABLE (attempt uuid, started_at timestamptz, pod_name text, application_name text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT a.id, a.started_at, a.pod_name,
         (SELECT max(s.application_name) FROM pg_stat_activity s
           WHERE s.pid <> pg_backend_pid() AND s.datname = current_database() AND s.application_name = left('k8sjob ' || p_job || ':' || p_period, 63))
    FROM k8sjob.attempts a
   WHERE a.job = p_job AND a.period = p_period AND a.ended_at IS NULL ORDER BY a.started_at LIMIT 10
$$;
