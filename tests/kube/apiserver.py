"""A Kubernetes API server in small: real HTTP on 127.0.0.1, objects in memory, faults on order.

It knows lists in pages with selectors, gets, the create of a Job with its 409, and who may do what.
It runs no controller: a test says itself what becomes of a Job.

```python
with serving() as api:
    api.add(cronjob("billing/credit", "0 2 * * *"))
    cluster = Cluster.connect(kubeconfig=api.kubeconfig(tmp_path))
```
"""

from __future__ import annotations

import json
import threading
import uuid
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import parse_qs, unquote, urlsplit

from tests.kube.asked import Fault, Json, Request, forbidden, status_of
from tests.kube.made import ending

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_RESOURCES = {"CronJob": "cronjobs", "Job": "jobs", "Pod": "pods", "Event": "events"}
_KINDS = {resource: kind for kind, resource in _RESOURCES.items()}
_GROUPS = {"cronjobs": "batch", "jobs": "batch"}


@dataclass
class ApiServer:
    """The server's state. ``rules``: None allows all, else pairs such as ``("list", "jobs")``.

    ``on_create`` is called with each new Job, under the lock: it may finish it at once.
    ``token``: what a bearer has to bring; None asks for nothing.
    """

    port: int = 0
    objects: dict[tuple[str, str, str], Json] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    rules: set[tuple[str, str]] | None = None
    token: str | None = None
    on_create: Callable[[Json], None] | None = None
    page_limit: int = 500
    lock: threading.RLock = field(default_factory=threading.RLock, repr=False)
    _pages: dict[str, list[Json]] = field(default_factory=dict, repr=False)

    # ------------------------------------------------------------------------ for the test

    def add(self, *objects: Json) -> None:
        """Take objects in, or put them in the place of what was there."""
        with self.lock:
            for made in objects:
                meta = made["metadata"]
                key = (_RESOURCES[made["kind"]], meta["namespace"], meta["name"])
                self.objects[key] = made

    def remove(self, resource: str, namespace: str, name: str) -> None:
        """Take an object out, as ttl and people do."""
        with self.lock:
            del self.objects[resource, namespace, name]

    def end_job(self, namespace: str, name: str, end: str, **how: Any) -> None:
        """Let a Job end with ``Complete`` or ``Failed``: see `made.ending`."""
        with self.lock:
            status = self.objects["jobs", namespace, name]["status"]
            status |= {"active": 0, "ready": 0}
            status |= ending(end, datetime.now(UTC), **how)

    def jobs(self) -> list[Json]:
        """Return the Jobs that are there, by name."""
        with self.lock:
            return [self.objects[key] for key in sorted(self.objects) if key[0] == "jobs"]

    def job_names(self) -> list[str]:
        """Return the names of the Jobs that are there."""
        return [job["metadata"]["name"] for job in self.jobs()]

    def fail(self, verb: str, resource: str, status: int, **how: Any) -> None:
        """Order a fault: see `Fault`."""
        self.faults.append(Fault(verb, resource, status, **how))

    def asked(self) -> list[tuple[str, str]]:
        """Return verb and resource of each request so far."""
        return [(request.verb, request.resource) for request in self.requests]

    def kubeconfig(self, folder: Path, *, token: str | None = None) -> str:
        """Write a kubeconfig for this server and return its file's name."""
        user = {"token": token} if token else {}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "test",
            "clusters": [{"name": "small", "cluster": {"server": f"http://127.0.0.1:{self.port}"}}],
            "users": [{"name": "tester", "user": user}],
            "contexts": [{"name": "test", "context": {"cluster": "small", "user": "tester"}}],
        }
        path = folder / f"kubeconfig-{self.port}.json"
        path.write_text(json.dumps(config), encoding="utf-8")
        return str(path)

    # ---------------------------------------------------------------------- for the handler

    def answer(self, request: Request, body: Json | None) -> tuple[int, str]:
        """Carry a request out."""
        with self.lock:
            status, told = self._answer(request, body)
            return status, json.dumps(told)

    def _answer(self, request: Request, body: Json | None) -> tuple[int, Json]:
        if self.token and request.headers.get("Authorization") != f"Bearer {self.token}":
            return 401, status_of(401, "Unauthorized", "Unauthorized")
        if self.rules is not None and (request.verb, request.resource) not in self.rules:
            return 403, forbidden(request)
        if request.resource not in _KINDS:
            return 404, status_of(404, "NotFound", "the server could not find the resource")
        if request.verb == "create":
            return self._create(request, body or {})
        return self._list(request) if request.verb == "list" else self._get(request)

    def _get(self, request: Request) -> tuple[int, Json]:
        found = self.objects.get((request.resource, request.namespace or "", request.name or ""))
        if found is None:
            group = ".batch" if request.resource in _GROUPS else ""
            message = f'{request.resource}{group} "{request.name}" not found'
            return 404, status_of(404, "NotFound", message)
        return 200, found

    def _create(self, request: Request, body: Json) -> tuple[int, Json]:
        meta = body["metadata"]
        namespace, name = request.namespace or "", meta["name"]
        if (request.resource, namespace, name) in self.objects:
            group = ".batch" if request.resource in _GROUPS else ""
            message = f'{request.resource}{group} "{name}" already exists'
            return 409, status_of(409, "AlreadyExists", message)
        made = json.loads(json.dumps(body))
        made["metadata"] |= {
            "namespace": namespace,
            "uid": str(uuid.uuid4()),
            "resourceVersion": str(len(self.requests)),
            "creationTimestamp": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        }
        made.setdefault("status", {"active": 1, "ready": 0, "terminating": 0})
        self.objects[request.resource, namespace, name] = made
        if self.on_create:
            self.on_create(made)
        return 201, made

    def _list(self, request: Request) -> tuple[int, Json]:
        token = request.query.get("continue")
        if token is None:
            found = self._selected(request)
        elif token in self._pages:
            found = self._pages.pop(token)
        else:
            message = "The provided continue parameter is too old to display a consistent list."
            return 410, status_of(410, "Expired", message)
        limit = min(int(request.query.get("limit") or self.page_limit), self.page_limit)
        page, rest = found[:limit], found[limit:]
        meta: Json = {"resourceVersion": str(len(self.requests))}
        if rest:
            meta |= {"continue": uuid.uuid4().hex, "remainingItemCount": len(rest)}
            self._pages[meta["continue"]] = rest
        group = "batch/v1" if request.resource in _GROUPS else "v1"
        kind = f"{_KINDS[request.resource]}List"
        return 200, {"apiVersion": group, "kind": kind, "metadata": meta, "items": page}

    def _selected(self, request: Request) -> list[Json]:
        found = [
            self.objects[key]
            for key in sorted(self.objects)
            if key[0] == request.resource and request.namespace in (None, key[1])
        ]
        labels = _terms(request.query.get("labelSelector"))
        fields = _terms(request.query.get("fieldSelector"))
        return [o for o in found if _labelled(o, labels) and _has(o, fields)]


def _terms(selector: str | None) -> list[tuple[str, str | None]]:
    pairs = [term.partition("=") for term in (selector or "").split(",") if term]
    return [(name, value.lstrip("=") if equals else None) for name, equals, value in pairs]


def _labelled(made: Json, terms: list[tuple[str, str | None]]) -> bool:
    labels = made["metadata"].get("labels") or {}
    return all(
        name in labels if value is None else labels.get(name) == value for name, value in terms
    )


def _has(made: Json, terms: list[tuple[str, str | None]]) -> bool:
    return all(_field(made, name) == value for name, value in terms)


def _field(made: Json, path: str) -> Any:
    found: Any = made
    for name in path.split("."):
        found = found.get(name) if isinstance(found, dict) else None
    return found


class _Handler(BaseHTTPRequestHandler):
    api: ClassVar[ApiServer]

    def do_GET(self) -> None:
        self._serve(None)

    def do_POST(self) -> None:
        self._serve(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def _serve(self, body: Json | None) -> None:
        request = self._request(body)
        with self.api.lock:
            self.api.requests.append(request)
            fault = next((fault for fault in self.api.faults if fault.hits(request)), None)
        if fault is None or fault.late:
            status, text = self.api.answer(request, body)
            if fault is None:
                return self._send(status, text, {})
        assert fault is not None
        if fault.status:
            said = status_of(fault.status, "Fault", "a fault on order")
            return self._send(fault.status, fault.body or json.dumps(said), fault.headers)
        self.close_connection = True
        return None

    def _request(self, body: Json | None) -> Request:
        url = urlsplit(self.path)
        parts = [unquote(part) for part in url.path.strip("/").split("/")]
        parts = parts[3:] if parts[0] == "apis" else parts[2:]
        namespace = None
        if parts[0] == "namespaces":
            namespace, parts = parts[1], parts[2:]
        name = parts[1] if len(parts) > 1 else None
        verb = "get" if name else "list"
        if body is not None:
            verb, name = "create", body["metadata"]["name"]
        query = {key: values[0] for key, values in parse_qs(url.query).items()}
        return Request(verb, parts[0], namespace, name, query, dict(self.headers))

    def _send(self, status: int, text: str, headers: dict[str, str]) -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the base's name
        """Say nothing."""


@contextmanager
def serving() -> Iterator[ApiServer]:
    """Serve until the end of the block."""
    api = ApiServer()
    handler = type("Handler", (_Handler,), {"api": api})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        api.port = server.server_port
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield api
        finally:
            server.shutdown()
            thread.join()
