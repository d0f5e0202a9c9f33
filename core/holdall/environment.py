"""The real environment of drivers: system clocks, random ids, and sleeping that blocks or suspends."""

from __future__ import annotations

import asyncio
import os
import random
import time

from holdall.clock import boot_id, boot_time

__all__ = ["BlockingEnvironment", "SuspendingEnvironment", "new_id"]

_random = random.SystemRandom()


def new_id() -> str:
    """Return 32 random hexadecimal digits, distinct also between forked processes."""
    return os.urandom(16).hex()


class BlockingEnvironment:
    """The environment of synchronous ports: sleeping blocks the thread."""

    async def sleep(self, seconds: float) -> None:
        """Block for a while."""
        time.sleep(seconds)  # noqa: ASYNC251 - this is what makes the port a blocking one

    def boot_time(self) -> float:
        """Return the boot clock in seconds."""
        return boot_time()

    def boot_id(self) -> str:
        """Return the id of this boot."""
        return boot_id()

    def wall_time(self) -> float:
        """Return the wall clock in seconds since 1970."""
        return time.time()

    def new_id(self) -> str:
        """Return 32 random hexadecimal digits."""
        return new_id()

    def random(self) -> float:
        """Return a random number from 0 up to 1."""
        return _random.random()


class SuspendingEnvironment(BlockingEnvironment):
    """The environment of asynchronous ports: sleeping lets the event loop go on."""

    async def sleep(self, seconds: float) -> None:
        """Suspend for a while."""
        await asyncio.sleep(seconds)
