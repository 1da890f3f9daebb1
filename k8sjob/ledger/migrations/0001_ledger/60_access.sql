-- Who may do what. Operator and runner write only through SECURITY DEFINER functions; nobody but the
-- owner has INSERT, UPDATE, DELETE or TRUNCATE on a table.

-- Called by the owner. A later migration replaces it and calls k8sjob.grant_again().
CREATE FUNCTION k8sjob.grant_access(capability text, grantee text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  -- Names of texts and states, for everybody who may look.
  reading text[] := '{is_job,whole_job,period_kind,period_instant,earliest_start,may_move,hold_reason,holders,
                      current_job,current_period,current_attempt,scheduled_for,window_end,version_numbers}';
  running text[] := '{claim,try_claim,claim_text,claim_answer,raise_answer,check_client,
                      block,skip,await,start_attempt,end_attempt,run_claim,seal,landed}';
  operating text[] := '{reopen,set_hold,lift_hold,prune_periods}';
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
COMMENT ON FUNCTION k8sjob.grant_access IS 'Owner only: lets a role be operator, runner or reader of this ledger.';

-- A ledger restored into another cluster may name roles that are not there: they are left out.
CREATE FUNCTION k8sjob.grant_again() RETURNS integer
LANGUAGE sql AS $$
  SELECT count(k8sjob.grant_access(g.capability, g.grantee))::integer
    FROM k8sjob.grants g JOIN pg_catalog.pg_roles r ON r.rolname = g.grantee
$$;

-- Nobody has anything yet, whatever the database's default privileges say (ALTER DEFAULT PRIVILEGES).
DO $$
DECLARE
  v_role text;
BEGIN
  FOR v_role IN
    SELECT DISTINCT CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END
      FROM (SELECT coalesce(c.relacl, acldefault('r', c.relowner)), c.relowner FROM pg_catalog.pg_class c WHERE c.relnamespace = 'k8sjob'::regnamespace
            UNION ALL SELECT coalesce(p.proacl, acldefault('f', p.proowner)), p.proowner FROM pg_catalog.pg_proc p WHERE p.pronamespace = 'k8sjob'::regnamespace
            UNION ALL SELECT n.nspacl, n.nspowner FROM pg_catalog.pg_namespace n WHERE n.nspname = 'k8sjob') o (acl, owner),
           aclexplode(o.acl) a
     WHERE a.grantee <> o.owner
  LOOP
    EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA k8sjob FROM %1$s; REVOKE ALL ON ALL SEQUENCES IN SCHEMA k8sjob FROM %1$s;
                    REVOKE ALL ON ALL FUNCTIONS IN SCHEMA k8sjob FROM %1$s; REVOKE ALL ON SCHEMA k8sjob FROM %1$s', v_role);
  END LOOP;
END $$;
