"""The S3 adapter: records, logs and leases as objects, each changed by a conditional write.

`s3://bucket/prefix?region=eu-central-1`; another server than AWS's with `endpoint_url=http://localhost:9000`.
"""

from __future__ import annotations

import re
from dataclasses import replace

from holdall.capabilities import Capabilities
from holdall.errors import ConfigError
from holdall.spi import Adapter, Connection, Environment, Option, Target, hookimpl
from holdall_adapters.aws.connections.clients import Client
from holdall_adapters.aws.connections.making import AWS_OPTIONS
from holdall_adapters.aws.opening import open_client, with_sibling
from holdall_adapters.aws.server_clock import ServerClock
from holdall_adapters.aws.times import Times
from holdall_adapters.s3.bucket import Bucket
from holdall_adapters.s3.connections.probed import is_probed, note_probed
from holdall_adapters.s3.lock import S3Lock
from holdall_adapters.s3.names import Names
from holdall_adapters.s3.opening import prepare, probe
from holdall_adapters.s3.store import S3Store

__all__ = ["CAPABILITIES", "OPTIONS", "holdall_adapter"]

CAPABILITIES = Capabilities(
    persistent=True,
    cross_process=True,
    cross_host=True,
    durable_tokens=True,
    atomic_commit=False,
    max_commit_operations=1,
    native_follow=False,
    expiry_clock="estimated",
    expiry_margin=2.5,
    min_ttl=1,
    max_scope_bytes=128,
    max_key_bytes=512,
    max_value_bytes=16 * 2**20,
    max_batch_entries=10_000,
    max_batch_bytes=16 * 2**20,
)

OPTIONS = (
    *AWS_OPTIONS,
    Option(name="create", kind=bool, default=True, help="whether a storage may be begun under a prefix without one"),
    Option(name="probe", kind=bool, default=True, help="whether a process tries once that the server keeps conditions"),
)
_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,254}")
_PREFIX = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_./-]{0,127}")


def place_of(target: Target) -> tuple[str, str]:
    """Return the bucket and the prefix.

    Args:
        target: what the URL says.

    Raises:
        ConfigError: it names none.

    """
    bucket, prefix = target.url.authority, target.url.path.strip("/")
    if not _BUCKET.fullmatch(bucket):
        message = f"the URL names no bucket, or {bucket!r} cannot be one: write s3://bucket/prefix"
        raise ConfigError(message)
    if prefix and (not _PREFIX.fullmatch(prefix) or "//" in prefix or "." in prefix.split("/")):
        message = f"the prefix {prefix!r}: write up to 128 letters, digits, and _ - . with single slashes between"
        raise ConfigError(message)
    return bucket, prefix


async def connect(target: Target) -> Connection:
    """Connect to a bucket.

    Args:
        target: what the URL says; `client` may be a client or session of boto3 for a synchronous handle, of
            aiobotocore for an asynchronous one.

    Raises:
        ConfigError: the bucket cannot serve, or the options lead to none.
        DriverMissing: boto3 or aiobotocore is not installed.
        Unavailable: the service could not be reached.

    """
    name, prefix = place_of(target)
    names, server = Names(prefix), ServerClock(target.environment)

    async def look(client: Client) -> None:
        await _look_at(Bucket(client, name, target.environment, target.timeout), names, prefix, target)

    client = await open_client("s3", target, server, look)
    times = Times(target.environment, server)
    times.settle()
    capabilities = CAPABILITIES if server.known else replace(CAPABILITIES, expiry_clock="client")

    def connection_of(client: Client, environment: Environment) -> Connection:
        bucket = Bucket(client, name, environment, target.timeout)
        lock = S3Lock(bucket, names, times, environment)
        store = S3Store(bucket, names, times, environment, lock)
        return Connection(store=store, lock=lock, capabilities=capabilities, close=client.close)

    return with_sibling(client, target.environment, connection_of)


async def _look_at(bucket: Bucket, names: Names, prefix: str, target: Target) -> None:
    """See what lies there, and once in a process whether the server keeps its conditions."""
    place = (str(target.options["endpoint_url"]), bucket.name)
    if target.options["probe"] and target.options["create"] and not is_probed(place):
        await probe(bucket, names.probe(target.environment.new_id()))
        note_probed(place)
    folders = prefix.split("/")
    parents = [Names("/".join(folders[:count])) for count in range(len(folders))] if prefix else []
    await prepare(bucket, names, parents, create=bool(target.options["create"]))


@hookimpl
def holdall_adapter() -> Adapter:
    """Describe the S3 adapter."""
    return Adapter(
        name="s3",
        schemes=("s3",),
        summary="objects of an S3 bucket, many hosts",
        capabilities=CAPABILITIES,
        options=OPTIONS,
        io="suspending",
        connect=connect,
    )
