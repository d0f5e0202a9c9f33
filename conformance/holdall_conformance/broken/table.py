"""The page of the documentation that tells which clauses catch which broken backend."""

from __future__ import annotations

from itertools import groupby

from holdall_conformance.broken.registry import Broken, all_broken, caught

__all__ = ["page", "row"]

_HEAD = """\
# Broken backends

A kit that finds nothing may be blind. This one is therefore run on backends that are wrong on purpose, each in one
way, and a test demands that a clause of the right group says so. You can see each of them fail:

```console
$ holdall check holdall_conformance.broken.versions:LostUpdate.open_store --only versions
```

Sound variants beside them, slow or unusual in what the contract leaves open, must pass every clause
(`holdall_conformance.broken.sound`).

The clauses are those that caught it in the last recorded run of `tools/broken_table.py`, the fastest first and at most
three; a clause in *italics* caught it by never coming to its end.
"""


def page() -> str:
    """Return the page."""
    parts = [_HEAD]
    for module, members in groupby(all_broken(), key=_module):
        parts.append(f"## {module.capitalize()}\n")
        parts.append("| id | what it does wrong | caught by |\n|---|---|---|")
        parts += [row(broken) for broken in members]
        parts.append("")
    return "\n".join(parts)


def row(broken: Broken) -> str:
    """Return the row of one broken backend.

    Args:
        broken: the backend.

    """
    clauses = [f"*{clause}*" if hangs else f"`{clause}`" for clause, hangs in caught().get(broken.id, [])[:3]]
    does = broken.does.replace("|", "\\|").replace("*", "\\*")
    return f"| `{broken.id}` | {does} | {', '.join(clauses)} |"


def _module(broken: Broken) -> str:
    return broken.target.partition(":")[0].rpartition(".")[2]
