"""Hosts whose clocks are ten minutes apart agree on leases and expiry: the server's clock alone counts."""

from __future__ import annotations

import pytest

from tests.adapters.clocks import agree_on_expiry, agree_on_leases, hosts_on

pytest.importorskip("psycopg")

pytestmark = pytest.mark.parametrize("first", [0, 1], ids=["ahead", "behind"])


@pytest.fixture
def hosts(postgres_database):
    """One process ten minutes ahead and one ten minutes behind; each is called with an order."""
    with hosts_on(postgres_database) as found:
        yield found


def test_leases(hosts, first):
    agree_on_leases(hosts, first)


def test_expiry(hosts, first):
    agree_on_expiry(hosts, first)
