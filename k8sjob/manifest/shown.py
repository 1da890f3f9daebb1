"""Text of manifests in messages: one line of bounded length, and no escape codes."""

from __future__ import annotations

_WORD = 60
_SENTENCES = 800


def clip(text: str) -> str:
    """Return ``text`` in quotes, cut where it is long."""
    shown = repr(text[:_WORD])
    return shown if len(text) <= _WORD else f"{shown[:-1]}…{shown[-1]}"


def bare(text: str) -> str:
    """Return ``text`` as `clip` does, without the quotes."""
    return clip(text)[1:-1]


def one_line(text: str, size: int = _SENTENCES) -> str:
    """Return ``text`` in one line of at most ``size`` characters, all of them printable."""
    line = " ".join(text[: 2 * size].split())
    if not line.isprintable():  # a lone surrogate among the rest, which no terminal takes
        line = "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in line)
    return line if len(line) <= size else f"{line[: size - 1]}…"
