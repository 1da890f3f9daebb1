"""One request over TLS with every byte of it before a deadline, from the standard library.

The timeouts of a socket are those of one call: a server that sends a byte now and then keeps
``http.client`` busy for ever. So the time that is left is worked out before each read.
"""

from __future__ import annotations

import http.client
import io
import socket
import ssl
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from k8sjob.kube.inside_trouble import Kind, Trouble

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What to ask, where, and in which time. Durations are seconds, sizes bytes.

    ``left`` returns what is left of the total.
    """

    host: str
    port: int
    path: str
    headers: Mapping[str, str]
    ca_file: str
    connect_s: float
    read_s: float
    body_bytes: int
    left: Callable[[], float]
    method: str = "GET"
    body: bytes | None = None

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"the Kubernetes API at {host}:{self.port}"

    def time_for(self, longest_s: float) -> float:
        """Return the timeout of the next call. Raises TimeoutError where no time is left."""
        left = self.left()
        if left <= 0:
            raise TimeoutError("the time for all of it is over")
        return min(longest_s, left)


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server said."""

    status: int
    headers: Mapping[str, str]
    body: bytes


_HOST = "Kubernetes sets KUBERNETES_SERVICE_HOST in every Pod: take what else sets it out."


def fetch(request: Request) -> Answer:
    """Send the request and return the answer, whatever its status. Raises Trouble."""
    try:
        return _exchange(request)
    except TimeoutError as error:
        raise Trouble(Kind.TIMEOUT, f"{request} did not answer in time", again=True) from error
    except ssl.SSLCertVerificationError as error:
        raise _untrusted(request, error) from error
    except http.client.IncompleteRead as error:
        what = f"the answer of {request} broke off"
        raise Trouble(Kind.GARBAGE, what, again=True) from error
    except OSError as error:
        what = f"{request} cannot be reached: {_reason(error)}"
        raise Trouble(Kind.UNREACHABLE, what, again=True) from error
    except ValueError as error:  # UnicodeError too: no name of a host
        what = f"{request} cannot be reached: {_reason(error)}"
        raise Trouble(Kind.UNREACHABLE, what, _HOST) from error
    except http.client.HTTPException as error:
        what = f"{request} does not speak HTTP: {_reason(error)}"
        raise Trouble(Kind.GARBAGE, what) from error


def _exchange(request: Request) -> Answer:
    context = _context(request)
    timed = _Timed(request, _connect(request, context))
    try:
        connection = http.client.HTTPConnection(request.host, request.port)
        connection.sock = timed
        connection.request(
            request.method, request.path, body=request.body, headers=dict(request.headers)
        )
        response = connection.getresponse()
        # Lower case: names of header fields have none of their own (RFC 9110, 5.1).
        headers = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, headers, _body(response, request))
    finally:
        timed.tls.close()


def _context(request: Request) -> ssl.SSLContext:
    """Trust the cluster's own CA and nothing else; the certificate must name the host."""
    try:
        return ssl.create_default_context(cafile=request.ca_file)
    except OSError as error:  # ssl.SSLError too
        raise Trouble(
            Kind.UNREACHABLE,
            f"the CA certificate at {request.ca_file} cannot be read: {_reason(error)}",
            "It is mounted together with the token of the Pod's service account: look at the "
            "Pod's volumes.",
        ) from error


def _connect(request: Request, context: ssl.SSLContext) -> ssl.SSLSocket:
    """Try each address of the host; the TLS handshake has the time of a read."""
    problem: OSError = OSError("the host has no address")
    for *_, address in socket.getaddrinfo(request.host, request.port, type=socket.SOCK_STREAM):
        where: tuple[Any, Any] = address[:2]
        try:
            plain = socket.create_connection(where, timeout=request.time_for(request.connect_s))
        except OSError as error:
            problem = error
            continue
        try:
            plain.settimeout(request.time_for(request.read_s))
            return context.wrap_socket(
                # An end of the stream without TLS's own word for it may be a cut.
                plain,
                server_hostname=request.host,
                suppress_ragged_eofs=False,
            )
        except BaseException:
            plain.close()
            raise
    raise problem


def _body(response: http.client.HTTPResponse, request: Request) -> bytes:
    body = b""
    while chunk := response.read(min(1 << 16, request.body_bytes + 1 - len(body))):
        body += chunk
        if len(body) > request.body_bytes:
            raise Trouble(
                Kind.GARBAGE, f"the answer of {request} is longer than {request.body_bytes:,} bytes"
            )
    if response.length:  # what the header promised and read() does not miss
        raise http.client.IncompleteRead(body, response.length)
    return body


def _untrusted(request: Request, error: ssl.SSLCertVerificationError) -> Trouble:
    return Trouble(
        Kind.UNREACHABLE,
        f"the certificate of {request} is not to be trusted: {error.verify_message.rstrip('.')}",
        f"It must be signed by the CA in {request.ca_file} and name {request.host}. Has somebody "
        "else taken this address, or the cluster's CA changed?",
    )


def _reason(error: BaseException) -> str:
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return " ".join(str(text).partition(" (_ssl.c:")[0].split())[:200]


class _Timed:
    """A socket for ``http.client`` whose every call ends before the deadline."""

    def __init__(self, request: Request, tls: ssl.SSLSocket) -> None:
        self.request, self.tls = request, tls

    def sendall(self, data: bytes) -> None:
        self.tls.settimeout(self.request.time_for(self.request.read_s))
        self.tls.sendall(data)

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(_Reading(self))

    def close(self) -> None:
        """Do nothing: ``http.client`` closes it before the body is read."""


class _Reading(io.RawIOBase):
    def __init__(self, timed: _Timed) -> None:
        self._timed = timed

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        request, tls = self._timed.request, self._timed.tls
        tls.settimeout(request.time_for(request.read_s))
        try:
            return tls.recv_into(buffer)
        except ssl.SSLEOFError:
            raise http.client.IncompleteRead(b"") from None
