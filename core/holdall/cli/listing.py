"""`holdall ls`: the scopes of a storage, or the names in one of them."""

from __future__ import annotations

import contextlib
import json
import shlex
import sys
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import Any

import click

from holdall.cli.bounds import Pace, size_of
from holdall.cli.damage import named
from holdall.cli.failures import DONE, FAILED, complain, one_line
from holdall.cli.storages import Storage, as_json, timeout
from holdall.cli.terminal import print_json, shown_name
from holdall.errors import Corrupt
from holdall.store import Store
from holdall.values import Page, Record

__all__ = ["ls"]

_LIMIT = 1_000
_BASH = {"'": "\\'", "\\": "\\\\"}
"""Printable characters that mean something between $' and '."""

Listing = Callable[..., Page[str]]


@dataclass(frozen=True, slots=True)
class Name:
    """A scope or key.

    Attributes:
        name: the name.
        records: whether there are records of it.
        logs: whether there are logs of it.
        damaged: what of it cannot be read: "record", "log", each with the reason.

    """

    name: str
    records: bool
    logs: bool
    damaged: dict[str, str]


@dataclass(frozen=True, slots=True)
class Names:
    """Part of a listing.

    Attributes:
        found: the names in order.
        next: what to pass as `--after` for more, or None.
        faults: why "record"s or "log"s cannot be listed any further.

    """

    found: list[Name]
    next: str | None
    faults: dict[str, str]

    @property
    def damaged(self) -> bool:
        """Whether something of it cannot be read."""
        return bool(self.faults) or any(name.damaged for name in self.found)

    @classmethod
    def of(cls, records: Listing | None, logs: Listing | None, after: str | None, limit: int) -> Names:
        """Merge the listings of records and of logs.

        Args:
            records: the listing of records, None if it is not wanted.
            logs: that of logs.
            after: the name behind which to begin.
            limit: the most names.

        """
        faults: dict[str, str] = {}
        of_records = {} if records is None else _first(records, after, limit + 1, faults, "record")
        of_logs = {} if logs is None else _first(logs, after, limit + 1, faults, "log")
        names = sorted(of_records.keys() | of_logs.keys())
        found: list[Name] = []
        for name in names[:limit]:
            reasons = {"record": of_records.get(name), "log": of_logs.get(name)}
            damaged = {kind: reason for kind, reason in reasons.items() if reason is not None}
            found.append(Name(name, name in of_records, name in of_logs, damaged))
        return cls(found, names[limit - 1] if len(names) > limit else None, faults)

    def looked_into(self, store: Store, scope: str) -> Names:
        """Return the same names of a scope with what of them cannot be read, as far as one look at each tells.

        Args:
            store: the store.
            scope: the scope.

        """
        records = [name.name for name in self.found if name.records and "record" not in name.damaged]
        faults = _damaged_records(store, scope, records)
        found: list[Name] = []
        for name in self.found:
            damaged = dict(name.damaged)
            if name.name in faults:
                damaged["record"] = faults[name.name]
            if name.logs and "log" not in damaged:
                with _noted(damaged, "log"):
                    store.head(scope, name.name)
            found.append(replace(name, damaged=damaged))
        return replace(self, found=found)


def _damaged_records(store: Store, scope: str, keys: list[str]) -> dict[str, str]:
    """Read records, a few at a time, and return why some cannot be read."""
    faults: dict[str, str] = {}
    pace, start = Pace(), 0
    while start < len(keys):
        some = keys[start : start + pace.count]
        start += len(some)
        found: list[Record | None] = []
        try:
            found = store.get_many(scope, some)
        except Corrupt:
            for key in some:
                with _noted(faults, key):
                    found.append(store.get(scope, key))
        pace.saw(size_of(record.value) for record in found if record is not None)
    return faults


@contextlib.contextmanager
def _noted(faults: dict[str, str], name: str) -> Generator[None]:
    try:
        yield
    except Corrupt as error:
        faults[name] = error.message


def _first(listing: Listing, after: str | None, limit: int, faults: dict[str, str], kind: str) -> dict[str, str | None]:
    """Return names, each with why it cannot be read, or None; note why there can be no more of them."""
    found: dict[str, str | None] = {}
    while len(found) < limit:
        try:
            page = listing(after=after, limit=limit - len(found))
        except Corrupt as error:
            after = named(error, after)
            if after is None:
                faults[kind] = error.message
                break
            found[after] = error.message
            continue
        found.update(dict.fromkeys(page.items))
        after = page.next
        if after is None:
            break
    return found


@click.command(short_help="List scopes, or the names in a scope.")
@click.argument("url")
@click.argument("scope", required=False)
@click.argument("prefix", default="")
@click.option("--records", is_flag=True, help="Only records.")
@click.option("--logs", is_flag=True, help="Only logs.")
@click.option("--limit", type=click.IntRange(min=1), default=_LIMIT, help="The most names; by default 1,000.")
@click.option("--after", metavar="NAME", help="Begin behind this name, the next of a listing before.")
@as_json("Print one JSON object in place of the lines.")
@timeout
def ls(
    url: str,
    scope: str | None,
    prefix: str,
    records: bool,
    logs: bool,
    limit: int,
    after: str | None,
    as_json: bool,
    timeout: float | None,
) -> None:
    """List the scopes of the storage that URL stands for, or the records and logs of SCOPE that begin with PREFIX.

    A line is what it is, or what a scope holds, and the name. A name that a terminal could not show stands as JSON.
    What cannot be read is marked as damaged, and the exit status is 1.
    """
    with Storage.of(url).open_to_read(timeout) as store:
        found = Names.of(*_listings(store, scope, prefix, records or not logs, logs or not records), after, limit)
        if scope is not None:
            found = found.looked_into(store, scope)
    if as_json:
        print_json(_json(scope, found))
    else:
        for name in found.found:
            click.echo(_line(name, plural=scope is None))
        for kind, reason in found.faults.items():
            complain(one_line(f"the {kind}s cannot be listed any further: {reason}"))
        if found.next is not None:
            click.echo(f"there are more: {_after(found.next)}", err=True)
    sys.exit(FAILED if found.damaged else DONE)


def _after(name: str) -> str:
    """Return the option that goes on behind a name, as it can be pasted into bash."""
    if "\x00" in name:
        return f"no argument can hold the name behind which they are, {json.dumps(name)}: use --json, or the API"
    if name.isprintable():
        quoted = shlex.quote(name)
    else:
        quoted = "$'" + "".join(_BASH.get(sign, sign) if sign.isprintable() else _escaped(sign) for sign in name) + "'"
    return f"--after={quoted}" if name.startswith("-") else f"--after {quoted}"


def _escaped(sign: str) -> str:
    """Return a character as bash reads it between $' and ', whatever its locale: byte by byte."""
    return "".join(f"\\{byte:03o}" for byte in sign.encode())


def _listings(
    store: Store,
    scope: str | None,
    prefix: str,
    records: bool,
    logs: bool,
) -> tuple[Listing | None, Listing | None]:
    if scope is None:
        return (store.scopes if records else None, store.log_scopes if logs else None)

    def keys(*, after: str | None, limit: int) -> Page[str]:
        return store.keys(scope, prefix, after=after, limit=limit)

    def log_keys(*, after: str | None, limit: int) -> Page[str]:
        return store.logs(scope, prefix, after=after, limit=limit)

    return (keys if records else None, log_keys if logs else None)


def _json(scope: str | None, found: Names) -> dict[str, Any]:
    kinds = ("records", "logs") if scope is None else ("record", "log")
    names = [
        {"name": name.name, kinds[0]: name.records, kinds[1]: name.logs, "damaged": name.damaged or None}
        for name in found.found
    ]
    if scope is None:
        return {"scopes": names, "next": found.next, "faults": found.faults}
    return {"scope": scope, "names": names, "next": found.next, "faults": found.faults}


def _line(name: Name, *, plural: bool) -> str:
    ending = "s" if plural else ""
    kinds = [
        f"damaged {kind}{ending}" if kind in name.damaged else kind + ending
        for kind, there in (("record", name.records), ("log", name.logs))
        if there
    ]
    return f"{', '.join(kinds):<{11 + 2 * plural}} {shown_name(name.name)}"
