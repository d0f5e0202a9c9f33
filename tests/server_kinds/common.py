"""What all kinds of servers share: ports, programs that end with the tests, and the choice among ways to get one."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TypeVar

Found = TypeVar("Found")

PATIENCE = 60.0


class Unobtainable(Exception):
    """A server cannot be had here."""


def free_port() -> int:
    """Return a port of loopback that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def first_of(*ways: Callable[[], AbstractContextManager[Found]]) -> Iterator[Found]:
    """Give what the first way gives that works here.

    Raises:
        Unobtainable: none of them does.

    """
    reasons: list[str] = []
    for way in ways:
        with contextlib.ExitStack() as stack:
            try:
                found = stack.enter_context(way())
            except Unobtainable as error:
                reasons.append(str(error))
                continue
            yield found
            return
    raise Unobtainable("; ".join(reasons))


@contextlib.contextmanager
def named_by(variable: str) -> Iterator[str]:
    """Give the URL in a variable of the environment.

    Raises:
        Unobtainable: it is not set.

    """
    url = os.environ.get(variable)
    if not url:
        raise Unobtainable(f"no {variable}")
    yield url


_MEMORY = Path("/dev/shm")
_ROOM = 6 * 2**30


@contextlib.contextmanager
def folder_for(name: str) -> Iterator[Path]:
    """Give a temporary folder that every user can reach, in memory where there is room.

    No test cuts the power of a server, and a disk that other machines share stands still for many seconds now and then.
    """
    roomy = _MEMORY.is_dir() and os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > _ROOM
    parent = _MEMORY if roomy else None
    with tempfile.TemporaryDirectory(prefix=f"holdall-{name}-", dir=parent, ignore_cleanup_errors=True) as path:
        Path(path).chmod(0o755)
        yield Path(path)


def words_that_end(ending: str) -> list[str]:
    """Return the words before a command that let it end with the thread that starts it, where there is a way.

    Args:
        ending: the name of the signal that ends it, such as "INT".

    """
    return [] if shutil.which("setpriv") is None else ["setpriv", "--pdeathsig", ending]


def words_of_user(home: Path, ending: str) -> list[str]:
    """Return the words before a command that let it end with the thread that starts it, and never run as root.

    Args:
        home: a folder, which is handed over to whoever runs the command.
        ending: the name of the signal that ends it, such as "INT".

    Raises:
        Unobtainable: root would run it.

    """
    words = words_that_end(ending)
    if os.getuid() == 0:
        if not words:
            raise Unobtainable("root cannot run the server, and there is no setpriv to run it as somebody else")
        user = pwd.getpwnam("nobody")
        for path in (home, *home.rglob("*")):
            os.chown(path, user.pw_uid, user.pw_gid)
        words += [f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
    return words


class Program:
    """A server's program, running until `stop`, or until the tests end however they end.

    Args:
        command: its words.
        home: its working folder, where its log goes beside.
        ending: the name of the signal that ends it, such as "INT".
        may_be_root: whether root may run it; it is run as somebody else otherwise.
        patience: seconds after which it is killed if it does not end.
        at_death: the name of the signal that it gets when the tests are killed, by default the same.

    """

    def __init__(
        self,
        command: list[str | Path],
        home: Path,
        ending: str,
        *,
        may_be_root: bool = False,
        patience: float = PATIENCE,
        at_death: str = "",
    ) -> None:
        self._patience = patience
        self._ending = signal.Signals[f"SIG{ending}"]
        self.log = home.parent / "log"
        environment = {"PATH": os.environ["PATH"], "HOME": str(home), "LC_ALL": "C"}
        last = at_death or ending
        before = words_that_end(last) if may_be_root else words_of_user(home, last)
        words = [*before, *map(str, command)]
        with self.log.open("ab") as log:
            # Of a session of its own: an interrupt at the keyboard is for the tests, which then stop it.
            self.process = subprocess.Popen(
                words, stdout=log, stderr=log, env=environment, cwd=home, start_new_session=True
            )

    def wait_until(self, answers: Callable[[], bool]) -> None:
        """Wait until the server answers.

        Raises:
            Unobtainable: it did not come up.

        """
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and self.process.poll() is None:
            if answers():
                return
            time.sleep(0.05)
        self.stop()
        raise Unobtainable(f"the server did not come up: {self.log.read_text(errors='replace')[-500:]}")

    def stop(self) -> None:
        """End it."""
        self.process.send_signal(self._ending)
        try:
            self.process.wait(self._patience)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
