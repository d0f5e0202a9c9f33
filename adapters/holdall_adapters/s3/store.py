"""What a sweep removes: records and flags that have expired, old graves, and what crashes left of logs."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import orjson

from holdall.errors import ConfigError, Corrupt
from holdall.rules import commit_single
from holdall_adapters.aws.times import KEPT
from holdall_adapters.s3.cells import ENDED, EXPIRING, Keep, Write
from holdall_adapters.s3.listings import class_of
from holdall_adapters.s3.log_bodies import LogState, owner_of
from holdall_adapters.s3.logs import S3Logs
from holdall_adapters.s3.record_bodies import RecordState

if TYPE_CHECKING:
    from holdall.spi import Environment, WriteRequest
    from holdall_adapters.aws.times import Times
    from holdall_adapters.s3.bucket import Bucket, Listed
    from holdall_adapters.s3.cells import Seen
    from holdall_adapters.s3.lock import S3Lock
    from holdall_adapters.s3.names import Names

__all__ = ["S3Store"]

_BESIDE = ("s", "i", "b")
"""Kinds of objects that belong to a life of a log."""


class S3Store(S3Logs):
    """A `StoreDriver` on a bucket: records, logs, and what concerns both."""

    def __init__(self, bucket: Bucket, names: Names, times: Times, environment: Environment, lock: S3Lock) -> None:
        S3Logs.__init__(self, bucket, names, times, environment)
        self._lock = lock

    async def commit(self, requests: Sequence[WriteRequest]) -> Sequence[Any]:
        """Apply one operation; several cannot be all or nothing."""
        return await commit_single(self, requests)

    async def sweep(self) -> int:
        """Remove what has expired and what crashes left; return how many objects."""
        count = 0
        for listed in await self.bucket.names(self.names.kind("r")):
            with contextlib.suppress(Corrupt):  # what is damaged stays, for whoever restores it
                count += await self._sweep_record(listed)
        for listed in await self.bucket.names(self.names.kind("l")):
            with contextlib.suppress(Corrupt):
                await self._sweep_log(listed)
        await self._lock.sweep_flags()
        return count + await self._sweep_lives()

    async def _sweep_log(self, listed: Listed) -> None:
        """Remove an old grave of a log that has no mark."""
        if class_of(listed) == ENDED and self._is_old(listed):
            seen = await self.logs_cells.look(listed.name)
            if seen.state is not None and seen.state.incarnation is None and not seen.state.mark:
                await self.bucket.remove(listed.name, seen.tag)

    def _is_old(self, listed: Listed) -> bool:
        return listed.modified < self.times.past() - KEPT

    async def _sweep_record(self, listed: Listed) -> int:
        """Remove a record that has expired, or a grave that is old; what has a mark keeps it."""
        if class_of(listed) == ENDED and self._is_old(listed):
            seen = await self.records.look(listed.name)
            if seen.state is not None and seen.state.version is None and not seen.state.mark:
                await self.bucket.remove(listed.name, seen.tag)
        if class_of(listed) != EXPIRING:
            return 0
        past, seen = self.times.past(), await self.records.look(listed.name)
        if seen.state is None or seen.state.version is None or seen.state.live(past) is not None:
            return 0
        return (
            await self._bury(listed.name) if seen.state.mark else int(await self.bucket.remove(listed.name, seen.tag))
        )

    async def _bury(self, name: str) -> int:
        """Leave nothing of an expired record but its mark."""

        async def decide(seen: Seen[RecordState]) -> Write[RecordState] | Keep:
            found = seen.state
            if found is None or found.version is None or found.live(self.times.past()) is not None:
                return Keep(0)
            return Write(RecordState(found.scope, found.key, mark=found.mark), 1)

        return int(await self.records.change("sweep", name, self.environment.new_id(), decide, whole=True))

    async def _sweep_lives(self) -> int:
        """Remove what lies beside the heads of logs and is named by none; return how many objects."""
        lives: dict[str, list[Listed]] = {}
        for kind in _BESIDE:
            root = self.names.kind(kind)
            for listed in await self.bucket.names(root):
                lives.setdefault(listed.name[len(root) :].partition("/")[0], []).append(listed)
        count = 0
        for incarnation, objects in lives.items():
            with contextlib.suppress(Corrupt):
                count += await self._sweep_life(incarnation, objects)
        return count

    async def _sweep_life(self, incarnation: str, objects: Sequence[Listed]) -> int:
        """Remove what one life of a log left, once no write that is still under way can name it."""
        old = [each.name for each in objects if self._is_old(each)]
        stored = await self.bucket.get(old[0]) if old else None
        if stored is None:
            return 0
        scope, key = owner_of(old[0], stored.body)
        state = await self.state(scope, key)
        doomed = await self._unnamed(incarnation, state, old)
        if doomed:
            state = await self._written_again(scope, key)
            doomed = await self._unnamed(incarnation, state, doomed)
            await self.deleting(doomed)()
        return len(doomed)

    async def _unnamed(self, incarnation: str, state: LogState, names: Sequence[str]) -> list[str]:
        """Return the objects of a life that a head does not name; the markers of what lives stay."""
        if state.incarnation != incarnation:
            return list(names)
        named = {self.names.index(incarnation, each.end, each.nonce) for each in state.indexes}
        for each in await self.references(state, -1):
            named.add(self.names.segment(incarnation, each.end, each.nonce))
        markers = self.names.life("b", incarnation)
        return [name for name in names if name not in named and not name.startswith(markers)]

    async def _written_again(self, scope: str, key: str) -> LogState:
        """Write the head of a log as it is, so that a write which stalled before is refused; return what it is."""
        states: list[LogState] = []

        async def decide(seen: Seen[LogState]) -> Write[LogState]:
            states.append(seen.state or LogState(scope, key))
            return Write(states[-1], None)

        name = self.names.log(scope, key)
        await self.logs_cells.change("sweep", name, self.environment.new_id(), decide, whole=True)
        return states[-1]

    async def describe(self) -> Mapping[str, str]:
        """Reach the bucket and say what it is."""
        stored = await self.bucket.get(self.names.layout)
        if stored is None:
            message = f"bucket {self.bucket.name} has nothing of holdall's in it any more"
            raise ConfigError(message)
        return {
            "storage": "S3",
            "bucket": self.bucket.name,
            "prefix": self.names.root or "none",
            "layout": f"version {orjson.loads(stored.body)['version']}",
        }
