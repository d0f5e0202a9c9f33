"""One server for all workers of a run of tests: whoever needs it first starts it, and stops it after the last."""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import IO

_RUN = "PYTEST_XDIST_TESTRUNUID"


@contextlib.contextmanager
def shared(name: str, start: Callable[[], AbstractContextManager[str]], started: ExitStack) -> Iterator[str]:
    """Give where a server is, one that another worker of this run has started or one of its own.

    A file has its URL, and everybody who uses it holds a shared lock on another. Whoever started it takes the URL away
    at the end and waits for the others. Where a worker dies, the system takes back its locks.

    Args:
        name: what kind of server it is.
        start: starts one for a `with` block, and gives its URL.
        started: stops what was started here, once this worker uses no shared server any more: two that wait for each
            other would wait for ever.

    """
    run = os.environ.get(_RUN)
    if run is None:  # no workers
        with start() as url:
            yield url
        return
    folder = Path(tempfile.gettempdir(), f"holdall-servers-{run}")
    folder.mkdir(exist_ok=True)
    told, starting = folder / f"{name}.url", folder / f"{name}.start"
    with ExitStack() as using:
        with _locked(starting):
            if not told.exists():
                url, users = started.enter_context(start()), folder / f"{name}-{os.getpid()}.users"
                told.write_text(f"{url}\n{users}", "utf-8")
                started.callback(_wait_for_others, told, starting, users)
            url, _, users = told.read_text("utf-8").partition("\n")
            using.enter_context(_locked(Path(users), fcntl.LOCK_SH))
        yield url


def _wait_for_others(told: Path, starting: Path, users: Path) -> None:
    """Let nobody find the server any more, and wait until nobody uses it."""
    with _locked(starting):
        told.unlink()
    with _locked(users):
        return


@contextlib.contextmanager
def _locked(path: Path, kind: int = fcntl.LOCK_EX) -> Generator[IO[str]]:
    with path.open("a") as file:
        fcntl.flock(file, kind)
        yield file
