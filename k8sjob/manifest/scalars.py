"""What a word without quotes is to Kubernetes: a text, a number, a boolean or null.

kubectl and helm read YAML with sigs.k8s.io/yaml, which resolves words as YAML 1.1 did
(goyaml.v2/resolve.go): ``yes``, ``on`` and ``y`` are booleans, ``0600`` is octal, a time is a text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from k8sjob.manifest.tree import Value

_BOOLEANS = {
    spelling: value
    for value, words in ((True, ("y", "yes", "true", "on")), (False, ("n", "no", "false", "off")))
    for word in words
    for spelling in (word, word.title(), word.upper())
}
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_INT = re.compile(r"([+-]?)(?:0x([0-9a-f]+)|0b([01]+)|0o?([0-7]+)|(0|[1-9][0-9]*))", re.IGNORECASE)
_BASES = (16, 2, 8, 10)
_FLOAT = re.compile(
    r"[+-]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:e[+-]?[0-9]+)?|[+-]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
    re.IGNORECASE,
)
#: More digits than Go's 64 bits have are not a whole number to Kubernetes.
_LONGEST = 64
_START = frozenset("0123456789+-.")


def resolve(text: str) -> Value:
    """Return what the word ``text`` stands for when it has neither quotes nor a tag."""
    if text in _NULLS:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    return _number(text) if text[0] in _START else text


def _number(text: str) -> Value:
    plain = text.replace("_", "")
    if len(plain) <= _LONGEST and (match := _INT.fullmatch(plain)):
        sign, *digits = match.groups()
        found = next((int(d, base) for d, base in zip(digits, _BASES, strict=True) if d), 0)
        if found < 2**63:
            return -found if sign == "-" else found
    if _FLOAT.fullmatch(plain):
        return float(plain.lower().replace(".inf", "inf").replace(".nan", "nan"))
    return text
