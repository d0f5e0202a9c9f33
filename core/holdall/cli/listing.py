"""`holdall ls`: the scopes of a storage, or the names in one of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import click

from holdall.cli.storages import Storage, as_json, timeout
from holdall.cli.terminal import print_json, shown_name
from holdall.store import Store
from holdall.values import Page

__all__ = ["ls"]

_LIMIT = 1_000


@dataclass(frozen=True, slots=True)
class Names:
    """Part of a listing.

    Attributes:
        found: the names in order, each with whether there are records and whether there are logs of it.
        next: what to pass as `--after` for more, or None.

    """

    found: list[tuple[str, bool, bool]]
    next: str | None

    @classmethod
    def of(cls, listings: tuple[Callable[..., Page[str]] | None, ...], after: str | None, limit: int) -> Names:
        """Merge the listings of records and of logs.

        Args:
            listings: both, None for one that is not wanted.
            after: the name behind which to begin.
            limit: the most names.

        """
        records, logs = (set[str]() if listing is None else _first(listing, after, limit + 1) for listing in listings)
        names = sorted(records | logs)
        chosen = names[:limit]
        found = [(name, name in records, name in logs) for name in chosen]
        return cls(found, chosen[-1] if len(names) > limit else None)


def _first(listing: Callable[..., Page[str]], after: str | None, limit: int) -> set[str]:
    found: set[str] = set()
    while len(found) < limit:
        page = listing(after=after, limit=limit - len(found))
        found.update(page.items)
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
    """
    with Storage.of(url).open_to_read(timeout) as store:
        found = Names.of(_listings(store, scope, prefix, records or not logs, logs or not records), after, limit)
    if as_json:
        print_json(_json(scope, found))
        return
    for name, has_records, has_logs in found.found:
        click.echo(_line(name, has_records, has_logs, plural=scope is None))
    if found.next is not None:
        click.echo(f"there are more: --after {shown_name(found.next)}", err=True)


def _listings(
    store: Store,
    scope: str | None,
    prefix: str,
    records: bool,
    logs: bool,
) -> tuple[Callable[..., Page[str]] | None, Callable[..., Page[str]] | None]:
    if scope is None:
        return (store.scopes if records else None, store.log_scopes if logs else None)

    def keys(*, after: str | None, limit: int) -> Page[str]:
        return store.keys(scope, prefix, after=after, limit=limit)

    def log_keys(*, after: str | None, limit: int) -> Page[str]:
        return store.logs(scope, prefix, after=after, limit=limit)

    return (keys if records else None, log_keys if logs else None)


def _json(scope: str | None, found: Names) -> dict[str, Any]:
    names = [{"name": name, "records": records, "logs": logs} for name, records, logs in found.found]
    if scope is None:
        return {"scopes": names, "next": found.next}
    kinds = [{"name": name, "record": records, "log": logs} for name, records, logs in found.found]
    return {"scope": scope, "names": kinds, "next": found.next}


def _line(name: str, has_records: bool, has_logs: bool, *, plural: bool) -> str:
    ending = "s" if plural else ""
    kinds = [kind + ending for kind, there in (("record", has_records), ("log", has_logs)) if there]
    return f"{', '.join(kinds):<{11 + 2 * plural}} {shown_name(name)}"
