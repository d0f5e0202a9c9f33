"""Broken in what becomes of values."""
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false, reportUnknownLambdaType=false
# - values are whatever callers pass
# ruff: noqa: D102, PLR2004 - the docstring of a class says what its methods do wrong

from __future__ import annotations

import json
import math
import unicodedata
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from holdall import Entries, Entry, Record
from holdall.codec import decode, encode
from holdall_conformance.broken.plain_store import PlainStore
from holdall_conformance.broken.registry import broken
from holdall_conformance.broken.translating import TranslatingStore


def everywhere(value: Any, change: Callable[[Any], Any]) -> Any:
    """Return a JSON value in which something has been done to each part."""
    if isinstance(value, dict):
        value = {change(key): everywhere(part, change) for key, part in value.items()}
    elif isinstance(value, list):
        value = [everywhere(part, change) for part in value]
    return change(value)


class _Remade(PlainStore):
    """Stores something else than the bytes it was given."""

    def changed(self, part: Any) -> Any:
        return part

    def kept(self, payload: bytes) -> bytes:
        return encode(everywhere(decode(payload), self.changed))


@broken("aliasing-in", "values")
class AliasingIn(TranslatingStore):
    """Keeps the very objects that callers passed, so that changing one later changes the store."""

    objects: ClassVar[dict[str, Any]] = {}

    def put(self, scope: str, key: str, value: Any, **named: Any) -> Any:
        version = self.inner.put(scope, key, value, **named)
        self.objects[version] = value
        return version

    def given(self, record: Record) -> Record:
        return record._replace(value=decode(encode(self.objects.get(record.version, record.value))))


@broken("aliasing-out", "values")
class AliasingOut(TranslatingStore):
    """Gives the same object to everybody who reads a version of a record."""

    objects: ClassVar[dict[str, Any]] = {}

    def given(self, record: Record) -> Record:
        return record._replace(value=self.objects.setdefault(record.version, record.value))


@broken("aliasing-of-entries", "values")
class AliasingOfEntries(TranslatingStore):
    """Gives the same object to everybody who reads an entry of a log."""

    objects: ClassVar[dict[Any, Any]] = {}

    def shown(self, entries: Entries) -> Entries:
        head = entries.head
        if head is None:
            return entries
        known = self.objects
        return Entries([Entry(at, known.setdefault((head.incarnation, at), value)) for at, value in entries], head)


@broken("update-gives-what-it-was-given", "values")
class UpdateGivesWhatItWasGiven(TranslatingStore):
    """Returns from update the object that the function made, not what a read would give."""

    def update(self, scope: str, key: str, function: Any, **named: Any) -> Any:
        made: list[Any] = []

        def noting(value: Any) -> Any:
            made.append(function(value))
            return made[-1]

        record: Record = self.inner.update(scope, key, noting if callable(function) else function, **named)
        return record._replace(value=made[-1])


@broken("sorts-fields", "values")
class SortsFields(PlainStore):
    """Stores objects with their keys sorted, as jsonb does."""

    def kept(self, payload: bytes) -> bytes:
        return json.dumps(json.loads(payload), sort_keys=True, ensure_ascii=False).encode()


@broken("rounds-ints", "values")
class RoundsInts(_Remade):
    """Rounds ints above 2**53 as a float would."""

    def changed(self, part: Any) -> Any:
        return int(float(part)) if type(part) is int and 2**53 < abs(part) < 2**1000 else part


@broken("huge-ints-become-floats", "values")
class HugeIntsBecomeFloats(_Remade):
    """Turns ints of more than 64 bits into floats, as orjson does."""

    def changed(self, part: Any) -> Any:
        return float(part) if type(part) is int and 2**64 <= abs(part) < 2**1000 else part


@broken("whole-floats-become-ints", "values")
class WholeFloatsBecomeInts(_Remade):
    """Turns 1.0 into 1, as JavaScript and DynamoDB's numbers do."""

    def changed(self, part: Any) -> Any:
        return int(part) if type(part) is float and part.is_integer() and part and abs(part) < 2**53 else part


@broken("zero-loses-its-sign", "values")
class ZeroLosesItsSign(_Remade):
    """Turns -0.0 into 0.0."""

    def changed(self, part: Any) -> Any:
        return 0.0 if type(part) is float and part == 0 else part


@broken("floats-of-fifteen-digits", "values")
class FloatsOfFifteenDigits(_Remade):
    """Writes floats with 15 digits, which two more are needed for."""

    def changed(self, part: Any) -> Any:
        return float(f"{part:.15g}") if type(part) is float and abs(part) < 1e300 else part


@broken("values-normalised", "values")
class ValuesNormalised(_Remade):
    """Brings texts into Unicode normal form C."""

    def changed(self, part: Any) -> Any:
        return unicodedata.normalize("NFC", part) if type(part) is str else part


@broken("texts-end-at-nul", "values")
class TextsEndAtNul(_Remade):
    """Cuts texts at the first NUL, as a C string ends."""

    def changed(self, part: Any) -> Any:
        return part.partition("\0")[0] if type(part) is str else part


@broken("trailing-space-lost", "values")
class TrailingSpaceLost(_Remade):
    """Strips white space from the end of texts, as a CHAR column does."""

    def changed(self, part: Any) -> Any:
        return part.rstrip() if type(part) is str else part


@broken("nulls-dropped", "values")
class NullsDropped(_Remade):
    """Leaves out the fields whose value is null."""

    def changed(self, part: Any) -> Any:
        return {key: value for key, value in part.items() if value is not None} if type(part) is dict else part


@broken("empty-object-becomes-list", "values")
class EmptyObjectBecomesList(_Remade):
    """Stores an empty object as an empty list."""

    def changed(self, part: Any) -> Any:
        return [] if part == {} else part


@broken("bools-become-ints", "values")
class BoolsBecomeInts(_Remade):
    """Stores true and false as 1 and 0, as a database without booleans does."""

    def changed(self, part: Any) -> Any:
        return int(part) if type(part) is bool else part


@broken("nan-becomes-null", "values")
class NanBecomesNull(TranslatingStore):
    """Takes NaN and infinity, and stores null."""

    def taken(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: self.taken(part) for key, part in value.items()} if value else value
        if type(value) is list:
            return [self.taken(part) for part in value]
        return None if isinstance(value, float) and not math.isfinite(value) else value


@broken("unknown-becomes-text", "values")
class UnknownBecomesText(TranslatingStore):
    """Takes dates, UUIDs and whatever else is no JSON, and stores its str."""

    def taken(self, value: Any) -> Any:
        if isinstance(value, Mapping | list | tuple | str | int | float | None):
            return value
        return str(value)


@broken("keys-become-text", "values")
class KeysBecomeText(TranslatingStore):
    """Takes objects with keys that are no text, and stores their str."""

    def taken(self, value: Any) -> Any:
        return {str(key): part for key, part in value.items()} if type(value) is dict else value


@broken("surrogates-replaced", "values")
class SurrogatesReplaced(TranslatingStore):
    """Takes lone surrogates, and stores question marks."""

    def taken(self, value: Any) -> Any:
        return value.encode(errors="replace").decode() if type(value) is str else value


@broken("sets-become-lists", "values")
class SetsBecomeLists(TranslatingStore):
    """Takes sets, and stores lists in whatever order."""

    def taken(self, value: Any) -> Any:
        return list(value) if isinstance(value, set | frozenset) else value


@broken("shallow", "values")
class Shallow(PlainStore):
    """Gives up on values that are nested more than 100 deep."""

    def kept(self, payload: bytes) -> bytes:
        depth = deepest = 0
        for byte in payload:
            depth += (byte in b"[{") - (byte in b"]}")
            deepest = max(deepest, depth)
        if deepest > 100:
            message = "maximum recursion depth exceeded"
            raise RecursionError(message)
        return payload


@broken("put-many-checks-as-it-goes", "values", "records")
class PutManyChecksAsItGoes(TranslatingStore):
    """Writes what comes before an invalid value of put_many, then refuses the value."""

    def put_many(self, scope: str, values: Any, **named: Any) -> Any:
        if not isinstance(values, Mapping):
            return self.inner.put_many(scope, values, **named)
        return sum(self.inner.put_many(scope, {key: value}, **named) for key, value in values.items())


@broken("large-values-cut", "values", "limits")
class LargeValuesCut(_Remade):
    """Cuts texts at 65,535 characters, as a column of fixed size does."""

    def changed(self, part: Any) -> Any:
        return part[:65_535] if type(part) is str else part
