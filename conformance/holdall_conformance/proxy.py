"""A TCP proxy on loopback between an adapter and its server, which loses, cuts, delays and repeats what passes.

It knows no protocol: a request is what a client sends between two replies, a reply what the server sends between two
requests, and TLS is bytes like any others. One thread does all the work.
"""

from __future__ import annotations

import contextlib
import itertools
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Self

from holdall_conformance.proxy_address import Address, address_in, redirected
from holdall_conformance.proxy_faults import BLACK_HOLE, PASS, REFUSE, Fault, Moment, Plan
from holdall_conformance.proxy_wire import End, Wire, reset

__all__ = ["Proxy"]

_LOOPBACK = "127.0.0.1"
_BACKLOG = 128
_PATIENCE = 10.0
_SLICE = 0.5
"""Seconds after which the thread looks around though nothing happened."""


def _pass(_: Moment) -> Fault:
    return PASS


class Proxy:
    """A proxy that passes everything until it is told otherwise.

    Args:
        host: where the server is.
        port: where it listens.

    Attributes:
        port: where the proxy listens, on 127.0.0.1.

    Raises:
        OSError: the server cannot be reached.

    """

    def __init__(self, host: str, port: int) -> None:
        with socket.create_connection((host, port), _PATIENCE) as probe:  # a name may stand for several addresses
            self._family, self._address = probe.family, probe.getpeername()
        self._lock = threading.RLock()
        self._plan: Plan = _pass
        self._requests = self._struck = self._connections = 0
        self._wires: list[Wire] = []
        self._closing = self._severing = False
        self._listener = socket.create_server((_LOOPBACK, 0), backlog=_BACKLOG)
        self._listener.settimeout(0)
        self.port: int = self._listener.getsockname()[1]
        self._waker, self._wake = socket.socketpair()
        self._thread = threading.Thread(target=self._run, name=f"proxy-{self.port}", daemon=True)
        self._thread.start()

    @classmethod
    def before(cls, url: str) -> Self | None:
        """Return a proxy before the server that a URL names, None where it names none.

        Args:
            url: the URL of a storage.

        """
        address = address_in(url)
        return None if address is None else cls(address.host, address.port)

    def url(self, url: str) -> str:
        """Return a URL with the proxy in place of the server that it names.

        Args:
            url: the URL of a storage.

        Raises:
            ValueError: it names no single server.

        """
        return redirected(url, Address(_LOOPBACK, self.port))

    @property
    def requests(self) -> int:
        """How many requests have begun."""
        with self._lock:
            return self._requests

    @property
    def struck(self) -> int:
        """How often a fault has had its effect since the plan was made."""
        with self._lock:
            return self._struck

    def follow(self, plan: Plan) -> None:
        """Let a plan decide from now on.

        Args:
            plan: is asked at each new connection and each request.

        """
        with self._lock:
            self._plan, self._struck = plan, 0

    def strike(self, fault: Fault, *, at: int = 1, then: Fault = PASS) -> None:
        """Plan a fault for one request.

        Args:
            fault: what happens to it.
            at: the how manieth from now.
            then: what happens to every later request and every later connection.

        """
        with self._lock:
            target = self._requests + at

            def plan(moment: Moment) -> Fault:
                if moment.of_connection and moment.request == target:
                    return fault
                return then if moment.request >= target else PASS

            self.follow(plan)

    def always(self, fault: Fault) -> None:
        """Do the same to every connection and request from now on, such as `REFUSE` or `BLACK_HOLE`.

        Args:
            fault: what happens to them.

        """
        self.follow(lambda _: fault)

    def heal(self) -> int:
        """Pass everything again, and return how often a fault had its effect before.

        Connections that hang do so until their client or `disconnect` closes them.

        """
        with self._lock:
            struck = self._struck
            self.follow(_pass)
        return struck

    def disconnect(self) -> None:
        """Close every connection that there is, so that whoever waits for a reply goes on."""
        self._severing = True
        self._awake()

    def close(self) -> None:
        """Close every connection, stop listening, and end the thread."""
        self._closing = True
        self._awake()
        self._thread.join()

    def _awake(self) -> None:
        with contextlib.suppress(OSError):
            self._wake.send(b"!")

    def __enter__(self) -> Self:
        """Return the proxy."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def _run(self) -> None:
        try:
            while not self._closing:
                self._step()
        finally:
            for wire in self._wires:
                wire.close()
            for each in (self._listener, self._waker, self._wake):
                each.close()

    def _step(self) -> None:
        """Wait until something can be done, and do it."""
        now = time.monotonic()
        wanted = dict(self._wanted(now))
        poll = select.poll()
        for number, (_, _, events) in wanted.items():
            poll.register(number, events)
        ready = dict(poll.poll(self._patience(now) * 1000))
        if self._listener.fileno() in ready:
            self._accept()
        for number in ready:
            wire, end, events = wanted[number]
            if wire is not None and end is not None and events & select.POLLIN:
                self._carefully(wire, end)
        for wire in self._wires:
            self._carefully(wire, None)
        if self._waker.fileno() in ready:
            self._waker.recv(_BACKLOG)
        if self._severing:
            self._severing = False
            for wire in self._wires:
                wire.is_over = True
        self._bury()

    def _wanted(self, now: float) -> Iterator[tuple[int, tuple[Wire | None, End | None, int]]]:
        """Yield what to wait for, by file descriptor."""
        for each in (self._listener, self._waker):
            yield each.fileno(), (None, None, select.POLLIN)
        for wire in self._wires:
            for end, other in ((wire.client, wire.server), (wire.server, wire.client)):
                reads = end.heard and not other.is_full
                writes = (end.due is not None and end.due <= now) or end.wants_to_end
                events = (select.POLLIN if reads else 0) | (select.POLLOUT if writes else 0)
                if events:
                    yield end.socket.fileno(), (wire, end, events)

    def _patience(self, now: float) -> float:
        due = [end.due for wire in self._wires for end in (wire.client, wire.server) if end.due is not None]
        return max(0.0, min([_SLICE, *(each - now for each in due if each > now)]))

    @staticmethod
    def _carefully(wire: Wire, end: End | None) -> None:
        """Take in what an end has sent, or send what is due."""
        if wire.is_over:
            return
        try:
            if end is not None:
                wire.take(end, time.monotonic())
            else:
                wire.send(time.monotonic())
        except OSError:
            wire.is_over = True

    def _bury(self) -> None:
        for wire in self._wires:
            if wire.is_over:
                wire.close()
        self._wires = [wire for wire in self._wires if not wire.is_over]

    def _accept(self) -> None:
        try:
            client, _ = self._listener.accept()
        except OSError:
            return  # it has gone meanwhile
        client.settimeout(0)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self._lock:
            self._connections += 1
            number = self._connections
            fault = self._plan(Moment(number, self._requests, 0))
        if fault in {REFUSE, BLACK_HOLE}:
            self._strike()
        if fault == REFUSE:
            reset(client)
            return
        server = socket.socket(self._family, socket.SOCK_STREAM)
        server.settimeout(0)
        server.connect_ex(self._address)
        at_work = fault if fault == BLACK_HOLE else PASS
        self._wires.append(Wire(client, server, at_work, self._beginning(number), self._strike))

    def _beginning(self, connection: int) -> Callable[[], Fault]:
        """Return what a wire calls at the beginning of each request."""
        numbers = itertools.count(1)
        return lambda: self._begin(connection, next(numbers))

    def _begin(self, connection: int, of_connection: int) -> Fault:
        with self._lock:
            self._requests += 1
            return self._plan(Moment(connection, self._requests, of_connection))

    def _strike(self) -> None:
        with self._lock:
            self._struck += 1
