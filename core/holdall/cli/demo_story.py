"""The steps of `holdall demo`: each does something real, shows figures, and says whether it held."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from holdall.cli.conversation import Conversation, Survey, read_values
from holdall.cli.demo_checks import MOST_BYTES, MOST_ENTRIES, check, checked_values, copy_log, log_digest, refused_mark
from holdall.cli.demo_protocol import Assignment, Event, batch_name
from holdall.cli.demo_race import DoesNotHold, Race, Takeover
from holdall.cli.demo_setting import SCOPE, Setting
from holdall.cli.failures import FAILED, line_of, shown_url, status_of
from holdall.clock import boot_time
from holdall.codec import digest
from holdall.errors import HoldallError
from holdall.opening import open_lock, open_store
from holdall.store import Store

__all__ = ["Step", "Stopped", "Story"]

_TTL = 1.5
_PATIENCE = 30.0
_BATCHES = 48
_TURNS = 16
_SHOWN: Final = 12


@dataclass(slots=True)
class Step:
    """One row of the table.

    Attributes:
        step: its name.
        what: what it does.
        figures: what was measured.
        ok: whether it held.
        error: why not.

    """

    step: str
    what: str
    figures: dict[str, Any] = field(default_factory=dict[str, Any])
    ok: bool = True
    error: str | None = None


class Stopped(Exception):
    """A step did not hold, so the story ends there; `status` is the exit status."""

    def __init__(self, step: Step, status: int) -> None:
        super().__init__(step.error)
        self.step = step
        self.status = status


class Story:
    """Tells the demo step by step.

    Attributes:
        steps: what was told so far.

    """

    def __init__(self, made: Setting, file: Path, found: Survey, show: Callable[[Step], None]) -> None:
        self.steps: list[Step] = []
        self._made = made
        self._file = file
        self._found = found
        self._show = show
        self._conversation = Conversation(file, found.entries)
        self._began = boot_time()

    def tell(self) -> None:
        """Do everything.

        Raises:
            Stopped: something does not hold.

        """
        self._read()
        with open_store("default") as store:
            acknowledged = self._race(store)
            self._verify(store, acknowledged)
            with self._swapped() as other:
                self._copy(store, other)
                self._same_rules(other)

    @property
    def summary(self) -> str:
        """The demo in one sentence."""
        seconds = boot_time() - self._began
        return (
            f"{self._found.entries:,} of {self._found.entries:,} entries are there, once and in order, after a kill "
            f"half-way; the killed holder's late write was refused; another URL, and all is the same ({seconds:.1f} s)."
        )

    @contextlib.contextmanager
    def _step(self, name: str, what: str) -> Generator[Step]:
        step = Step(name, what)
        self.steps.append(step)
        try:
            yield step
        except (DoesNotHold, HoldallError, OSError) as error:
            step.ok, step.error = False, str(error) if isinstance(error, DoesNotHold) else line_of(error)
            self._show(step)
            raise Stopped(step, FAILED if isinstance(error, DoesNotHold) else status_of(error)) from error
        self._show(step)

    def _read(self) -> None:
        found = self._found
        with self._step("read", f"{self._file.name}, every line checked") as step:
            step.figures |= {"entries": found.entries, "bytes": found.bytes, "digest": found.digest[:_SHOWN]}
        with self._step("config", 'two processes will open "default" of holdall.toml') as step:
            step.figures["url"] = shown_url(self._made.store)

    # ------------------------------------------------------------------------------------------------------- the race

    def _assignment(self, store: Store) -> Assignment:
        entries, limits = self._found.entries, store.capabilities
        half = entries // 2
        batch_entries = min(max(1, entries // _BATCHES), MOST_ENTRIES, limits.max_batch_entries)
        return Assignment(
            file=str(self._file),
            entries=entries,
            scope=SCOPE,
            log=self._made.log,
            lease=self._made.lease,
            ttl=max(_TTL, limits.min_ttl),
            patience=_PATIENCE + limits.min_ttl + limits.expiry_margin,
            batch_entries=batch_entries,
            batch_bytes=min(MOST_BYTES, limits.max_batch_bytes),
            turn_batches=max(1, entries // batch_entries // _TURNS),
            stay_until=half + (entries - half) // 2,
        )

    def _race(self, store: Store) -> list[Event]:
        with Race(self._assignment(store), self._made.folder) as race:
            takeover = self._run_and_kill(race)
            self._late_write(store, race, takeover)
            self._retry(store, race)
            with self._step("finish", f"process {takeover.survivor.number} appends the rest") as step:
                before = len(race.acknowledged)
                race.finish(takeover.survivor)
                step.figures["entries"] = sum(event.count for event in race.acknowledged[before:])
                step.figures |= {"batches": len(race.acknowledged) - before, "lost_leases": race.lost}
            return race.acknowledged

    def _run_and_kill(self, race: Race) -> Takeover:
        with self._step("append", f"two processes at once, in turns under the lease {race.assignment.lease}") as step:
            race.start()
            holder, event = race.run_to(race.assignment.entries // 2)
            step.figures |= {"entries": event.end, "batches": len(race.acknowledged)}
            step.figures |= {"turns": race.turns, "token": event.token}
        with self._step("kill", f"SIGKILL to process {holder.number} half-way, while it holds the lease") as step:
            moment = race.kill(holder)
            step.figures |= {"pid": holder.pid, "token": event.token}
        with self._step("take over", "the other one waits until the lease expires, and seals the log") as step:
            takeover = race.takeover(holder, event.token, moment)
            acknowledged = max((event.end for event in race.acknowledged), default=0)
            step.figures |= {"token": takeover.token, "takeover_seconds": round(takeover.seconds, 3)}
            step.figures |= {"acknowledged": acknowledged, "in_flight": takeover.length - acknowledged}
            check(takeover.token > takeover.killed_token, "the token did not rise")
            check(takeover.length >= acknowledged, "entries that were acknowledged are gone")
        return takeover

    def _late_write(self, store: Store, race: Race, takeover: Takeover) -> None:
        """Send what the killed process would have sent next, with its token, while nothing was written since."""
        task = race.assignment
        with self._step("late write", "the killed holder's next batch, with its token") as step:
            batch = self._conversation.batch(takeover.length, task.batch_entries, task.batch_bytes)
            name = batch_name(task.log, takeover.length)
            step.figures["token"] = takeover.killed_token
            mark = refused_mark(store, task.log, batch, takeover.killed_token, name)
            step.figures |= {"refused_with": "Fenced", "mark": mark}
            head = store.head(SCOPE, task.log)
            check((0 if head is None else head.length) == takeover.length, "the refused write changed the log")

    def _retry(self, store: Store, race: Race) -> None:
        if not race.acknowledged:
            return
        last, log = race.acknowledged[-1], race.assignment.log
        with self._step("retry", "the last acknowledged batch once more, as after a lost reply") as step:
            batch = self._conversation.batch(last.start, last.count, race.assignment.batch_bytes)
            before = store.head(SCOPE, log)
            again = store.append(SCOPE, log, batch, fence=last.token, batch_id=batch_name(log, last.start))
            step.figures |= {"start": again.start, "appended": 0}
            check((again.start, again.count) == (last.start, last.count), "the retry had another result")
            check(store.head(SCOPE, log) == before, "the retried batch was appended twice")

    # ------------------------------------------------------------------------------------------------------- what holds

    def _verify(self, store: Store, acknowledged: list[Event]) -> None:
        with self._step("verify", "every acknowledged entry once and in order, log and file equal") as step:
            found = digest(checked_values(store, self._made.log, acknowledged))
            step.figures |= {"acknowledged": sum(event.count for event in acknowledged), "digest": found[:_SHOWN]}
            if found != self._found.digest:
                raise DoesNotHold(self._why_unequal())
            step.figures["entries"] = self._found.entries

    def _why_unequal(self) -> str:
        read = digest(value for _, value in read_values(self._file, self._found.entries))
        if read != self._found.digest:
            return f"{self._file.name} was changed while the demo ran: run it again"
        return "the log is not equal to the file"

    @contextlib.contextmanager
    def _swapped(self) -> Generator[Store]:
        with contextlib.ExitStack() as handles:
            with self._step("swap", 'the url lines of holdall.toml change, and "default" is opened again') as step:
                step.figures |= {"lines_changed": self._made.swap(), "url": shown_url(self._made.other)}
                other = handles.enter_context(open_store("default"))
            yield other

    def _copy(self, store: Store, other: Store) -> None:
        log = self._made.log
        with self._step("copy", "the log, batch by batch") as step:
            step.figures |= {"entries": self._found.entries, "batches": copy_log(store, other, log)}
        with self._step("verify copy", "read back from the other store; equal to the file") as step:
            found = log_digest(other, log)
            step.figures |= {"adapter": other.adapter, "digest": found[:_SHOWN]}
            check(found == self._found.digest, "the copy is not equal to the file")

    def _same_rules(self, other: Store) -> None:
        """A lease, and a write from before it, on the other store: through the same names and the same calls."""
        with self._step("same rules", "a lease there, and a late write with the token before it") as step:
            with open_lock("default") as lock:
                ttl = max(_TTL, lock.capabilities.min_ttl)
                stale = lock.acquire(self._made.lease, ttl=ttl, timeout=_PATIENCE)
                lock.release(stale)
                with lock.hold(self._made.lease, ttl=ttl, timeout=_PATIENCE) as hold:
                    other.seal(SCOPE, self._made.log, hold.lease, log=True)
                    mark = refused_mark(other, self._made.log, [None], stale.token, "late")
            step.figures |= {"token": stale.token, "refused_with": "Fenced", "mark": mark}
