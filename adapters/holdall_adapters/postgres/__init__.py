"""The Postgres adapter: records, logs and leases derived from one table, by the server's clock."""

from __future__ import annotations

from urllib.parse import urlencode

from holdall.capabilities import Capabilities
from holdall.plugins import import_driver
from holdall.spi import Adapter, Option, Target, hookimpl
from holdall_adapters.postgres.backend import PostgresBackend
from holdall_adapters.postgres.port import Server

__all__ = ["CAPABILITIES", "holdall_adapter"]

CAPABILITIES = Capabilities(
    persistent=True,
    cross_process=True,
    cross_host=True,
    durable_tokens=True,
    atomic_commit=False,
    max_commit_operations=1,
    native_follow=False,
    expiry_clock="server",
    expiry_margin=0.25,
    min_ttl=0.01,
    max_scope_bytes=256,
    max_key_bytes=1_024,
    max_value_bytes=16 * 2**20,
    max_batch_entries=10_000,
    max_batch_bytes=16 * 2**20,
)

OPTIONS = (
    Option(name="create", kind=bool, default=True, help="whether the table may be made"),
    Option(name="sslmode", kind=str, default=None, help="as libpq takes it, such as verify-full"),
    Option(name="sslrootcert", kind=str, default=None, help="file of the certificate authority, as libpq takes it"),
)


def address_of(target: Target) -> str:
    """Return the libpq URL of a target: its own, with the options that are libpq's.

    Args:
        target: what the URL says.

    """
    address = "postgresql" + target.url.text.partition("?")[0][len(target.url.scheme) :]
    settings = {name: target.options[name] for name in ("sslmode", "sslrootcert") if target.options[name] is not None}
    return f"{address}?{urlencode(settings)}" if settings else address


async def open_backend(target: Target) -> PostgresBackend:
    """Connect to a server.

    Args:
        target: what the URL says; `client` may be a `psycopg_pool.ConnectionPool` whose connections are in autocommit.

    Raises:
        DriverMissing: psycopg is not installed.
        Unavailable: the server could not be reached.

    """
    psycopg = import_driver("psycopg", "postgres", "postgres")
    pools = import_driver("psycopg_pool", "postgres", "postgres")
    if target.client is not None:
        server = Server(psycopg, target.client, target.timeout, owns_pool=False)
    else:
        server = Server.connect(psycopg, pools, address_of(target), target.timeout)
    if target.options["create"]:
        try:
            server.create()
        except BaseException:
            server.close()
            raise
    return PostgresBackend(server, target.environment)


@hookimpl
def holdall_adapter() -> Adapter:
    """Describe the Postgres adapter."""
    return Adapter(
        name="postgres",
        schemes=("postgresql", "postgres"),
        summary="one table of a Postgres server, many hosts, one key at a time",
        capabilities=CAPABILITIES,
        options=OPTIONS,
        io="blocking",
        backend=open_backend,
    )
