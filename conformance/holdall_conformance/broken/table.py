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

The target is the module above the table and the class in its row, with `.open_store`; those whose clauses are of
leases, holds or flags also need `--lock` with `.open_lock` of the same class.

Sound variants beside them, slow or unusual in what the contract leaves open, must pass every clause
(`holdall_conformance.broken.sound`).

The clauses are those that caught it in the last recorded run of `tools/broken_table.py`, the fastest first and at most
three; a clause in *italics* caught it by never coming to its end.
"""


def page() -> str:
    """Return the page."""
    parts = [_HEAD]
    for module, members in groupby(all_broken(), key=_module):
        parts.append(f"## broken.{module}\n")
        parts.append("| id | class | what it does wrong | caught by |\n|---|---|---|---|")
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
    name = broken.target.partition(":")[2].partition(".")[0]
    return f"| `{broken.id}` | `{name}` | {does} | {', '.join(clauses)} |"


def _module(broken: Broken) -> str:
    return broken.target.partition(":")[0].rpartition(".")[2]
