"""Hosts whose clocks are ten minutes apart agree on leases and expiry: the server's clock alone counts."""

from __future__ import annotations

import pytest

from tests.adapters.clocks import agree_on_expiry, agree_on_leases, hosts_on

pytestmark = pytest.mark.parametrize("first", [0, 1], ids=["ahead", "behind"])


@pytest.fixture(params=["dynamodb_table", "s3_prefix"], ids=["dynamodb", "s3"])
def hosts(request):
    """One process ten minutes ahead and one ten minutes behind; each is called with an order."""
    with hosts_on(request.getfixturevalue(request.param)) as found:
        yield found


def test_leases(hosts, first):
    agree_on_leases(hosts, first)


def test_expiry(hosts, first):
    agree_on_expiry(hosts, first, ttl=1, late=2.5)
