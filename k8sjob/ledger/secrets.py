"""Keep passwords out of what is printed, logged and stored."""

from __future__ import annotations

import re
from urllib.parse import quote, quote_plus, unquote

#: Shorter ones would blacken half of any text; nobody should call them a secret.
_SHORTEST = 4
_IN_URL = re.compile(r"[a-z]+://[^/?#\s]*?:(?P<password>[^@/?#\s]*)@")
_IN_QUERY = re.compile(r"[?&](?:password|sslpassword)=(?P<password>[^&#\s]*)")
_IN_KEYWORDS = re.compile(
    r"\b(?:password|sslpassword)\s*=\s*(?P<password>'(?:[^'\\]|\\.)*'|(?:[^\s\\]|\\.)+)"
)


class Redactor:
    """Replaces every form of a DSN's password, and the DSN itself, by ``***``."""

    def __init__(self, *secrets: str) -> None:
        """Take DSNs in URL or keyword form, or bare passwords."""
        forms = {form for secret in secrets if secret for form in _forms(secret)}
        longest_first = sorted((f for f in forms if len(f) >= _SHORTEST), key=len, reverse=True)
        self._pattern = (
            re.compile("|".join(map(re.escape, longest_first))) if longest_first else None
        )

    def __call__(self, text: str) -> str:
        """Return ``text`` without the secrets."""
        return self._pattern.sub("***", text) if self._pattern else text


def _forms(secret: str) -> set[str]:
    passwords = set()
    for pattern in (_IN_URL, _IN_QUERY):
        passwords |= {m["password"] for m in pattern.finditer(secret)}
    for m in _IN_KEYWORDS.finditer(secret):
        bare = m["password"]
        passwords |= {bare, re.sub(r"\\(.)", r"\1", bare.strip("'"))}
    if not passwords and "://" not in secret and "=" not in secret:
        passwords = {secret}
    plain = passwords | {unquote(p) for p in passwords}
    forms = plain | {quote(p, safe="") for p in plain} | {quote_plus(p) for p in plain}
    forms |= {p.replace("\\", "\\\\").replace("'", "\\'") for p in plain}
    return forms | ({secret} if passwords else set())
