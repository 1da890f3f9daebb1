from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from k8sjob.ledger.secrets import Redactor

if TYPE_CHECKING:
    from collections.abc import Callable

NASTY = [
    "correct horse",
    "p@ss:word/1",
    "100%safe",
    "it's me",
    'say "cheese"',
    "back\\slash",
    "trailing\\",
    "\\leading",
    "a\\'b\\\\'c",
    "'quoted'",
    "?query&x=1#end",
    "plus+minus",
    "tab\tnew\nline",
    "schlüssel-ß",
    "ключ€",
    "key🔑key",
    "\\ü\\🔑",
    "%41%2541",
]


def lower(percent_encoded: str) -> str:
    pieces = percent_encoded.split("%")
    return "%".join([pieces[0], *(piece[:2].lower() + piece[2:] for piece in pieces[1:])])


#: All that a password may look like in a text that somebody wrote for a log.
FORMS: dict[str, Callable[[str], str]] = {
    "raw": str,
    "in a URL": lambda p: quote(p, safe=""),
    "in a URL, lower case": lambda p: lower(quote(p, safe="")),
    "in a URL's path": quote,
    "in a form": quote_plus,
    "in a URL in a URL": lambda p: quote(quote(p, safe=""), safe=""),
    "in a keyword": lambda p: make_conninfo(password=p),
    "in a keyword, in repr": lambda p: repr(make_conninfo(password=p)),
    "repr": repr,
    "repr of repr": lambda p: repr(repr(p)),
    "ascii": ascii,
    "repr of bytes": lambda p: repr(p.encode()),
    "JSON": json.dumps,
    "JSON in Unicode": lambda p: json.dumps(p, ensure_ascii=False),
    "JSON in JSON": lambda p: json.dumps(json.dumps(p)),
    "JSON of a DSN": lambda p: json.dumps({"dsn": make_conninfo(password=p, host="db")}),
    "SQL": lambda p: p.replace("'", "''"),
}


def url(password: str) -> str:
    return f"postgresql://shop_app:{quote(password, safe='')}@db.example:5432/shop"


#: All the ways in which a password reaches us.
SOURCES: dict[str, Callable[[str], Redactor]] = {
    "URL": lambda p: Redactor(url(p)),
    "URL, lower case": lambda p: Redactor(
        f"postgres://u:{lower(quote(p, safe=''))}@db/shop?connect_timeout=3"
    ),
    "query": lambda p: Redactor(f"postgresql://db/shop?user=u&password={quote(p, safe='')}&a=b"),
    "keyword": lambda p: Redactor(make_conninfo(host="db", password=p, user="u")),
    "PGPASSWORD": lambda p: Redactor("postgresql://u@db/shop", passwords=[p]),
}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("form", FORMS)
def test_a_password_is_found_in_every_form_wherever_it_was_given(form: str, source: str) -> None:
    for password in NASTY:
        redacted = SOURCES[source](password)(f"<{FORMS[form](password)}>")
        around, _, after = redacted.partition("***")
        assert after, password
        # What is left is what the form itself is made of.
        left = (around + after).replace("password=", "").replace("host=db", "").replace("dsn", "")
        assert not any(word in left for word in re.findall(r"\w\w+", password)), password


@pytest.mark.parametrize("password", NASTY, ids=ascii)
def test_what_libpq_reads_in_the_dsn_is_what_is_hidden(password: str) -> None:
    for dsn in (url(password), make_conninfo(host="db", password=password)):
        assert conninfo_to_dict(dsn)["password"] == password
        assert password not in Redactor(dsn)(password)


#: Six letters that no other text holds, so that a fragment of the password shows.
characters = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
passwords = st.builds("{}qzxjvk{}".format, characters, characters)


@given(passwords, st.sampled_from(sorted(FORMS)), st.sampled_from(sorted(SOURCES)), characters)
@example("\\\\qzxjvk\\ü", "JSON in JSON", "keyword", "\\")
@example("%2540qzxjvk+ ", "in a form", "query", "%25")
def test_no_form_of_the_password_survives(
    password: str, form: str, source: str, around: str
) -> None:
    text = f"{around}{FORMS[form](password)}{around}"
    assert "qzxjvk" not in SOURCES[source](password)(text)


@given(passwords, st.text())
def test_a_text_without_the_password_is_left_as_it_is(password: str, text: str) -> None:
    for source in SOURCES.values():
        assert source(password)(text) == text


def test_nothing_else_is_blackened() -> None:
    redact = Redactor(url("s3cret/word"), passwords=["other one"])
    text = (
        "could not connect as shop_app to db.example:5432/shop: password authentication failed; "
        "s3cret and word, s3cret_word, password=, https://u:pw@other.example/, other%one, /word"
    )
    assert redact(text) == text
    assert redact("a s3cret/word b") == "a *** b"
    assert redact("other+one, other%20one, other one") == "***, ***, ***"


def test_the_dsn_itself_is_blackened_whole() -> None:
    for dsn in (url("hunter2"), "host=db user=u password=hunter2", "host=db password='a b\\'c'"):
        assert Redactor(dsn)(f"cannot reach {dsn}!") == "cannot reach ***!"


def test_a_short_password_goes_with_its_dsn_and_spares_other_words() -> None:
    dsn = "postgresql://u:pw@db/shop"
    assert Redactor(dsn)(f"{dsn} has the pw of a pawn") == "*** has the pw of a pawn"


@pytest.mark.parametrize(
    "dsn",
    [
        "postgresql://db.example/shop",
        "postgresql://shop_app@db.example/shop?sslmode=require&passfile=/etc/pgpass",
        "host=db.example user=shop_app passfile=/etc/pgpass",
        "sqlite:////var/lib/password=hunter2/a:b@c.db",
        "sqlite:///ledger.db",
        "",
    ],
)
def test_a_dsn_without_a_password_is_no_secret(dsn: str) -> None:
    text = f"the ledger {dsn} of shop_app at /var/lib/password=hunter2/a:b@c.db, hunter2"
    assert Redactor(dsn, passwords=[""])(text) == text


@pytest.mark.parametrize(
    "name",
    ["password", "sslpassword", "oauth_client_secret", "scram_client_key", "scram_server_key"],
)
def test_each_parameter_of_libpq_that_is_a_secret_is_known(name: str) -> None:
    for dsn in (f"postgresql://db/?{name}=hunter2", f"host=db {name} = hunter2"):
        assert Redactor(dsn)("it is hunter2") == "it is ***"


@pytest.mark.parametrize(
    ("dsn", "password"),
    [
        ("postgresql://u:ab@cd:ef@db/shop", "ab@cd:ef"),  # an @ that should have been %40
        ("postgresql://u:ab/cd@db/shop", "ab/cd"),
        ("postgresql://u:ab?cd#ef@db/shop", "ab?cd#ef"),
        ("postgresql://u:ab%zzcd@db/shop", "ab%zzcd"),
        ("host=db password='abcd", "abcd"),  # an end that is missing
    ],
)
def test_a_password_in_a_dsn_that_libpq_does_not_read_is_hidden_too(
    dsn: str, password: str
) -> None:
    assert Redactor(dsn)(f"not a DSN: {dsn}; {password}") == "not a DSN: ***; ***"


def test_of_two_passwords_the_longer_one_goes_whole() -> None:
    redact = Redactor("host=db password=hunter sslpassword=hunter22", passwords=["hunter222"])
    assert redact("hunter222 hunter22 hunter") == "*** *** ***"


def test_a_password_that_is_no_utf8_is_hidden_as_the_environment_holds_it() -> None:
    password = b"gr\xfc\xdfe-42".decode("utf-8", "surrogateescape")  # as os.environ does
    assert Redactor(passwords=[password])(f"<{password}>") == "<***>"
    assert Redactor(passwords=[password])(r"<gr%FC%dfe-42>") == "<***>"


def test_what_is_left_of_a_password_where_a_text_was_cut_goes_too() -> None:
    redact = Redactor(url("it's s3cret/word"))
    assert redact("LINE 1: SELECT 'it''s s3cr...") == "LINE 1: SELECT '***..."
    assert redact("LINE 1: ...cret/word' || 'it%27s%20s3cr...") == "LINE 1: ...***' || '***..."
    assert redact("it's s3... and ...word") == "***... and ...***"
    assert redact("s3cret... it'... ...ord") == "s3cret... it'... ...ord"
    assert Redactor(passwords=["abcd"])("abc... ...bcd abcd...") == "abc... ...bcd ***..."


def test_a_long_run_of_backslashes_takes_no_time() -> None:
    redact = Redactor(passwords=["\\\\a\\b@\\'ü\\"])
    text = "\\" * 20_000 + "a" + "\\" * 20_000 + "b@" + "\\" * 20_000
    assert redact(text) == text  # a pattern that goes back and forth would need hours
