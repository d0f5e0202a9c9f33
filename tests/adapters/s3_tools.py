"""What the tests of the S3 adapter share: buckets and prefixes of the tests' own, and what lies in them."""

from __future__ import annotations

import uuid
from typing import Any

__all__ = ["bucket_of", "names_in", "other_prefix", "prefix_of"]


def bucket_of(url: str) -> str:
    """Return the name of the bucket in a URL."""
    return url.partition("://")[2].partition("?")[0].partition("/")[0]


def prefix_of(url: str) -> str:
    """Return the prefix in a URL, with a slash at its end if there is one."""
    prefix = url.partition("://")[2].partition("?")[0].partition("/")[2].strip("/")
    return f"{prefix}/" if prefix else ""


def other_prefix(url: str, **options: str) -> str:
    """Return a URL of a prefix of its own below the place of another, with further options."""
    place, _, given = url.partition("?")
    more = "".join(f"&{name}={value}" for name, value in options.items())
    return f"{place.rstrip('/')}/test-{uuid.uuid4().hex}?{given}{more}"


def names_in(client: Any, url: str) -> list[str]:
    """Return the names of all objects of the storage at a URL, without its prefix."""
    pages = client.get_paginator("list_objects_v2").paginate(Bucket=bucket_of(url), Prefix=prefix_of(url))
    return [each["Key"].removeprefix(prefix_of(url)) for page in pages for each in page.get("Contents", ())]
