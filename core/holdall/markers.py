"""The marker for hooks, without importing pluggy before a hook is marked: `import holdall` stays quick."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, overload

__all__ = ["hookimpl"]

Function = TypeVar("Function", bound=Callable[..., Any])


@overload
def hookimpl(function: Function) -> Function: ...
@overload
def hookimpl(**options: Any) -> Callable[[Function], Function]: ...
def hookimpl(function: Any = None, **options: Any) -> Any:
    """Mark a function as the implementation of a hook of holdall.

    Args:
        function: the function, named as the hook.
        options: those of `pluggy.HookimplMarker`, such as `tryfirst=True`.

    """
    import pluggy  # noqa: PLC0415 - see the docstring of the module

    marker: Any = pluggy.HookimplMarker("holdall")
    return marker(function, **options)
