"""Followers are woken by a change stream."""

from __future__ import annotations

import threading

import pytest

import holdall
from holdall_adapters.mongodb import streams
from tests.adapters.followers import NEVER, Follower, hear_everything
from tests.adapters.handles import KINDS

pytest.importorskip("pymongo")


pytestmark = [
    pytest.mark.usefixtures("sockets_of_pymongo"),
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
]


@pytest.fixture
def store(mongodb_database):
    with holdall.open_store(mongodb_database) as store:
        yield store


@pytest.fixture
def listening(monkeypatch):
    """Followers never look by themselves; set when one has begun to listen."""
    monkeypatch.setattr(streams, "_LOOK", NEVER)
    begun, heard = threading.Event(), streams.Streams._heard

    async def hear(self, *arguments):
        begun.set()
        return await heard(self, *arguments)

    monkeypatch.setattr(streams.Streams, "_heard", hear)
    return begun


@pytest.mark.parametrize("kind", KINDS)
def test_a_follower_is_woken_by_the_stream_alone(store, mongodb_database, listening, kind):
    store.append("s", "log", [0])
    follower = Follower(kind, mongodb_database, "log", 6)
    assert listening.wait(60)
    for number in range(1, 6):
        store.append("s", "log", [number])
    assert follower.join() == list(range(6))


@pytest.mark.parametrize("kind", KINDS)
def test_commits_wake_too(store, mongodb_database, listening, kind):
    store.restore_log("s", "log", 5, ["restored"])
    follower = Follower(kind, mongodb_database, "log", 2, begin=5)
    assert listening.wait(60)
    store.commit([holdall.Append("s", "log", ["committed"]), holdall.Put("s", "k", 1)])
    assert follower.join() == ["restored", "committed"]


@pytest.mark.parametrize("kind", KINDS)
def test_many_followers_of_many_logs_hear_everything(store, mongodb_database, kind):
    hear_everything(kind, mongodb_database, store, 2 * streams._MOST_IDLE)


def test_a_standalone_server_has_no_streams_and_followers_look(lone_mongodb_database):
    with holdall.open_store(lone_mongodb_database) as store:
        assert not store.capabilities.native_follow
        assert not store.capabilities.atomic_commit
        follower = Follower("sync", lone_mongodb_database, "log", 3)
        for number in range(3):
            store.append("s", "log", [number])
        assert follower.join() == [0, 1, 2]
