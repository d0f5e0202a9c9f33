"""PgBouncer in transaction mode before a PostgreSQL server: a URL of yours, or Debian's program."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.server_kinds.common import Program, Unobtainable, first_of, folder_for, free_port, named_by

_PLACES = os.pathsep.join(("/usr/sbin", "/usr/local/sbin"))
_CONFIGURATION = """[databases]
* = {server}

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
max_client_conn = 500
default_pool_size = 20
"""


@contextlib.contextmanager
def _local(server_url: str) -> Iterator[str]:
    program = shutil.which("pgbouncer") or shutil.which("pgbouncer", path=_PLACES)
    if program is None:
        raise Unobtainable("no pgbouncer in PATH or /usr/sbin: apt-get install pgbouncer")
    with folder_for("pgbouncer") as folder:
        port, home = free_port(), folder / "home"
        home.mkdir()
        database = _write_configuration(home / "pgbouncer.ini", server_url, port)
        started = Program([program, home / "pgbouncer.ini"], home, "TERM")
        try:
            started.wait_until(lambda: _listens(port))
            yield f"postgresql://holdall@127.0.0.1:{port}/{database}"
        finally:
            started.stop()


def _write_configuration(path: Path, server_url: str, port: int) -> str:
    """Write what the program is to do, and return the name of the database."""
    from psycopg.conninfo import conninfo_to_dict  # noqa: PLC0415 - only whoever starts it needs the driver

    parts: dict[str, Any] = conninfo_to_dict(server_url)
    known = {name: parts[name] for name in ("host", "port", "user", "password") if parts.get(name)}
    server = " ".join(f"{name}={value}" for name, value in known.items())
    path.write_text(_CONFIGURATION.format(server=server, port=port))
    return str(parts["dbname"])


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 2).close()
    except OSError:
        return False
    return True


@contextlib.contextmanager
def pgbouncer(server_url: str) -> Iterator[str]:
    """Give the URL of a PgBouncer in transaction mode.

    Args:
        server_url: the URL of the PostgreSQL server that it stands before; a container could not reach it.

    Raises:
        Unobtainable: there is none.

    """
    with first_of(lambda: named_by("HOLDALL_TEST_PGBOUNCER_URL"), lambda: _local(server_url)) as url:
        yield url
