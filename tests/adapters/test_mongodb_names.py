"""Names and values of any Unicode on MongoDB."""

from __future__ import annotations

import pytest

from tests.adapters.handles import KINDS, opened
from tests.adapters.names import *  # noqa: F403 - the tests

pytest.importorskip("pymongo")


@pytest.fixture(params=KINDS)
def handles(request, mongodb_url):
    with opened(request.param, mongodb_url) as found:
        yield found
