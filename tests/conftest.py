"""Servers for tests, started once a run."""

from __future__ import annotations

import contextlib
import gc
import uuid
import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, ExitStack
from typing import Any

import pytest

from tests import servers
from tests.adapters.dynamodb_tools import other_table, table_of
from tests.adapters.s3_tools import other_prefix

_SHARED = ("cancelling", "clocks", "crowds", "followers", "names", "openers", "refusals")
pytest.register_assert_rewrite(*(f"tests.adapters.{name}" for name in _SHARED))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--require-servers", action="store_true", help="fail where a server that a test needs is not to be had"
    )


Start = Callable[[], AbstractContextManager[Any]]
Given = Callable[[Start], AbstractContextManager[Any]]


@pytest.fixture(scope="session")
def given(request: pytest.FixtureRequest) -> Given:
    """Start a server for a `with` block; where none is to be had, tests skip, or fail under --require-servers."""

    @contextlib.contextmanager
    def start_or_skip(start: Start) -> Generator[Any]:
        with contextlib.ExitStack() as stack:
            try:
                found = stack.enter_context(start())
            except servers.Unobtainable as error:
                if request.config.getoption("--require-servers"):
                    pytest.fail(str(error))
                pytest.skip(str(error))
            yield found

    return start_or_skip


@pytest.fixture(scope="session")
def started() -> Iterator[ExitStack]:
    """What stops the servers that this worker has started for all workers."""
    with ExitStack() as stack:
        yield stack


@pytest.fixture(scope="session")
def postgres_url(given: Given) -> Iterator[str]:
    """The URL of a Postgres server."""
    with given(servers.postgres) as url:
        yield url


@pytest.fixture(scope="session")
def pgbouncer_url(given: Given, postgres_url: str) -> Iterator[str]:
    """The URL of a PgBouncer in transaction mode before that server."""
    with given(lambda: servers.pgbouncer(postgres_url)) as url:
        yield url


@pytest.fixture(scope="session")
def dynamodb_url(given: Given, started: ExitStack) -> Iterator[str]:
    """The URL of a table of DynamoDB, whose replies have a Date."""
    with given(lambda: servers.shared("dynamodb", servers.dynamodb, started)) as url:
        yield url


@pytest.fixture(scope="session")
def undated_dynamodb_url(given: Given, started: ExitStack) -> Iterator[str]:
    """The URL of a table of a server whose replies have no Date."""
    with given(lambda: servers.shared("local_dynamodb", servers.local_dynamodb, started)) as endpoint:
        yield servers.url_of(endpoint)


@contextlib.contextmanager
def _table_of_its_own(url: str) -> Generator[str]:
    from tests.adapters.aws_tools import bare_client  # noqa: PLC0415 - most runs of tests need no driver

    own = other_table(url)
    yield own
    client = bare_client(own)
    with contextlib.suppress(client.exceptions.ResourceNotFoundException):
        client.delete_table(TableName=table_of(own))
    client.close()


@pytest.fixture
def dynamodb_table(dynamodb_url: str) -> Iterator[str]:
    """The URL of a table of the test's own, on a server whose replies have a Date."""
    with _table_of_its_own(dynamodb_url) as url:
        yield url


@pytest.fixture
def undated_dynamodb_table(undated_dynamodb_url: str) -> Iterator[str]:
    """The URL of a table of the test's own, on a server whose replies have no Date."""
    with _table_of_its_own(undated_dynamodb_url) as url:
        yield url


@pytest.fixture(scope="session")
def s3_url(given: Given, started: ExitStack) -> Iterator[str]:
    """The URL of a bucket of a server of S3."""
    with given(lambda: servers.shared("s3", servers.s3, started)) as url:
        yield url


@pytest.fixture
def s3_prefix(s3_url: str) -> str:
    """The URL of an empty prefix of the test's own, in a bucket."""
    return other_prefix(s3_url)


@pytest.fixture(scope="session")
def mongodb_url(given: Given) -> Iterator[str]:
    """The URL of a database of a MongoDB server with transactions."""
    with given(servers.mongodb) as url:
        yield url


@pytest.fixture(scope="session")
def lone_mongodb_url(given: Given) -> Iterator[str]:
    """The URL of a database of a MongoDB server that belongs to no replica set."""
    with given(lambda: servers.local_mongo(alone=True)) as server:
        yield server.url


@contextlib.contextmanager
def _database_of_its_own(url: str) -> Generator[str]:
    import pymongo  # noqa: PLC0415 - most runs of tests need no driver

    name = f"test_{uuid.uuid4().hex}"
    address, _, options = url.partition("?")
    yield f"{address.rpartition('/')[0]}/{name}?{options}"
    with pymongo.MongoClient(url) as client:
        client.drop_database(name)


@pytest.fixture
def sockets_of_pymongo() -> Iterator[None]:
    """Collect the sockets that PyMongo forgets, before they trouble another test.

    Its asynchronous client closes the socket of a connection that fails, but not of one that is cancelled while it is
    made (`_async_create_connection` of PyMongo 4.20). For tests that cancel, or end a loop with a client in it.
    """
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


@pytest.fixture
def mongodb_database(mongodb_url: str) -> Iterator[str]:
    """The URL of an empty database of the test's own, on a server with transactions."""
    with _database_of_its_own(mongodb_url) as url:
        yield url


@pytest.fixture
def lone_mongodb_database(lone_mongodb_url: str) -> Iterator[str]:
    """The URL of an empty database of the test's own, on a server without transactions."""
    with _database_of_its_own(lone_mongodb_url) as url:
        yield url


@pytest.fixture(scope="module")
def local_postgres(given: Given) -> Iterator[servers.LocalPostgres]:
    """A Postgres server of the module's own, to stop, to start and to break."""
    with given(servers.local_postgres) as server:
        yield server


@pytest.fixture
def postgres_database(postgres_url: str) -> Iterator[str]:
    """The URL of an empty database of the test's own, on that server."""
    import psycopg  # noqa: PLC0415 - most runs of tests need no driver

    name = f"test_{uuid.uuid4().hex}"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE template0")
        try:
            yield f"{postgres_url.rpartition('/')[0]}/{name}"
        finally:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
