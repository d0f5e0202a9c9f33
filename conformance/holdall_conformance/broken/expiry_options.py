"""Broken in a ttl that stands beside an expectation or a fence."""
# ruff: noqa: D102 - the docstring of a class says what its methods do wrong

from __future__ import annotations

from typing import Any

from holdall import ABSENT, ANY, Conflict, Fenced
from holdall.spi import PutRequest
from holdall.values import Expect
from holdall_conformance.broken.plain_store import PlainStore
from holdall_conformance.broken.registry import broken
from holdall_conformance.broken.state import Record, Space
from holdall_conformance.broken.wrapping import WrappedStore


@broken("expected-version-forgets-the-ttl", "expiry")
class ExpectedVersionForgetsTheTtl(PlainStore):
    """Forgets the ttl of a put that expects a version, whose statement sets the value and nothing else."""

    async def put(self, request: PutRequest) -> None:
        await super().put(request._replace(ttl=None) if isinstance(request.expect, str) else request)


@broken("creating-forgets-the-ttl", "expiry")
class CreatingForgetsTheTtl(PlainStore):
    """Forgets the ttl of a put that expects nothing to be there."""

    async def put(self, request: PutRequest) -> None:
        await super().put(request._replace(ttl=None) if request.expect is ABSENT else request)


@broken("fence-forgets-the-ttl", "expiry", "fencing")
class FenceForgetsTheTtl(PlainStore):
    """Forgets the ttl of a put with a fence, in order not to lose the mark."""

    def apply_put(self, space: Space, request: PutRequest) -> None:
        super().apply_put(space, request if request.fence is None else request._replace(ttl=None))


@broken("ttl-forgets-the-expectation", "expiry")
class TtlForgetsTheExpectation(PlainStore):
    """Writes a record with a ttl whatever version there is, as SET with EX does."""

    async def put(self, request: PutRequest) -> None:
        await super().put(request if request.ttl is None else request._replace(expect=ANY))


@broken("touch-with-a-fence-keeps-the-ttl", "expiry", "fencing")
class TouchWithAFenceKeepsTheTtl(PlainStore):
    """Raises the mark with a touch that has a fence, and leaves the end where it was."""

    async def touch(self, scope: str, key: str, ttl: float | None, fence: int | None) -> bool:
        if fence is None:
            return await super().touch(scope, key, ttl, fence)
        return await self.seal(scope, key, fence) is not None


@broken("ttl-of-thirty-days", "expiry")
class TtlOfThirtyDays(PlainStore):
    """Cuts the ttl of a put at thirty days, the most that one cache takes."""

    def expiry(self, ttl: float | None, before: Record) -> float | None:
        return super().expiry(None if ttl is None else min(ttl, 30 * 86_400.0), before)


@broken("expires-a-bit-early", "expiry")
class ExpiresABitEarly(PlainStore):
    """Takes records for expired a twentieth of a second early, in order to be on the safe side."""

    def is_live(self, record: Record) -> bool:
        return record.payload is not None and (record.expires is None or record.expires > self.now() + 0.05)


class _Updating(WrappedStore):
    """Updates by get and put; how the second try goes is up to a broken one."""

    def again(self, named: dict[str, Any]) -> dict[str, Any]:
        """Return the options of every try but the first."""
        return named

    def update(self, scope: str, key: str, function: Any, **named: Any) -> Any:
        if not callable(function):
            return self.inner.update(scope, key, function, **named)
        while True:
            before = self.inner.get(scope, key)
            value = function(None if before is None else before.value)
            expect: Expect = ABSENT if before is None else before.version
            try:
                version = self.inner.put(scope, key, value, expect=expect, **named)
            except Conflict:
                named = self.again(named)
            else:
                found = self.inner.get(scope, key)
                return None if found is None else found._replace(version=version)


@broken("second-try-forgets-the-ttl", "expiry")
class SecondTryForgetsTheTtl(_Updating):
    """Forgets the ttl of an update whose first try met a conflict."""

    def again(self, named: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in named.items() if name != "ttl"}


@broken("second-try-forgets-the-fence", "expiry")
class SecondTryForgetsTheFence(_Updating):
    """Forgets the fence of an update whose first try met a conflict."""

    def again(self, named: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in named.items() if name != "fence"}


@broken("overtaken-update-returns-the-rival", "expiry", "fencing")
class OvertakenUpdateReturnsTheRival(WrappedStore):
    """Returns what a rival has written, instead of raising Fenced, where a higher token overtook an update."""

    def update(self, scope: str, key: str, function: Any, **named: Any) -> Any:
        called: list[Any] = []

        def noting(value: Any) -> Any:
            called.append(value)
            return function(value)

        try:
            return self.inner.update(scope, key, noting if callable(function) else function, **named)
        except Fenced:
            found = self.inner.get(scope, key)
            if found is None or called == [found.value]:
                raise
            return found


@broken("update-of-nothing-forgets-the-fence", "expiry", "fencing")
class UpdateOfNothingForgetsTheFence(WrappedStore):
    """Forgets the fence of an update that finds no record."""

    def update(self, scope: str, key: str, function: Any, *, fence: Any = None, **named: Any) -> Any:
        plain = callable(function) and bool(fence) and self.inner.get(scope, key) is None
        return self.inner.update(scope, key, function, fence=None if plain else fence, **named)
