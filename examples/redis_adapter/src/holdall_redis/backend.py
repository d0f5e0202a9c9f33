"""The five primitives on Redis.

Redis has no order of its keys, so two of them hold everything, and their common hash tag keeps them together::

    {PREFIX}:keys      a sorted set of holdall's keys, all with score 0: Redis sorts these as bytes
    {PREFIX}:values    a hash of their payloads

Each primitive is one script, which the server runs as one step, with nobody else's request in between: compare and
write, or a page with keys and payloads of one moment.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdall.errors import Corrupt
from holdall.spi import ABSENT, ANY, BackendItem, Mismatch, Tag
from holdall_redis.link import Link

__all__ = ["RedisBackend"]

_MOST = 2**63 - 1  # what Redis takes as a number

_CHECK = """
local current = redis.call('HGET', KEYS[2], ARGV[1])
if ARGV[2] == 'absent' and current or ARGV[2] == 'tag' and current ~= ARGV[3] then return 0 end
"""
# A key of another type makes the first command fail that touches it, and a server that may not write the first that
# writes: nothing is half done then, and Redis, which takes nothing back, need not.
_PUT = f"""{_CHECK}
redis.call('ZADD', KEYS[1], 0, ARGV[1])
redis.call('HSET', KEYS[2], ARGV[1], ARGV[4])
return 1
"""
_DELETE = f"""{_CHECK}
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('HDEL', KEYS[2], ARGV[1])
return 1
"""
# One by one, because Lua takes no more than some thousand arguments in a call.
_SCAN = """
local found = {}
for number, key in ipairs(redis.call('ZRANGEBYLEX', KEYS[1], ARGV[1], ARGV[2], 'LIMIT', 0, ARGV[3])) do
    found[2 * number - 1] = key
    found[2 * number] = redis.call('HGET', KEYS[2], key)
end
return found
"""


class RedisBackend:
    """A `Backend` under one prefix; a payload is its own tag, since holdall never writes one twice under a key."""

    def __init__(self, link: Link, prefix: str) -> None:
        self._link = link
        self._keys = (f"{{{prefix}}}:keys", f"{{{prefix}}}:values")

    async def get(self, key: bytes) -> BackendItem | None:
        """Return what is under a key."""
        payload = await self._link.request("HGET", self._keys[1], key)
        return None if payload is None else BackendItem(key, payload, payload)

    async def put(self, key: bytes, payload: bytes, expect: Tag) -> Tag:
        """Write if the key is as expected."""
        await self._change(_PUT, key, expect, payload)
        return payload

    async def delete(self, key: bytes, expect: Tag) -> None:
        """Delete if the key is as expected."""
        await self._change(_DELETE, key, expect)

    async def scan(self, prefix: bytes, after: bytes | None, limit: int) -> Sequence[BackendItem]:
        """Return items in order."""
        start = prefix if after is None else max(prefix, after + b"\x00")
        where = (b"[" + start, _behind(prefix), min(limit, _MOST))
        found = await self._link.request("EVAL", _SCAN, 2, *self._keys, *where)
        if None in found:
            raise Corrupt("the server has a key and not its value: somebody else has changed what is stored")
        return [BackendItem(key, payload, payload) for key, payload in zip(found[::2], found[1::2], strict=True)]

    async def now(self) -> float:
        """Return the server's clock."""
        seconds, microseconds = await self._link.request("TIME")
        return int(seconds) + int(microseconds) / 1e6

    async def close(self) -> None:
        """Close the connections."""
        await self._link.close()

    async def _change(self, script: str, key: bytes, expect: Tag, *payload: bytes) -> None:
        how, tag = ("any", b"") if expect is ANY else ("absent", b"") if expect is ABSENT else ("tag", expect)
        if not await self._link.request("EVAL", script, 2, *self._keys, key, how, tag, *payload, writing=True):
            raise Mismatch


def _behind(prefix: bytes) -> bytes:
    """Return the end, in the words of ZRANGEBYLEX, of the keys that begin with a prefix."""
    kept = prefix.rstrip(b"\xff")
    return b"(" + kept[:-1] + bytes([kept[-1] + 1]) if kept else b"+"
