from __future__ import annotations

from pathlib import Path

import pytest

from holdall import Config, ConfigError
from holdall.spi import Option
from holdall.url import parse_options, parse_url

OPTIONS = (
    Option(name="durability", kind=str, default="full", help="-", choices=("full", "relaxed")),
    Option(name="create", kind=bool, default=True, help="-"),
    Option(name="shards", kind=int, default=4, help="-"),
)


@pytest.mark.parametrize(
    "text,authority,path,query",
    [
        ("sqlite:///app.db", "", "/app.db", {}),
        ("sqlite:////abs/app.db?durability=relaxed", "", "//abs/app.db", {"durability": "relaxed"}),
        ("dynamodb://MyTable?region=eu-west-1", "MyTable", "", {"region": "eu-west-1"}),
        ("sqlite:///a%3Fb%23c%20d.db", "", "/a?b#c d.db", {}),
        ("memory://größe", "größe", "", {}),
        (
            "s3://bucket/prefix?endpoint_url=http%3A%2F%2F127.0.0.1%3A1",
            "bucket",
            "/prefix",
            {"endpoint_url": "http://127.0.0.1:1"},
        ),
    ],
)
def test_parts(text, authority, path, query):
    url = parse_url(text)
    assert (url.authority, url.path, dict(url.query)) == (authority, path, query)


def test_scheme_is_lower_case():
    assert parse_url("SQLite:///x.db").scheme == "sqlite"


@pytest.mark.parametrize(
    "text", ["", "app.db", "sqlite:/x.db", "://x", "sqlite:///x.db#frag", "sqlite:///x?a", "sqlite:///x?a=1&a=2"]
)
def test_refused(text):
    with pytest.raises(ConfigError):
        parse_url(text)


@pytest.mark.parametrize("text", ["x:///a%ff", "x://%fe/a", "x:///a?b%80=1", "x:///a?b=%e9"])
def test_bytes_that_are_no_text_do_not_lead_to_the_place_of_others(text):
    with pytest.raises(ConfigError, match="UTF-8"):
        parse_url(text)


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://app:hunter2@db/app",
        "postgresql://db/app?password=hunter2",
        "s3://b/p?aws_secret_access_key=hunter2&region=x",
        "mongodb://u:hunter2@h1,h2/db?authSource=admin",
        "postgresql://u:pa/hunter2@h/db",
        "postgresql://u:pa@hunter2@h/db",
    ],
)
def test_secrets_are_hidden(text):
    url = parse_url(text)
    assert "hunter2" not in str(url)
    assert "hunter2" not in repr(url)
    assert "hunter2" in url.text


def test_options_are_typed_and_defaulted():
    assert parse_options("x", OPTIONS, {"create": "no", "shards": "7"}) == {
        "durability": "full",
        "create": False,
        "shards": 7,
    }


@pytest.mark.parametrize(
    "given,hint",
    [
        ({"durabilty": "full"}, "did you mean 'durability'"),
        ({"durability": "relaxd"}, "did you mean 'relaxed'"),
        ({"create": "maybe"}, "must be true or false .*of type bool"),
        ({"shards": "many"}, "must be a whole number .*of type int"),
        ({"zzz": "1"}, "it has create, durability, shards"),
    ],
)
def test_wrong_options_name_the_right_ones(given, hint):
    with pytest.raises(ConfigError, match=hint):
        parse_options("x", OPTIONS, given)


@pytest.mark.parametrize(
    "text, said",
    [
        ("/srv/store", "did you mean file:///srv/store or sqlite:////srv/store?"),
        ("./my store", "did you mean file:///srv/my%20store or sqlite:////srv/my%20store?"),
        ("file:/srv/x", "did you mean file:///srv/x?"),
        ("file:store", "did you mean file:///srv/store?"),
        ("sqlite:app.db?durability=relaxed", "did you mean sqlite:////srv/app.db?"),
        ("postgresql:/me:hunter2@host", "a folder with file:///whole/path/of/it"),
    ],
)
def test_a_place_that_is_no_url_is_written_as_one(monkeypatch, text, said):
    monkeypatch.setattr("pathlib.Path.absolute", lambda path: Path("/srv") / path)
    for opening in (parse_url, lambda text: Config().find("stores", text)):
        with pytest.raises(ConfigError) as caught:
            opening(text)
        assert said in str(caught.value)
        assert "hunter2" not in str(caught.value)
        assert "file:///whole/path/of/it" in str(caught.value)
