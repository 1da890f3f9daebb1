-- Who may do what. Operator and runner write only through SECURITY DEFINER functions; nobody but the
-- owner has INSERT, UPDATE, DELETE or TRUNCATE on a table.

CREATE TABLE k8sjob.rights (
  function text PRIMARY KEY,
  capability text NOT NULL CHECK (capability IN ('reader', 'runner', 'operator'))
);
COMMENT ON TABLE k8sjob.rights IS 'The least capability that may call a function: an operator may what a runner may, a runner what a reader may. What is not here is the owner''s.';

INSERT INTO k8sjob.rights (function, capability)
SELECT unnest('{is_job,whole_job,period_kind,period_instant,earliest_start,may_move,hold_reason,holders,
                current_job,current_period,current_attempt,scheduled_for,window_end,version_numbers}'::text[]), 'reader'
UNION ALL
SELECT unnest('{claim,try_claim,claim_text,claim_answer,raise_answer,check_client,
                block,skip,await,start_attempt,end_attempt,run_claim,seal,landed}'::text[]), 'runner'
UNION ALL
SELECT unnest('{reopen,set_hold,lift_hold,prune_periods}'::text[]), 'operator';

CREATE FUNCTION k8sjob.grant_access(capability text, grantee text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_order text[] := '{reader,runner,operator}';
  f regprocedure;
BEGIN
  IF array_position(v_order, capability) IS NULL THEN
    RAISE EXCEPTION 'not a capability: %', capability USING HINT = 'Grant operator, runner or reader.';
  END IF;
  -- GRANT would take "public" for everybody, quoted or not.
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.rolname = grantee) THEN
    RAISE EXCEPTION 'role "%" does not exist', grantee USING ERRCODE = '42704';
  END IF;
  EXECUTE format('GRANT USAGE ON SCHEMA k8sjob TO %I', grantee);
  EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA k8sjob TO %I', grantee);
  FOR f IN SELECT p.oid::regprocedure FROM pg_catalog.pg_proc p JOIN k8sjob.rights r ON r.function = p.proname
            WHERE p.pronamespace = 'k8sjob'::regnamespace
              AND array_position(v_order, r.capability) <= array_position(v_order, grant_access.capability) LOOP
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', f, grantee);
  END LOOP;
  INSERT INTO k8sjob.grants VALUES (capability, grantee) ON CONFLICT DO NOTHING;
END $$;
COMMENT ON FUNCTION k8sjob.grant_access IS 'Owner only: lets a role be operator, runner or reader of this ledger.';

-- Called at the end of each migration. A ledger restored into another cluster may name roles that are
-- not there: they are left out.
CREATE FUNCTION k8sjob.grant_again() RETURNS integer
LANGUAGE sql AS $$
  SELECT count(k8sjob.grant_access(g.capability, g.grantee))::integer
    FROM k8sjob.grants g JOIN pg_catalog.pg_roles r ON r.rolname = g.grantee
$$;

-- Takes away what nobody was given on purpose: functions are born open to PUBLIC, and default
-- privileges (ALTER DEFAULT PRIVILEGES) may have opened the rest. Each migration calls it for the
-- functions that it brings; without names it closes everything.
CREATE FUNCTION k8sjob.close_to_all(names text[] DEFAULT NULL) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  v_what text;
  v_role text;
BEGIN
  FOR v_what, v_role IN
    SELECT o.what, CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END
      FROM (SELECT CASE c.relkind WHEN 'S' THEN 'SEQUENCE ' ELSE 'TABLE ' END || c.oid::regclass,
                   coalesce(c.relacl, acldefault(CASE c.relkind WHEN 'S' THEN 's' ELSE 'r' END::"char", c.relowner)), c.relowner
              FROM pg_catalog.pg_class c WHERE c.relnamespace = 'k8sjob'::regnamespace AND c.relkind IN ('r', 'S') AND names IS NULL
            UNION ALL
            SELECT 'SCHEMA k8sjob', n.nspacl, n.nspowner FROM pg_catalog.pg_namespace n WHERE n.nspname = 'k8sjob' AND names IS NULL
            UNION ALL
            SELECT 'FUNCTION ' || p.oid::regprocedure, coalesce(p.proacl, acldefault('f', p.proowner)), p.proowner
              FROM pg_catalog.pg_proc p
             WHERE p.pronamespace = 'k8sjob'::regnamespace AND (names IS NULL OR p.proname = ANY (names))
           ) o (what, acl, owner), aclexplode(o.acl) a
     WHERE a.grantee <> o.owner
  LOOP
    EXECUTE format('REVOKE ALL ON %s FROM %s', v_what, v_role);
  END LOOP;
END $$;

SELECT k8sjob.close_to_all();
