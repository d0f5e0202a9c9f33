"""Checks of arguments, before anything is sent."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from holdall.errors import InvalidArgument, TooLarge
from holdall.keys import check_name, is_text
from holdall.values import ABSENT, ANY, Expect, ExpectHead, Head, Lease, Record

if TYPE_CHECKING:
    from holdall.capabilities import Capabilities

MAX_TTL = 100 * 365.25 * 86_400
"""The longest ttl: a century, in seconds."""

MAX_NUMBER = 2**63 - 1
_MAX_BATCH_ID_BYTES = 512


def check_ttl(ttl: Any, min_ttl: float, what: str = "ttl") -> float:
    """Return a ttl as seconds.

    Args:
        ttl: what the caller passed.
        min_ttl: the shortest that the backend takes.
        what: how to call it in an error.

    Raises:
        InvalidArgument: it is not a finite positive number, too short, or above a century.

    """
    if isinstance(ttl, bool) or not isinstance(ttl, int | float):
        message = f"{what} must be a number of seconds, not {type(ttl).__name__}"
        raise InvalidArgument(message)
    if not 0 < ttl <= MAX_TTL:
        message = f"{what} must be above 0 and at most a century in seconds, not {_number(ttl)}"
        raise InvalidArgument(message)
    if ttl < min_ttl:
        message = f"{what} of {ttl} s is below the shortest of this backend, {min_ttl} s"
        raise InvalidArgument(message)
    return float(ttl)


def check_fence_argument(fence: Any) -> int | None:
    """Return the token of a fence.

    Args:
        fence: a `Lease`, a token, or None.

    Raises:
        InvalidArgument: it is something else, or a token below 1.

    """
    if fence is None:
        return None
    if not isinstance(fence, Lease | int):
        hint = "pass its lease: fence=hold.lease" if hasattr(fence, "lease") else "pass a Lease or its token"
        message = f"fence must not be a {kind_of(fence)}: {hint}"
        raise InvalidArgument(message)
    return check_token(fence.token if isinstance(fence, Lease) else fence, "fence")


def check_token(token: Any, what: str, lowest: int = 1) -> int:
    """Return a fencing token.

    Args:
        token: what the caller passed.
        what: how to call it in an error.
        lowest: the lowest it may be.

    Raises:
        InvalidArgument: it is no int, or out of range.

    """
    if isinstance(token, bool) or not isinstance(token, int) or not lowest <= token <= MAX_NUMBER:
        message = f"{what} must be a Lease or its token, an int from {lowest} to 2**63-1, not {_number(token)}"
        raise InvalidArgument(message)
    return int(token)


def check_expect(expect: Any) -> Expect:
    """Return an expectation about a record.

    Args:
        expect: `ANY`, `ABSENT` or a version.

    Raises:
        InvalidArgument: it is something else.

    """
    if expect is ANY or expect is ABSENT:
        return expect
    if not isinstance(expect, str) or not expect or not is_text(expect):
        message = f"expect must be holdall.ANY, holdall.ABSENT or a version, not {_shown(expect)}"
        raise InvalidArgument(message)
    return str.__str__(expect)


def check_expect_head(expect: Any) -> ExpectHead:
    """Return an expectation about a log.

    Args:
        expect: `ANY`, `ABSENT`, a length or a `Head`.

    Raises:
        InvalidArgument: it is something else.

    """
    if expect is ANY or expect is ABSENT:
        return expect
    if isinstance(expect, Head):
        return _check_head_argument(expect)
    if isinstance(expect, bool) or not isinstance(expect, int) or expect < 0:
        message = f"expect must be holdall.ANY, holdall.ABSENT, a length or a Head, not {_shown(expect)}"
        raise InvalidArgument(message)
    return min(int(expect), MAX_NUMBER)


def _check_head_argument(head: Any) -> Head:
    first, length = check_count(head.first, "first of a Head"), check_count(head.length, "length of a Head")
    if not isinstance(head.incarnation, str) or not is_text(head.incarnation):
        message = "the incarnation of a Head must be the one that the store gave"
        raise InvalidArgument(message)
    return Head(first, length, head.incarnation)


def _number(value: Any) -> str:
    """Return a number for a message; an int of thousands of digits has no repr."""
    if isinstance(value, int) and abs(value) > MAX_NUMBER:
        return "a far larger number" if value > 0 else "a far smaller number"
    return repr(value) if isinstance(value, int | float) else kind_of(value)


def _shown(value: Any) -> str:
    if isinstance(value, Record):
        return "a Record: pass its version"
    return repr(value) if value is None or value == "" or isinstance(value, bool) else type(value).__name__


def check_count(number: Any, what: str, lowest: int = 0) -> int:
    """Return a position, limit or count.

    Args:
        number: what the caller passed.
        what: how to call it in an error.
        lowest: the lowest it may be.

    Raises:
        InvalidArgument: it is no int, or below `lowest`.

    """
    if isinstance(number, bool) or not isinstance(number, int) or number < lowest:
        message = f"{what} must be an int of {lowest} or more, not {_number(number)}"
        raise InvalidArgument(message)
    return min(int(number), MAX_NUMBER)


def check_seconds(seconds: Any, what: str) -> float:
    """Return a time to wait.

    Args:
        seconds: a number from 0 on, or None for ever.
        what: how to call it in an error.

    Raises:
        InvalidArgument: it is something else.

    """
    if seconds is None:
        return math.inf
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds >= 0:
        message = f"{what} must be a number of seconds from 0 on, or None to wait for ever"
        raise InvalidArgument(message)
    return float(min(seconds, MAX_TTL)) if seconds < math.inf else math.inf


def kind_of(value: object) -> str:
    """Return the name of a value's type, for errors that must not show the value."""
    return type(value).__name__


class Names:
    """Checks names against the limits of one backend."""

    __slots__ = ("max_key", "max_scope")

    def __init__(self, capabilities: Capabilities) -> None:
        self.max_scope = capabilities.max_scope_bytes
        self.max_key = capabilities.max_key_bytes

    def pair(self, scope: Any, key: Any) -> tuple[str, str]:
        """Return a scope and a key."""
        return check_name("scope", scope, self.max_scope), check_name("key", key, self.max_key)

    def scope(self, scope: Any) -> str:
        """Return a scope."""
        return check_name("scope", scope, self.max_scope)

    def key(self, key: Any) -> str:
        """Return a key."""
        return check_name("key", key, self.max_key)

    def prefix(self, prefix: Any) -> str:
        """Return a prefix of a key or scope."""
        return check_name("prefix", prefix, max(self.max_key, self.max_scope), empty=True)

    def after(self, after: Any) -> str | None:
        """Return a cursor; "" is before everything."""
        return None if after is None else check_name("after", after, max(self.max_key, self.max_scope), empty=True)

    def batch_id(self, batch_id: Any) -> str | None:
        """Return a batch id."""
        return None if batch_id is None else check_name("batch_id", batch_id, _MAX_BATCH_ID_BYTES)


def check_size(what: str, size: int, limit: int) -> None:
    """Refuse what is above a limit.

    Args:
        what: how to call it in an error.
        size: how large it is.
        limit: how large it may be.

    Raises:
        TooLarge: it is larger.

    """
    if size > limit:
        raise TooLarge(what, limit, size)
