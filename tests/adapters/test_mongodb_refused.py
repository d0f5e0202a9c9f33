"""Deployments that refuse, cannot, or say nothing: one clear error in time, which shows the password nowhere."""

from __future__ import annotations

import contextlib
import socket

import pytest

from holdall import ConfigError, Unavailable
from tests import servers
from tests.adapters.handles import KINDS
from tests.adapters.refusals import ENCODED, told

pymongo = pytest.importorskip("pymongo")

__all__ = ["told"]

pytestmark = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture(scope="module")
def strict(given):
    """A server that demands a user and a password."""
    with given(lambda: servers.local_mongo(settings=["--auth"])) as server:
        yield server


def url_of(server, user="somebody", password=ENCODED, database="used"):
    return f"mongodb://{user}:{password}@127.0.0.1:{server.port}/{database}?directConnection=true&authSource=admin"


def test_a_wrong_password(kind, strict, told):
    told(kind, url_of(strict), ConfigError, "refused the user or its password")


def test_no_user(kind, strict, told):
    told(kind, strict.url, ConfigError, "")


def test_a_port_where_nobody_listens(kind, told):
    url = f"mongodb://weak:{ENCODED}@127.0.0.1:{servers.free_port()}/used"
    told(kind, url, Unavailable, "no server")


def test_a_host_that_does_not_exist(kind, told):
    told(kind, f"mongodb://weak:{ENCODED}@nowhere.invalid/used", Unavailable, "")


def test_a_port_that_says_nothing(kind, told):
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as silent:
        told(kind, f"mongodb://weak:{ENCODED}@127.0.0.1:{silent.getsockname()[1]}/used", Unavailable, "")


def test_a_server_without_tls(kind, mongodb_database, told):
    told(kind, f"{mongodb_database}&tls=true", Unavailable, "")


def test_a_database_without_collections(kind, mongodb_database, told):
    told(kind, f"{mongodb_database}&create=false", ConfigError, "create=false")


@pytest.mark.parametrize(
    "end, match",
    [
        ("", "names no database"),
        ("/", "names no database"),
        ("/a.b", "names no database"),
        ("/used?prefix=Upper", "prefix="),
        ("/used?prefix=" + "x" * 60, "prefix="),
        ("/used?reads=eventual", "reads"),
        ("/used?w=1", "majority"),
        ("/used?replicaset=x", "replicaSet"),
        ("/used?maxPoolSize=many", "maxPoolSize"),
        ("/used?tlsCAFile=/none/such&tls=true", "PyMongo"),
        ("/used?authMechanism=GUESS", "must be in"),
        ("/used?directConnection=perhaps", "PyMongo"),
        ("/used?retryWrites=2", "PyMongo"),
    ],
)
def test_an_address_that_is_none(kind, told, end, match):
    told(kind, f"mongodb://weak:{ENCODED}@127.0.0.1:1{end}", ConfigError, match)


def test_a_layout_of_a_later_version(kind, mongodb_database, told):
    with pymongo.MongoClient(mongodb_database) as client:
        client.get_default_database().holdall_meta.insert_one({"_id": "layout", "version": 99})
    told(kind, mongodb_database, ConfigError, "install a newer")
