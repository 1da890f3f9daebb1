-- oldest-client: 0.1.0
-- A grant is remembered and made again by each migration: REVOKE by hand would not last.

CREATE FUNCTION k8sjob.revoke_access(grantee text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM pg_catalog.pg_namespace n JOIN pg_catalog.pg_roles r ON r.oid = n.nspowner
              WHERE n.nspname = 'k8sjob' AND r.rolname = grantee) THEN
    RAISE EXCEPTION 'role "%" owns the ledger', grantee USING HINT = 'Nothing was taken from it: an owner has its rights as the owner.';
  END IF;
  DELETE FROM k8sjob.grants g WHERE g.grantee = revoke_access.grantee;
  IF EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.rolname = grantee) THEN
    EXECUTE format('REVOKE ALL ON ALL FUNCTIONS IN SCHEMA k8sjob FROM %I', grantee);
    EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA k8sjob FROM %I', grantee);
    EXECUTE format('REVOKE ALL ON ALL SEQUENCES IN SCHEMA k8sjob FROM %I', grantee);
    EXECUTE format('REVOKE ALL ON SCHEMA k8sjob FROM %I', grantee);
  END IF;
END $$;
COMMENT ON FUNCTION k8sjob.revoke_access IS 'Owner only: takes all rights on this ledger from a role, which may be gone already.';
SELECT k8sjob.close_to_all('{revoke_access}');
