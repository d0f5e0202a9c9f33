"""Moto's server, one request at a time, since several at once are not atomic in it: `python moto_alone.py PORT`."""

from __future__ import annotations

import sys

from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, run_simple


class _OneRequest(WSGIRequestHandler):
    """One connection a request: others wait for their turn."""

    protocol_version = "HTTP/1.0"


if __name__ == "__main__":
    run_simple(
        "127.0.0.1",
        int(sys.argv[1]),
        DomainDispatcherApplication(create_backend_app),
        threaded=False,
        request_handler=_OneRequest,
    )
