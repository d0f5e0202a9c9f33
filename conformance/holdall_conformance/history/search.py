"""The search for an order of calls that explains all their outcomes.

It is the algorithm of Wing and Gong ("Testing and Verifying Concurrent Objects", 1993) with the memory of Lowe
("Testing for Linearizability", 2017), as in Porcupine: go through the orders that respect real time, depth first, and
never come twice to the same set of calls in the same state. What is special here:

- A call that leaves the state as it is, and would do so anywhere (a read, a refusal), is placed at once where it fits:
  if there is an order at all, there is one with the call in this place.
- States have identities that never come back (the version of a record, the head of a log). A state is not left as long
  as a call that needs its identity has no place.
- A call of unknown outcome may be left out. Among ways to the same set of known calls in the same state, one that used
  no other unknown calls than another makes the other superfluous.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from holdall_conformance.history.calls import Call
from holdall_conformance.history.model import Model, Move

__all__ = ["Found", "Search"]


@dataclass(frozen=True, slots=True)
class Found:
    """What a search came to.

    Attributes:
        explained: whether an order explains every call; None if the search was given up.
        order: that order, or the longest that explains as many calls as it holds.
        blocked: the calls that could have come next by real time, of which none fits.
        state: the state after the order.
        work: how many nodes were visited.

    """

    explained: bool | None
    order: Sequence[Call]
    blocked: Sequence[Call]
    state: Any
    work: int


class _Node(NamedTuple):
    """A place in the tree: which known and which unknown calls are placed, as bits, and how it was reached."""

    placed: int
    used: int
    state: Any
    behind: _Node | None
    moves: tuple[Move, ...]

    def order(self) -> list[Call]:
        """Return the calls placed so far, in order."""
        found: list[Move] = []
        node: _Node | None = self
        while node is not None:
            found += reversed(node.moves)
            node = node.behind
        return [move.call for move in reversed(found)]


class _Options(NamedTuple):
    """What may come next: known calls by number, and the end before which a call must have begun to be among them."""

    known: Sequence[int]
    end: float


class Search:
    """One search over the calls on one object.

    Args:
        model: the model of the object.
        calls: the calls.
        pinned: whether to use what the calls tell of the identity of the state; without, a search takes longer, and
            the longest order of a bad history is the one that comes to people's minds.

    """

    def __init__(self, model: Model, calls: Sequence[Call], *, pinned: bool = True) -> None:
        moves = sorted(model.moves(calls), key=lambda move: move.call.invoked)
        self._model = model
        self._known = [move for move in moves if move.call.outcome != "unknown"]
        self._unknown = [move for move in moves if move.call.outcome == "unknown"]
        self._begins = [move.call.invoked for move in self._known]
        self._ends = [_end(move.call) for move in self._known]
        self._all = (1 << len(self._known)) - 1
        self._pinned: dict[Hashable, int] = {}
        for number, move in enumerate(self._known):
            if pinned and move.pin is not None:
                self._pinned[move.pin] = self._pinned.get(move.pin, 0) | 1 << number
        self._seen: dict[tuple[int, Any], list[int]] = {}

    def run(self, most: int) -> Found:
        """Search.

        Args:
            most: how many nodes to visit before giving up.

        """
        stack = [_Node(0, 0, self._model.start, None, ())]
        best, options, work = stack[0], _Options((), math.inf), 0
        while stack and work < most:
            work += 1
            node, next_options = self._settle(stack.pop())
            if work == 1 or node.placed.bit_count() > best.placed.bit_count():
                best, options = node, next_options
            if node.placed == self._all:
                return Found(True, best.order(), (), best.state, work)  # noqa: FBT003 - its name says it
            stack += self._children(node, next_options)
        blocked = [self._known[number].call for number in options.known]
        return Found(None if stack else False, best.order(), blocked, best.state, work)

    def _options(self, placed: int) -> _Options:
        """Return the known calls that no other unplaced one must precede."""
        number = (~placed & placed + 1).bit_length() - 1  # the first without a place
        end = math.inf
        found: list[int] = []
        while number < len(self._known) and self._begins[number] <= end:
            if not placed >> number & 1:
                found.append(number)
                end = min(end, self._ends[number])
            number += 1
        return _Options([number for number in found if self._begins[number] <= end], end)

    def _settle(self, node: _Node) -> tuple[_Node, _Options]:
        """Place every call that changes nothing and fits."""
        placed, moves = node.placed, list(node.moves)
        while True:
            options = self._options(placed)
            before = placed
            for number in options.known:
                move = self._known[number]
                if move.constant and self._may_fit(move, node.state) and node.state in move.step(node.state):
                    placed |= 1 << number
                    moves.append(move)
            if placed == before:
                return node._replace(placed=placed, moves=tuple(moves)), options

    def _may_fit(self, move: Move, state: Any) -> bool:
        if move.pin is None:
            return True
        identity = self._model.identity(state)
        return identity is None or identity == move.pin

    def _children(self, node: _Node, options: _Options) -> list[_Node]:
        """Return what may follow, the most promising last: known calls before unknown ones, in the order they ended."""
        children: list[_Node] = []
        for number, move in enumerate(self._unknown):
            if not node.used >> number & 1 and move.call.invoked <= options.end:
                self._add(children, node, move, (node.placed, node.used | 1 << number))
        for number in sorted(options.known, key=lambda number: -self._ends[number]):
            self._add(children, node, self._known[number], (node.placed | 1 << number, node.used))
        return children

    def _add(self, children: list[_Node], node: _Node, move: Move, sets: tuple[int, int]) -> None:
        if not self._may_fit(move, node.state):
            return
        for state in move.step(node.state):
            if self._leaves_too_early(node.state, state, sets[0]) or self._is_superfluous(sets[0], state, sets[1]):
                continue
            children.append(_Node(*sets, state, node, (move,)))

    def _leaves_too_early(self, before: Any, after: Any, placed: int) -> bool:
        """Tell whether calls that need the identity of the state before still have no place."""
        identity = self._model.identity(before)
        waiting = self._pinned.get(identity, 0) & ~placed if identity is not None else 0
        return waiting != 0 and self._model.identity(after) != identity

    def _is_superfluous(self, placed: int, state: Any, used: int) -> bool:
        """Tell whether the same was reached with no other unknown calls than these, and note it otherwise."""
        before = self._seen.setdefault((placed, state), [])
        if any(not earlier & ~used for earlier in before):
            return True
        before.append(used)
        return False


def _end(call: Call) -> float:
    return math.inf if call.returned is None else call.returned
