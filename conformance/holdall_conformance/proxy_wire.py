"""One connection through a proxy: bytes in both directions, and what a fault makes of them."""

from __future__ import annotations

import contextlib
import socket
import struct
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from holdall_conformance.proxy_faults import BLACK_HOLE, REFUSE, Fault

__all__ = ["End", "Wire", "reset"]

_PIECE = 65_536
_FULL = 1_048_576
"""Bytes that wait for one side; the other is not read while there are as many."""
_LINGER = struct.pack("ii", 1, 0)
"""SO_LINGER by which a socket is reset when it is closed."""


def reset(connection: socket.socket) -> None:
    """Close a socket so that the other side sees a reset."""
    with contextlib.suppress(OSError):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER)
    connection.close()


@dataclass(eq=False, slots=True)
class End:
    """One side of a connection.

    Attributes:
        socket: non-blocking.
        waiting: bytes that are to be sent to it, each piece with the time at which it may go.
        heard: whether it may still send something.
        to_end: whether nothing follows what waits, so that sending is shut down after it.
        ended: whether sending was shut down.

    """

    socket: socket.socket
    waiting: deque[tuple[float, bytes]] = field(default_factory=deque[tuple[float, bytes]])
    heard: bool = True
    to_end: bool = False
    ended: bool = False

    @property
    def is_full(self) -> bool:
        """Whether so much waits that no more is to be taken in."""
        return sum(len(piece) for _, piece in self.waiting) >= _FULL

    @property
    def due(self) -> float | None:
        """When the next piece may go; None where nothing waits."""
        return self.waiting[0][0] if self.waiting else None

    def hand(self, piece: bytes, due: float) -> None:
        """Let a piece wait, behind those that wait already."""
        if piece:
            self.waiting.append((max(due, self.waiting[-1][0] if self.waiting else due), piece))

    def receive(self) -> bytes | None:
        """Return what came in, b"" at the end, None if it was nothing yet."""
        try:
            return self.socket.recv(_PIECE)
        except BlockingIOError:
            return None

    @property
    def wants_to_end(self) -> bool:
        """Whether sending is to be shut down now."""
        return self.to_end and not self.waiting and not self.ended

    def send(self, now: float) -> None:
        """Send what is due, as much as goes.

        Raises:
            OSError: the connection is gone.

        """
        while self.waiting and self.waiting[0][0] <= now:
            due, piece = self.waiting[0]
            try:
                sent = self.socket.send(piece)
            except BlockingIOError:
                return
            if sent < len(piece):
                self.waiting[0] = (due, piece[sent:])
                return
            self.waiting.popleft()
        if self.wants_to_end:
            self.ended = True
            self.socket.shutdown(socket.SHUT_WR)


class Wire:
    """A client, the server, and the fault that is at work between them.

    Args:
        client: connected.
        server: connecting.
        fault: what is at work from the start.
        begin: is called at the beginning of each request and returns its fault.
        strike: is called when a fault has its effect.

    """

    def __init__(
        self,
        client: socket.socket,
        server: socket.socket,
        fault: Fault,
        begin: Callable[[], Fault],
        strike: Callable[[], None],
    ) -> None:
        self.client, self.server = End(client), End(server)
        self._begin, self._strike = begin, strike
        self._fault = fault
        self._answered = fault != BLACK_HOLE
        self._passed = 0
        self._is_cut = False
        self.is_over = False

    def take(self, end: End, now: float) -> None:
        """Take in what one side has sent, and decide what the other gets of it.

        Args:
            end: the side.
            now: the time of the proxy.

        Raises:
            OSError: the connection is gone.

        """
        data = end.receive()
        if data is None:
            return
        if not data:
            self._end(end)
        elif end is self.client:
            self._take_request(data, now)
        else:
            self._take_reply(data, now)

    def _end(self, end: End) -> None:
        """Pass on that one side sends no more; a client that hangs does not hear of it."""
        end.heard = False
        if self._fault.kind not in {"hang", "black hole"}:
            (self.server if end is self.client else self.client).to_end = True
        elif end is self.client:
            self.is_over = True

    def _take_request(self, data: bytes, now: float) -> None:
        if self._answered and self._fault.kind != "hang":
            self._answered, self._passed = False, 0
            self._fault = self._begin()
            if self._fault in {REFUSE, BLACK_HOLE}:
                self._strike()
        if self._fault == REFUSE:
            self.is_over = True
        elif self._fault != BLACK_HOLE:
            self.server.hand(self._cut(data, "cut request"), now)

    def _take_reply(self, data: bytes, now: float) -> None:
        if not self._answered:
            self._answered, self._passed = True, 0
            if self._fault.kind in {"drop reply", "hang", "delay reply", "duplicate reply"}:
                self._strike()
        if self._fault.kind == "drop reply":
            self.is_over = True
        elif self._fault.kind not in {"hang", "black hole"}:
            times = 2 if self._fault.kind == "duplicate reply" else 1
            self.client.hand(self._cut(data, "cut reply") * times, now + self._fault.seconds)

    def _cut(self, data: bytes, kind: str) -> bytes:
        """Return what passes of a piece; after a cut the connection is over as soon as that is sent."""
        if self._is_cut or self._fault.kind != kind:
            return b"" if self._is_cut else data
        room = max(0, self._fault.after - self._passed)
        self._passed += len(data)
        if len(data) > room:
            self._is_cut = True
            self._strike()
        return data[:room]

    def send(self, now: float) -> None:
        """Send what is due to both sides.

        Raises:
            OSError: the connection is gone.

        """
        for end in (self.server, self.client):
            end.send(now)
        emptied = not self.server.waiting and not self.client.waiting
        if (self._is_cut and emptied) or (self.server.ended and self.client.ended):
            self.is_over = True

    def close(self) -> None:
        """Close both sides; a client whose connection is refused sees a reset."""
        if self._fault == REFUSE:
            reset(self.client.socket)
        self.client.socket.close()
        self.server.socket.close()
