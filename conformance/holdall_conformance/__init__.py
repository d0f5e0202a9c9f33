"""The conformance kit: scenarios that prove what a backend promises.

`holdall check` runs them from the command line. In tests, subclass `StoreConformance` or `LockConformance`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from holdall_conformance.conforming import LockConformance, StoreConformance

__all__ = ["LockConformance", "StoreConformance"]


def __getattr__(name: str) -> Any:
    """Return a name that is imported with its first use: the plugin of pytest must cost nothing until then."""
    if name not in __all__:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    from holdall_conformance import conforming  # noqa: PLC0415 - see the docstring

    return getattr(conforming, name)
