"""Parts of a page that are written from results as a whole: a run with its claims, and pictures beside each other."""

from __future__ import annotations

import html
import itertools
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tests.gallery.contents import FIGURE, PICTURE, Gallery, GalleryError, NotYet
from tests.gallery.language import FACTS, listed
from wmlab.report.claims import claim_rows, tally
from wmlab.report.data import RESULTS
from wmlab.report.text import MISSING, compact, plural, uncertain
from wmlab.results.names import estimate

Results = Mapping[str, Any]
VERDICTS = {"holds": "holds", "fails": "**fails**", "shown": "shown"}


def command(name: str, gallery: Gallery) -> str:
    """What was typed, as its results say."""
    sets = [word for change in gallery.results(name).get("sets", ()) for word in ("--set", shlex.quote(change))]
    return " ".join(["wmlab run", gallery.entries[name].spec, *sets, "--check"])


def run_block(names: Sequence[str], base: str, gallery: Gallery) -> str:
    """A run: the command, its figure, its claims, and what it was made with."""
    [name] = names
    try:
        parts = gallery.parts(name)
    except NotYet:
        spec = gallery.entries[name].spec
        return f"`wmlab run {spec} --check` has not been run with this version yet; [earlier ones](trials.md) have.\n"
    table = _suite_table(parts[1:]) if "suite" in parts[0] else _claims_table(parts[0])
    shown = [*_figure(name, base, gallery), table, *_doubts(parts[0])]
    pieces = [f"`{command(name, gallery)}`", *shown, _facts(name, parts, base, gallery)]
    return "\n\n".join(pieces) + "\n"


def _figure(name: str, base: str, gallery: Gallery) -> list[str]:
    entry = gallery.entries[name]
    return [f"![{entry.shows}]({base}{name}/{FIGURE})"] if entry.figure else []


def _claims_table(results: Results) -> str:
    """Every claim; without the paper's column where the paper says nothing of them."""
    rows = claim_rows(results)
    cited = any(row.paper != MISSING for row in rows)
    head = ["claim", "what is tested", *(["the paper"] if cited else []), "here", ""]
    body = (
        [
            f"`{row.id}`",
            _cell(row.words),
            *([_cell(row.paper)] if cited else []),
            _cell(row.measured),
            VERDICTS[row.verdict],
        ]
        for row in rows
    )
    return _table(head, body)


def _doubts(results: Results) -> list[str]:
    """What speaks against a reading, as its page says; notes are left to the page."""
    found = [each for each in results.get("findings", ()) if each["severity"] != "note"]
    lines = [f"- *{each['severity']}*: {_cell(each['sentence'])}" for each in found]
    return ["What its page finds:\n\n" + "\n".join(lines)] if lines else []


def _suite_table(members: Sequence[Results]) -> str:
    counts = [(member, tally(claim_rows(member))) for member in members]
    body = ([f"`{one['spec']}`", _cell(one["title"]), str(count.tested), str(count.held)] for one, count in counts)
    return _table(["spec", "asks", "claims", "hold"], body)


def _table(head: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *body])


def _facts(name: str, parts: Sequence[Results], base: str, gallery: Gallery) -> str:
    """Seeds, who chose, time, machine, version, and where the whole of it lies."""
    results, entry = parts[0], gallery.entries[name]
    held = f"Claims hold: {FACTS['held'](parts)} of {FACTS['claims'](parts)}."
    chosen = f"{entry.chosen[:1].upper()}{entry.chosen[1:]}." if entry.chosen else ""
    time, device, version = (FACTS[fact](parts) for fact in ("time", "device", "version"))
    made = f"{time} of computing on {device}, wmlab {version}, profile `{results['profile']}`."
    picture = f'<img src="{base}{name}/{PICTURE}" width="480" alt="The page of {html.escape(name)}">'
    whole = f"{base}{name}" if "suite" in results else f"{base}{name}/{RESULTS}"
    links = f"[All that was measured]({whole})."
    return " ".join(part for part in (held, _seeds(results), chosen, made, links) if part) + f"\n\n{picture}"


def _seeds(results: Results) -> str:
    seeds = results.get("seeds")
    if not seeds:
        return ""  # a suite: its members have seeds of their own
    if len(seeds) == 1:
        return f"Seed {seeds[0]} alone."
    return f"Seeds {listed(seeds)}; ± is the standard error over these {plural(len(seeds), 'seed')}."


def sweep_block(words: Sequence[str], base: str, gallery: Gallery) -> str:
    """Metrics of a run along an axis of its sweep, or over several with commas between them.

    `METRIC@AXIS=LABEL` is a metric at one label of another axis.
    """
    name, along, *metrics = words
    try:
        results = gallery.results(name)
    except NotYet:
        return ""
    axes = along.split(",")
    if unknown := [axis for axis in axes if axis not in results["axes"]]:
        raise GalleryError(f"{name} has no axis '{unknown[0]}'")
    body = (
        [*map(_cell, map(compact, labels)), *(_measured(results, metric, axes, labels) for metric in metrics)]
        for labels in itertools.product(*(results["axes"][axis]["values"] for axis in axes))
    )
    return _table([*axes, *map(_column, metrics)], body) + "\n"


def _column(metric: str) -> str:
    name, _, place = metric.partition("@")
    return f"`{name}`{' at ' if place else ''}{place.replace('=', ' = ')}"


def _measured(results: Results, metric: str, axes: Sequence[str], labels: Sequence[Any]) -> str:
    """One cell: a dash where a metric was not measured at this point, an error where it was at none."""
    name, _, place = metric.partition("@")
    fixed = dict([place.split("=", 1)] if place else [])
    named = [(entry, _labels(entry)) for entry in results["metrics"].values() if entry["metric"] == name]
    entries = [(entry, where) for entry, where in named if fixed.items() <= where.items()]
    asked = fixed | dict(zip(axes, map(compact, labels), strict=True))
    at = [entry for entry, where in entries if where == asked]
    if not entries or len(at) > 1:
        raise GalleryError(f"{results['spec']} has no {metric} along {', '.join(axes)}")
    return uncertain(estimate(at[0]), at[0].get("se_over_seeds")) if at else MISSING


def _labels(entry: Results) -> dict[str, str]:
    return {axis: compact(label) for axis, label in entry["where"].items()}


def pictures_block(names: Sequence[str], base: str, gallery: Gallery) -> str:
    """Pages as small pictures."""
    there = [name for name in names if name not in gallery.pending]
    unknown = [name for name in there if not (gallery.folder / name / PICTURE).is_file()]
    if unknown:
        raise GalleryError(f"the gallery has no picture of {', '.join(unknown)}")
    return "".join(
        f'<img src="{base}{name}/{PICTURE}" width="270" alt="The page of {html.escape(name)}">\n' for name in there
    )


def note_block(words: Sequence[str], base: str, gallery: Gallery) -> str:
    """What a mark means that only stands where a run is pending; nothing once all are there."""
    [mark] = words
    return f"{mark} of an earlier version: the run is still to be made with this one.\n" if gallery.pending else ""


def _cell(text: str) -> str:
    return html.escape(text, quote=False).replace("|", "\\|").replace("*", "\\*")


BLOCKS: Mapping[str, Callable[[Sequence[str], str, Gallery], str]] = {
    "run": run_block,
    "sweep": sweep_block,
    "pictures": pictures_block,
    "note": note_block,
}
