"""A CA and the certificates it signs, made by openssl(1): Python's own library can make none."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

#: What RFC 5280 demands, and so Python from 3.13 on (VERIFY_X509_STRICT).
_CONFIG = """
[req]
distinguished_name = name
[name]
[ca]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
[server]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
"""
_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-sha256")


@dataclass(frozen=True)
class Authority:
    """A CA in a folder of its own."""

    folder: Path

    @classmethod
    def made(cls, folder: Path) -> Authority:
        """Make key and certificate of the CA."""
        folder.mkdir()
        (folder / "openssl.cnf").write_text(_CONFIG)
        made = cls(folder)
        where = ("-keyout", "ca.key", "-out", "ca.crt")
        named = ("-subj", f"/CN=k8sjob tests {folder.name}", "-extensions", "ca", "-days", "2")
        made._openssl("req", "-x509", *_KEY, "-config", "openssl.cnf", *named, *where)
        return made

    @property
    def certificate(self) -> Path:
        """The CA's own, as it is mounted into a Pod."""
        return self.folder / "ca.crt"

    def server(self, *alternatives: str) -> Path:
        """Return a file with key and certificate for names such as ``IP:127.0.0.1``."""
        name = re.sub(r"\W", "-", "+".join(alternatives))
        both = self.folder / f"{name}.pem"
        if both.exists():
            return both
        lines = f"{_CONFIG}subjectAltName = {','.join(alternatives)}\n"
        (self.folder / f"{name}.cnf").write_text(lines)
        self._openssl(
            *("req", "-new", *_KEY, "-config", f"{name}.cnf", "-subj", "/CN=server"),
            *("-keyout", f"{name}.key", "-out", f"{name}.csr"),
        )
        self._openssl(
            *("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.crt", "-CAkey", "ca.key"),
            *("-CAcreateserial", "-days", "2", "-sha256", "-out", f"{name}.crt"),
            *("-extfile", f"{name}.cnf", "-extensions", "server"),
        )
        parts = [(self.folder / f"{name}.{kind}").read_text() for kind in ("key", "crt")]
        both.write_text("".join(parts))
        return both

    def _openssl(self, *words: str) -> None:
        program = shutil.which("openssl")
        assert program, "openssl(1) makes the certificates of these tests: install it"
        ended = subprocess.run(
            [program, *words], cwd=self.folder, capture_output=True, text=True, check=False
        )
        assert ended.returncode == 0, ended.stderr
