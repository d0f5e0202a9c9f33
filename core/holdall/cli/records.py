"""`holdall get` and `holdall put`: one record, for a person or a script."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from holdall.cli.conversation import without_twins
from holdall.cli.failures import USAGE, standard_input, unusable_file
from holdall.cli.storages import Storage, as_json, timeout
from holdall.cli.terminal import json_text, print_json
from holdall.errors import NotFound
from holdall.values import ABSENT, ANY, Expect

__all__ = ["get", "put"]

_ABSENT = "absent"
_STDIN = "-"


class BadValue(click.ClickException):
    """What was given is no value."""

    exit_code = USAGE


@click.command(short_help="Show a record.")
@click.argument("url")
@click.argument("scope")
@click.argument("key")
@as_json("Print one JSON object with value, version and expires_in.")
@timeout
def get(url: str, scope: str, key: str, as_json: bool, timeout: float | None) -> None:
    """Show the value under KEY in SCOPE of the storage that URL stands for.

    The exit status is 1 if there is none.
    """
    with Storage.of(url).open_to_read(timeout) as store:
        record = store.get(scope, key)
        if record is None:
            message = "there is no such record"
            error = NotFound(message)
            error.located(store.adapter, "get", scope, key)
            raise error
    if as_json:
        print_json(record._asdict())
    else:
        click.echo(json_text(record.value))


@click.command(short_help="Write a record.")
@click.argument("url")
@click.argument("scope")
@click.argument("key")
@click.argument("value", default=_STDIN)
@click.option("--text", is_flag=True, help="VALUE is a string, not JSON.")
@click.option("--ttl", type=float, metavar="SECONDS", help="Seconds until it expires; by default it does not.")
@click.option(
    "--expect",
    metavar="VERSION",
    help="Write only if this version is there, or with absent only if nothing is; otherwise the status is 1.",
)
@as_json("Print one JSON object with scope, key and version in place of the version.")
@timeout
def put(
    url: str,
    scope: str,
    key: str,
    value: str,
    text: bool,
    ttl: float | None,
    expect: str | None,
    as_json: bool,
    timeout: float | None,
) -> None:
    """Write VALUE under KEY in SCOPE of the storage that URL stands for, and print the new version.

    VALUE is JSON; without it, or with -, it is read from standard input. Write -- before a VALUE such as -1.
    """
    given = _read_input() if value == _STDIN else value
    content = given if text else _parsed(given)
    with Storage.of(url).open(timeout) as store:
        version = store.put(scope, key, content, expect=_expectation(expect), ttl=ttl)
    if as_json:
        print_json({"scope": scope, "key": key, "version": version})
    else:
        click.echo(version)


def _expectation(expect: str | None) -> Expect:
    if expect is None:
        return ANY
    return ABSENT if expect == _ABSENT else expect


def _read_input() -> str:
    try:
        with unusable_file(Path(_STDIN)):
            return standard_input().read().decode()
    except UnicodeDecodeError as error:
        message = f"standard input is not UTF-8: {error.reason} at byte {error.start + 1}"
        raise BadValue(message) from error


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=without_twins)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        message = f"VALUE is not JSON: {error.msg} at {place}; --text takes it as a string"
        raise BadValue(message) from error
    except (ValueError, RecursionError) as error:
        what = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        message = f"VALUE cannot be kept exactly: {what}"
        raise BadValue(message) from error
