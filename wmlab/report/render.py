"""From stored results to a page: one self-contained file, the figures beside it, no network, no script but ours."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from wmlab.report import gallery, plan_graph, tables
from wmlab.report.claims import claim_rows, tally
from wmlab.report.compare import compare_context, compare_scripts
from wmlab.report.data import DRAWINGS, FIGURES, PAGE, RESULTS, SETTINGS, ReportData, Results, SuiteRow
from wmlab.report.drawings import Draw
from wmlab.report.explorer import explorer_context, explorer_scripts
from wmlab.report.headline import headline
from wmlab.report.studio import draw_here
from wmlab.report.suite import suite_context
from wmlab.report.sweep import sweep_context, sweep_scripts
from wmlab.report.table_files import table_files
from wmlab.report.template import draw_template, page_bytes
from wmlab.report.text import compact, duration, grouped, moment, plural, point

NAMES = {
    "wmlab": "wmlab",
    "jax": "JAX",
    "device": "Device",
    "spec_sha256": "SHA-256 of the spec",
    "run": "Run",
    "started": "Started",
    "seconds": "Took",
    "code": "Commit of wmlab",
    "stage_seconds": "All stages took, when they were computed",
    "page_sha256": "SHA-256 of what this page shows, but for times",
}


Files = dict[str, bytes]  # of a report, by their paths in its folder


def render(document: ReportData, draw: Draw = draw_here) -> Files:
    """The files of a report: `index.html`, `results.json` and the figures."""
    groups = gallery.gallery(document, draw)
    settings = [{"path": row.path, "value": row.value, "source": row.source} for row in document.resolved]
    context = _context(document)
    tables = table_files(document.results, context["claims"])
    context |= {**explorer_context(document.explorer), **sweep_context(document.results)}
    context |= {**compare_context(document), "table_files": set(tables)}
    context["scripts"] = (*explorer_scripts(context), *sweep_scripts(context), *compare_scripts(context))
    kept = {SETTINGS: _json(settings), DRAWINGS: gallery.kept_drawings(groups)}
    return {**_files("report.html.j2", groups, document.results, context), **kept, **tables}


def render_suite(
    rows: Sequence[SuiteRow], *, title: str = "Suite", results: Results | None = None, draw: Draw = draw_here
) -> Files:
    """The page that leads to the reports of a suite; `results` holds the suite's own claims, if any."""
    groups = gallery.suite_gallery(rows, results or {}, draw)
    context = suite_context(rows, title, results or {})
    tables = table_files({}, context["claims"], context["claim_specs"])
    return {**_files("suite.html.j2", groups, results, {**context, "table_files": set(tables)}), **tables}


def _files(template: str, groups: list[gallery.FigureGroup], results: Results | None, context: dict[str, Any]) -> Files:
    files = {f"{FIGURES}/{name}": content for name, content in gallery.figure_files(groups).items()}
    if results is not None:
        files[RESULTS] = _json(results)
    files[PAGE] = draw_template(template, groups=groups, **context)
    return files


def _context(document: ReportData) -> dict[str, Any]:
    results, plan = document.results, document.plan
    metrics, claims = tables.metric_rows(results), claim_rows(results)
    changed = [row for row in document.resolved if row.changed]
    axis = tables.pivot(results)
    listed, left_out = plan_graph.worth_listing(plan.stages)
    states = Counter(stage.state for stage in plan.stages)
    return {
        "results": {"spec": results.get("spec", ""), "profile": results.get("profile", "")},
        "title": results.get("title") or results.get("spec", ""),
        "tally": tally(claims),
        "facts": _facts(results, len(changed)),
        "of_paper": of_paper(results),
        "failures": _failures(results),
        "missing": _missing(results),
        "findings": results.get("findings") or (),
        "certainty": [(point(one["where"]), one["sentence"]) for one in results.get("certainty") or ()],
        "head": headline(claims, results),
        "not_drawn": gallery.not_drawn(document),
        "claims": claims,
        "metrics": metrics,
        "relations": tables.relation_rows(results),
        "metric_groups": _metric_groups(metrics),
        "pivot": axis,
        "axis_paths": ", ".join((results.get("axes") or {})[axis.axis].get("paths") or ()) if axis else "",
        "seeds": [compact(seed) for seed in results.get("seeds") or ()],
        "glossary": tables.glossary(results),
        "changed": changed,
        "assumptions": results.get("assumptions") or {},
        "stages": plan.stages,
        "states": ", ".join(f"{grouped(count)} {state}" for state, count in states.items()),
        "kinds": plan_graph.summaries(plan),
        "drawing": plan_graph.draw(plan),
        "listed": listed,
        "left_out": left_out,
        "settings": document.resolved,
        "sections": tables.by_section(document.resolved),
        "provenance": _provenance(results.get("provenance") or {}),
    }


def of_paper(results: Results) -> bool:
    """Whether a paper is spoken of at all: the spec's body is called so, or a claim names what it says or where."""
    if "body" in results:
        return bool(results["body"] == "paper")
    claims = results.get("claims") or ()
    return any(claim.get("paper") is not None or claim.get("source") not in (None, "", "ours") for claim in claims)


def _facts(results: Results, changed: int) -> list[str]:
    """The line under the verdict: on which budget, over how many seeds, when, and what its own stages took.

    The time of the run is that of a whole suite where the spec is one of its members, and says little where results
    were known before; provenance has it.
    """
    provenance = results.get("provenance") or {}
    profile = f"profile {results.get('profile', '')}"
    if changed:
        profile += f" ({plural(changed, 'setting')} {'not the paper’s' if of_paper(results) else 'changed'})"
    facts = [profile, plural(len(results.get("seeds") or ()), "seed")]
    if provenance.get("started"):
        facts.append(moment(provenance["started"]))
    if provenance.get("stage_seconds") is not None:
        facts.append(f"stages of {duration(provenance['stage_seconds'])}")
    elif provenance.get("seconds") is not None:
        facts.append(duration(provenance["seconds"]))
    return facts


def _failures(results: Results) -> list[dict[str, str]]:
    rows = []
    for failure in results.get("failures") or ():
        if not isinstance(failure, Mapping):
            failure = {"label": "run", "error": str(failure)}
        if failure.get("state") == "not run" and results.get("missing"):
            continue  # told point by point
        label = str(failure.get("label") or "stage")
        where, seed = failure.get("where") or {}, failure.get("seed")
        told = all(f"{axis}={value}" in label for axis, value in where.items())  # as by the labels of stages
        if seed is not None and f"seed={seed}" not in label:
            label = ", ".join(filter(None, [label, "" if told else point(where), f"seed {seed}"]))
        error = str(failure.get("error") or failure.get("message") or "no message")
        rows.append({"label": label, "error": error, "detail": str(failure.get("traceback") or "")})
    return rows


def _missing(results: Results) -> dict[str, Any] | None:
    """What has not been run: how much of it, and each point with its missing seeds."""
    rows = results.get("missing") or ()
    if not rows:
        return None
    seeds = len(results.get("seeds") or ())
    runs = sum(len(row["seeds"]) for row in rows)
    points = math.prod(len(axis["values"]) for axis in (results.get("axes") or {}).values())
    told = []
    for row in rows:
        which = "" if len(row["seeds"]) == seeds else f"seed {', '.join(map(compact, row['seeds']))}"
        told.append(", ".join(filter(None, [point(row["where"]), which])) or "the only point")
    return {"runs": runs, "of": points * seeds, "points": told}


def _metric_groups(rows: Sequence[tables.MetricRow]) -> list[tuple[str, int, list[tables.MetricRow]]]:
    groups: dict[str, list[tables.MetricRow]] = {}
    for row in rows:
        groups.setdefault(row.metric, []).append(row)
    return [(metric, tables.widths([row.value for row in members]), members) for metric, members in groups.items()]


def _provenance(stored: Mapping[str, Any]) -> list[tuple[str, str]]:
    special = {"started": moment, "seconds": duration, "stage_seconds": duration}
    known = {key: value for key, value in stored.items() if value is not None}
    return [(NAMES.get(key, key.replace("_", " ")), special.get(key, compact)(value)) for key, value in known.items()]


def _json(data: Any) -> bytes:
    return page_bytes(json_text(data) + "\n")


def json_text(data: Any, pad: str = "\n") -> str:
    """JSON that every reader accepts, a line for each value: what is not a finite number is null.

    The same text as of `json.dumps` with an indent of 1, which takes four times as long; results have 100 000 numbers.
    """
    if isinstance(data, float):
        return float.__repr__(data) if math.isfinite(data) else "null"
    inner = f"{pad} "
    if isinstance(data, Mapping):
        rows = [f"{_plain_json(str(key))}: {json_text(value, inner)}" for key, value in data.items()]
        return f"{{{inner}{f',{inner}'.join(rows)}{pad}}}" if rows else "{}"
    if isinstance(data, (list, tuple)):
        items = [json_text(item, inner) for item in data]
        return f"[{inner}{f',{inner}'.join(items)}{pad}]" if items else "[]"
    return _plain_json(data)


_plain_json = json.JSONEncoder(ensure_ascii=False, default=str).encode
