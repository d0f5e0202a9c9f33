"""Broken in how scopes and keys are mapped to what is stored, and in prefixes."""
# ruff: noqa: D102 - the docstring of a class says what its methods do wrong

from __future__ import annotations

import posixpath
import re
import unicodedata
import zlib
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import unquote

from holdall.keys import is_text
from holdall.spi import DeleteRequest, PutRequest, StoredRecord
from holdall_conformance.broken.plain_store import PlainStore
from holdall_conformance.broken.registry import broken
from holdall_conformance.broken.state import Space


@broken("folds-case", "keys")
class FoldsCase(PlainStore):
    """Takes keys that differ in case for one, as a case-insensitive collation does."""

    def place(self, scope: str, key: str) -> tuple[str, str]:
        return scope, key.lower()


@broken("folds-case-of-scopes", "keys")
class FoldsCaseOfScopes(PlainStore):
    """Takes scopes that differ in case for one, as a folder on a Mac does."""

    def place(self, scope: str, key: str) -> tuple[str, str]:
        return scope.lower(), key


@broken("normalises-keys", "keys")
class NormalisesKeys(PlainStore):
    """Brings keys into Unicode normal form C, so that two become one."""

    def place(self, scope: str, key: str) -> tuple[str, str]:
        return scope, unicodedata.normalize("NFC", key)


@broken("cuts-keys", "keys")
class CutsKeys(PlainStore):
    """Keeps the first 255 characters of a key."""

    def place(self, scope: str, key: str) -> tuple[str, str]:
        return scope, key[:255]


@broken("hashes-long-keys", "keys")
class HashesLongKeys(PlainStore):
    """Stores keys above 100 characters under a hash, also in listings."""

    def place(self, scope: str, key: str) -> tuple[str, str]:
        return scope, key if len(key) <= 100 else f"{zlib.crc32(key.encode()):x}"  # noqa: PLR2004 - as it says


@broken("joins-scope-and-key", "keys")
class JoinsScopeAndKey(PlainStore):
    """Joins scope and key with a colon, so that either may reach into the other."""

    def place(self, scope: str, key: str) -> tuple[str, str]:
        inside, _, name = f"{scope}:{key}".partition(":")
        return inside, name


@broken("joins-with-slash", "keys")
class JoinsWithSlash(PlainStore):
    """Joins scope and key with a slash, as paths are made."""

    def place(self, scope: str, key: str) -> tuple[str, str]:
        inside, _, name = f"{scope}/{key}".partition("/")
        return inside, name


@broken("joins-with-nul", "keys")
class JoinsWithNul(PlainStore):
    """Joins scope and key with a NUL, as if no name could hold one."""

    def place(self, scope: str, key: str) -> tuple[str, str]:
        inside, _, name = f"{scope}\0{key}".partition("\0")
        return inside, name


@broken("strips-spaces", "keys")
class StripsSpaces(PlainStore):
    """Strips spaces from the end of keys, as comparisons with padding do."""

    def place(self, scope: str, key: str) -> tuple[str, str]:
        return scope, key.rstrip(" ") or key


@broken("cleans-paths", "keys")
class CleansPaths(PlainStore):
    """Takes keys for paths and cleans them, so that "a//b" and "a/./b" are "a/b"."""

    def place(self, scope: str, key: str) -> tuple[str, str]:
        return scope, posixpath.normpath(key) if key else key


@broken("unquotes-keys", "keys")
class UnquotesKeys(PlainStore):
    """Decodes percent signs in keys, so that "%2F" is "/"."""

    def place(self, scope: str, key: str) -> tuple[str, str]:
        return scope, unquote(key)


@broken("keys-end-at-nul", "keys")
class KeysEndAtNul(PlainStore):
    """Cuts keys at their first NUL."""

    def place(self, scope: str, key: str) -> tuple[str, str]:
        return scope, key.partition("\0")[0] or key


@broken("keys-without-astral-characters", "keys")
class KeysWithoutAstralCharacters(PlainStore):
    """Replaces characters outside the basic plane, as a three-byte UTF-8 does."""

    def place(self, scope: str, key: str) -> tuple[str, str]:
        return scope, re.sub("[\U00010000-\U0010ffff]", "?", key)


@broken("keys-as-latin", "keys")
class KeysAsLatin(PlainStore):
    """Takes a key in UTF-8 and one that reads as its bytes in Latin 1 for the same."""

    def place(self, scope: str, key: str) -> tuple[str, str]:
        try:
            return scope, key.encode("latin-1").decode()
        except UnicodeError:
            return scope, key


@broken("dots-nest", "keys")
class DotsNest(PlainStore):
    """Takes a dot in a key for a path into a document, so that writing "a" removes "a.b"."""

    def apply_put(self, space: Space, request: PutRequest) -> None:
        super().apply_put(space, request)
        records = space.records[request.scope]
        for key in [key for key in records if key.startswith(f"{request.key}.")]:
            del records[key]


@broken("records-and-logs-share-keys", "keys")
class RecordsAndLogsShareKeys(PlainStore):
    """Keeps records and logs in one keyspace, so that deleting a record takes the log of its name along."""

    def apply_delete(self, space: Space, request: DeleteRequest) -> bool:
        space.logs.get(request.scope, {}).pop(request.key, None)
        return super().apply_delete(space, request)


class _Matching(PlainStore):
    """Finds names by something else than their beginning."""

    def matches(self, name: str, prefix: str) -> bool:
        return name.startswith(prefix)

    def names(self, kept: Mapping[str, Any], prefix: str, after: str | None) -> list[str]:
        return sorted(name for name in kept if self.matches(name, prefix) and (after is None or name > after))


@broken("like-prefix", "keys")
class LikePrefix(_Matching):
    """Finds prefixes with LIKE and does not escape its wildcards."""

    def matches(self, name: str, prefix: str) -> bool:
        pattern = re.escape(prefix).replace("%", ".*").replace("_", ".")
        return re.match(pattern, name, re.DOTALL) is not None


@broken("like-prefix-folds-case", "keys")
class LikePrefixFoldsCase(_Matching):
    """Finds prefixes whatever their case, as LIKE does in SQLite."""

    def matches(self, name: str, prefix: str) -> bool:
        return name.lower().startswith(prefix.lower())


@broken("glob-prefix", "keys")
class GlobPrefix(_Matching):
    """Finds prefixes with GLOB and does not escape stars, question marks and brackets."""

    def matches(self, name: str, prefix: str) -> bool:
        pattern = re.escape(prefix).replace(r"\*", ".*").replace(r"\?", ".")
        return re.match(pattern, name, re.DOTALL) is not None


@broken("regex-prefix", "keys")
class RegexPrefix(_Matching):
    """Takes a prefix for a regular expression where it is a valid one."""

    def matches(self, name: str, prefix: str) -> bool:
        try:
            return re.match(prefix, name) is not None
        except re.error:
            return name.startswith(prefix)


@broken("prefix-up-to-ffff", "keys")
class PrefixUpToFfff(_Matching):
    """Ends a prefix at U+FFFF, so that longer code points behind it are not found."""

    def matches(self, name: str, prefix: str) -> bool:
        return prefix <= name <= f"{prefix}\uffff"


@broken("prefix-of-the-last-character", "keys")
class PrefixOfTheLastCharacter(_Matching):
    """Ends a prefix before the next character, and there is none after the last one."""

    def matches(self, name: str, prefix: str) -> bool:
        if not prefix:
            return True
        following = chr(min(ord(prefix[-1]) + 1, 0x10FFFF))
        end = prefix[:-1] + (following if is_text(following) else prefix[-1])
        return prefix <= name < end or name == prefix


@broken("prefix-not-itself", "keys")
class PrefixNotItself(_Matching):
    """Does not find the key that is the prefix itself."""

    def matches(self, name: str, prefix: str) -> bool:
        return name.startswith(prefix) and (not prefix or name != prefix)


@broken("prefix-contains", "keys")
class PrefixContains(_Matching):
    """Finds a prefix anywhere in a key."""

    def matches(self, name: str, prefix: str) -> bool:
        return prefix in name


@broken("scope-is-a-prefix", "keys")
class ScopeIsAPrefix(PlainStore):
    """Lists, and clears, the records of longer scopes along with those of a scope."""

    def live(self, space: Space, scope: str, prefix: str, after: str | None) -> Iterable[StoredRecord]:
        rows: dict[str, StoredRecord] = {}
        for name in [name for name in space.records if name.startswith(scope)]:
            rows.update((row.key, row) for row in super().live(space, name, prefix, after))
        return [rows[key] for key in sorted(rows)]
