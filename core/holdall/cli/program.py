"""The program `holdall` from its first moment to its last: Ctrl-C is one line also before the commands are there."""

from __future__ import annotations

import signal
import sys
import warnings
from typing import NoReturn

__all__ = ["run"]

_USAGE = 2
_INTERRUPTED = 130


def run() -> NoReturn:
    """Run the command line, and end with one of the documented statuses."""
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison] - it is where `>&-` was written
        _end("standard output is closed", _USAGE)
    # A signal may come between making a coroutine and running it; who pressed Ctrl-C has no use for that.
    warnings.filterwarnings("ignore", "coroutine .* was never awaited", RuntimeWarning)
    try:
        from holdall.cli.application import main  # noqa: PLC0415 - Ctrl-C may come meanwhile

        main(prog_name="holdall")
    except KeyboardInterrupt:
        _end("interrupted", _INTERRUPTED)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is tidied up, and the interpreter would print a traceback
    raise AssertionError  # the group ends the program


def _end(why: str, status: int) -> NoReturn:
    if sys.stderr is not None:  # pyright: ignore[reportUnnecessaryComparison] - as above
        sys.stderr.write(f"holdall: {why}\n")
    sys.exit(status)
