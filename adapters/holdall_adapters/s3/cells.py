"""Objects that are changed by compare-and-set: read, decided on, and put if they are still as they were read.

Every body has a nonce of its own, so that equal contents do not have equal tags, and the ids of the last writes: when a
reply was lost, they tell whether the write was applied. One that was not, and whose tag is gone, never will be.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Generator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import orjson

from holdall.errors import Corrupt, HoldallError, OutcomeUnknown
from holdall_adapters.aws.errors import Refused
from holdall_adapters.lost_replies import Unsettled

if TYPE_CHECKING:
    from holdall_adapters.s3.bucket import Bucket, Stored

__all__ = ["ENDED", "EXPIRING", "LASTING", "Cells", "Keep", "Kind", "Seen", "Write", "whole"]

State = TypeVar("State")


LASTING, EXPIRING, ENDED = 0, 1, 2
"""What the size of a body tells a listing, as the rest of a division by four: it lives, it may have expired, it is a
grave."""
_CLASSES = 4
_TRAIL = 16
_OLDEST = 8
"""What was not used for longest is forgotten, this part of it at once."""


@contextlib.contextmanager
def whole(name: str) -> Generator[None]:
    """Name the object whose body cannot be understood.

    Args:
        name: its name.

    Raises:
        Corrupt: holdall did not write it so.

    """
    try:
        yield
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        message = f"the object {name} is none of holdall's, or was damaged: restore it from a backup"
        raise Corrupt(message) from error


class Kind(NamedTuple, Generic[State]):
    """How states of a kind lie in objects.

    Attributes:
        header: returns the header and the class of a state.
        payload: returns the bytes behind the header.
        state: makes a state of both.
        slim: returns what is worth remembering of a state; None: all of it.

    """

    header: Callable[[State], tuple[dict[str, Any], int]]
    payload: Callable[[State], bytes]
    state: Callable[[Mapping[str, Any], bytes], State]
    slim: Callable[[State], State] | None = None


@dataclass(frozen=True, slots=True)
class Seen(Generic[State]):
    """An object as it was read.

    Attributes:
        tag: recognises it; None if there is none.
        state: what it holds.
        trail: the ids of its last writes.
        count: how many writes it had.

    """

    tag: str | None = None
    state: State | None = None
    trail: tuple[str, ...] = ()
    count: int = 0


async def _nothing() -> None:
    return None


class Write(NamedTuple, Generic[State]):
    """A decision to write.

    Attributes:
        state: what to write.
        result: what the operation returns then.
        undo: takes back what was prepared, when the write was not applied and never will be.
        after: clears away what it replaced, when it was applied.

    """

    state: State
    result: Any
    undo: Callable[[], Awaitable[None]] = _nothing
    after: Callable[[], Awaitable[None]] = _nothing


class Keep(NamedTuple):
    """A decision to write nothing; `result` is what the operation returns."""

    result: Any


Decide = Callable[[Seen[State]], Awaitable[Write[State] | Keep]]


class Cells(Generic[State]):
    """Objects of one kind.

    Args:
        bucket: the bucket.
        kind: how states lie in them.
        most: of how many to remember what they are like.

    """

    def __init__(self, bucket: Bucket, kind: Kind[State], most: int) -> None:
        self._bucket = bucket
        self._kind = kind
        self._most = most
        self._seen: dict[str, Seen[State]] = {}

    async def look(self, name: str) -> Seen[State]:
        """Read an object.

        Args:
            name: its name.

        """
        seen = self.read(name, await self._bucket.get(name))
        self._remember(name, seen)
        return seen

    def read(self, name: str, stored: Stored | None) -> Seen[State]:
        """Return what an object holds.

        Args:
            name: its name.
            stored: the object, or None.

        Raises:
            Corrupt: holdall did not write it.

        """
        if stored is None:
            return Seen()
        with whole(name):
            line, _, rest = stored.body.partition(b"\n")
            header = orjson.loads(line)
            state = self._kind.state(header, rest[: header["p"]])
            return Seen(stored.tag, state, tuple(header["t"]), header["c"])

    def known(self, name: str) -> Seen[State] | None:
        """Return what an object was like when this handle read or wrote it last; it may have changed since."""
        return self._seen.get(name)

    def _remember(self, name: str, seen: Seen[State]) -> None:
        self._seen.pop(name, None)
        if seen.state is None:
            return
        slim = self._kind.slim
        self._seen[name] = seen if slim is None else replace(seen, state=slim(seen.state))
        if len(self._seen) > self._most:
            for oldest in list(self._seen)[: self._most // _OLDEST + 1]:
                self._seen.pop(oldest, None)

    async def change(
        self,
        what: str,
        name: str,
        write_id: str,
        decide: Decide[State],
        *,
        whole: bool = False,
        is_new: bool = False,
    ) -> Any:
        """Change an object, and return what the operation comes to.

        Args:
            what: the operation, such as "put".
            name: the name of the object.
            write_id: the id of the write.
            decide: takes what is there and returns what to do; a refusal raises. It is asked again when others were
                faster, and never has the last word on what is only remembered.
            whole: whether it needs all of the object, and not only what is remembered.
            is_new: whether to try first as if there were none, where nothing is remembered.

        Raises:
            OutcomeUnknown: a reply was lost, and what is there does not tell.
            StoreTimeout: others were faster until the time was up.

        """
        with Unsettled(what) as settling:
            known = None if whole else self.known(name) or (Seen() if is_new else None)
            step: Write[State] | Keep | None = None if known is None else await _tried(decide, known)
            seen = known if known is not None and step is not None else await self.look(name)
            async for _ in self._bucket.turns():
                if step is None:
                    step = await _decided(decide, seen, settling)
                if isinstance(step, Keep):
                    return step.result
                if await self._put(name, seen, step, write_id, settling):
                    return step.result
                found = await self.look(name)
                if write_id in found.trail:
                    await step.after()
                    return step.result
                if _is_settled(found, seen, settling):
                    await step.undo()
                seen, step = found, None
            raise settling.hopeless()

    async def _put(
        self,
        name: str,
        seen: Seen[State],
        step: Write[State],
        write_id: str,
        settling: Unsettled,
    ) -> bool:
        """Write what was decided, and tell whether that was done."""
        trail = (*seen.trail, write_id)[-_TRAIL:]
        written = Seen(None, step.state, trail, seen.count + 1)
        try:
            tag = await self._bucket.put(name, self._body(written), seen.tag)
        except Refused:  # perhaps of its own second try: clients of the caller's may send a request again
            return False
        except OutcomeUnknown:
            settling.is_lost = True
            return False
        settling.is_lost = False
        self._remember(name, replace(written, tag=tag))
        await step.after()
        return True

    def _body(self, seen: Seen[State]) -> bytes:
        if seen.state is None:
            raise ValueError(seen)
        header, ended = self._kind.header(seen.state)
        payload = self._kind.payload(seen.state)
        nonce = self._bucket.environment.new_id()
        header |= {"t": seen.trail, "c": seen.count, "n": nonce, "p": len(payload)}
        body = b"".join((orjson.dumps(header), b"\n", payload))
        return body + b" " * ((ended - len(body)) % _CLASSES)


async def _tried(decide: Decide[State], seen: Seen[State]) -> Write[State] | None:
    """Return the write that is decided on what is only remembered; None where the decision must not rest on that."""
    try:
        step = await decide(seen)
    except HoldallError:
        return None
    return step if isinstance(step, Write) else None


async def _decided(decide: Decide[State], seen: Seen[State], settling: Unsettled) -> Write[State] | Keep:
    """Return what is decided on what was read now; while a write of ours may still arrive, only a write counts."""
    try:
        step = await decide(seen)
    except HoldallError as error:
        if settling.is_lost and not isinstance(error, OutcomeUnknown):
            raise settling.unknown() from error
        raise
    if settling.is_lost and isinstance(step, Keep):
        raise settling.unknown()
    return step


def _is_settled(found: Seen[Any], before: Seen[Any], settling: Unsettled) -> bool:
    """Tell whether a write was surely not applied and never will be, since the tag that it expects is gone.

    Args:
        found: what is there now; the write is not among those that it names.
        before: what the write expected.
        settling: whether its reply was lost is noted here.

    Raises:
        OutcomeUnknown: its reply was lost, and what is there does not name the writes since.

    """
    if found.tag == before.tag:
        return False
    is_told = _tells(found, before)
    if settling.is_lost and not is_told:
        raise settling.unknown()
    settling.is_lost = False
    return is_told


def _tells(found: Seen[Any], before: Seen[Any]) -> bool:
    """Tell whether the ids in an object reach back to what it was, so that a write that is not among them is not."""
    if found.tag is None:
        return False
    if before.tag is None:
        return found.count <= len(found.trail)
    return bool(before.trail) and before.trail[-1] in found.trail
