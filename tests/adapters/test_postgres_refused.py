"""Servers that refuse, cannot, or say nothing: one clear error in time, which shows the password nowhere."""

from __future__ import annotations

import contextlib
import socket
import traceback

import pytest

import holdall
from holdall import ConfigError, Unavailable
from tests import servers
from tests.adapters.handles import KINDS, opened, with_database
from tests.adapters.refusals import ENCODED, PASSWORD, TIMEOUT, told

psycopg = pytest.importorskip("psycopg")

__all__ = ["told"]

HBA = (
    "host all secretive 127.0.0.1/32 scram-sha-256",
    "hostssl all tls_only 127.0.0.1/32 trust",
    "host all weak,reader,idle,user_of_others,careful 127.0.0.1/32 trust",
)
pytestmark = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture(scope="module")
def strict(given):
    """A server that demands passwords or TLS of some roles, and gives others few rights."""
    with given(lambda: servers.local_postgres(HBA)) as server:
        with psycopg.connect(server.url, autocommit=True) as connection:
            for role in ("tls_only", "weak", "reader", "user_of_others", "careful"):
                connection.execute(f"CREATE ROLE {role} LOGIN PASSWORD '{PASSWORD}'")
            connection.execute(f"CREATE ROLE secretive LOGIN PASSWORD '{PASSWORD}'")
            connection.execute("CREATE ROLE idle NOLOGIN")
            connection.execute("ALTER ROLE reader SET default_transaction_read_only = on")
            connection.execute("CREATE DATABASE used")
            connection.execute("CREATE DATABASE closed")
            connection.execute("REVOKE CONNECT ON DATABASE closed FROM public")
        with holdall.open_store(with_database(server.url, "used")) as store:
            store.put("s", "k", 1)
        yield server


def url_of(server, role, database="used", password=ENCODED):
    return f"postgresql://{role}:{password}@127.0.0.1:{server.port}/{database}"


def test_a_wrong_password(kind, strict, told):
    wrong = url_of(strict, "secretive").replace(ENCODED, f"{ENCODED}x")
    told(kind, wrong, ConfigError, "refused the password")


def test_no_password(kind, strict, told):
    told(kind, f"postgresql://secretive@127.0.0.1:{strict.port}/used", ConfigError, "wants a password")


def test_a_wrong_database(kind, strict, told):
    told(kind, url_of(strict, "weak", "nowhere"), ConfigError, "no such")


def test_a_wrong_role(kind, strict, told):
    with psycopg.connect(strict.url, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS user_of_others")
    told(kind, url_of(strict, "user_of_others"), ConfigError, "no such")


def test_a_role_that_may_not_log_in(kind, strict, told):
    told(kind, url_of(strict, "idle"), ConfigError, "may not log in")


def test_a_database_that_the_role_may_not_connect_to(kind, strict, told):
    told(kind, url_of(strict, "weak", "closed"), ConfigError, "may not connect")


def test_a_role_that_may_not_make_tables(kind, strict, told):
    error = told(kind, url_of(strict, "weak", "postgres"), ConfigError, "grant")
    assert error.__cause__ is not None


def test_a_role_that_may_not_use_the_tables(kind, strict, told):
    for options in ("", "?create=false"):
        told(kind, url_of(strict, "weak") + options, ConfigError, "grant")


def test_a_database_without_tables(kind, strict, told):
    told(kind, url_of(strict, "weak", "postgres") + "?create=false", ConfigError, "create=false")


def test_a_role_with_the_grants_of_the_documentation_needs_no_more(kind, strict):
    with psycopg.connect(with_database(strict.url, "used"), autocommit=True) as connection:
        connection.execute("GRANT USAGE ON SCHEMA public TO careful")
        connection.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO careful")
        connection.execute("GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO careful")
    with opened(kind, url_of(strict, "careful") + "?create=false") as handles:
        run, store, lock = handles.run, handles.store, handles.lock
        run(store.put("s", "k", 1))
        run(store.append("s", "careful", [1, 2], batch_id="b"))
        run(store.truncate("s", "careful", 1))
        run(store.commit([holdall.Put("s", "a", 1), holdall.Append("s", "careful", [3])]))
        run(store.drop("s", "careful"))
        run(store.sweep())
        assert run(lock.release(run(lock.acquire(f"careful-{kind}", timeout=0))))


def test_a_role_that_may_only_use_a_schema_makes_its_tables_there(kind, strict):
    with psycopg.connect(strict.url, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA given_{kind}")
        connection.execute(f"GRANT USAGE, CREATE ON SCHEMA given_{kind} TO careful")
    with opened(kind, url_of(strict, "careful", "postgres") + f"?schema=given_{kind}") as handles:
        handles.run(handles.store.put("s", "k", 1))


def test_a_read_only_role_reads_and_is_told_why_it_cannot_write(kind, strict, told):
    with psycopg.connect(with_database(strict.url, "used"), autocommit=True) as connection:
        connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader")
    with opened(kind, url_of(strict, "reader")) as handles:
        assert handles.run(handles.store.get("s", "k")).value == 1
    for use in (
        lambda handles: handles.run(handles.store.put("s", "k", 2)),
        lambda handles: handles.run(handles.store.append("s", "k", [2])),
        lambda handles: handles.run(handles.lock.try_acquire("k")),
        lambda handles: handles.run(handles.store.commit([holdall.Put("s", "a", 1), holdall.Put("s", "b", 1)])),
    ):
        told(kind, url_of(strict, "reader"), Unavailable, "takes no writes", use)


def test_a_read_only_role_cannot_make_tables(kind, strict, told):
    told(kind, url_of(strict, "reader", "postgres"), ConfigError, "read-only")


def test_tls_that_the_server_demands(kind, strict, told):
    told(kind, url_of(strict, "tls_only") + "?sslmode=disable", ConfigError, "only by TLS")


def test_tls_that_the_server_has_not(kind, strict, told):
    for mode in ("require", "verify-full"):
        told(kind, url_of(strict, "weak") + f"?sslmode={mode}", ConfigError, "")


def test_a_port_where_nobody_listens(kind, told):
    url = f"postgresql://weak:{ENCODED}@127.0.0.1:{servers.free_port()}/used"
    told(kind, url, Unavailable, "cannot be reached")


def test_a_host_that_does_not_exist(kind, told):
    told(kind, f"postgresql://weak:{ENCODED}@nowhere.invalid/used", Unavailable, "")


def test_a_port_that_says_nothing(kind, told):
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as silent:
        told(kind, f"postgresql://weak:{ENCODED}@127.0.0.1:{silent.getsockname()[1]}/used", Unavailable, "time")


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://weak:{ENCODED}%zz@127.0.0.1/used",
        f"postgresql://weak:{ENCODED}@127.0.0.1:notaport/used",
        f"postgresql://weak:{ENCODED}@127.0.0.1:99999/used",
        f"postgresql://weak:{ENCODED}@[::1/used",
        f"postgresql://weak:{ENCODED}@127.0.0.1/used?sslmode=sometimes",
        f"postgresql://weak:{ENCODED}@127.0.0.1/used?target_session_attrs=fast",
        f"postgresql://weak:{ENCODED}@127.0.0.1/used?sslrootcert=/none/such",
    ],
)
def test_an_address_that_is_none(kind, told, url):
    told(kind, url, (ConfigError, Unavailable), "")


def test_a_password_that_should_have_been_encoded_is_not_shown_either(kind):
    with (
        pytest.raises(ConfigError) as caught,
        opened(kind, "postgresql://weak:first/second@127.0.0.1/used", timeout=TIMEOUT),
    ):
        pass
    seen = "".join(traceback.format_exception(caught.value)).partition("holdall.errors.ConfigError")[2]
    assert "first" not in seen
    assert "second" not in seen
    assert caught.value.__cause__ is caught.value.__context__ is None


@pytest.fixture(scope="module")
def standby(given):
    """A server that only replays what a primary sends, of which there is none."""
    with given(servers.local_postgres) as server:
        with holdall.open_store(server.url) as store:
            store.put("s", "k", 1)
        server.stop()
        (server.data / "standby.signal").touch()
        server.start()
        yield server


def test_a_read_only_replica(kind, standby, told):
    told(kind, standby.url, ConfigError, "read-only replica")
