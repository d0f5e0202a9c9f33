"""Servers for tests, started once a run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests import servers


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--require-servers", action="store_true", help="fail where a server that a test needs is not to be had"
    )


@pytest.fixture(scope="session")
def postgres_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of a Postgres server."""
    try:
        with servers.postgres() as url:
            yield url
    except servers.Unobtainable as error:
        if request.config.getoption("--require-servers"):
            pytest.fail(str(error))
        pytest.skip(str(error))
