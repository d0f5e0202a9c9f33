"""What the tests of the DynamoDB adapter share: clients of the tests' own, which count and break requests."""

from __future__ import annotations

import contextlib
import io
import json
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs

import boto3
from botocore.awsrequest import AWSResponse
from botocore.config import Config

import holdall

__all__ = ["Broken", "Counting", "arguments_of", "bare_client", "other_table", "table_of", "watched"]


def table_of(url: str) -> str:
    """Return the name of the table in a URL."""
    return url.partition("://")[2].partition("?")[0]


def other_table(url: str, **options: str) -> str:
    """Return a URL of a table of its own on the same server, with further options."""
    more = "".join(f"&{name}={value}" for name, value in options.items())
    return f"dynamodb://test-{uuid.uuid4().hex}?{url.partition('?')[2]}{more}"


def arguments_of(url: str) -> dict[str, Any]:
    """Return what a client of boto3 is made with for the server of a URL."""
    query = {name: values[0] for name, values in parse_qs(url.partition("?")[2]).items()}
    return {
        "region_name": query["region"],
        "endpoint_url": query["endpoint_url"],
        "aws_access_key_id": query["access_key_id"],
        "aws_secret_access_key": query["secret_access_key"],
    }


def bare_client(url: str, **config: Any) -> Any:
    """Return a client of boto3 for the server of a URL."""
    return boto3.session.Session().client("dynamodb", **arguments_of(url), config=Config(**config))


@contextlib.contextmanager
def watched(url: str, watch: Callable[[Any], None], **config: Any) -> Iterator[Any]:
    """Give a store and a lock on a client of the test's own, after the test has hung itself onto its events."""
    client = bare_client(url, **config)
    watch(client.meta.events)
    with holdall.open_store(url, client=client) as store, holdall.open_lock(store) as lock:
        yield SimpleNamespace(store=store, lock=lock, client=client)
    client.close()


class Counting:
    """Counts requests and the capacity units that they consume, by the events of botocore."""

    def __init__(self) -> None:
        self.requests: Counter[str] = Counter()
        self.units = 0.0

    def watch(self, events: Any) -> None:
        """Hang onto the events of a client."""
        events.register("provide-client-params.dynamodb.*", self._ask)
        events.register("after-call.dynamodb.*", self._note)

    def _ask(self, params: dict[str, Any], event_name: str, **_: Any) -> dict[str, Any]:
        is_of_table = event_name.endswith(("Table", "Tables", "TimeToLive"))
        return params if is_of_table else {**params, "ReturnConsumedCapacity": "TOTAL"}

    def _note(self, model: Any, parsed: dict[str, Any], **_: Any) -> None:
        self.requests[model.name] += 1
        consumed = parsed.get("ConsumedCapacity", [])
        for each in consumed if isinstance(consumed, list) else [consumed]:
            self.units += each["CapacityUnits"]

    def take(self) -> tuple[dict[str, int], float]:
        """Return what was counted since the last time."""
        taken = dict(self.requests), self.units
        self.requests, self.units = Counter(), 0.0
        return taken


class Broken:
    """Answers requests itself with errors, as many as it is told."""

    def __init__(self) -> None:
        self.errors: list[tuple[int, str]] = []
        self.names: set[str] | None = None
        self.count = 0

    def watch(self, events: Any) -> None:
        """Hang onto the events of a client."""
        events.register("before-send.dynamodb.*", self._answer)

    def _answer(self, request: Any, event_name: str, **_: Any) -> Any:
        self.count += 1
        if not self.errors or (self.names is not None and event_name.rpartition(".")[2] not in self.names):
            return None
        status, code = self.errors.pop(0)
        body = json.dumps({"__type": f"com.amazonaws.dynamodb#{code}", "message": "made up"}).encode()
        headers = {"Content-Type": "application/x-amz-json-1.0", "Content-Length": str(len(body))}
        return AWSResponse(request.url, status, headers, _Raw(body))


class _Raw(io.BytesIO):
    """A body as urllib3 gives it."""

    def stream(self, **_: Any) -> Iterator[bytes]:
        """Return the rest."""
        yield self.read()
