"""The decisions of the contract, as functions of what is stored: every adapter that decides in Python uses these.

The order is that of the contract: batch id, then fence, then expectation. A refusal changes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdall.errors import BatchMismatch, Conflict, Fenced, HoldallError, Truncated, Unsupported
from holdall.spi import AppendRequest, CheckLogRequest, CheckRequest, DeleteRequest, PutRequest
from holdall.values import ABSENT, ANY, Appended, Head

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdall.spi import StoreDriver, WriteRequest
    from holdall.values import Expect, ExpectHead

__all__ = [
    "KEPT_BATCHES",
    "check_batch",
    "check_fence",
    "check_head",
    "check_start",
    "check_version",
    "commit_single",
    "concerning",
    "conflict_on_head",
    "conflict_on_version",
    "kept_position",
    "raised_mark",
]

KEPT_BATCHES = 1_000
"""How many of the last batches keep their ids after a truncate."""


class concerning:  # noqa: N801 - reads as a statement: with concerning(request)
    """Notes on an error of holdall which of several requests it is about.

    Args:
        request: what has a scope and a key.

    """

    def __init__(self, request: Any) -> None:
        self._request = request

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        """Note scope and key on the error."""
        if isinstance(error, HoldallError):
            error.scope, error.key = getattr(self._request, "scope", None), getattr(self._request, "key", None)


def check_fence(mark: int, fence: int | None) -> None:
    """Refuse a write of a stale holder.

    Args:
        mark: the highest token that the record or log has seen, 0 for none.
        fence: the token of the write, or None for an unfenced one.

    Raises:
        Fenced: the token is below the mark.

    """
    if fence is not None and fence < mark:
        message = f"fencing token {fence} is stale: {mark} has been seen, so another holder has taken over"
        raise Fenced(message, mark)


def raised_mark(mark: int, fence: int | None) -> int:
    """Return the mark after a write that was let in.

    Args:
        mark: the mark before.
        fence: the token of the write, or None.

    """
    return mark if fence is None else max(mark, fence)


def conflict_on_version(expect: Expect, current: str | None) -> Conflict:
    """Return the error for a record that is not as expected.

    Args:
        expect: what the caller expected.
        current: the version there is, or None.

    """
    wanted = "no record" if expect is ABSENT else f"version {expect}"
    found = "there is none" if current is None else f"it is at version {current}"
    return Conflict(f"expected {wanted}, but {found}: read it again and decide", current)


def check_version(expect: Expect, current: str | None) -> None:
    """Refuse a write whose expectation about a record does not hold.

    Args:
        expect: `ANY`, `ABSENT` or a version.
        current: the version there is, or None if the record is absent or expired.

    Raises:
        Conflict: it is another.

    """
    if expect is ANY:
        return
    if (current is not None) if expect is ABSENT else (current != expect):
        raise conflict_on_version(expect, current)


def conflict_on_head(expect: ExpectHead, current: Head | None) -> Conflict:
    """Return the error for a log that is not as expected.

    Args:
        expect: what the caller expected.
        current: the head there is, or None.

    """
    wanted = "no log" if expect is ABSENT else f"length {expect}" if isinstance(expect, int) else f"{expect}"
    found = "there is none" if current is None else f"it is {current}"
    return Conflict(f"expected {wanted}, but {found}: read it again and decide", current)


def check_head(expect: ExpectHead, current: Head | None) -> None:
    """Refuse a write whose expectation about a log does not hold.

    Args:
        expect: `ANY`, `ABSENT`, a length or a `Head`; 0 and `ABSENT` mean the same where there is no log.
        current: the head there is, or None.

    Raises:
        Conflict: it is another.

    """
    if expect is ANY:
        return
    if isinstance(expect, Head):
        holds = expect == current
    elif expect is ABSENT or expect == 0:
        holds = current is None
    else:
        holds = current is not None and current.length == expect
    if not holds:
        raise conflict_on_head(expect, current)


def check_batch(start: int, count: int, digest: str, incarnation: str, first: int, again: str) -> Appended:
    """Return the result of a batch that was appended before, for its repetition.

    Args:
        start: position of the first time's first entry.
        count: how many entries it had.
        digest: digest of the first time's entries.
        incarnation: incarnation of the log.
        first: the first position that the log kept then.
        again: digest of the entries that came now.

    Raises:
        BatchMismatch: the entries are other ones.

    """
    if digest != again:
        message = (
            f"this batch id was used for other entries, at position {start}: "
            "use a new id for new entries, and the same entries when you repeat"
        )
        raise BatchMismatch(message)
    return Appended(start, count, Head(first, start + count, incarnation))


def check_start(start: int, head: Head) -> None:
    """Refuse to read what a log has forgotten.

    Args:
        start: the first position asked for.
        head: the head of the log.

    Raises:
        Truncated: the log begins after `start`.

    """
    if start < head.first:
        message = f"position {start} is forgotten, the log begins at {head.first}: read from there"
        raise Truncated(message, head.first)


def kept_position(head: Head, before: int) -> int:
    """Return where a log begins after a truncate.

    Args:
        head: its head now.
        before: the position below which entries are to be forgotten.

    """
    return max(head.first, min(before, head.length))


async def commit_single(driver: StoreDriver, requests: Sequence[WriteRequest]) -> Sequence[Any]:
    """Commit one request, for a driver that changes one key at a time.

    Args:
        driver: the driver.
        requests: what to commit.

    Raises:
        Unsupported: there are several requests.

    """
    if len(requests) != 1:
        message = "this backend changes one key at a time"
        raise Unsupported(message)
    with concerning(requests[0]):
        return [await _commit_one(driver, requests[0])]


async def _commit_one(driver: StoreDriver, request: WriteRequest) -> Any:
    match request:
        case PutRequest():
            return await driver.put(request)
        case DeleteRequest():
            return await driver.delete(request)
        case AppendRequest():
            return await driver.append(request)
        case CheckLogRequest():
            head = await driver.head(request.scope, request.key)
            check_head(request.expect, head)
            return head
        case CheckRequest():
            record = await driver.get(request.scope, request.key)
            version = None if record is None else record.version
            check_version(request.expect, version)
            return version
