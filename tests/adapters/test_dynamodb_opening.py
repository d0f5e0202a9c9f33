"""Opening tables that are there, are not, or are of another layout; clients of the caller's."""

from __future__ import annotations

from pathlib import Path

import pytest

import holdall
from holdall import ConfigError
from holdall_adapters.dynamodb import OPTIONS
from tests.adapters.aws_tools import bare_client
from tests.adapters.dynamodb_tools import other_table, table_of
from tests.adapters.handles import KINDS, opened
from tests.adapters.openers import open_at_once


def test_eight_processes_make_the_table_at_once(dynamodb_url):
    open_at_once(other_table(dynamodb_url))


@pytest.mark.parametrize("kind", KINDS)
def test_create_false_makes_no_table(dynamodb_url, kind):
    url = other_table(dynamodb_url, create="false")
    with pytest.raises(ConfigError, match="no such table"), opened(kind, url):
        pass
    client = bare_client(url)
    assert table_of(url) not in client.list_tables()["TableNames"]
    client.close()


def test_the_table_is_as_the_page_says(dynamodb_url):
    url = other_table(dynamodb_url)
    holdall.open_store(url).close()
    client = bare_client(url)
    table = client.describe_table(TableName=table_of(url))["Table"]
    client.close()
    assert {key["AttributeName"]: key["KeyType"] for key in table["KeySchema"]} == {"pk": "HASH", "sk": "RANGE"}
    assert {each["AttributeType"] for each in table["AttributeDefinitions"]} == {"B"}


def test_another_number_of_shards_is_refused_and_names_the_right_one(dynamodb_url):
    url = other_table(dynamodb_url, shards="7")
    with holdall.open_store(url) as store:
        store.put_many("s", {f"k{number:03}": number for number in range(200)})
        assert list(store.iter_keys("s")) == [f"k{number:03}" for number in range(200)]
    with pytest.raises(ConfigError, match="shards=7"):
        holdall.open_store(url.replace("shards=7", "shards=8"))


@pytest.mark.parametrize(
    "url, hint",
    [
        ("dynamodb://x?region=us-east-1", "names no table"),
        ("dynamodb://Ta ble?region=us-east-1", "names no table"),
        ("dynamodb://Table/more?region=us-east-1", "path"),
        ("dynamodb://Table?region=us-east-1&shards=0", "1 to 64"),
        ("dynamodb://Table?region=us-east-1&shards=65", "1 to 64"),
        ("dynamodb://Table?regoin=us-east-1", "region"),
        ("dynamodb://Table?region=us-east-1&profile=nobody-has-this", "profile"),
        ("dynamodb://Table?region=us-east-1&endpoint_url=nowhere", "endpoint"),
    ],
)
def test_what_a_url_must_not_say_is_told(url, hint):
    with pytest.raises(ConfigError, match=hint):
        holdall.open_store(url)


def test_the_table_keeps_its_case(dynamodb_url):
    url = other_table(dynamodb_url).replace("test-", "Test-")
    with holdall.open_store(url) as store:
        assert store.describe()["table"] == table_of(url)


def test_every_option_is_on_the_page():
    page = (Path(__file__).parents[2] / "docs" / "adapters" / "dynamodb.md").read_text()
    assert [option.name for option in OPTIONS if f"`{option.name}`" not in page] == []
