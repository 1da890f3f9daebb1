"""All that Postgres knows of schema ``k8sjob``, to compare two ways of making it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.migration.empty import Empty

OURS = "relnamespace = 'k8sjob'::regnamespace"

QUERIES = {
    "schema": "SELECT nspname, nspowner::regrole::text, nspacl::text FROM pg_namespace"
    " WHERE nspname = 'k8sjob'",
    "relations": "SELECT relname, relkind, relpersistence, relowner::regrole::text, relacl::text,"
    f" reloptions::text, obj_description(oid, 'pg_class') FROM pg_class WHERE {OURS}",
    "columns": "SELECT c.relname, a.attnum, a.attname, format_type(a.atttypid, a.atttypmod),"
    " a.attnotnull, a.attcollation::regcollation::text, a.attidentity, a.attgenerated,"
    " a.attacl::text, pg_get_expr(d.adbin, d.adrelid) FROM pg_attribute a"
    " JOIN pg_class c ON c.oid = a.attrelid"
    " LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum"
    f" WHERE c.{OURS} AND a.attnum > 0",
    "constraints": "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid),"
    " condeferrable, condeferred FROM pg_constraint"
    " WHERE connamespace = 'k8sjob'::regnamespace",
    "indexes": "SELECT i.indexrelid::regclass::text, pg_get_indexdef(i.indexrelid), i.indisvalid"
    f" FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE c.{OURS}",
    "functions": "SELECT oid::regprocedure::text, pg_get_functiondef(oid),"
    " proowner::regrole::text, proacl::text, obj_description(oid, 'pg_proc') FROM pg_proc"
    " WHERE pronamespace = 'k8sjob'::regnamespace",
    "triggers": "SELECT t.tgrelid::regclass::text, pg_get_triggerdef(t.oid), t.tgenabled"
    f" FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid WHERE c.{OURS}",
    "types": "SELECT typname, typtype, typowner::regrole::text, typacl::text FROM pg_type"
    " WHERE typnamespace = 'k8sjob'::regnamespace",
    "versions": "SELECT version, name, oldest_client FROM k8sjob.migrations",
    "grants": "SELECT capability, grantee FROM k8sjob.grants",
}


def catalogue(empty: Empty) -> dict[str, list[tuple[Any, ...]]]:
    """Return what each of the queries answers, in an order that does not depend on oids."""
    return {name: sorted(empty.rows(query), key=repr) for name, query in QUERIES.items()}
