"""Whether the schema fits this client, and the login its purpose. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from k8sjob.doctor.line import fail, ok, warn
from k8sjob.doctor.purpose import more_than
from k8sjob.ledger.versions import version_numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from k8sjob.doctor.line import Line
    from k8sjob.doctor.purpose import Need
    from k8sjob.ledger.survey import Rights, Schema

_MIGRATE = "as the ledger's owner: k8sjob migrate"
_NAMED = 5


def check_schema(schema: Schema, need: Need, *, newest: int, client: str) -> Line:
    """Compare the ledger's version with ``newest``, which this ``client`` knows."""
    migrates = need.capability == "owner"
    if not schema.there:
        if migrates:
            return ok("schema", f"none yet: k8sjob migrate makes it, version {newest}")
        return fail("schema", "there is no schema k8sjob in this database", _MIGRATE)
    if schema.version is None:
        if schema.usable and migrates:
            return ok("schema", "empty: k8sjob migrate fills it")
        seen = "its version cannot be read by this login, or it is empty"
        return fail("schema", seen, "see grants; if it is empty, " + _MIGRATE)
    return _compared(schema, schema.version, migrates=migrates, newest=newest, client=client)


def _compared(schema: Schema, version: int, *, migrates: bool, newest: int, client: str) -> Line:
    oldest = schema.oldest_client or "0"
    if version_numbers(client) < version_numbers(oldest):
        return fail(
            "schema",
            f"version {version} takes clients from {oldest} on, and refuses this one, {client}",
            f"put k8sjob {oldest} or later into this image",
        )
    if version > newest:
        newer = f"version {version}, newer than the {newest} of this client, which it lets in"
        return ok("schema", f"{newer} (clients from {oldest} on)")
    if version == newest:
        return ok("schema", f"version {version}, that of this client")
    older = f"version {version}, older than the {newest} of this client"
    return (
        ok("schema", f"{older}: k8sjob migrate brings it up")
        if migrates
        else fail("schema", f"{older}: what it lacks fails with 75", _MIGRATE)
    )


def check_grants(rights: Rights, schema: Schema, need: Need) -> Iterator[Line]:
    """Compare what the login may do with what it needs: less is a failure, more a warning."""
    if not schema.there and need.capability != "owner":
        return  # nothing is there to have a right on
    yield from _lacks(rights, schema, need) or _has_more(rights, need) or [_as_needed(rights, need)]


def _as_needed(rights: Rights, need: Need) -> Line:
    return ok("grants", f"{rights.user} may do what {_a(need.capability)} needs, and no more")


def _lacks(rights: Rights, schema: Schema, need: Need) -> list[Line]:
    if need.capability == "owner":
        return _no_owner(rights, schema)
    capabilities = [
        c for c in ("reader", "runner", "operator") if c not in more_than(need.capability)
    ]
    missing = [f"{name}()" for c in capabilities for name in rights.refused.get(c, ())]
    missing += [f"SELECT on {name}" for name in rights.unread]
    if not schema.usable:
        missing = ["USAGE on schema k8sjob", *missing]
    if not missing:
        return []
    seen = f"{rights.user} is no {need.capability} of this ledger: it lacks {_some(missing)}"
    do = f"as the ledger's owner: k8sjob migrate --grant-{need.capability} {rights.user}"
    return [fail("grants", seen, do)]


def _no_owner(rights: Rights, schema: Schema) -> list[Line]:
    if rights.is_owner or (not schema.there and schema.may_create):
        return []
    if not schema.there:
        seen = f"{rights.user} may make no schema in this database"
        do = f'as its owner: GRANT CREATE ON DATABASE … TO "{rights.user}"'
        return [fail("grants", seen, do)]
    seen = f"schema k8sjob belongs to {rights.owner}, and this is {rights.user}"
    return [fail("grants", seen, f"put the DSN of {rights.owner} there")]


def _has_more(rights: Rights, need: Need) -> list[Line]:
    who, role = rights.user, _a(need.capability)
    if rights.superuser:
        seen = f"{who} is a superuser: whoever gets this DSN owns the server"
        return [warn("grants", seen, f"make a role for it, and: {_make_it(need)}")]
    if need.capability == "owner":
        return []
    if rights.may_be_owner:
        seen = f"{who} is, or may become, the schema's owner {rights.owner}: {role} is enough"
        return [warn("grants", seen, f"make a role for it, and: {_make_it(need)}")]
    if rights.written:
        seen = f"{who} may write past k8sjob to its tables: {_some(rights.written)}"
        do = f'REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON ALL TABLES IN SCHEMA k8sjob FROM "{who}"'
        return [warn("grants", seen, f"as the ledger's owner: {do}")]
    above = [f"{name}()" for c in more_than(need.capability) for name in rights.callable.get(c, ())]
    if not above:
        return []
    seen = f"{who} may more than {role} needs: {_some(above)}"
    return [warn("grants", seen, f"give this purpose a login of its own: {_make_it(need)}")]


def _make_it(need: Need) -> str:
    if need.capability == "owner":
        return "let it own schema k8sjob and nothing else"
    return f"k8sjob migrate --grant-{need.capability} ROLE"


def _a(capability: str) -> str:
    return f"{'an' if capability[0] in 'aeiou' else 'a'} {capability}"


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
