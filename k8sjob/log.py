"""Log lines: a sentence, an event's name and fields; JSON in a Pod, plain text for a person."""

from __future__ import annotations

import json
import logging
import os
import sys
from typing import TYPE_CHECKING, Any

from k8sjob.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


def wants_json(env: Mapping[str, str] | None = None) -> bool:
    """Whether to log JSON: K8SJOB_LOG_FORMAT says so, or this runs in a Pod. Raises ConfigError."""
    env = os.environ if env is None else env
    choice = env.get("K8SJOB_LOG_FORMAT") or (
        "json" if "KUBERNETES_SERVICE_HOST" in env else "text"
    )
    if choice not in ("json", "text"):
        raise ConfigError(
            f"K8SJOB_LOG_FORMAT={choice!r} is neither json nor text. Nothing was done."
        )
    return choice == "json"


class JsonFormatter(logging.Formatter):
    """One JSON object a line: time, level, message, event and whatever fields a record carries."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as one line of JSON."""
        line: dict[str, Any] = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S") + f".{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "message": record.getMessage(),
        }
        line |= {k: v for k, v in vars(record).items() if k not in _STANDARD}
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str, ensure_ascii=False)


class _Redacting(logging.StreamHandler[Any]):
    def __init__(self, redact: Callable[[str], str], formatter: logging.Formatter) -> None:
        super().__init__(sys.stderr)
        self.setFormatter(formatter)
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        return self._redact(super().format(record))


def set_up(redact: Callable[[str], str], *, as_json: bool) -> None:
    """Send the ``k8sjob`` logger to standard error, without secrets.

    What a target or a library logs and nobody handles goes the same way, from WARNING on, as it
    does without us; a handler of the target's own is its own affair.
    """
    import time  # noqa: PLC0415  # for its converter only

    formatter = JsonFormatter() if as_json else logging.Formatter("k8sjob: %(message)s")
    formatter.converter = time.gmtime
    logger = logging.getLogger("k8sjob")
    logger.handlers[:] = [_Redacting(redact, formatter)]
    logger.setLevel(logging.INFO)
    logger.propagate = False
    logging.lastResort = _Redacting(redact, formatter if as_json else logging.Formatter())
    logging.lastResort.setLevel(logging.WARNING)
