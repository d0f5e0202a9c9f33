"""SIGTERM and SIGHUP end a command as Ctrl-C does: what it has begun is tidied up."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Generator
from types import FrameType
from typing import NoReturn

from holdall.cli.failures import TERMINATED

__all__ = ["ended_by_exception"]

_ENDS = (signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def ended_by_exception() -> Generator[None]:
    """Let SIGTERM and SIGHUP raise SystemExit within the block."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, _end) for number in _ENDS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end(_number: int, _frame: FrameType | None) -> NoReturn:
    for each in _ENDS:
        signal.signal(each, signal.SIG_IGN)
    sys.exit(TERMINATED)
