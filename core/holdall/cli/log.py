"""`holdall log`: the entries of a log, and those that are still to come."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import click

from holdall.cli.storages import Storage, as_json, timeout
from holdall.cli.terminal import safe_json
from holdall.clock import boot_time
from holdall.codec import encode
from holdall.errors import NotFound
from holdall.store import Store
from holdall.values import Entry

__all__ = ["log"]


@dataclass(frozen=True, slots=True)
class Part:
    """Which entries of a log are meant.

    Attributes:
        start: the first position, or None for the first that is kept.
        tail: how many of the last entries, or None.
        follow: whether to wait for new ones.
        seconds: how long to wait altogether, or None for ever.

    """

    start: int | None
    tail: int | None
    follow: bool
    seconds: float | None

    def entries(self, store: Store, scope: str, key: str) -> Iterator[Entry]:
        """Yield the entries.

        Args:
            store: the store.
            scope: the scope of the log.
            key: its key.

        Raises:
            NotFound: there is no such log.
            Truncated: the start lies before what the log keeps.

        """
        head = store.head(scope, key)
        if head is None and not self.follow:
            message = "there is no such log"
            error = NotFound(message)
            error.located(store.adapter, "read", scope, key)
            raise error
        start = self.start
        if start is None:
            start = 0 if head is None else head.first
            if self.tail is not None and head is not None:
                start = max(head.first, head.length - self.tail)
        if self.follow:
            yield from self._followed(store, scope, key, start)
        else:
            yield from store.iter_entries(scope, key, start)

    def _followed(self, store: Store, scope: str, key: str, start: int) -> Iterator[Entry]:
        """Follow until the time is up, however many entries come."""
        end = None if self.seconds is None else boot_time() + self.seconds
        while True:
            left = None if end is None else max(0.0, end - boot_time())
            for entry in store.follow(scope, key, start, timeout=left):
                yield entry
                start = entry.position + 1
                if end is not None and boot_time() >= end:
                    return
            if end is None or boot_time() >= end:
                return


@click.command(short_help="Show the entries of a log, and follow it.")
@click.argument("url")
@click.argument("scope")
@click.argument("key")
@click.option("--start", type=click.IntRange(min=0), help="The first position; by default the first that is kept.")
@click.option("--tail", type=click.IntRange(min=0), help="Only so many of the last entries.")
@click.option("--limit", type=click.IntRange(min=0), help="The most entries.")
@click.option("--follow", is_flag=True, help="Wait for new entries, and for the log itself, until Ctrl-C.")
@click.option(
    "--for",
    "seconds",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    help="With --follow: end after so many seconds, with status 0.",
)
@as_json("Print one JSON object a line, with position and value.")
@timeout
def log(
    url: str,
    scope: str,
    key: str,
    start: int | None,
    tail: int | None,
    limit: int | None,
    follow: bool,
    seconds: float | None,
    as_json: bool,
    timeout: float | None,
) -> None:
    """Show the entries of the log KEY in SCOPE of the storage that URL stands for.

    A line is a position and a value. The exit status is 1 if there is no such log.
    """
    if start is not None and tail is not None:
        message = "--start and --tail exclude each other"
        raise click.UsageError(message)
    if seconds is not None and not follow:
        message = "--for needs --follow"
        raise click.UsageError(message)
    part = Part(start, tail, follow, seconds)
    with Storage.of(url).open_to_read(timeout) as store:
        for entry in islice(part.entries(store, scope, key), limit):
            click.echo(_json(entry.position, entry.value) if as_json else f"{entry.position}  {_text(entry.value)}")
            if follow:
                sys.stdout.flush()


def _text(value: Any) -> str:
    return safe_json(encode(value).decode().strip())


def _json(position: int, value: Any) -> str:
    return f'{{"position":{position},"value":{_text(value)}}}'
