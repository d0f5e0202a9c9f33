"""Where a simulation takes its choices from: drawn by a seed, or given.

Every choice is a number from 0 up to a limit, and 0 is always the plainest: the same client goes on, nothing fails, a
client that is free stops. There is a list of choices for the run as a whole and one for each client: what it does, what
befalls its requests, and who goes on after each of its steps. A list that ends early means that all goes on in the
plainest way; what is deleted from the list of one client leaves the others to theirs. So a run is shrunk by deleting
from its lists and by lowering what is left.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Literal, Protocol

__all__ = ["Choices", "Given", "Kind", "Seeded", "trimmed"]

Kind = Literal["who", "fate", "operation", "detail"]
"""What is chosen: who goes on, what the network does to a request, what a client does next, or with what."""

_SWITCHES = (0.05, 0.15, 0.4, 0.8)
_FAULTS = (0.0, 0.02, 0.06, 0.15, 0.35)
_FEWEST_OPERATIONS = 3


class Choices(Protocol):
    """Makes the choices of one run."""

    def pick(self, kind: Kind, limit: int, stream: int) -> int:
        """Return a number from 0 up to, not including, `limit`.

        Args:
            kind: what is chosen.
            limit: how many possibilities there are.
            stream: 0 for a choice that concerns the whole run, else the number of the client.

        """
        ...


class Given:
    """Takes choices from lists, and 0 where one has ended or has a number that is no choice there.

    Args:
        given: a list for each stream.

    """

    def __init__(self, given: Sequence[Sequence[int]]) -> None:
        self._streams = [iter(choices) for choices in given]

    def pick(self, kind: Kind, limit: int, stream: int) -> int:  # noqa: ARG002 - a list does not care what is chosen
        """Return the next number of the stream's list."""
        value = next(self._streams[stream], 0) if stream < len(self._streams) else 0
        return value if value < limit else 0


class Seeded:
    """Draws choices at random; how restless and how faulty the run is, and what its clients mostly do, are drawn first.

    Runs that leave out some operations and some faults find more than runs that all mix everything (swarm testing:
    Groce, Zhang, Eide, Chen and Regehr, ISSTA 2012).
    """

    def __init__(self, seed: int) -> None:
        self._dice = random.Random(seed)  # noqa: S311 - it is to be repeatable
        self._rates = {"who": self._dice.choice(_SWITCHES), "fate": self._dice.choice(_FAULTS)}
        self._favoured: dict[tuple[Kind, int], list[int]] = {}

    def pick(self, kind: Kind, limit: int, stream: int) -> int:  # noqa: ARG002 - every stream has the same dice
        """Return a random number; which numbers are likely depends on the kind."""
        dice = self._dice
        if kind == "detail":
            return int(dice.random() * limit)
        if kind != "operation" and dice.random() >= self._rates[kind]:
            return 0
        return 1 + int(dice.random() * (limit - 1)) if kind == "who" else dice.choice(self._favourites(kind, limit))

    def _favourites(self, kind: Kind, limit: int) -> list[int]:
        found = self._favoured.get((kind, limit))
        if found is None:
            fewest = min(_FEWEST_OPERATIONS, limit - 1)
            count = self._dice.randint(fewest, limit - 1)
            found = self._favoured[kind, limit] = self._dice.sample(range(1, limit), count)
        return found


def trimmed(choices: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return choices without the plain ones at the end of each list, which say nothing.

    Args:
        choices: the choices of a run.

    """
    lists = [list(stream) for stream in choices]
    for stream in lists:
        while stream and stream[-1] == 0:
            stream.pop()
    while lists and not lists[-1]:
        lists.pop()
    return lists
