"""The table, made on first use, and the item that keeps its layout."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from holdall.errors import ConfigError, HoldallError, StoreTimeout, Unavailable
from holdall_adapters.aws.errors import Cancelled, Refused
from holdall_adapters.dynamodb import names
from holdall_adapters.dynamodb.changes import Change
from holdall_adapters.dynamodb.names import N

if TYPE_CHECKING:
    from holdall.spi import Environment
    from holdall_adapters.dynamodb.table import Item, Table

__all__ = ["FORMAT", "MOST_SHARDS", "create_table", "most_operations", "prepare", "table_name"]

FORMAT = 1
MOST_SHARDS = 64
_NAME = re.compile(r"[A-Za-z0-9_.\-]{3,255}")
_PAUSE = 0.05
_OPERATIONS, _FEW_OPERATIONS = 50, 10


def table_name(text: str) -> str:
    """Return the name of a table.

    Args:
        text: what the URL names.

    Raises:
        ConfigError: no table can have it.

    """
    if not _NAME.fullmatch(text):
        message = "the URL names no table: write dynamodb://Table with 3 to 255 letters, digits, and any of _ . -"
        raise ConfigError(message)
    return text


async def prepare(table: Table, environment: Environment, shards: int, *, create: bool) -> None:
    """See to it that the table is there, and of this layout.

    Args:
        table: the table.
        environment: sleeps.
        shards: over how many partitions a scope is spread.
        create: whether the table may be made.

    Raises:
        ConfigError: it is not there and may not be made, or it is of another layout.

    """
    try:
        item = await table.get(names.LAYOUT)
    except ConfigError as error:
        if not create or "ResourceNotFoundException" not in str(error):
            raise
        await create_table(table, environment)
        item = await table.get(names.LAYOUT)
    if item is None:
        if not create:
            message = f"table {table.name} has nothing of holdall's in it, and create=false forbids to begin"
            raise ConfigError(message)
        item = await _note_layout(table, shards)
    _check(table.name, item, shards)


async def _note_layout(table: Table, shards: int) -> Item:
    """Note the layout, unless another has done so at the same moment, and return what is noted."""
    change = Change().set("version", N(FORMAT)).set("shards", N(shards)).equal("version", None)
    try:
        return await table.update(names.LAYOUT, change, "ALL_NEW")
    except Refused:
        found = await table.get(names.LAYOUT)
    if found is None:
        message = "the layout of the table was deleted while it was opened"
        raise Unavailable(message)
    return found


def _check(name: str, item: Item, shards: int) -> None:
    version, kept = int(item["version"]["N"]), int(item["shards"]["N"])
    if version > FORMAT:
        message = f"table {name} is of version {version}, and this holdall knows {FORMAT}: install a newer one"
        raise ConfigError(message)
    if kept != shards:
        message = f"table {name} was made with shards={kept}, not {shards}: write shards={kept} into the URL"
        raise ConfigError(message)


async def create_table(table: Table, environment: Environment) -> None:
    """Make the table, or wait until another has made it; then let it clean up what has expired.

    Args:
        table: the table.
        environment: sleeps.

    Raises:
        ConfigError: it may not be made, or is of another kind.
        StoreTimeout: it was not there in time.

    """
    keys = (("pk", "HASH"), ("sk", "RANGE"))
    try:
        await table.call(
            "create_table",
            writing=False,
            TableName=table.name,
            KeySchema=[{"AttributeName": name, "KeyType": kind} for name, kind in keys],
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": "B"} for name, _ in keys],
            BillingMode="PAY_PER_REQUEST",
        )
    except Unavailable as error:
        if "ResourceInUseException" not in str(error):
            raise
    await _until_active(table, environment)
    await _clean_up_by_ttl(table)


async def _until_active(table: Table, environment: Environment) -> None:
    deadline = environment.boot_time() + max(60.0, table.timeout)
    while environment.boot_time() < deadline:
        try:
            found = await table.call("describe_table", writing=False, TableName=table.name)
        except ConfigError:  # it is not told everywhere yet
            found = {"Table": {"TableStatus": "CREATING"}}
        if found["Table"]["TableStatus"] == "ACTIVE":
            return
        await environment.sleep(_PAUSE)
    message = f"table {table.name} was not ready in time"
    raise StoreTimeout(message)


async def _clean_up_by_ttl(table: Table) -> None:
    """Let the table delete records that have expired; without it, and where it is not known, `sweep` does."""
    specification = {"Enabled": True, "AttributeName": "ttl"}
    try:
        await table.call(
            "update_time_to_live", writing=False, TableName=table.name, TimeToLiveSpecification=specification
        )
    except HoldallError:
        return


async def most_operations(table: Table, *, is_aws: bool) -> int:
    """Return how many operations a transaction may have: other servers than AWS's are asked, old ones take ten.

    Args:
        table: the table.
        is_aws: whether it is AWS's.

    """
    if is_aws:
        return _OPERATIONS
    absent = "attribute_exists(pk)"
    checks: list[dict[str, Any]] = [
        {"ConditionCheck": {"TableName": table.name, "Key": names.lease(str(number)), "ConditionExpression": absent}}
        for number in range(_FEW_OPERATIONS + 1)
    ]
    for check in checks:
        check["ConditionCheck"]["Key"] = {**check["ConditionCheck"]["Key"], "sk": {"B": b"none"}}
    try:
        await table.call("transact_write_items", writing=False, TransactItems=checks)
    except Cancelled:
        return _OPERATIONS
    except Unavailable:
        return _FEW_OPERATIONS
    return _OPERATIONS
