-- The functions of this step, for operators. The rest is as it was.
CREATE OR REPLACE FUNCTION k8sjob.grant_access(capability text, grantee text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  -- Names of texts and states, for everybody who may look.
  reading text[] := '{is_job,whole_job,period_kind,period_instant,earliest_start,may_move,hold_reason,holders,
                      current_job,current_period,current_attempt,scheduled_for,window_end,version_numbers,
                      ended_before}';
  running text[] := '{claim,try_claim,claim_text,claim_answer,raise_answer,check_client,
                      block,skip,await,start_attempt,end_attempt,run_claim,seal,landed}';
  operating text[] := '{reopen,set_hold,lift_hold,prune_periods,
                        decide,prune_attempts}';
  allowed text[] := reading;
  f regprocedure;
BEGIN
  IF capability NOT IN ('operator', 'runner', 'reader') THEN
    RAISE EXCEPTION 'not a capability: %', capability USING HINT = 'Grant operator, runner or reader.';
  END IF;
  -- GRANT would take "public" for everybody, quoted or not.
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.rolname = grantee) THEN
    RAISE EXCEPTION 'role "%" does not exist', grantee USING ERRCODE = '42704';
  END IF;
  IF capability <> 'reader' THEN allowed := allowed || running; END IF;
  IF capability = 'operator' THEN allowed := allowed || operating; END IF;
  EXECUTE format('GRANT USAGE ON SCHEMA k8sjob TO %I', grantee);
  EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA k8sjob TO %I', grantee);
  FOR f IN SELECT p.oid::regprocedure FROM pg_catalog.pg_proc p
            WHERE p.pronamespace = 'k8sjob'::regnamespace AND p.proname = ANY (allowed) LOOP
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', f, grantee);
  END LOOP;
  INSERT INTO k8sjob.grants VALUES (capability, grantee) ON CONFLICT DO NOTHING;
END $$;

-- Nobody has them yet, whatever the database's default privileges say (ALTER DEFAULT PRIVILEGES).
DO $$
DECLARE
  f regprocedure;
  v_role text;
BEGIN
  FOR f, v_role IN
    SELECT p.oid::regprocedure, CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END
      FROM pg_catalog.pg_proc p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
     WHERE p.pronamespace = 'k8sjob'::regnamespace AND a.grantee <> p.proowner
       AND p.proname IN ('decide', 'ended_before', 'guard_floor', 'prune_attempts')
  LOOP
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM %s', f, v_role);
  END LOOP;
END $$;
