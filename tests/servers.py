"""The servers that tests need, each by the first way that works here.

1. The URL in `HOLDALL_TEST_POSTGRES_URL`, `HOLDALL_TEST_PGBOUNCER_URL`, `HOLDALL_TEST_MONGODB_URL`...
2. Docker, through testcontainers, where there is a daemon.
3. A program from a package, on loopback, with a free port and a temporary folder, stopped afterwards.

Where none works, tests are skipped with the reason, or fail under `--require-servers`. In a test, the fixtures
`postgres_url`, `pgbouncer_url`, `mongodb_url`, `dynamodb_url` and `s3_url` give them; elsewhere
`with servers.postgres() as url`; by hand `python -m tests.servers postgres pgbouncer mongodb dynamodb s3`.
"""

from __future__ import annotations

import argparse
import contextlib
import shlex
import signal

from tests.server_kinds.common import Unobtainable, free_port
from tests.server_kinds.dynamodb import dated, dynamodb, local_dynamodb, moto_dynamodb, url_of
from tests.server_kinds.mongodb import LocalMongo, local_mongo, mongodb
from tests.server_kinds.pgbouncer import pgbouncer
from tests.server_kinds.postgres import LocalPostgres, local_postgres, postgres
from tests.server_kinds.s3 import moto_s3, s3
from tests.server_kinds.shared import shared

__all__ = [
    "LocalMongo",
    "LocalPostgres",
    "Unobtainable",
    "dated",
    "dynamodb",
    "free_port",
    "local_dynamodb",
    "local_mongo",
    "local_postgres",
    "mongodb",
    "moto_dynamodb",
    "moto_s3",
    "pgbouncer",
    "postgres",
    "s3",
    "shared",
    "url_of",
]


def main() -> None:
    """Start servers, print how tests find them, and wait until interrupted."""
    parser = argparse.ArgumentParser(prog="python -m tests.servers", description=main.__doc__)
    parser.add_argument("names", nargs="+", choices=("postgres", "pgbouncer", "mongodb", "dynamodb", "s3"))
    names = parser.parse_args().names
    with contextlib.ExitStack() as stack:
        for name, server in (("mongodb", mongodb), ("dynamodb", dynamodb), ("s3", s3)):
            if name in names:
                _tell(name, stack.enter_context(server()))
        if "postgres" in names or "pgbouncer" in names:
            url = stack.enter_context(postgres())
            _tell("postgres", url)
            if "pgbouncer" in names:
                _tell("pgbouncer", stack.enter_context(pgbouncer(url)))
        with contextlib.suppress(KeyboardInterrupt):
            signal.pause()
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # they are being stopped


def _tell(name: str, url: str) -> None:
    print(f"export HOLDALL_TEST_{name.upper()}_URL={shlex.quote(url)}", flush=True)


if __name__ == "__main__":
    main()
