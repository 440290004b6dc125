"""The results of what was run before, for `wmlab show`: from the store, a report's folder, or a results.json."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from wmlab.app.results_diff import read_results
from wmlab.app.run_pages import kept_results
from wmlab.errors import UsageError, WmlabError, one_of
from wmlab.graph.study import not_run, open_study
from wmlab.report.data import RESULTS, Results
from wmlab.results.assemble import assemble, suite_metrics
from wmlab.runtime.run_id import may_be_run_id
from wmlab.runtime.run_list import find_run
from wmlab.runtime.store import Store

SPEC_ENDINGS = (".yaml", ".yml")


def stored_results(target: str, profile: str | None = None, sets: Sequence[str] = ()) -> Results:
    """What was measured, of a spec, a results.json, the folder of a report, or a run; nothing is computed."""
    path = Path(target)
    if path.suffix in SPEC_ENDINGS or (path.is_file() and path.suffix != ".json"):
        return results_of_spec(target, profile, sets)
    if path.is_dir() or path.suffix == ".json":
        results = checked_results(read_results(str(results_in(path) if path.is_dir() else path)), target)
    elif may_be_run_id(target):
        results = results_of_run(target, Store())
    else:
        return results_of_spec(target, profile, sets)  # which says that there is no such file, and what is near
    if profile or sets:
        raise UsageError(f"{target}: results are as they are; --profile, --set and --seeds are for specs")
    return results


def results_of_run(id: str, store: Store) -> Results:
    """What a run found, by its id; the specs of a suite side by side."""
    run = find_run(store.root, id)
    members = [checked_results(results, f"the page of run {run.id}") for results in kept_results(store, run).values()]
    return members[0] if len(members) == 1 else beside_each_other(run.spec, run.profile, members)


def results_in(folder: Path) -> Path:
    """The results.json in the folder of a report, or in that of the only profile below it."""
    if (folder / RESULTS).is_file():
        return folder / RESULTS
    below = sorted(folder.glob(f"*/{RESULTS}"))
    if len(below) > 1:
        raise UsageError(f"{folder} has several results; say {one_of(str(path.parent) for path in below)}")
    if not below:
        raise UsageError(f"{folder} is no folder of a report: there is no {RESULTS} in it; name a spec or a report")
    return below[0]


def checked_results(results: Results, path: str) -> Results:
    """Results that were read, held to the form that tables are made of."""
    for entry in results["metrics"].values():
        if not is_entry(entry):
            raise WmlabError(f"{path} is no results.json of an experiment")
    parts = (("axes", dict), ("seeds", list), ("claims", list), ("report", dict))
    if not all(isinstance(results.get(name, form()), form) for name, form in parts):
        raise WmlabError(f"{path} is no results.json of an experiment")
    return results


def is_entry(entry: Any) -> bool:
    if not isinstance(entry, dict) or not isinstance(entry.get("metric"), str):
        return False
    where, values = entry.get("where", {}), entry.get("values", [])
    numbers = [entry.get(name) for name in ("mean", "se_over_seeds", "value", "n")]
    plain = all(one is None or isinstance(one, int | float) for one in (*numbers, *values))
    return isinstance(where, dict) and isinstance(values, list) and plain


def results_of_spec(spec: str, profile: str | None, sets: Sequence[str]) -> Results:
    """What the store holds of a spec; the specs of a suite side by side, along an axis `spec`."""
    study, store = open_study(spec, profile, sets), Store()
    if not any(store.has(study.keys[stage]) for stage in study.stages):
        raise not_run(study, store, "show")
    members = [assemble(plan, study.keys, store, {}, {}) for plan in study.plans]
    return beside_each_other(study.name, study.profile, members) if study.is_suite else members[0]


def beside_each_other(name: str, profile: str, members: Sequence[Mapping[str, Any]]) -> Results:
    """The results of several specs as those of one, in which the spec is an axis."""
    axes: dict[str, Any] = {"spec": {"paths": [], "values": [member["spec"] for member in members]}}
    for member in members:
        axes |= {axis: described for axis, described in member["axes"].items() if axis not in axes}
    own = {member["spec"]: {name: member[name] for name in ("seeds", "steps")} for member in members}
    seeds: list[int] = max((member["seeds"] for member in members), key=len, default=[])
    claims = [claim for member in members for claim in member["claims"]]
    metrics = {key: {**entry, **own[entry["where"]["spec"]]} for key, entry in suite_metrics(members).items()}
    return {"spec": name, "profile": profile, "seeds": seeds, "axes": axes, "metrics": metrics, "claims": claims}
