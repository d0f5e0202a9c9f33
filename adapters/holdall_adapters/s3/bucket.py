"""The way to a bucket: objects, their conditions, and pages of names."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from holdall.errors import OutcomeUnknown, Unavailable
from holdall_adapters.aws.errors import Missing, Refused
from holdall_adapters.aws.service import Service

if TYPE_CHECKING:
    from holdall.spi import Environment
    from holdall_adapters.aws.connections.clients import Client

__all__ = ["Bucket", "Listed", "Listing", "Stored"]

PAGE = 1_000
_CUT = "the connection ended in the middle of the reply"


def _md5(body: bytes) -> str:
    """Return what lets the server refuse a body that was cut on its way: some store what came of it."""
    return base64.b64encode(hashlib.md5(body, usedforsecurity=False).digest()).decode()


class Stored(NamedTuple):
    """An object: what it holds, and the tag by which this very state is recognised."""

    body: bytes
    tag: str


class Listed(NamedTuple):
    """An object as a listing shows it; `modified` in seconds since 1970 on the server's clock."""

    name: str
    size: int
    tag: str
    modified: float


class Listing(NamedTuple):
    """A page of objects and of folders, and whether there are more."""

    objects: Sequence[Listed]
    folders: Sequence[str]
    more: bool

    @property
    def last(self) -> str:
        """The last name on it, behind which the next page begins."""
        return max((*(each.name for each in self.objects[-1:]), *self.folders[-1:]), default="")


class Bucket(Service):
    """A bucket.

    Args:
        client: the way to the service.
        name: the name of the bucket.
        environment: has the boot clock, sleeping and randomness.
        timeout: seconds that bound an operation.

    """

    def __init__(self, client: Client, name: str, environment: Environment, timeout: float) -> None:
        Service.__init__(self, client, environment, timeout)
        self.name = name

    async def get(self, name: str) -> Stored | None:
        """Return an object, None if there is none.

        Args:
            name: its name.

        """
        try:
            reply = await self.call("get_object", writing=False, Bucket=self.name, Key=name)
        except Missing:
            return None
        if "ETag" not in reply:
            raise Unavailable(_CUT)
        return Stored(reply["Body"], reply["ETag"])

    async def put(self, name: str, body: bytes, tag: str | None) -> str:
        """Write an object if it is as expected, and return its new tag.

        Args:
            name: its name.
            body: what to write.
            tag: the tag of the state that must still be there; None if nothing may be there.

        Raises:
            Refused: it is not as expected.

        """
        condition: dict[str, Any] = {"IfNoneMatch": "*"} if tag is None else {"IfMatch": tag}
        try:
            reply = await self.call(
                "put_object",
                writing=True,
                Bucket=self.name,
                Key=name,
                Body=body,
                ContentMD5=_md5(body),
                **condition,
            )
        except Missing as error:  # so AWS answers where nothing is that could match
            raise Refused from error
        if "ETag" not in reply:
            raise OutcomeUnknown(_CUT)
        found: str = reply["ETag"]
        return found

    async def put_always(self, name: str, body: bytes) -> None:
        """Write an object that may be written again, since it always comes to the same.

        Args:
            name: its name.
            body: what to write.

        """
        await self.call("put_object", writing=False, Bucket=self.name, Key=name, Body=body, ContentMD5=_md5(body))

    async def remove(self, name: str, tag: str | None = None) -> bool:
        """Delete an object, and return whether it was as expected.

        Args:
            name: its name.
            tag: the tag of the state that must still be there; None: whatever is there goes.

        """
        condition: dict[str, Any] = {} if tag is None else {"IfMatch": tag}
        try:
            await self.call("delete_object", writing=False, Bucket=self.name, Key=name, **condition)
        except (Refused, Missing):
            return False
        return True

    async def page(self, prefix: str, after: str = "", limit: int = PAGE, *, folders: bool = False) -> Listing:
        """Return a page of objects in the order of their names.

        Args:
            prefix: what their names begin with.
            after: a name behind which they lie; "" for none.
            limit: the most that may be on it.
            folders: whether names with a slash behind the prefix are told as folders.

        """
        arguments: dict[str, Any] = {"MaxKeys": min(limit, PAGE)}
        if after > prefix:  # some servers take one before the prefix for the end
            if not after.startswith(prefix):
                return Listing((), (), more=False)
            arguments["StartAfter"] = after
        if folders:
            arguments["Delimiter"] = "/"
        reply = await self.call("list_objects_v2", writing=False, Bucket=self.name, Prefix=prefix, **arguments)
        return Listing(
            [
                Listed(each["Key"], each["Size"], each["ETag"], each["LastModified"].timestamp())
                for each in reply.get("Contents", ())
            ],
            [each["Prefix"] for each in reply.get("CommonPrefixes", ())],
            bool(reply.get("IsTruncated")),
        )

    async def names(self, prefix: str) -> list[Listed]:
        """Return all objects whose names begin with a prefix."""
        found: list[Listed] = []
        page = await self.page(prefix)
        found += page.objects
        while page.more and page.last:
            page = await self.page(prefix, page.last)
            found += page.objects
        return found
