"""MongoDB: a URL of yours, a container, a `mongod` in PATH, or SecantusDB, a server in Python that pip brings.

SecantusDB speaks MongoDB's protocol, with transactions and change streams. It takes a repeated write for another one
when the time that is left for it differs, so the driver repeats nothing there.
"""

from __future__ import annotations

import contextlib
import importlib.util
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.server_kinds.common import PATIENCE, Program, Unobtainable, first_of, folder_for, free_port, named_by
from tests.server_kinds.docker import container

_IMAGE = "mongo:8"
_DATABASE = "holdall"
_SECANTUS = "tests.server_kinds.secantus_server"
_LIFETIME = 3
"""Seconds after which the transaction of a client that was killed is aborted; a minute where nobody says so."""
_ROOT = Path(__file__).parent.parent.parent


class LocalMongo:
    """A server on loopback that a test may stop and start again.

    Args:
        folder: an empty folder.
        alone: whether it is no member of a replica set, and so has no transactions.
        settings: more words for SecantusDB, such as "--auth".

    """

    def __init__(self, folder: Path, *, alone: bool = False, settings: Sequence[str] = ()) -> None:
        self._home = folder / "home"
        self._home.mkdir()
        self._alone = alone
        self._settings = settings
        self.port = free_port()
        self.start()

    @property
    def url(self) -> str:
        """Its URL; the driver repeats no write by itself."""
        return f"mongodb://127.0.0.1:{self.port}/{_DATABASE}?directConnection=true&retryWrites=false"

    def start(self) -> None:
        """Start it, by the same port as before."""
        program = shutil.which("mongod")
        words = self._secantus() if program is None else self._mongod(program)
        self._program = Program(words, self._home, "INT", may_be_root=True, patience=15, at_death="KILL")
        self._program.wait_until(lambda: _answers(self.port))
        if program is not None and not self._alone:
            _become_primary(self.port)

    def _mongod(self, program: str) -> list[str | Path]:
        words: list[str | Path] = [program, "--dbpath", self._home, "--port", str(self.port), "--bind_ip", "127.0.0.1"]
        words += ["--setParameter", f"transactionLifetimeLimitSeconds={_LIFETIME}"]
        return words if self._alone else [*words, "--replSet", "tests"]

    def _secantus(self) -> list[str | Path]:
        if importlib.util.find_spec("secantus") is None:
            raise Unobtainable("no mongod in PATH and no package SecantusDB")
        run = f"import runpy, sys; sys.path[0] = {str(_ROOT)!r}; runpy.run_module({_SECANTUS!r}, run_name='__main__')"
        words = [sys.executable, "-c", run, "--port", str(self.port), "--storage-path", str(self._home / "data")]
        return [*words, "--log-level", "ERROR", *(["--standalone"] if self._alone else []), *self._settings]

    def stop(self) -> None:
        """End it, and all connections."""
        self._program.stop()

    def restart(self) -> None:
        """End it, and start it again."""
        self.stop()
        self.start()


def _client(port: int) -> Any:
    import pymongo  # noqa: PLC0415 - only whoever starts the server needs its driver

    return pymongo.MongoClient("127.0.0.1", port, directConnection=True, serverSelectionTimeoutMS=2000)


def _answers(port: int) -> bool:
    from pymongo.errors import PyMongoError  # noqa: PLC0415 - as above

    with _client(port) as client:
        try:
            client.admin.command("ping")
        except PyMongoError:
            return False
    return True


def _become_primary(port: int) -> None:
    from pymongo.errors import OperationFailure  # noqa: PLC0415 - as above

    member = {"_id": 0, "host": f"127.0.0.1:{port}"}
    with _client(port) as client:
        with contextlib.suppress(OperationFailure):  # it was one before
            client.admin.command("replSetInitiate", {"_id": "tests", "members": [member]})
        deadline = time.monotonic() + PATIENCE
        while not client.admin.command("hello")["isWritablePrimary"]:
            if time.monotonic() > deadline:
                raise Unobtainable("mongod did not become primary")
            time.sleep(0.05)


@contextlib.contextmanager
def local_mongo(*, alone: bool = False, settings: Sequence[str] = ()) -> Iterator[LocalMongo]:
    """Give a server of your own, which a test may stop and start.

    Args:
        alone: whether it is no member of a replica set.
        settings: more words for SecantusDB, such as "--auth".

    Raises:
        Unobtainable: there are no programs to run it.

    """
    with folder_for("mongodb") as folder:
        server = LocalMongo(folder, alone=alone, settings=settings)
        try:
            yield server
        finally:
            server.stop()


@contextlib.contextmanager
def _contained() -> Iterator[str]:
    with container("mongodb", "MongoDbContainer", _IMAGE) as started:
        host, port = started.get_container_host_ip(), started.get_exposed_port(27017)
        yield f"mongodb://test:test@{host}:{port}/{_DATABASE}?authSource=admin"


@contextlib.contextmanager
def _local() -> Iterator[str]:
    with local_mongo() as server:
        yield server.url


@contextlib.contextmanager
def mongodb() -> Iterator[str]:
    """Give the URL of a database of a MongoDB server.

    Raises:
        Unobtainable: there is none.

    """
    with first_of(lambda: named_by("HOLDALL_TEST_MONGODB_URL"), _contained, _local) as url:
        yield url
