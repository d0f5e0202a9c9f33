"""What is looked at when a bucket is opened: what lies there already, and whether the server keeps its conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from holdall.errors import ConfigError, Corrupt
from holdall_adapters.aws.errors import Refused

if TYPE_CHECKING:
    from holdall_adapters.s3.bucket import Bucket
    from holdall_adapters.s3.names import Names

__all__ = ["LAYOUT", "prepare", "probe"]

LAYOUT = 1
_WRONG = '"00000000000000000000000000000000"'
_BODY = b"12345"


async def prepare(bucket: Bucket, names: Names, parents: list[Names], *, create: bool) -> bool:
    """See to it that the layout is noted, and return whether that was done now.

    Args:
        bucket: the bucket.
        names: the names of objects.
        parents: those below each shorter prefix.
        create: whether it may be noted.

    Raises:
        ConfigError: the bucket cannot serve.

    """
    stored = await bucket.get(names.layout)
    if stored is None:
        if not create:
            message = (
                f"bucket {bucket.name} has nothing of holdall's under {names.root or '/'}, and create=false forbids it"
            )
            raise ConfigError(message)
        for parent in parents:
            if await bucket.get(parent.layout) is not None:
                message = (
                    f"{parent.root or 'the bucket itself'} is a storage of holdall's: choose a prefix outside of it"
                )
                raise ConfigError(message)
        try:
            await bucket.put(names.layout, orjson.dumps({"version": LAYOUT}), None)
        except Refused:
            return False
        return True
    try:
        version = int(orjson.loads(stored.body)["version"])
    except (ValueError, KeyError, TypeError) as error:
        message = f"{names.layout} is none of holdall's: choose another prefix"
        raise Corrupt(message) from error
    if version > LAYOUT:
        message = f"the objects are of version {version}, and this holdall knows {LAYOUT}: install a newer one"
        raise ConfigError(message)
    return False


async def probe(bucket: Bucket, name: str) -> None:
    """Try the conditions that everything here rests on.

    Args:
        bucket: the bucket.
        name: the name of an object to try them on.

    Raises:
        ConfigError: the server does not keep one.

    """
    tag = await bucket.put(name, _BODY, None)
    try:
        await _must_refuse(bucket, name, None, "If-None-Match")
        await _must_refuse(bucket, name, _WRONG, "If-Match")
        if await bucket.remove(name, _WRONG):
            raise _unkept("If-Match of a DELETE")
        listed = (await bucket.page(name)).objects
        if [each.size for each in listed] != [len(_BODY)]:
            raise _unkept("the size in a listing, or a listing right after a write")
        await bucket.put(name, _BODY + b" ", tag)
    finally:
        await bucket.remove(name)


async def _must_refuse(bucket: Bucket, name: str, tag: str | None, what: str) -> None:
    try:
        await bucket.put(name, _BODY, tag)
    except Refused:
        return
    raise _unkept(f"{what} of a PUT")


def _unkept(what: str) -> ConfigError:
    return ConfigError(
        f"the server does not keep {what}: without it writes would be lost; use another server or adapter"
    )
