"""What became of the stages of a run."""

from __future__ import annotations

from dataclasses import dataclass, field

from wmlab.runtime.events import Failure


@dataclass
class Outcome:
    """What became of each stage of a run, by id."""

    ran: list[str] = field(default_factory=list)
    cached: list[str] = field(default_factory=list)
    failed: dict[str, Failure] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)  # id: the reason

    @property
    def ok(self) -> bool:
        """Whether every stage has its result."""
        return not self.failed and not self.skipped

    @property
    def counts(self) -> dict[str, int]:
        """The number of stages of each outcome."""
        return {name: len(getattr(self, name)) for name in ("ran", "cached", "failed", "skipped")}

    def forget(self, id: str) -> None:
        """A stage that had its result is to be done again."""
        for ids in (self.ran, self.cached):
            if id in ids:
                ids.remove(id)
