"""The codec against the standard library with the same checks, and against bare orjson for orientation.

The standard library is given its best: encoder and decoder are made once, the check looks at exact types, frequent ones
first, and it only says yes or no, without the paths that the codec gives. (`tests/unit/strict_codec.py` is
written for reading and many times slower, so nothing is measured against it.)

`PYTHONPATH=core python benchmarks/codec.py [--json] [--rounds N]`: all candidates take turns within one run, and the
fastest round of each counts.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import time
from typing import TYPE_CHECKING, Any

import orjson

from holdall import codec

if TYPE_CHECKING:
    from collections.abc import Callable

MESSAGE: dict[str, object] = {
    "id": "msg_01J8ZK4T9QW3",
    "role": "assistant",
    "model": "atlas-4",
    "created_at": 1760871234.518,
    "parent": None,
    "content": [
        {
            "type": "text",
            "text": "Ich habe die Übersicht für Zürich geprüft: drei Ergebnisse passen zum Zeitraum, zwei sind neu. "
            "東京の天気は晴れです。 Ici, un bel été arrive déjà: 24 °C à midi.",
        },
        {
            "type": "tool_call",
            "id": "call_7f3a",
            "name": "search_documents",
            "arguments": {
                "query": 'Umsatz "Q3" größer als 1,5 Mio €',
                "filters": {"region": ["EU", "CH", "日本"], "year": 2026, "archived": False},
                "limit": 25,
                "min_score": 0.725,
                "cursor": None,
            },
        },
        {
            "type": "tool_result",
            "call_id": "call_7f3a",
            "ok": True,
            "items": [
                {"title": "Bericht für den Vorstand", "score": 0.9312, "pages": [1, 4, 17]},
                {"title": "Résumé exécutif", "score": 0.8745, "pages": [2]},
            ],
        },
    ],
    "usage": {"input_tokens": 1843, "output_tokens": 212, "cached": 1024, "cost": 0.01387},
    "stop_reason": "tool_use",
    "tags": ["agent", "search"],
    "temperature": 0.7,
}
VALUES: dict[str, object] = {
    "message": MESSAGE,
    "20 messages": [MESSAGE] * 20,
    "small": {"step": 3, "state": "done"},
    "embedding": {"id": "doc-1", "vector": [number / 997 for number in range(1536)]},
    "wide int": {**MESSAGE, "wide": 10**30},
}
TOO_WIDE = 10**codec.MAX_INT_DIGITS
ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
CANONICAL = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False, sort_keys=True)
TARGETS = {("message", "encode"): 1 / 5, ("message", "decode"): 2 / 3}


def no_constant(name: str) -> float:
    """Refuse NaN and infinities."""
    raise ValueError(name)


DECODER = json.JSONDecoder(parse_constant=no_constant)


def check(value: Any, room: int = codec.MAX_DEPTH) -> None:
    """Refuse what is not JSON; surrogates fail when the text is encoded."""
    kind = type(value)
    if kind is str or value is None or kind is bool:
        return
    if kind is dict and room:
        for key, item in value.items():
            if type(key) is not str:
                raise TypeError
            check(item, room - 1)
    elif kind in {list, tuple} and room:
        for item in value:
            check(item, room - 1)
    elif not ((kind is int and -TOO_WIDE < value < TOO_WIDE) or (kind is float and math.isfinite(value))):
        raise TypeError


def stdlib_encode(value: object, encoder: json.JSONEncoder = ENCODER) -> bytes:
    """Write by the standard library with the checks of the codec."""
    check(value)
    return encoder.encode(value).encode()


def stdlib_decode(payload: bytes) -> object:
    """Read by the standard library, as exactly as the codec."""
    return DECODER.decode(payload.decode())


def candidates(value: object) -> dict[tuple[str, str], Callable[[], object]]:
    """What is timed for one value, by operation and by who does it."""
    ours, theirs = codec.encode(value), stdlib_encode(value)
    timed: dict[tuple[str, str], Callable[[], object]] = {
        ("encode", "holdall"): lambda: codec.encode(value),
        ("encode", "stdlib"): lambda: stdlib_encode(value),
        ("decode", "holdall"): lambda: codec.decode(ours),
        ("decode", "stdlib"): lambda: stdlib_decode(theirs),
        ("digest", "holdall"): lambda: codec.digest([value]),
        ("digest", "stdlib"): lambda: hashlib.sha256(stdlib_encode(value, CANONICAL)).hexdigest(),
    }
    if not ours.startswith(b" "):
        timed["encode", "orjson"] = lambda: orjson.dumps(value)
        timed["decode", "orjson"] = lambda: orjson.loads(ours)
    return timed


def measure(value: object, rounds: int) -> dict[tuple[str, str], float]:
    """Microseconds of one call, the best of the rounds."""
    timed = candidates(value)
    best = dict.fromkeys(timed, float("inf"))
    for _ in range(rounds):
        for name, call in timed.items():
            best[name] = min(best[name], seconds(call) * 1e6)
    return best


def seconds(call: Callable[[], object]) -> float:
    """Seconds of one call, over a batch of about a millisecond."""
    started = time.perf_counter()
    call()
    repeats = max(1, int(0.001 / max(time.perf_counter() - started, 1e-7)))
    started = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - started) / repeats


def rows(rounds: int) -> list[dict[str, object]]:
    """One row for each value and operation."""
    table: list[dict[str, object]] = []
    for name, value in VALUES.items():
        best = measure(value, rounds)
        for operation in ("encode", "decode", "digest"):
            ours, theirs = best[operation, "holdall"], best[operation, "stdlib"]
            row: dict[str, object] = {"value": name, "bytes": len(codec.encode(value)), "operation": operation}
            row |= {"holdall_us": ours, "stdlib_us": theirs, "orjson_us": best.get((operation, "orjson"))}
            table.append(row | {"ratio": ours / theirs, "target": TARGETS.get((name, operation))})
    return table


def shown(number: object) -> str:
    """A number of the table, or a blank."""
    return f"{number:10.3f}" if isinstance(number, float) else " " * 10


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    parser.add_argument("--rounds", type=int, default=100)
    options = parser.parse_args()
    table = rows(options.rounds)
    if options.json:
        print(json.dumps(table, indent=2))
        return
    columns = ("holdall_us", "stdlib_us", "orjson_us", "ratio", "target")
    print(f"{'value':12}{'bytes':>8} {'operation':9} " + " ".join(f"{column:>10}" for column in columns))
    for row in table:
        numbers = " ".join(shown(row[column]) for column in columns)
        print(f"{row['value']:12}{row['bytes']:8} {row['operation']:9} {numbers}")


if __name__ == "__main__":
    main()
