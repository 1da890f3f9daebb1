"""What the API server itself says of who asked for what, where its audit log can be read.

``K8S_DIR`` is where the node's script keeps its state, unless ``K8SJOB_E2E_AUDIT`` names the log.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_LOG = Path(os.environ.get("K8S_DIR", "/var/lib/k8sjob-cluster")) / "logs/audit.log"


def log() -> Path | None:
    """Return the audit log, None where there is none."""
    path = Path(os.environ.get("K8SJOB_E2E_AUDIT", _LOG))
    return path if os.access(path, os.R_OK) else None


def asked(namespace: str, account: str, *, allowed: bool = True) -> set[str]:
    """Return what a service account asked for and was given, or refused, e.g. ``get jobs``."""
    user = f"system:serviceaccount:{namespace}:{account}"
    found = set()
    for event in map(json.loads, _lines_about(user)):
        about = event.get("objectRef", {})
        if event["user"]["username"] == user and _was_allowed(event) == allowed:
            found.add(f"{event['verb']} {about.get('resource') or event['requestURI']}")
    return found


def _lines_about(user: str) -> Iterator[str]:
    path = log()
    assert path, "there is no audit log"
    # A log that has grown too large lies beside the new one, and has the time in its name.
    for part in path.parent.glob(f"{path.stem}*{path.suffix}"):
        with part.open(encoding="utf-8") as lines:
            yield from (line for line in lines if user in line)


def _was_allowed(event: dict[str, dict[str, str]]) -> bool:
    return event.get("annotations", {}).get("authorization.k8s.io/decision") == "allow"
