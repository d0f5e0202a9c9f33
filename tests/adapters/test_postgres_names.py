"""Names and values of any Unicode on Postgres: a row of an index has its own limit."""

from __future__ import annotations

import pytest

from tests.adapters.handles import KINDS, opened
from tests.adapters.names import *  # noqa: F403 - the tests

pytest.importorskip("psycopg")


@pytest.fixture(params=KINDS)
def handles(request, postgres_url):
    with opened(request.param, postgres_url) as found:
        yield found
