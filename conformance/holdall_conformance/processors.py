"""Which processors threads may run on.

Threads that hand every call to each other are faster on one processor: to wake an idle one takes longer than the call.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Generator
from contextlib import contextmanager

__all__ = ["on_any_processor", "on_one_processor"]


def _allowed() -> frozenset[int]:
    """Return the processors of the calling thread, none where the system cannot tell."""
    return frozenset(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else frozenset()


_ANY = _allowed()


@contextmanager
def on_one_processor() -> Generator[None]:
    """Keep the calling thread, and those it starts meanwhile, on the processor that is this process' turn."""
    allowed = sorted(_ANY)
    with _only_on(allowed[os.getpid() % len(allowed) :][:1] if allowed else []):
        yield


@contextmanager
def on_any_processor() -> Generator[None]:
    """Let the threads and processes that the calling thread starts meanwhile run wherever this process may."""
    with _only_on(_ANY):
        yield


@contextmanager
def _only_on(processors: Collection[int]) -> Generator[None]:
    before = _allowed()
    if not processors or before == frozenset(processors):
        yield
        return
    os.sched_setaffinity(0, processors)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
