"""Child processes of scenarios: clean interpreters that talk over pipes, and that nobody outlives.

A child is a new interpreter, never a fork. It imports one function and calls it with the way back to its parent, a
harness on the same storage, and whatever JSON the parent gave along. Messages are lines of JSON. The parent waits for
each with a bound, and kills and reaps every child at the end, whatever happened.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
import weakref
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Self

from holdall.clock import boot_time
from holdall_conformance.absence import Absent
from holdall_conformance.harness import Harness
from holdall_conformance.processors import on_any_processor

__all__ = ["PATIENCE", "Child", "ChildFailed", "Children", "Parent", "soon", "wait_until"]

PATIENCE = 60.0
"""Seconds after which a child that says nothing counts as hanging: far more than anything takes on a busy machine."""

_HEAD_START = 0.05
_CHUNK = 65_536
_SAID, _ABSENT = "said", "absent"
_PROGRAM = "import sys; from holdall_conformance.children import main; main(*sys.argv[1:])"


class ChildFailed(AssertionError):
    """A child ended early, failed, or said nothing for too long."""


_living: weakref.WeakSet[Child] = weakref.WeakSet()


@atexit.register
def _discard_all() -> None:
    """Let no child outlive an interpreter that ends in the middle of a scenario."""
    for child in list(_living):
        child.discard()


class Child:
    """A process that runs one function."""

    def __init__(self, target: str, arguments: Sequence[Any], options: Sequence[str] = ()) -> None:
        self.target = target
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the child
        self._buffer = b""
        command = [sys.executable, "-W", "error", *options, "-c", _PROGRAM, target]
        with on_any_processor():
            self._process = subprocess.Popen(  # noqa: S603 - a child of the kit's own making
                [*command, json.dumps(arguments)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                bufsize=0,
            )
        _living.add(self)

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def say(self, message: Any) -> None:
        """Send a message.

        Raises:
            ChildFailed: it has ended.

        """
        if self._process.stdin is None:
            return
        try:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
        except BrokenPipeError as error:
            self.heard()  # it may have ended since something is absent
            raise ChildFailed(self._story("ended before it was told to go on")) from error

    def hear(self, patience: float = PATIENCE) -> Any:
        """Return the next message.

        Args:
            patience: seconds to wait for it.

        Raises:
            ChildFailed: none came.

        """
        deadline = boot_time() + patience
        while b"\n" not in self._buffer:
            if not self._fill(deadline - boot_time()):
                raise ChildFailed(self._story(f"ended, or said nothing for {patience:g} s"))
        line, _, self._buffer = self._buffer.partition(b"\n")
        return _message(line)

    def heard(self) -> list[Any]:
        """Return every message that has come and was not yet heard, also those of a child that is dead."""
        while self._readable(0.0) and self._fill(0.0):
            pass
        *lines, self._buffer = self._buffer.split(b"\n")
        return [_message(line) for line in lines]

    def _readable(self, patience: float) -> bool:
        stream = self._process.stdout
        return stream is not None and bool(select.select([stream], [], [], max(0.0, patience))[0])

    def _fill(self, patience: float) -> bool:
        if not self._readable(patience) or self._process.stdout is None:
            return False
        found = os.read(self._process.stdout.fileno(), _CHUNK)
        self._buffer += found
        return bool(found)

    def stop(self) -> None:
        """Pause it with SIGSTOP, and wait until it stands still."""
        os.kill(self.pid, signal.SIGSTOP)
        os.waitid(os.P_PID, self.pid, os.WSTOPPED | os.WNOWAIT)

    def resume(self) -> None:
        """Let it go on."""
        os.kill(self.pid, signal.SIGCONT)

    def check_alive(self) -> None:
        """Refuse to go on with a child that ended by itself.

        Raises:
            ChildFailed: it ended.

        """
        status = self._process.poll()
        if status is not None:
            raise ChildFailed(self._story(f"ended with status {status}"))

    def kill(self) -> None:
        """Kill it with SIGKILL, and wait until it is gone."""
        self._process.kill()
        self._process.wait(PATIENCE)

    def finish(self, patience: float = PATIENCE) -> None:
        """Wait for its good end: status 0 and nothing on its standard error.

        Args:
            patience: seconds to wait.

        Raises:
            ChildFailed: it failed, complained or hung.

        """
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            status = self._process.wait(patience)
        except subprocess.TimeoutExpired:
            raise ChildFailed(self._story(f"did not end within {patience:g} s")) from None
        if status != 0 or self._complaints():
            raise ChildFailed(self._story(f"ended with status {status}"))

    def _complaints(self) -> str:
        self._errors.seek(0)
        return self._errors.read().decode(errors="replace")

    def _story(self, what: str) -> str:
        return f"the child that runs {self.target} {what}\n{self._complaints()}"

    def discard(self) -> None:
        """Kill it if it lives, reap it, and close what belongs to it."""
        self.kill()
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()


def _message(line: bytes) -> Any:
    kind, message = json.loads(line)
    if kind == _ABSENT:
        raise Absent(str(message))
    return message


class Children:
    """Starts children on the storage of a harness, and discards them all at the end.

    Args:
        harness: the storage, and the side of the children's handles.
        asynchronous: the side of their handles, where it is to be another.

    """

    def __init__(self, harness: Harness, *, asynchronous: bool | None = None) -> None:
        self._harness = harness
        self._asynchronous = asynchronous
        self._started: list[Child] = []

    def start(self, target: str, *arguments: Any, options: Sequence[str] = ()) -> Child:
        """Start a child.

        Args:
            target: "module:function"; the function takes a `Parent`, a `Harness` and the arguments.
            arguments: anything that is JSON.
            options: further options for its interpreter.

        """
        child = Child(target, [self._harness.tell(asynchronous=self._asynchronous), *arguments], options)
        self._started.append(child)
        return child

    def start_many(self, count: int, target: str, *arguments: Any) -> list[Child]:
        """Start several children; each is given its number as the last argument."""
        return [self.start(target, *arguments, number) for number in range(count)]

    def __enter__(self) -> Self:
        """Return this group."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Discard every child."""
        for child in self._started:
            child.discard()


class Parent:
    """The way from a child back to its parent."""

    def __init__(self, incoming: int, outgoing: int) -> None:
        self._incoming = incoming
        self._outgoing = outgoing
        self._buffer = b""

    def say(self, message: Any, *, kind: str = _SAID) -> None:
        """Send a message; when this returns, the parent will get it even if this process is killed."""
        line = json.dumps([kind, message]).encode() + b"\n"
        while line:
            line = line[os.write(self._outgoing, line) :]

    def hear(self) -> Any:
        """Return the next message; the end of the parent ends this process."""
        while b"\n" not in self._buffer:
            found = os.read(self._incoming, _CHUNK)
            if not found:
                sys.exit("the parent is gone")
            self._buffer += found
        line, _, self._buffer = self._buffer.partition(b"\n")
        return json.loads(line)

    def told(self) -> bool:
        """Return whether there is a message to hear."""
        return b"\n" in self._buffer or bool(select.select([self._incoming], [], [], 0.0)[0])


def soon() -> float:
    """Return a moment, on the boot clock, at which several processes can begin at once."""
    return boot_time() + _HEAD_START


def wait_until(moment: float) -> None:
    """Sleep until a moment on the boot clock.

    Args:
        moment: what `soon` returned, in this process or in another.

    """
    time.sleep(max(0.0, moment - boot_time()))


def main(target: str, arguments: str) -> None:
    """Run one function in this process.

    Args:
        target: "module:function".
        arguments: JSON of the storage, and of the function's own arguments.

    """
    parent = Parent(os.dup(0), os.dup(1))
    os.dup2(2, 1)  # what is printed by mistake must not look like a message
    module, _, name = target.partition(":")
    function: Callable[..., None] = getattr(importlib.import_module(module), name)
    told, *rest = json.loads(arguments)
    try:
        with Harness.told(told) as harness:
            function(parent, harness, *rest)
    except Absent as absent:
        parent.say(str(absent), kind=_ABSENT)
