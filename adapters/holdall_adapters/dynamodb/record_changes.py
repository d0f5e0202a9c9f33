"""Records as items: what is read of them, and the changes that write them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from holdall.spi import ABSENT, ANY
from holdall_adapters.aws.times import KEPT
from holdall_adapters.dynamodb.changes import Change, fence_holds
from holdall_adapters.dynamodb.names import B, N, S

if TYPE_CHECKING:
    from holdall.values import Expect
    from holdall_adapters.aws.times import Times

__all__ = ["BRIEF", "INLINE", "Found", "delete", "found_in", "put", "same", "seal", "touch"]

INLINE = 300_000
"""Bytes of a value up to which it stands in its record."""
BRIEF = ("ver", "prev", "exp", "gone", "mark", "parts", "epoch", "tid")
_DAY = 86_400.0
_NOBODY = {"S": "-"}


class Found(NamedTuple):
    """What is under a key, dead or alive.

    Attributes:
        live: its version if it is a live record, else None.
        version: the id of the last write, also of one that deleted.
        previous: the id of the write before.
        mark: the highest token seen, 0 for none.
        parts: how many items hold its value, 0 if it stands in the record.
        expires: when it expires, as it is stored, or None.
        epoch: counts the sweeps that looked for orphans of it, as it is stored, or None.
        touched: the id of the last touch.

    """

    live: str | None = None
    version: str | None = None
    previous: str | None = None
    mark: int = 0
    parts: int = 0
    expires: str | None = None
    epoch: str | None = None
    touched: str | None = None


def found_in(item: dict[str, Any] | None, past: float) -> Found:
    """Return what an item tells.

    Args:
        item: the item, or None.
        past: a time that had come before it was read.

    """
    if item is None:
        return Found()
    version, expires = _text(item, "ver"), _number(item, "exp")
    alive = version is not None and "gone" not in item and (expires is None or float(expires) > past)
    return Found(
        live=version if alive else None,
        version=version,
        previous=_text(item, "prev"),
        mark=int(_number(item, "mark") or 0),
        parts=int(_number(item, "parts") or 0),
        expires=expires,
        epoch=_number(item, "epoch"),
        touched=_text(item, "tid"),
    )


def _text(item: dict[str, Any], name: str) -> str | None:
    return item[name]["S"] if name in item else None


def _number(item: dict[str, Any], name: str) -> str | None:
    return item[name]["N"] if name in item else None


def _written(change: Change, write_id: str) -> None:
    """Note the id of a write, and move that of the one before."""
    change.set_to("prev", f"if_not_exists(#ver, {change.value(_NOBODY)})").set("ver", S(write_id))


def _expires(change: Change, found: Found, fence: int | None, expires: float | None, cleaned: float | None) -> None:
    """Set the expiry, and when the table may clean up, which it must never do to what has a mark."""
    if expires is None:
        change.remove("exp")
    else:
        change.set("exp", N(expires))
    if cleaned is None or fence is not None or found.mark:
        change.remove("ttl")
    else:
        change.set("ttl", N(int(cleaned))).equal("mark", None)


def _live(change: Change, past: float) -> None:
    change.require("attribute_exists(#ver) AND attribute_not_exists(#gone)")
    change.require(f"attribute_not_exists(#exp) OR #exp > {change.value(N(past))}")


def _expected(change: Change, expect: Expect, past: float) -> None:
    if expect is ANY:
        return
    if expect is ABSENT:
        expired = f"#exp <= {change.value(N(past))}"
        change.require(f"attribute_not_exists(#ver) OR attribute_exists(#gone) OR {expired}")
        return
    _live(change, past)
    change.require(f"#ver = {change.value(S(str(expect)))}")


def _replaces(change: Change, found: Found) -> None:
    """Let it happen only if the parts that it leaves behind are those that were seen."""
    if found.parts:
        change.equal("ver", S(found.version or ""))
    else:
        change.equal("parts", None)


def put(
    version: str,
    payload: bytes | int,
    expect: Expect,
    ttl: float | None,
    fence: int | None,
    found: Found,
    times: Times,
) -> Change:
    """Return the change of a put.

    Args:
        version: the id of the write.
        payload: the value, or how many parts hold it.
        expect: what must be there.
        ttl: seconds until it expires, or None.
        fence: the token, or None.
        found: what is known of the record.
        times: the clock.

    """
    change = Change()
    _written(change, version)
    if isinstance(payload, int):
        change.set("parts", N(payload)).remove("val").equal(
            "epoch", None if found.epoch is None else {"N": found.epoch}
        )
    else:
        change.set("val", B(payload)).remove("parts")
    change.remove("gone")
    expires = None if ttl is None else times.now() + ttl
    _expires(change, found, fence, expires, None if expires is None else expires + KEPT)
    fence_holds(change, fence)
    _expected(change, expect, times.past())
    _replaces(change, found)
    return change


def delete(write_id: str, expect: Expect, fence: int | None, found: Found, times: Times) -> Change:
    """Return the change that leaves a grave in the place of a live record.

    Args:
        write_id: the id of the write.
        expect: what must be there.
        fence: the token, or None.
        found: what is known of the record.
        times: the clock.

    """
    change, now = Change(), times.now()
    _written(change, write_id)
    change.remove("val", "parts").set("gone", N(now))
    _expires(change, found, fence, None, now + _DAY)
    fence_holds(change, fence)
    _live(change, times.past())
    if isinstance(expect, str):
        change.equal("ver", S(expect))
    _replaces(change, found)
    return change


def touch(write_id: str, ttl: float | None, fence: int | None, found: Found, times: Times) -> Change:
    """Return the change that sets a new expiry on a live record.

    Args:
        write_id: the id of the touch.
        ttl: seconds until it expires, or None.
        fence: the token, or None.
        found: what is known of the record.
        times: the clock.

    """
    change = Change().set("tid", S(write_id))
    expires = None if ttl is None else times.now() + ttl
    _expires(change, found, fence, expires, None if expires is None else expires + KEPT)
    fence_holds(change, fence)
    _live(change, times.past())
    return change


def seal(fence: int) -> Change:
    """Return the change that raises the mark, and nothing else.

    Args:
        fence: the token.

    """
    change = Change().remove("ttl")
    fence_holds(change, fence)
    return change


def same(change: Change, found: Found) -> Change:
    """Let a change happen only if the record is as it was found.

    Args:
        change: the change.
        found: what was found.

    """
    change.equal("ver", None if found.version is None else S(found.version))
    return change.equal("exp", None if found.expires is None else {"N": found.expires})
