"""Writes to lose the replies of: what each does, how to tell whether it was applied, and what it may return."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ClassVar

from holdall import ABSENT, Append, Delete, HoldallError, Lock, Put, Store
from holdall_conformance.harness import Harness
from holdall_conformance.scenarios.support import head_of, lease_of, record_of, values_of

__all__ = ["COMMITS", "FEW", "LEASES", "LOGS", "RECORDS", "World", "Write"]


class World:
    """The handles: a store and a lock straight to the server, which see the truth, and both again through the proxy.

    Args:
        harness: the way straight to the server.
        behind: the way through the proxy.
        timeout: that of the handles through the proxy, in seconds.

    Attributes:
        scope: the scope of all writes.

    """

    def __init__(self, harness: Harness, behind: Harness, timeout: float) -> None:
        self.harness = harness
        self.scope = harness.new_scope()
        self._behind = behind
        self._timeout = timeout

    @property
    def direct(self) -> Store:
        """A store that sees the truth."""
        return self.harness.store

    @property
    def direct_lock(self) -> Lock:
        """A lock that sees the truth."""
        return self.harness.lock

    @functools.cached_property
    def through(self) -> Store:
        """A store with the faults on its way."""
        return self._behind.open_store(timeout=self._timeout)

    @functools.cached_property
    def through_lock(self) -> Lock:
        """A lock with the faults on its way."""
        return self._behind.open_lock(timeout=self._timeout)


class Write:
    """One write on names of its own.

    Attributes:
        name: what a person calls it.
        operations: what the backend must have for it.
        of_lock: whether it is done by a lock.

    """

    name: ClassVar[str]
    operations: ClassVar[tuple[str, ...]]
    of_lock: ClassVar[bool] = False

    def __init__(self, world: World) -> None:
        self.world = world
        self.place = (world.scope, world.harness.new_key())

    @property
    def direct(self) -> Store:
        """A store that sees the truth."""
        return self.world.direct

    @property
    def through(self) -> Store:
        """A store with the faults on its way."""
        return self.world.through

    def prepare(self) -> None:
        """Write what must be there before, straight to the server."""

    def act(self) -> Any:
        """Do the write through the proxy."""
        raise NotImplementedError

    def applied(self) -> bool:
        """Tell by the truth whether it was applied; fails where it was applied twice or by half."""
        raise NotImplementedError

    def confirm(self, result: Any) -> None:
        """Check what was returned against the truth."""

    def explain(self, error: HoldallError) -> None:
        """Check what an error carries against the truth."""

    def repeat(self) -> None:
        """Do what a caller may do next, when the way is free again."""


class _Put(Write):
    operations: ClassVar[tuple[str, ...]] = ("put", "get")

    def prepare(self) -> None:
        self.version = self.direct.put(*self.place, "old")

    def applied(self) -> bool:
        record = record_of(self.direct, *self.place)
        assert record.value in {"old", "new"}, f"the value is {record.value!r}"
        assert (record.value == "old") == (record.version == self.version), "value and version are of two writes"
        return bool(record.value == "new")

    def confirm(self, result: Any) -> None:
        found = record_of(self.direct, *self.place).version
        assert result == found, f"the version {result!r} was returned, and {found!r} is there"


class PutOver(_Put):
    name = "put"

    def act(self) -> Any:
        return self.through.put(*self.place, "new")


class PutVersion(_Put):
    name = "put with a version as expect"

    def act(self) -> Any:
        return self.through.put(*self.place, "new", expect=self.version)


class PutFenced(_Put):
    name = "put with a fence"

    def act(self) -> Any:
        return self.through.put(*self.place, "new", fence=7, ttl=600)


class PutAbsent(_Put):
    name = "put with expect=ABSENT"

    def prepare(self) -> None:
        pass

    def act(self) -> Any:
        return self.through.put(*self.place, "new", expect=ABSENT)

    def applied(self) -> bool:
        record = self.direct.get(*self.place)
        assert record is None or record.value == "new"
        return record is not None


class CommitOne(_Put):
    name = "commit of one put"
    operations: ClassVar[tuple[str, ...]] = ("put", "get", "commit")

    def act(self) -> Any:
        return self.through.commit([Put(*self.place, "new", expect=self.version)])[0]


class Update(Write):
    name = "update"
    operations = ("put", "get", "update")

    def prepare(self) -> None:
        self.direct.put(*self.place, 1)

    def act(self) -> Any:
        return self.through.update(*self.place, lambda value: value + 1)

    def applied(self) -> bool:
        value = record_of(self.direct, *self.place).value
        assert value in {1, 2}, f"one update brought the counter from 1 to {value}"
        return bool(value == 2)

    def confirm(self, result: Any) -> None:
        found = record_of(self.direct, *self.place)
        assert (result.value, result.version) == (found.value, found.version), f"{result!r} was returned"


class Touch(Write):
    name = "touch"
    operations = ("put", "get", "touch")

    def prepare(self) -> None:
        self.version = self.direct.put(*self.place, 1)

    def act(self) -> Any:
        return self.through.touch(*self.place, 600)

    def applied(self) -> bool:
        record = record_of(self.direct, *self.place)
        assert (record.value, record.version) == (1, self.version), "touch changed more than the expiry"
        return record.expires_in is not None

    def confirm(self, result: Any) -> None:
        assert result is True, f"{result!r} was returned"


class DeleteAny(Write):
    name = "delete"
    operations = ("put", "get", "delete")

    def prepare(self) -> None:
        self.version = self.direct.put(*self.place, 1)

    def act(self) -> Any:
        return self.through.delete(*self.place)

    def applied(self) -> bool:
        return self.direct.get(*self.place) is None

    def confirm(self, result: Any) -> None:
        assert result is True, f"{result!r} was returned for a record that was there"


class DeleteVersion(DeleteAny):
    name = "delete with a version as expect"

    def act(self) -> Any:
        return self.through.delete(*self.place, expect=self.version)


class PutMany(Write):
    name = "put_many"
    operations = ("put_many", "get_many")

    def act(self) -> Any:
        return self.through.put_many(self.world.scope, dict.fromkeys(self._keys, 1))

    @property
    def _keys(self) -> list[str]:
        return [f"{self.place[1]}-{number}" for number in range(3)]

    def _written(self) -> list[bool]:
        return [record is not None for record in self.direct.get_many(self.world.scope, self._keys)]

    def applied(self) -> bool:
        return all(self._written())

    def confirm(self, result: Any) -> None:
        assert result == len(self._keys), f"{result!r} was returned"

    def explain(self, error: HoldallError) -> None:
        there = {key for key, written in zip(self._keys, self._written(), strict=True) if written}
        assert set(error.done) <= there, f"the error names {error.done} as done, and {there} are there"


class _Append(Write):
    operations = ("append", "read", "head")
    _before: ClassVar[list[str]] = ["old", "old"]
    _batch: ClassVar[list[str]] = ["a", "b", "c"]

    def prepare(self) -> None:
        self.before = self.direct.append(*self.place, self._before).head

    def applied(self) -> bool:
        found = values_of(self.direct.read(*self.place))
        assert found in (self._before, self._before + self._batch), f"the log holds {found}"
        return found != self._before

    def confirm(self, result: Any) -> None:
        place = (result.start, result.count)
        assert place == (len(self._before), len(self._batch)), f"start and count {place} were returned"
        found = self.direct.head(*self.place)
        assert result.head == found, f"{result.head!r} was returned, and the head is {found!r}"


class AppendAny(_Append):
    name = "append"

    def act(self) -> Any:
        return self.through.append(*self.place, self._batch)


class AppendAtHead(_Append):
    name = "append with a head as expect"

    def act(self) -> Any:
        return self.through.append(*self.place, self._batch, expect=self.before)


class AppendAtLength(_Append):
    name = "append with a length as expect, and a fence"

    def act(self) -> Any:
        return self.through.append(*self.place, self._batch, expect=len(self._before), fence=3)


class AppendNew(_Append):
    name = "append with expect=ABSENT"
    _before: ClassVar[list[str]] = []

    def prepare(self) -> None:
        pass

    def act(self) -> Any:
        return self.through.append(*self.place, self._batch, expect=ABSENT)


class AppendLarge(_Append):
    name = "append of much"
    _batch: ClassVar[list[str]] = [letter * 60_000 for letter in "abcde"]

    def act(self) -> Any:
        return self.through.append(*self.place, self._batch)


class AppendBatch(_Append):
    name = "append with a batch id"

    def prepare(self) -> None:
        super().prepare()
        self.returned: Any = None

    def _send(self, store: Store) -> Any:
        return store.append(*self.place, self._batch, expect=self.before, batch_id=self.place[1])

    def act(self) -> Any:
        self.returned = self._send(self.through)
        return self.returned

    def repeat(self) -> None:
        """Send the same batch again: it is there once, and the first result comes back."""
        again, once_more = self._send(self.through), self._send(self.direct)
        assert self.applied(), "sent again under its id, the batch was not appended"
        for result in (again, once_more):
            self.confirm(result)
            assert self.returned in {None, result}, f"at first {self.returned!r} was returned, then {result!r}"


class Truncate(Write):
    name = "truncate"
    operations = ("append", "truncate", "head")

    def prepare(self) -> None:
        self.before = self.direct.append(*self.place, [1, 2, 3, 4]).head

    def act(self) -> Any:
        return self.through.truncate(*self.place, 2, expect=self.before)

    def applied(self) -> bool:
        head = head_of(self.direct, *self.place)
        assert (head.length, head.incarnation) == (4, self.before.incarnation), f"the head is {head!r}"
        assert head.first in {0, 2}, f"the head is {head!r}"
        return head.first == 2

    def confirm(self, result: Any) -> None:
        assert result == 2, f"{result!r} was returned"


class Drop(Write):
    name = "drop"
    operations = ("append", "drop", "head")

    def prepare(self) -> None:
        self.before = self.direct.append(*self.place, [1, 2]).head

    def act(self) -> Any:
        return self.through.drop(*self.place, expect=self.before)

    def applied(self) -> bool:
        return self.direct.head(*self.place) is None

    def confirm(self, result: Any) -> None:
        assert result is True, f"{result!r} was returned for a log that was there"


class RestoreLog(Write):
    name = "restore_log"
    operations = ("restore_log", "read", "head")

    def act(self) -> Any:
        return self.through.restore_log(*self.place, 5, ["a", "b"])

    def applied(self) -> bool:
        head = self.direct.head(*self.place)
        assert head is None or (head.first, head.length) == (5, 7), f"the head is {head!r}"
        assert head is None or values_of(self.direct.read(*self.place, 5)) == ["a", "b"]
        return head is not None


class SealLog(Write):
    name = "seal of a log"
    operations = ("append", "seal")

    def prepare(self) -> None:
        self.direct.append(*self.place, [1])

    def act(self) -> Any:
        return self.through.seal(*self.place, 9, log=True)

    def applied(self) -> bool:
        """Find the mark without moving it where it is 9; where it is not, it does no harm to raise it."""
        return bool(_is_fenced(lambda: self.direct.append(*self.place, [2], fence=8)))

    def confirm(self, result: Any) -> None:
        found = self.direct.head(*self.place)
        assert result == found, f"{result!r} was returned, and the head is {found!r}"


def _is_fenced(call: Callable[[], Any]) -> bool:
    try:
        call()
    except PermissionError:
        return True
    return False


class _LockWrite(Write):
    of_lock = True

    @property
    def key(self) -> str:
        """The key of the lease or flag."""
        return self.place[1]


class Acquire(_LockWrite):
    name = "try_acquire"
    operations = ("try_acquire", "release", "holder")

    def prepare(self) -> None:
        first = lease_of(self.world.direct_lock, self.key)
        self.world.direct_lock.release(first)
        self.token = first.token

    def act(self) -> Any:
        return self.world.through_lock.try_acquire(self.key, ttl=600, owner="me")

    def applied(self) -> bool:
        holder = self.world.direct_lock.holder(self.key)
        assert holder is None or holder.owner == "me"
        assert holder is None or holder.token > self.token, f"token {holder.token} came after token {self.token}"
        return holder is not None

    def confirm(self, result: Any) -> None:
        assert result is not None, "the key was free, and the lease was not given to its only taker"
        holder = self.world.direct_lock.holder(self.key)
        assert holder is not None
        assert holder.token == result.token, f"token {result.token} was returned, and {holder.token} is there"
        renewed = self.world.direct_lock.renew(result)
        assert (renewed.token, renewed.nonce) == (result.token, result.nonce)


class Renew(_LockWrite):
    name = "renew"
    operations = ("try_acquire", "renew", "holder")

    def prepare(self) -> None:
        self.lease = lease_of(self.world.direct_lock, self.key, ttl=60)

    def act(self) -> Any:
        return self.world.through_lock.renew(self.lease, ttl=600)

    def applied(self) -> bool:
        holder = self.world.direct_lock.holder(self.key)
        assert holder is not None, "the lease is gone"
        assert holder.token == self.lease.token, f"token {holder.token} took the place of {self.lease.token}"
        return holder.expires_in > 100

    def confirm(self, result: Any) -> None:
        assert (result.token, result.nonce) == (self.lease.token, self.lease.nonce)

    def repeat(self) -> None:
        """Renew once more: the lease is as live as before, whatever became of the first renewal."""
        self.world.through_lock.renew(self.lease, ttl=600)


class Release(_LockWrite):
    name = "release"
    operations = ("try_acquire", "release", "held")

    def prepare(self) -> None:
        self.lease = lease_of(self.world.direct_lock, self.key, ttl=600)

    def act(self) -> Any:
        return self.world.through_lock.release(self.lease)

    def applied(self) -> bool:
        return not self.world.direct_lock.held(self.key)

    def confirm(self, result: Any) -> None:
        assert result is True, f"{result!r} was returned to the holder"

    def repeat(self) -> None:
        """Take the key again where it is free: the token goes on."""
        self.world.through_lock.release(self.lease)
        again = lease_of(self.world.through_lock, self.key)
        assert again.token > self.lease.token, f"token {again.token} came after token {self.lease.token}"


class RaiseFloor(_LockWrite):
    name = "raise_floor"
    operations = ("raise_floor", "try_acquire")

    def act(self) -> Any:
        return self.world.through_lock.raise_floor(self.key, 50)

    def applied(self) -> bool:
        return lease_of(self.world.direct_lock, self.key).token > 50


class SetFlag(_LockWrite):
    name = "set_flag"
    operations = ("set_flag", "flag")

    def act(self) -> Any:
        return self.world.through_lock.set_flag(self.key, ttl=600)

    def applied(self) -> bool:
        return self.world.direct_lock.flag(self.key)


class CommitSeveral(Write):
    name = "commit of a put, an append and a delete"
    operations = ("put", "get", "append", "read", "commit")

    def prepare(self) -> None:
        scope, key = self.place
        self.doomed = (scope, f"{key}-doomed")
        self.version = self.direct.put(*self.doomed, 1)
        self.head = self.direct.append(*self.place, ["old"]).head

    def act(self) -> Any:
        return self.through.commit(
            [
                Put(*self.place, "new", expect=ABSENT),
                Append(*self.place, ["new"], expect=self.head),
                Delete(*self.doomed, expect=self.version),
            ]
        )

    def applied(self) -> bool:
        entries = values_of(self.direct.read(*self.place))
        assert entries in (["old"], ["old", "new"]), f"the log holds {entries}"
        parts = [
            self.direct.get(*self.place) is not None,
            len(entries) == 2,
            self.direct.get(*self.doomed) is None,
        ]
        assert len(set(parts)) == 1, f"of put, append and delete were applied: {parts}"
        return parts[0]

    def confirm(self, result: Any) -> None:
        found = record_of(self.direct, *self.place).version
        assert result[0] == found, f"the version {result[0]!r} was returned, and {found!r} is there"
        assert result[1].head == self.direct.head(*self.place)
        assert result[2] is True


class Transaction(Write):
    name = "transaction"
    operations = ("put", "get", "append", "read", "transaction")

    def prepare(self) -> None:
        self.direct.put(*self.place, 1)

    def act(self) -> Any:
        def run(tx: Any) -> int:
            record = tx.get(*self.place)
            tx.put(*self.place, record.value + 1)
            tx.append(*self.place, [record.value + 1])
            return int(record.value)

        return self.through.transaction(run)

    def applied(self) -> bool:
        value = record_of(self.direct, *self.place).value
        entries = values_of(self.direct.read(*self.place))
        assert (value, entries) in ((1, []), (2, [2])), f"the counter is {value}, the log holds {entries}"
        return bool(value == 2)

    def confirm(self, result: Any) -> None:
        assert result == 1, f"{result!r} was returned"


RECORDS: tuple[type[Write], ...] = (
    PutOver,
    PutVersion,
    PutAbsent,
    PutFenced,
    CommitOne,
    Update,
    Touch,
    DeleteAny,
    DeleteVersion,
    PutMany,
)
LOGS: tuple[type[Write], ...] = (
    AppendAny,
    AppendAtHead,
    AppendAtLength,
    AppendNew,
    AppendLarge,
    AppendBatch,
    Truncate,
    Drop,
    RestoreLog,
    SealLog,
)
LEASES: tuple[type[Write], ...] = (Acquire, Renew, Release, RaiseFloor, SetFlag)
COMMITS: tuple[type[Write], ...] = (CommitSeveral, Transaction)
FEW: tuple[type[Write], ...] = (PutVersion, DeleteAny, AppendBatch, Acquire, Renew)
"""One of each sort, for what takes long."""
