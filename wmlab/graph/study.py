"""A study: a spec under one profile, with its plan; a suite is several of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from wmlab.errors import SpecError, SpecErrors, UsageError, WmlabError
from wmlab.graph.compile import compile_spec, needed, union
from wmlab.graph.experiment import ExperimentPlan, Run
from wmlab.graph.key import Key, keys
from wmlab.graph.stage import Stage, Stages, digest
from wmlab.graph.why import Reason, reasons
from wmlab.spec.check.validate import checked, shared_name_errors
from wmlab.spec.compose.document import FULL, PAPER, Document, choose_profile, read
from wmlab.spec.compose.flags import about_seeds
from wmlab.spec.compose.resolve import Resolved


class Answers(Protocol):
    """What is stored, as far as a plan asks: which keys have an answer, and under which keys stages last ran."""

    def has(self, key: str) -> bool: ...

    def parts(self, key: str) -> Mapping[str, Any] | None: ...

    def last(self, name: str, profile: str) -> Mapping[str, str]: ...


@dataclass(frozen=True)
class Study:
    """A sound spec and what there is to do for it."""

    resolved: Resolved
    plans: tuple[ExperimentPlan, ...]  # of the experiment itself, or of a suite's members
    device: Callable[[Stage], str] | None = None  # on which a stage is going to run, where that is not this machine
    chosen: tuple[Run, ...] | None = None  # the runs that are asked for, where those are not all

    @property
    def name(self) -> str:
        return self.resolved.name or ""

    @property
    def profile(self) -> str:
        return self.resolved.profile

    @property
    def is_suite(self) -> bool:
        return self.resolved.is_suite

    @cached_property
    def chains(self) -> tuple[tuple[str, ...], ...]:
        """The stages of each point and seed that is asked for, by id."""
        return tuple(tuple(run.stages.values()) for run in self.asked_runs)

    @property
    def asked_runs(self) -> tuple[Run, ...]:
        """The points and seeds that are asked for."""
        return self.chosen if self.chosen is not None else tuple(run for plan in self.plans for run in plan.runs)

    @cached_property
    def asked(self) -> Stages:
        """The stages that are asked for: those of the chosen runs, and what they build on."""
        if self.chosen is None:
            return self.stages
        return needed(self.stages, (stage for run in self.chosen for stage in run.stages.values()))

    @cached_property
    def stages(self) -> Stages:
        return union(self.plans)

    @cached_property
    def keys(self) -> dict[str, Key]:
        return keys(self.stages, device=self.device)

    def reasons(self, store: Answers) -> dict[str, Reason]:
        """For each stage that is asked for: cached, or why it would run."""
        last: dict[str, str] = {}
        for plan in self.plans:
            name, profile = plan.resolved.name or "", plan.resolved.profile
            for asked in dict.fromkeys([profile, variation(plan.resolved)]):
                last |= store.last(name, asked)
        return reasons(
            self.asked, self.keys, store.has, lambda label: store.parts(last[label]) if label in last else None
        )


def variation(resolved: Resolved) -> str:
    """A profile and what is changed of it on the command line: the last run of one says nothing of another's."""
    return f"{resolved.profile}+{digest(resolved.sets)[:12]}" if resolved.sets else resolved.profile


def open_study(path: str, profile: str | None = None, sets: Sequence[str] = ()) -> Study:
    """Read, check and compile a spec; SpecErrors with all that is wrong with it."""
    return study_of(read(path), profile, sets)


def study_of(document: Document, profile: str | None = None, sets: Sequence[str] = ()) -> Study:
    """Check and compile a spec that was read; SpecErrors with all that is wrong with it."""
    resolved = checked(document, choose_profile(document, profile), sets)
    if resolved.name is None:
        raise UsageError(f"{document.path} is a fragment: it has no name, so it can be extended and not run")
    seeds = about_seeds(sets)
    if resolved.is_suite:
        members = [open_member(document.sibling(member), profile, seeds) for member in resolved.suite]
        return Study(resolved, tuple(plan for member in members for plan in member.plans))
    others = {}
    for name, comparison in resolved.compare.items():
        shared = PAPER if resolved.is_body else resolved.profile
        others[name] = open_member(document.sibling(comparison.with_), shared, seeds).plans[0]
    return Study(resolved, (compile_spec(resolved, others),))


def open_member(path: str, profile: str | None, sets: Sequence[str] = ()) -> Study:
    """A spec that another one names; where it lacks the profile, it is taken as it takes itself."""
    document = read(path)
    return open_study(path, profile if profile in (None, PAPER, FULL, *document.profiles) else None, sets)


def open_all(paths: Sequence[str], profile: str | None = None, sets: Sequence[str] = ()) -> list[Study]:
    """Several specs; the mistakes of all of them at once, and two files with one name are one."""
    studies: list[Study] = []
    errors: list[SpecError] = []
    names: dict[str, str] = {}
    for path in paths:
        try:
            study = open_study(path, profile, sets)
            studies.append(study)
            for resolved in dict.fromkeys([study.resolved, *(plan.resolved for plan in study.plans)]):
                errors += shared_name_errors(resolved.document, names)
        except SpecErrors as mistakes:
            errors += mistakes.errors
    if errors:
        raise SpecErrors(errors)
    return studies


def not_run(study: Study, store: Answers, verb: str) -> WmlabError:
    """That nothing is stored of a study: because it was never run, or because it was another question then."""
    what = f"{study.name} ({study.profile}) has not been run"
    if any(store.last(plan.resolved.name or "", plan.resolved.profile) for plan in study.plans):
        return WmlabError(f"{what} as it is now; `wmlab plan` says what changed since, `wmlab run` runs it")
    return WmlabError(f"{what}: there is nothing to {verb} yet")
