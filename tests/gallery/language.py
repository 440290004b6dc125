"""What a marker in a page asks of the gallery, and the answer.

    SPEC METRIC [AXIS=LABEL …] [PART:LABEL] [FORM[/DIGITS]] [over SPEC METRIC …]
                                   without a form: mean ± standard error; FORMS has the others; labels have _ for spaces
    SPEC FACT                      one of FACTS
    SPEC claim NAME paper          or measured, or bound, or an axis that it says where it stands on
    SPEC axis NAME                 the labels of a sweep
    SPEC setting PATH              what the spec says, defaults filled in
    quoted NAME                    a number that no run gives, from contents.yaml

Nothing is computed but a ratio of two means.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.gallery.contents import Gallery, GalleryError
from wmlab.report.claims import claim_rows, tally
from wmlab.report.text import compact, duration, finite, number, stated, uncertain
from wmlab.results.names import estimate
from wmlab.results.statistics import interval_over_seeds

Results = Mapping[str, Any]
DIGITS = 3


def listed(words: Sequence[Any]) -> str:
    """11, 12 and 13."""
    texts = [compact(word) for word in words]
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)


def _interval(read: Results, digits: int) -> str:
    ends = read.get("ci") or interval_over_seeds(read.get("values", ()))
    if not ends:
        raise GalleryError("it has no interval")
    return " to ".join(number(end, digits) for end in ends)


def _present(read: Results) -> list[float]:
    return [value for value in read["values"] if value is not None]


FORMS: Mapping[str, Callable[[Results, int], str]] = {
    "mean": lambda read, digits: number(estimate(read), digits),
    "se": lambda read, digits: number(read["se_over_seeds"], digits),
    "n": lambda read, digits: number(read["n"]),
    "least": lambda read, digits: number(min(_present(read)), digits),
    "most": lambda read, digits: number(max(_present(read)), digits),
    "interval": _interval,
}


def _count(results: Sequence[Results], what: str) -> str:
    counted = tally([row for part in results for row in claim_rows(part)])
    return str({"held": counted.held, "claims": counted.tested, "shown": counted.shown}[what])


def _seconds(results: Results) -> float:
    """What the stages of a run took, or where that is not known the run."""
    made = results["provenance"]
    return float(made["stage_seconds"] if made.get("stage_seconds") is not None else made["seconds"])


FACTS: Mapping[str, Callable[[Sequence[Results]], str]] = {
    "seeds": lambda parts: listed(parts[0]["seeds"]),
    "runs": lambda parts: str(len(parts[0]["seeds"])),
    "time": lambda parts: duration(sum(map(_seconds, parts[1:] or parts))),
    "device": lambda parts: str(parts[0]["provenance"]["device"]),
    "version": lambda parts: str(parts[0]["provenance"]["wmlab"]),
    "specs": lambda parts: str(len(parts[0]["suite"])),
    "held": lambda parts: _count(parts, "held"),
    "claims": lambda parts: _count(parts, "claims"),
    "shown": lambda parts: _count(parts, "shown"),
}


def answer(question: str, gallery: Gallery) -> str:
    """What a marker stands for, as it is printed."""
    words = question.split()
    try:
        if words[0] == "quoted":
            return gallery.quoted[_only(words[1:])]
        if "over" in words:
            at = words.index("over")
            top, bottom = (estimate(_entry(part, gallery)[0]) for part in (words[:at], words[at + 1 :]))
            return number(_ratio(top, bottom), DIGITS)
        return _of_run(words, gallery)
    except GalleryError as error:
        raise GalleryError(f"'{question}': {error}") from None
    except (KeyError, IndexError, ValueError) as error:
        raise GalleryError(f"'{question}' asks for what is not there: {error!r}") from None


def _of_run(words: Sequence[str], gallery: Gallery) -> str:
    spec, asked, *rest = words
    if asked in FACTS and not rest:
        return FACTS[asked](gallery.parts(spec))
    if asked == "claim":
        name, what = rest
        return _of_claim(gallery.results(spec), name, what)
    if asked == "axis":
        return listed(gallery.results(spec)["axes"][_only(rest)]["values"])
    if asked == "setting":
        value = gallery.settings(spec)[_only(rest)]
        return stated(value) if finite(value) else compact(value)
    entry, form = _entry(words, gallery)
    if not form:
        return uncertain(estimate(entry), entry.get("se_over_seeds"))
    name, _, digits = form.partition("/")
    return FORMS[name](entry, int(digits) if digits else DIGITS)


def _of_claim(results: Results, name: str, what: str) -> str:
    [claim] = [claim for claim in results["claims"] if claim["id"] == name]
    if what == "measured":
        return next(row.measured for row in claim_rows(results) if row.id == name)
    if what in claim["where"]:
        labels = claim["where"][what]
        labels = results["axes"][what]["values"] if labels == "all" else labels
        return listed(labels if isinstance(labels, list) else [labels])
    if what not in ("paper", "bound") or not finite(claim.get(what)):
        raise GalleryError(f"claim '{name}' has no {what} that is one number")
    return stated(claim[what])


def _entry(words: Sequence[str], gallery: Gallery) -> tuple[Results, str]:
    """One result of a run and the form that is asked for; an error where there are several, or none."""
    spec, metric, *rest = words
    labels = dict(word.split("=", 1) for word in rest if "=" in word)
    parts = [word.split(":", 1) for word in rest if ":" in word]
    forms = [word for word in rest if "=" not in word and ":" not in word]
    if len(parts) > 1 or len(forms) > 1:
        raise GalleryError("one part and one form at most")
    fitting = [
        entry
        for entry in gallery.results(spec)["metrics"].values()
        if entry["metric"] == metric and all(_label(entry["where"].get(axis)) == at for axis, at in labels.items())
    ]
    if len(fitting) != 1:
        raise GalleryError(f"{len(fitting)} results are called so; one is meant")
    entry = fitting[0]
    for name, label in parts:
        entry = {_label(one): part for one, part in entry["by"][name.replace("_", " ")].items()}[label]
    return entry, forms[0] if forms else ""


def _label(label: Any) -> str:
    return compact(label).replace(" ", "_")


def _only(words: Sequence[str]) -> str:
    if len(words) != 1:
        raise GalleryError("one name is meant")
    return words[0]


def _ratio(top: float | None, bottom: float | None) -> float:
    if not finite(top) or not finite(bottom) or bottom == 0:
        raise GalleryError("there is no such ratio")
    return top / bottom
