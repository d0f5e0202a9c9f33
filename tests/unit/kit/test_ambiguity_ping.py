"""The clause of pings: it holds behind a server, and finds a ping that asks nobody."""

from __future__ import annotations

import logging

import pytest

from holdall.handles.store import AsyncStoreHandle, StoreHandle
from holdall_conformance.absence import Absent
from holdall_conformance.harness import Harness
from holdall_conformance.scenarios.ambiguity_ping import ping_asks_the_server


@pytest.fixture(autouse=True)
def no_news_of_lost_connections():
    """The pool of the driver logs each connection that the proxy closed."""
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
def test_a_ping_that_asks_the_server_holds_on_postgres(asynchronous, postgres_url):
    with Harness(postgres_url, asynchronous=asynchronous, level="full") as harness:
        ping_asks_the_server(harness)


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
def test_a_ping_that_asks_nobody_is_found(asynchronous, postgres_url, monkeypatch):
    async def ping(self):
        return 0.0

    monkeypatch.setattr(StoreHandle, "ping", lambda self: 0.0)
    monkeypatch.setattr(AsyncStoreHandle, "ping", ping)
    with (
        Harness(postgres_url, asynchronous=asynchronous) as harness,
        pytest.raises(AssertionError, match="ping says that a server is there which cannot be reached: refuse"),
    ):
        ping_asks_the_server(harness)


def test_without_a_server_it_is_absent():
    with Harness("memory://ping") as harness, pytest.raises(Absent, match="no URL names one"):
        ping_asks_the_server(harness)
