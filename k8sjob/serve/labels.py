"""Sets of labels that know their own text, so that a scrape of thousands of them is quick. Pure."""

from __future__ import annotations

from functools import lru_cache

_ESCAPED = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})


class Labels:
    """Names and values in turn, and ``text``: how both exposition formats write them."""

    __slots__ = ("pairs", "text")

    def __init__(self, pairs: tuple[str, ...]) -> None:
        """Take names and values in turn."""
        self.pairs = pairs
        each = zip(pairs[::2], pairs[1::2], strict=True)
        inner = ",".join(f'{name}="{value.translate(_ESCAPED)}"' for name, value in each)
        self.text = f"{{{inner}}}"

    def plus(self, *pairs: str) -> Labels:
        """Return these and more."""
        return labels_of(*self.pairs, *pairs)

    def by_name(self) -> dict[str, str]:
        """Return the values by their names."""
        return dict(zip(self.pairs[::2], self.pairs[1::2], strict=True))


def labels_of(*pairs: str) -> Labels:
    """Return the labels of names and values in turn."""
    return _made(pairs)


#: Those of the last scrapes: nearly all come again, and making one costs more than all the rest.
@lru_cache(maxsize=500_000)
def _made(pairs: tuple[str, ...]) -> Labels:
    return Labels(pairs)
