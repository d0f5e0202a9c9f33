"""Leases and flags as files: one line of JSON each, decided under the guard of the key and judged by the boot clock."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from holdall.errors import Corrupt
from holdall.spi import LeaseRequest
from holdall.values import Holder
from holdall_adapters.file.files import place_of
from holdall_adapters.file.guards import Guards
from holdall_adapters.file.lines import read_line, seal

if TYPE_CHECKING:
    from holdall.spi import Environment
    from holdall_adapters.file.disk import Disk

__all__ = ["FileLock"]

LEASES = "leases"
FLAGS = "flags"


class _Lease(NamedTuple):
    """The state of a key; free without a nonce. A lease dies with the boot in which it was granted."""

    nonce: str | None = None
    owner: str = ""
    token: int = 0
    floor: int = 0
    expires: float = 0.0
    boot: str = ""


class FileLock:
    """Every operation of a lock. The file of a key is never removed, so that its token goes on."""

    def __init__(self, disk: Disk, environment: Environment, now: Callable[[], float], guards: Guards) -> None:
        self._disk = disk
        self._environment = environment
        self._now = now
        self._guards = guards
        self._boot = environment.boot_id()

    def _read(self, key: str) -> _Lease:
        content = self._disk.read(place_of(LEASES, key))
        if content is None:
            return _Lease()
        fields = read_line(content.removesuffix(b"\n"), "the file of the lease")
        if fields.get("lease") != key:
            message = "the file of the lease is that of something else: it was copied or renamed by hand"
            raise Corrupt(message)
        return _Lease(*(fields[name] for name in _Lease._fields))

    def _write(self, key: str, lease: _Lease) -> None:
        content = seal({"lease": key, **lease._asdict()})
        self._disk.replace(place_of(LEASES, key), (content,), self._environment.new_id())

    def _is_held(self, lease: _Lease) -> bool:
        return lease.nonce is not None and lease.boot == self._boot and lease.expires > self._now()

    def _is_current(self, lease: _Lease, request: LeaseRequest) -> bool:
        return (lease.nonce, lease.token) == (request.nonce, request.token) and self._is_held(lease)

    async def acquire(self, key: str, nonce: str, owner: str, ttl: float) -> int | None:
        """Take a free or expired key."""
        if self._is_held(self._read(key)):
            return None
        async with self._guards.of(place_of(LEASES, key)) as guard:
            found = self._read(key)
            if self._is_held(found):
                return None
            guard.check()
            token = max(found.token, found.floor) + 1
            self._write(key, _Lease(nonce, owner, token, found.floor, self._now() + ttl, self._boot))
            return token

    async def renew(self, request: LeaseRequest, ttl: float) -> bool:
        """Extend a lease that is live."""
        async with self._guards.of(place_of(LEASES, request.key), request.timeout) as guard:
            found = self._read(request.key)
            if not self._is_current(found, request):
                return False
            guard.check()
            self._write(request.key, found._replace(expires=self._now() + ttl))
            return True

    async def release(self, request: LeaseRequest) -> bool:
        """Free a key."""
        async with self._guards.of(place_of(LEASES, request.key)) as guard:
            found = self._read(request.key)
            if not self._is_current(found, request):
                return False
            guard.check()
            self._write(request.key, found._replace(nonce=None))
            return True

    async def holder(self, key: str) -> Holder | None:
        """Return who has the key."""
        found = self._read(key)
        if not self._is_held(found):
            return None
        return Holder(found.owner, found.token, max(0.0, found.expires - self._now()))

    async def raise_floor(self, key: str, token: int) -> None:
        """Make the next token higher."""
        async with self._guards.of(place_of(LEASES, key)) as guard:
            found = self._read(key)
            guard.check()
            if found.floor < token:
                self._write(key, found._replace(floor=token))

    async def set_flag(self, key: str, ttl: float) -> None:
        """Raise a flag."""
        place = place_of(FLAGS, key)
        async with self._guards.of(place) as guard:
            guard.check()
            content = seal({"flag": key, "expires": self._now() + ttl})
            self._disk.replace(place, (content,), self._environment.new_id())

    async def flag(self, key: str) -> bool:
        """Return whether a flag is raised."""
        return self._flag(key)

    def _flag(self, key: str) -> bool:
        content = self._disk.read(place_of(FLAGS, key))
        if content is None:
            return False
        fields = read_line(content.removesuffix(b"\n"), "the file of the flag")
        if fields.get("flag") != key:
            message = "the file of the flag is that of something else: it was copied or renamed by hand"
            raise Corrupt(message)
        expires: float = fields["expires"]
        return expires > self._now()

    async def clear_flag(self, key: str) -> None:
        """Lower a flag."""
        folder = self._disk.remove(place_of(FLAGS, key))
        if folder is not None:
            self._disk.settle(folder)

    async def sweep_flag(self, key: str) -> bool:
        """Remove a fallen flag; return whether it had fallen."""
        if self._flag(key):
            return False
        place = place_of(FLAGS, key)
        async with self._guards.of(place):  # somebody may have raised it again
            return not self._flag(key) and self._disk.remove(place) is not None
