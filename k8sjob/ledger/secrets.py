"""Keep passwords out of what is printed, logged and stored."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

if TYPE_CHECKING:
    from collections.abc import Iterable

#: libpq's parameters whose value is a secret (PostgreSQL documentation, 34.1.2).
_SECRET = frozenset(
    {"password", "sslpassword", "oauth_client_secret", "scram_client_key", "scram_server_key"}
)
#: Shorter ones would blacken half of any text; they go with the DSN that they stand in.
_SHORTEST = 4
_URL = re.compile(r"\s*postgres(?:ql)?://(?P<rest>.*)", re.DOTALL)
_KEYWORD = re.compile(
    r"(?<!\w)(?P<name>\w+)\s*=\s*(?P<value>'(?:[^'\\]|\\.)*'?|(?:[^\s\\]|\\.)*)", re.DOTALL
)
_LETTERS = {"\n": "n", "\r": "r", "\t": "t", "\b": "b", "\f": "f", "\v": "v", "\a": "a"}


class Redactor:
    """Replaces DSNs by ``***``, and their passwords wherever and however quoted they stand.

    Known are percent-encoding (of a part of the characters too, and of what is encoded already),
    the backslashes of libpq's keywords, of JSON and of Python's ``repr``, and SQL's doubled quotes.
    Where a text was cut, the part of a password that is left at the ``...`` goes too.
    A DSN without a password, SQLite's among them, is no secret.
    """

    def __init__(self, *dsns: str, passwords: Iterable[str] = ()) -> None:
        """Take DSNs in URL or keyword form, and bare ``passwords`` as PGPASSWORD holds them."""
        found = {dsn: _passwords(dsn) for dsn in dsns}
        secret = {*passwords, *(p for some in found.values() for p in some)}
        longest_first = sorted((s for s in secret if len(s) >= _SHORTEST), key=len, reverse=True)
        forms = [re.escape(dsn) for dsn, some in found.items() if some]
        forms += [_any_form(password) for password in longest_first]
        self._longer = [password for password in longest_first if len(password) > _SHORTEST]
        self._pattern = re.compile("|".join(forms)) if forms else None

    def __call__(self, text: str) -> str:
        """Return ``text`` without the secrets."""
        if self._pattern is None:
            return text
        text = self._pattern.sub("***", text)
        # Postgres quotes 60 columns of a statement that failed, with ... where it has cut it.
        if self._longer and "..." in text:
            text = re.sub(_any_rest(self._longer), "***", text)
        return text


def _passwords(dsn: str) -> set[str]:
    """Return what is secret in a DSN, as it is written there and as it is meant."""
    if url := _URL.match(dsn):
        written = _in_url(url["rest"])
        return {form for password in written if password for form in (password, unquote(password))}
    if dsn.startswith("sqlite:"):
        return set()  # the name of a file, whatever is in it
    values = [match["value"] for match in _KEYWORD.finditer(dsn) if match["name"] in _SECRET]
    bare = [v.removeprefix("'").removesuffix("'") if v[:1] == "'" else v for v in values]
    return {form for v in bare if v for form in (v, re.sub(r"\\(.)", r"\1", v, flags=re.DOTALL))}


def _in_url(rest: str) -> set[str]:
    # libpq ends the login at the first @; whoever forgot to encode one meant the last.
    logins = (rest[: max(rest.find("@"), 0)], rest[: max(rest.rfind("@"), 0)])
    pairs = [pair.partition("=") for pair in rest.partition("?")[2].split("&")]
    query = {value for name, _, value in pairs if unquote(name) in _SECRET}
    return {login.partition(":")[2] for login in logins} | query


def _any_rest(passwords: Iterable[str]) -> str:
    """Return a pattern of what is left of the passwords at three dots."""
    forms = {*passwords, *map(quote, passwords), *(quote(p, safe="") for p in passwords)}
    forms |= {p.replace("'", "''") for p in passwords}
    forms |= {p.replace("\\", r"\\").replace("'", r"\'") for p in passwords}
    cuts = [(form, n) for form in forms for n in range(len(form) - 1, _SHORTEST - 1, -1)]
    heads = sorted({re.escape(form[:n]) for form, n in cuts}, key=len, reverse=True)
    tails = sorted({re.escape(form[-n:]) for form, n in cuts}, key=len, reverse=True)
    return rf"(?:{'|'.join(heads)})(?=\.\.\.)|(?<=\.\.\.)(?:{'|'.join(tails)})"


def _any_form(secret: str) -> str:
    """Return a pattern that finds the secret whichever of its characters are quoted, and how."""
    pattern = before = ""
    for match in re.finditer(r"\\+|[A-Za-z0-9]+|.", secret, re.DOTALL):
        pattern += _any_form_of_run(match[0], before)
        before = match[0]
    return pattern


def _any_form_of_run(run: str, before: str) -> str:
    if run.isascii() and run.isalnum():
        return run  # nobody quotes these, and who writes them as %61 has them in the DSN too
    if run[0] == "\\":  # each of them at least once, since quoting doubles them
        return (r"(?<!\\)" if not before else "") + rf"(?:\\|%(?:25)*5[Cc]){{{len(run)},}}"
    forms = [re.escape(run), _hex("%(?:25)*", _utf8(run)), rf"(?<=\\)(?:{_escapes(run)})"]
    forms += {" ": [r"\+"], "'": ["''"], "%": ["%(?:25)+"]}.get(run, [])
    # A backslash before the secret may be another's; a run of them has taken all that follow it.
    backslashes = r"\\*+" if before and before[0] != "\\" else ""
    return f"{backslashes}(?:{'|'.join(forms)})"


def _escapes(char: str) -> str:
    r"""Return what follows ``\`` in Python and in JSON."""
    utf16, utf8 = char.encode("utf-16-be", "surrogatepass"), _utf8(char)
    forms = [
        _hex("u", utf16[:2], each=2) + _hex(r"\\+u", utf16[2:], each=2),
        _hex("U", ord(char).to_bytes(4, "big"), each=4),
        _hex("x", utf8[:1]) + _hex(r"\\+x", utf8[1:]),
    ]
    forms += [_hex("x", bytes([ord(char)]))] if "\x7f" < char <= "\xff" else []
    return "|".join(forms + ([_LETTERS[char]] if char in _LETTERS else []))


def _utf8(char: str) -> bytes:
    return char.encode("utf-8", "surrogateescape")  # as os.environ holds what is no UTF-8


def _hex(prefix: str, data: bytes, *, each: int = 1) -> str:
    """Return a pattern of the bytes in hexadecimal, in either case, ``each`` behind a prefix."""
    numbers = [data[i : i + each].hex() for i in range(0, len(data), each)]
    return "".join(prefix + re.sub("[a-f]", _either_case, number) for number in numbers)


def _either_case(letter: re.Match[str]) -> str:
    return f"[{letter[0]}{letter[0].upper()}]"
