"""JSON as the API sends it, read with care: what is absent is None, what is garbage has a name."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Never

from k8sjob.errors import K8sjobError

__all__ = ["Fields", "UnreadableObject"]


class UnreadableObject(K8sjobError):
    """An object of the Kubernetes API has another form than the API's own reference says."""


class Fields:
    """A JSON object and where it stands, e.g. ``spec.jobTemplate of CronJob billing/credit``.

    Each method returns what stands under a name: None, or nothing in it, where it is absent or
    null. Raises `UnreadableObject` where something of another type stands there.
    """

    __slots__ = ("_path", "_raw", "_whose")

    def __init__(self, raw: object, whose: str, path: str = "") -> None:
        """Take ``raw``, the part at ``path`` of the object called ``whose``."""
        self._whose, self._path = whose, path
        self._raw: dict[str, Any] = raw if isinstance(raw, dict) else self._refuse("", raw, "")

    def _refuse(self, name: str, value: object, wanted: str) -> Never:
        where = ".".join(filter(None, (self._path, name))) or "the whole of it"
        raise UnreadableObject(
            f"{self._whose} cannot be read: {where} is {str(value)[:60]!r} and not "
            f"{wanted or 'an object'}. Nothing was done for it.\n"
            "  Compare it with kubectl get -o json; a proxy or another API may have answered."
        )

    def _get(self, name: str, kind: type, wanted: str) -> Any:
        value = self._raw.get(name)
        # A bool is an int to Python and not to JSON.
        fits = isinstance(value, kind) and isinstance(value, bool) == (kind is bool)
        return value if value is None or fits else self._refuse(name, value, wanted)

    def text(self, name: str) -> str | None:
        """Return a text; None for an empty one too, as the API leaves empty ones out."""
        return self._get(name, str, "a text") or None

    def needed(self, name: str) -> str:
        """Return a text that every such object has."""
        return self.text(name) or self._refuse(name, self._raw.get(name), "a text")

    def number(self, name: str) -> int | None:
        """Return a whole number."""
        number: int | None = self._get(name, int, "a whole number")
        return number

    def flag(self, name: str) -> bool:
        """Return whether it is true."""
        return bool(self._get(name, bool, "true or false"))

    def time(self, name: str) -> datetime | None:
        """Return an RFC 3339 time as aware UTC."""
        text = self.text(name)
        if text is None:
            return None
        try:
            at = datetime.fromisoformat(text)
        except ValueError:
            self._refuse(name, text, "a time")
        return at.astimezone(UTC) if at.tzinfo else self._refuse(name, text, "a time with a zone")

    def needed_time(self, name: str) -> datetime:
        """Return a time that every such object has."""
        return self.time(name) or self._refuse(name, self._raw.get(name), "a time")

    def under(self, *names: str) -> Fields:
        """Return the object at the end of ``names``, an empty one where there is none."""
        found = self
        for name in names:
            inner = found._get(name, dict, "an object")
            found = Fields(inner or {}, self._whose, ".".join(filter(None, (found._path, name))))
        return found

    def each(self, name: str) -> list[Fields]:
        """Return the objects of a list."""
        items = self._get(name, list, "a list") or []
        path = ".".join(filter(None, (self._path, name)))
        return [Fields(item, self._whose, f"{path}[{n}]") for n, item in enumerate(items)]

    def texts(self, name: str) -> dict[str, str]:
        """Return a map of texts, such as labels."""
        inner = self.under(name)
        return {key: inner.text(key) or "" for key in inner.names()}

    def names(self) -> list[str]:
        """Return the names that stand in it."""
        return list(self._raw)

    def raw(self) -> dict[str, Any]:
        """Return the JSON itself."""
        return self._raw
