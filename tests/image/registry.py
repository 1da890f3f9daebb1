"""A registry with one image on 127.0.0.1, so that a base can be pulled by its digest."""

from __future__ import annotations

import hashlib
import json
import tarfile
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any

from tests.fix_docker import call

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: https://github.com/distribution/distribution/blob/main/docs/content/spec/manifest-v2-2.md
_TYPE = "application/vnd.docker.distribution.manifest.v2+json"
_CONFIG = "application/vnd.docker.container.image.v1+json"
_LAYER = "application/vnd.docker.image.rootfs.diff.tar.gzip"  # a plain tar is taken too


@contextmanager
def serving(image: str, folder: Path) -> Iterator[str]:
    """Serve ``image``; yield the name, with its digest, by which this machine's daemon pulls it."""
    blobs = _blobs(image, folder)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._answer(blobs.get(self.path.rpartition("/")[2]))

        do_HEAD = do_GET  # noqa: N815  # the name that http.server asks for

        def _answer(self, blob: tuple[str, Path] | None) -> None:
            ping = self.path == "/v2/"
            self.send_response(200 if blob or ping else 404)
            if blob is None:
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            self.send_header("Content-Type", blob[0])
            self.send_header("Docker-Content-Digest", self.path.rpartition("/")[2])
            self.send_header("Content-Length", str(blob[1].stat().st_size))
            self.end_headers()
            if self.command == "GET":
                with blob[1].open("rb") as file:
                    self.wfile.writelines(iter(lambda: file.read(1 << 20), b""))

        def log_message(self, *_args: Any) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"127.0.0.1:{server.server_port}/base@{next(iter(blobs))}"
        finally:
            server.shutdown()


def _blobs(image: str, folder: Path) -> dict[str, tuple[str, Path]]:
    """Return type and file by digest; the manifest is the first."""
    saved = folder / "image.tar"
    assert call("save", f"--output={saved}", image).code == 0
    with tarfile.open(saved) as tar:
        tar.extractall(folder, filter="data")
    saved.unlink()
    (told,) = json.loads((folder / "manifest.json").read_text("utf-8"))
    parts = [(_CONFIG, folder / told["Config"]), *((_LAYER, folder / n) for n in told["Layers"])]
    config, *layers = [
        {"mediaType": kind, "size": path.stat().st_size, "digest": _digest(path)}
        for kind, path in parts
    ]
    whole = {"schemaVersion": 2, "mediaType": _TYPE, "config": config, "layers": layers}
    manifest = folder / "served.json"
    manifest.write_text(json.dumps(whole), "utf-8")
    return {_digest(path): (kind, path) for kind, path in [(_TYPE, manifest), *parts]}


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"
