"""Metrics and what measures them, declared once: a claim, a report and the reference read the same declaration.

A measurement is declared in a module of `wmlab.measure` that imports no JAX at its top; every module there is found.
Its function gets one record of what is measured and gives values by the names of the metrics:

    def divergence(context: FiniteContext) -> dict[str, Any]:
        return {"wm.kl": {"value": …, "by": {"action": {"up": …}}}}

    DIVERGENCE = Measurement(
        Metric("wm.kl", doc="divergence of the extracted model from the true kernel"),
        asked_by="evaluate.model_error",
        truth=True,
        model=True,
        finite=divergence,
    )
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from wmlab.registry.options import field_of

PLACES = ("wmlab.measure", "wmlab.results.statistics")  # of declarations: each module of a package, or a module
BLANK = re.compile(r"<(\w+)>")

Sort = Literal["finite", "continuous"]
Measured = dict[str, dict[str, Any]]  # metric: {"value": …, "by": {…}}
Headline = Literal["always", "without truth"]  # the latter: where nothing is held against true dynamics
# Or where it is, "package.module:function", where its module needs JAX.
MeasureFunction = Callable[[Any], Measured] | str


@dataclass(frozen=True)
class Blank:
    """A part of a metric's name that a spec fills, and how it reads in the sentence about the metric."""

    open: str  # in general: "an unseen goal"
    filled: str = ""  # "the unseen goal {}"; by default the word itself, its underscores as spaces
    readings: Mapping[str, str] = field(default_factory=dict)  # words that read in their own way
    always: tuple[str, ...] = ()  # words that fill the last blank beside those of the spec

    def reading(self, word: str) -> str:
        return self.readings.get(word) or self.filled.format(word) or word.replace("_", " ")


@dataclass(frozen=True)
class Metric:
    """One number that a spec can ask for."""

    name: str  # wm.mse; with blanks where there are several: unseen.<goal>.ratio
    doc: str  # what it is, in one sentence without a full stop; a blank stands for its reading
    label: str = ""  # beside an axis; its name where there is no shorter way to say what it is
    world: Sort | None = None  # the only sort of world that has it
    truth: bool = False  # whether it needs true dynamics
    when: Callable[[Any], bool] | None = None  # a condition on the whole ExperimentSpec
    headline: Headline | None = None  # when it is shown without being asked for: `run` and `show` put it first
    by: tuple[str, ...] = ()  # breakdowns of it that claims may speak of: dimension, action, goal, …

    def made(self, world: str | None, truth: bool) -> bool:
        """Whether a sort of world has it, with or without true dynamics."""
        return self.world in (None, world) and (truth or not self.truth)


class Measurement:
    """Metrics that are measured together, by one function for each sort of world."""

    def __init__(
        self,
        *metrics: Metric,
        asked_by: str,
        truth: bool = False,
        logged: bool = False,
        model: bool = False,
        stage: str = "measure",
        per: str = "",
        beside: str = "",
        finite: MeasureFunction | None = None,
        continuous: MeasureFunction | None = None,
        **blanks: Blank,
    ):
        """`asked_by` is a path in a spec, whose blanks are filled by the keys, items or value that stand there.

        `truth`: all of it needs true dynamics. `logged`: transitions of a log will do, too. `model`: it needs an
        extracted model. `stage`: the kind of stage that measures it; none where it is made of results. `per`: the
        blank for which there is a stage each; its function gives names from behind that blank on. `beside`: a further
        path, without which nothing is asked for.
        """
        world: Sort | None = None  # of what one sort of world alone can measure
        if (finite is None) != (continuous is None):
            world = "continuous" if finite is None else "finite"
        self.metrics = tuple(
            replace(metric, truth=truth or metric.truth, world=world or metric.world) for metric in metrics
        )
        self.logged = logged
        self.asked_by, self.beside, self.model, self.stage, self.per = asked_by, beside, model, stage, per
        self.functions: dict[str, MeasureFunction | None] = {"finite": finite, "continuous": continuous}
        self.blanks = blanks

    @property
    def asked_at(self) -> str:
        """The path in a spec that asks for it, up to the first blank."""
        return self.beside or self.asked_by.partition(".<")[0]

    def fillings(self, asked: Mapping[str, Any]) -> Iterator[dict[str, str]]:
        """What a spec's sections fill the blanks with: nothing where it does not ask, {} where there are no blanks."""
        if not self.beside or next(_fillings(asked, self.beside.split("."), {}), None) is not None:
            yield from _fillings(asked, self.asked_by.split("."), self.blanks)

    def knows(self, truth: bool, logged: bool) -> bool:
        """Whether it has what it needs of the truth: true dynamics or, where they will do, logged transitions."""
        return truth or (logged and self.logged)

    def runs(self, asked: Mapping[str, Any] | None, world: str, truth: bool, model: bool, logged: bool = False) -> bool:
        """Whether there is something to measure; without sections it counts as asked for."""
        truth = self.knows(truth, logged)
        return (
            self.functions[world] is not None
            and (model or not self.model)
            and any(metric.made(world, truth) for metric in self.metrics)
            and (asked is None or next(self.fillings(asked), None) is not None)
        )

    def module(self, world: str) -> str:
        """The module whose code decides the values."""
        function = self.functions[world]
        return function.partition(":")[0] if isinstance(function, str) else str(function.__module__)

    def run(self, world: str, context: Any) -> Measured:
        function = self.functions[world]
        if isinstance(function, str):
            module, _, name = function.partition(":")
            function = getattr(importlib.import_module(module), name)
        assert function is not None and not isinstance(function, str)
        return function(context)

    def meaning(self, metric: Metric, filling: Mapping[str, str] | None = None) -> str:
        """The sentence about a metric, its blanks open or filled."""

        def reading(match: re.Match[str]) -> str:
            blank = self.blanks[match[1]]
            return blank.open if filling is None else blank.reading(filling[match[1]])

        return BLANK.sub(reading, metric.doc)


def _fillings(data: Any, path: list[str], blanks: Mapping[str, Blank]) -> Iterator[dict[str, str]]:
    if not path:
        yield {}
        return
    head, *rest = path
    blank = BLANK.fullmatch(head)
    if blank is None:
        part = data.get(head) if isinstance(data, Mapping) else field_of(data, head)
        if part is not None:
            yield from _fillings(part, rest, blanks)
        return
    inside = data if isinstance(data, Mapping) else dict.fromkeys(data if isinstance(data, tuple) else [data])
    for word, part in inside.items():
        yield from ({blank[1]: str(word), **more} for more in _fillings(part, rest, blanks))
    yield from ({blank[1]: word} for word in (() if rest else blanks[blank[1]].always))


def fill(name: str, filling: Mapping[str, str]) -> str:
    """A metric's name with its blanks filled."""
    return BLANK.sub(lambda match: filling[match[1]], name)


# --- all of them ------------------------------------------------------------------------------------------------


def measurements() -> tuple[Measurement, ...]:
    """Everything that is declared, in the order of the modules' names."""
    package = importlib.import_module(PLACES[0])
    return _measurements(tuple(package.__path__))


@functools.cache
def _measurements(paths: tuple[str, ...]) -> tuple[Measurement, ...]:
    package, *single = PLACES
    names = [f"{package}.{module.name}" for module in pkgutil.iter_modules(paths) if not module.ispkg]
    modules = [importlib.import_module(name) for name in (*names, *single)]
    declared = (one for module in modules for one in vars(module).values() if isinstance(one, Measurement))
    return tuple(dict.fromkeys(declared))  # once, where a module imports another's


def chosen(
    stage: str,
    world: str,
    asked: Mapping[str, Any] | None = None,
    *,
    truth: bool,
    model: bool,
    logged: bool = False,
) -> list[Measurement]:
    """What a stage measures: all that a spec's sections ask for and whose needs are met."""
    return [one for one in measurements() if one.stage == stage and one.runs(asked, world, truth, model, logged)]


def measure(
    stage: str,
    world: str,
    context: Any,
    asked: Mapping[str, Any] | None = None,
    *,
    truth: bool,
    model: bool = True,
    logged: bool = False,
) -> Measured:
    """The values of all that a stage measures."""
    values: Measured = {}
    for one in chosen(stage, world, asked, truth=truth, model=model, logged=logged):
        values |= one.run(world, context)
    return values


def prefix(stage: str, name: str) -> str:
    """What stands before the names that a stage gives: `unseen.<goal>.` for a plan, nothing for most."""
    own = (one for one in measurements() if one.stage == stage and one.per)
    return next((one.metrics[0].name.partition(f"<{one.per}>")[0] + name + "." for one in own), "")


def find(name: str) -> tuple[Measurement, Metric, dict[str, str]] | None:
    """The declaration behind a metric's name, and what its blanks are filled with."""
    return _find(name, measurements())


@functools.lru_cache(maxsize=4096)
def _find(name: str, declared: tuple[Measurement, ...]) -> tuple[Measurement, Metric, dict[str, str]] | None:
    fitting = []
    for measurement in declared:
        for metric in measurement.metrics:
            match = _pattern(metric.name).fullmatch(name)
            if match is not None:
                fitting.append((len(BLANK.sub("", metric.name)), measurement, metric, match.groupdict()))
    if not fitting:
        return None
    return max(fitting, key=lambda one: one[0])[1:]  # the name that says most: times_closer is no distance


@functools.cache
def _pattern(name: str) -> re.Pattern[str]:
    parts = BLANK.split(name)  # text, blank, text, …
    return re.compile("".join(f"(?P<{part}>[^.]+)" if i % 2 else re.escape(part) for i, part in enumerate(parts)))


def meaning(name: str) -> str:
    """What a metric is, in one line; empty for one that nobody declares."""
    declared = find(name)
    return "" if declared is None else declared[0].meaning(declared[1], declared[2])


def axis_label(name: str) -> str:
    """What stands beside an axis of a figure."""
    declared = find(name)
    return name if declared is None else declared[1].label or name
