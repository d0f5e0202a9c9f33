"""What the tests of DynamoDB and S3 share: clients of the tests' own, which count and break requests."""

from __future__ import annotations

import contextlib
import io
import json
from collections import Counter
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs

import boto3
from botocore.awsrequest import AWSResponse
from botocore.config import Config

import holdall

__all__ = ["Broken", "Counting", "arguments_of", "bare_client", "service_of", "watched"]

_NOT_COUNTED = ("Table", "Tables", "TimeToLive")


def service_of(url: str) -> str:
    """Return the service of a URL, which its scheme names."""
    return url.partition(":")[0]


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
    return boto3.session.Session().client(service_of(url), **arguments_of(url), config=Config(**config))


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
        events.register("after-call.*.*", self._note)

    def _ask(self, params: dict[str, Any], event_name: str, **_: Any) -> dict[str, Any]:
        return params if event_name.endswith(_NOT_COUNTED) else {**params, "ReturnConsumedCapacity": "TOTAL"}

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
        events.register("before-send.*.*", self._answer)

    def _answer(self, request: Any, event_name: str, **_: Any) -> Any:
        self.count += 1
        _, service, name = event_name.split(".")
        if not self.errors or (self.names is not None and name not in self.names):
            return None
        status, code = self.errors.pop(0)
        kind, body = _ANSWERS[service](code)
        return AWSResponse(request.url, status, {"Content-Type": kind, "Content-Length": str(len(body))}, _Raw(body))


def _as_dynamodb(code: str) -> tuple[str, bytes]:
    told = {"__type": f"com.amazonaws.dynamodb#{code}", "message": "made up"}
    return "application/x-amz-json-1.0", json.dumps(told).encode()


def _as_s3(code: str) -> tuple[str, bytes]:
    return "application/xml", f"<Error><Code>{code}</Code><Message>made up</Message></Error>".encode()


_ANSWERS = {"dynamodb": _as_dynamodb, "s3": _as_s3}


class _Raw(io.BytesIO):
    """A body as urllib3 gives it."""

    def stream(self, **_: Any) -> Iterator[bytes]:
        """Return the rest."""
        yield self.read()
