"""Runs SecantusDB as `python -m tests.server_kinds.secantus_server --port N ...`, with the words of its own command.

It aborts a transaction that nobody goes on with only when another one comes; a `mongod` does so by itself. Until
then whoever writes the same documents waits, and after a client was killed that would be for ever.
"""

from __future__ import annotations

import sys
import threading
from typing import Any

from secantus import cli, server

LIFETIME = 3.0
"""Seconds without a command after which a transaction is aborted; a `mongod` is told the same."""
_EVERY = 0.5


class _Server(server.SecantusDBServer):  # type: ignore[misc]
    """The server, and a thread that looks for transactions whose time is up."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, transaction_lifetime_seconds=LIFETIME, **named)
        threading.Thread(target=self._look, name="transactions", daemon=True).start()

    def _look(self) -> None:
        while True:
            threading.Event().wait(_EVERY)
            self.transactions.abort(b"of nobody", 0)  # on the way it aborts those of others that are too old


if __name__ == "__main__":
    cli.SecantusDBServer = _Server
    sys.exit(cli.main())
