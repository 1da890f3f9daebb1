-- What can be seen of a ledger by any login: the catalogue is everybody's to read.

-- name: server
SELECT current_setting('server_version_num')::int, pg_is_in_recovery(), current_setting('transaction_read_only')::boolean

-- name: clock
SELECT extract(epoch FROM clock_timestamp())::float8

-- name: schema
SELECT n.oid IS NOT NULL, coalesce(has_schema_privilege(n.oid, 'USAGE'), false), coalesce(has_table_privilege(m.oid, 'SELECT'), false),
       has_database_privilege(current_database(), 'CREATE')
  FROM (SELECT) one
  LEFT JOIN pg_catalog.pg_namespace n ON n.nspname = 'k8sjob'
  LEFT JOIN pg_catalog.pg_class m ON m.relnamespace = n.oid AND m.relname = 'migrations'

-- name: versions
SELECT version, oldest_client FROM k8sjob.migrations ORDER BY version

-- name: login
SELECT r.rolname, r.rolsuper, coalesce(has_schema_privilege(n.oid, 'USAGE'), false), pg_get_userbyid(n.nspowner), coalesce(pg_has_role(n.nspowner, 'USAGE'), false),
       coalesce(pg_has_role(n.nspowner, 'MEMBER'), false)
  FROM pg_catalog.pg_roles r LEFT JOIN pg_catalog.pg_namespace n ON n.nspname = 'k8sjob' WHERE r.rolname = current_user

-- name: tables
SELECT c.relname, has_table_privilege(c.oid, 'SELECT'), has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = 'k8sjob' AND c.relkind IN ('r', 'p') ORDER BY c.relname

-- name: functions
SELECT r.capability, p.proname, bool_and(has_function_privilege(p.oid, 'EXECUTE'))
  FROM k8sjob.rights r JOIN pg_catalog.pg_proc p ON p.proname = r.function
  JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace AND n.nspname = 'k8sjob'
 GROUP BY 1, 2 ORDER BY 1, 2

-- name: settings
SELECT s.name, s.setting FROM pg_catalog.pg_settings s
 WHERE s.name IN ('idle_in_transaction_session_timeout', 'statement_timeout', 'lock_timeout',
                  'transaction_timeout', 'tcp_keepalives_idle', 'tcp_keepalives_interval', 'tcp_keepalives_count',
                  'client_connection_check_interval', 'synchronous_commit', 'fsync', 'full_page_writes')

-- name: process
SELECT pg_backend_pid()

-- name: remember
SELECT set_config('k8sjob.doctor', 'here', true)

-- name: recall
SELECT coalesce(current_setting('k8sjob.doctor', true), '')
