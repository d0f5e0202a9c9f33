"""A proxy of HTTP that adds a Date to replies without one: `python dating.py PORT UPSTREAM_PORT`."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from email.utils import formatdate

_PIECE = 65_536
_END = b"\r\n\r\n"


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    while piece := await source.read(_PIECE):
        target.write(piece)
        await target.drain()


async def _replies(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    while True:
        head = await source.readuntil(_END)
        lowered = head.lower()
        added = b"" if b"\r\ndate:" in lowered else f"Date: {formatdate(usegmt=True)}\r\n".encode()
        target.write(head[:-2] + added + b"\r\n")
        if b"transfer-encoding: chunked" in lowered:
            await _chunks(source, target)
        else:
            await _body(source, target, _length(lowered))
        await target.drain()


def _length(head: bytes) -> int:
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name == b"content-length":
            return int(value)
    return 0


async def _body(source: asyncio.StreamReader, target: asyncio.StreamWriter, length: int) -> None:
    while length:
        piece = await source.readexactly(min(length, _PIECE))
        target.write(piece)
        length -= len(piece)
        await target.drain()


async def _chunks(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    while True:
        line = await source.readuntil(b"\r\n")
        target.write(line)
        size = int(line.split(b";")[0], 16)
        await _body(source, target, size + 2)
        if not size:
            return


async def _serve(port: int, upstream: int) -> None:
    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            there, back = await asyncio.open_connection("127.0.0.1", upstream, limit=2**20)
            sending = asyncio.create_task(_copy(reader, back))
            replying = asyncio.create_task(_replies(there, writer))
            _, left = await asyncio.wait({sending, replying}, return_when=asyncio.FIRST_COMPLETED)
            for task in left:
                task.cancel()
            await asyncio.gather(sending, replying, return_exceptions=True)
            back.close()
        writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", port, backlog=1000)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1]), int(sys.argv[2])))
