"""Validation: every mistake of a spec at once, in every profile."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from wmlab.errors import SpecError, SpecErrors, one_of, suggest
from wmlab.limits import PROFILES
from wmlab.spec.check.claim_scope import scope_of, suite_scope
from wmlab.spec.check.claims import claim_errors
from wmlab.spec.check.kind_checks import experiment_errors
from wmlab.spec.check.references import assumption_errors, compare_errors, same_file, suite_errors
from wmlab.spec.check.relation_checks import relation_errors
from wmlab.spec.check.report_checks import report_errors, table_errors
from wmlab.spec.check.schema_errors import schema_errors
from wmlab.spec.check.style_checks import style_errors
from wmlab.spec.compose.document import FULL, PAPER, Document, overlays_in, read
from wmlab.spec.compose.resolve import Resolved, resolve
from wmlab.spec.yaml.node import Node, show_path
from wmlab.spec.yaml.parser import unprintable


def validate_all(paths: Sequence[str]) -> list[SpecError]:
    """The mistakes in several files, in the order of the files; nothing is raised."""
    mistakes: list[SpecError] = []
    names: dict[str, str] = {}
    checker = SpecChecker()
    for path in paths:
        try:
            document = read(path)
            mistakes += validate(document, checker=checker)
        except SpecErrors as errors:
            mistakes += errors.errors
            continue
        mistakes += shared_name_errors(document, names)
    return once(mistakes)


def shared_name_errors(document: Document, names: dict[str, str]) -> Iterator[SpecError]:
    """Whether another file has a spec's name, too; `names` are those of the files before it, and it is added."""
    name, path = document.name, document.path
    if name is not None and names.setdefault(name, path) != path and not same_file(names[name], path):
        message = f"{names[name]} has the name '{name}' too: their reports would overwrite each other"
        yield SpecError(document.leaf.near(["name"]).source, "name", message)


def fragments(paths: Sequence[str]) -> list[str]:
    """Those of several sound files that have no name."""
    return [path for path in paths if read(path).name is None]


def validate(document: Document, sets: Sequence[str] = (), checker: SpecChecker | None = None) -> list[SpecError]:
    """Every mistake of one spec; those that only some profiles bring say which."""
    checker = checker or SpecChecker()
    body = resolve(document, document.body_profile, sets)
    mistakes = [*document_errors(document), *checker.errors(body)]
    told = {key for error in mistakes for key in identities(error)}
    new: dict[SpecError, list[str]] = {}
    for profile in document.profiles[:PROFILES]:  # that there are more is told of the file
        resolved = resolve(document, profile, sets)
        mistakes += profile_axis_errors(document, profile, body, resolved)
        for error in dict.fromkeys(checker.errors(resolved)):
            if told.isdisjoint(identities(error)):
                new.setdefault(error, []).append(profile)
    mistakes += [in_profiles(error, profiles) for error, profiles in new.items()]
    return once(mistakes)


def identities(error: SpecError) -> tuple[tuple[str, str], ...]:
    """One mistake met again in another profile is at the same place, or says the same of the same path."""
    return (error.path, str(error.source)), (error.path, error.message)


def in_profiles(error: SpecError, profiles: Sequence[str]) -> SpecError:
    if error.path.startswith("profiles."):
        return error  # its place says so
    names = f"profile {profiles[0]}" if len(profiles) == 1 else f"profiles {one_of(profiles).replace(' or ', ' and ')}"
    return SpecError(error.source, error.path, f"{error.message} in {names}", error.hint)


def once(errors: Iterable[SpecError]) -> list[SpecError]:
    """Each mistake once, whatever its hint; the pieces of a text that YAML cut at its commas are one."""
    kept: dict[tuple[object, ...], SpecError] = {}
    for error in sorted(set(errors), key=lambda error: (*error.order, error.hint or "")):
        before, cut, text = error.message.partition("YAML cut")
        piece = (error.source.file, error.source.line, text) if cut else error.order
        if (cut and before) or piece not in kept:  # of the pieces, one that says more tells it best
            kept[piece] = error
    return list(kept.values())


def checked(document: Document, profile: str, sets: Sequence[str] = ()) -> Resolved:
    """The resolved spec, sound in the chosen profile; otherwise SpecErrors."""
    resolved = resolve(document, profile, sets)
    errors = [*document_errors(document), *SpecChecker().errors(resolved)]
    if errors:
        raise SpecErrors(once(errors))
    return resolved


# --- what a file says of itself ----------------------------------------------------------------------------------


def document_errors(document: Document) -> Iterator[SpecError]:
    """Mistakes in what each file says of itself."""
    for file in document.files:
        yield from version_errors(file)
        yield from name_errors(file)
        yield from profile_errors(file)
        if PAPER in overlays_in(file):
            message = "'paper' is reserved: it is the body as it stands"
            yield SpecError(file.near(["profiles"]).key(PAPER), f"profiles.{PAPER}", message)
        default = file.at(["default_profile"])
        if default is None or default.value is None:
            continue
        if not isinstance(default.value, str):
            yield SpecError(default.source, "default_profile", "expected the name of a profile")
        elif default.value not in (PAPER, FULL, *document.profiles):
            hint = suggest(default.value, document.profiles)
            yield SpecError(default.source, "default_profile", f"there is no profile '{default.value}'", hint)


def name_errors(file: Node) -> Iterator[SpecError]:
    """A name that would break the line that it stands in; its letters are told by the schema."""
    name = file.at(["name"])
    problem = unprintable(name.value, "a name") if name is not None and isinstance(name.value, str) else None
    if name is not None and problem is not None:
        yield SpecError(name.source, "name", problem)


def version_errors(file: Node) -> Iterator[SpecError]:
    version = file.at(["wmlab"])
    if version is None or version.value is None:
        yield SpecError(file.source, "", "missing key 'wmlab'", "begin with wmlab: 1, the version of the language")
    elif version.value != 1 or isinstance(version.value, bool):
        shown = version.value if isinstance(version.value, (str, int, float)) else "something else"
        yield SpecError(version.source, "wmlab", f"this is version 1 of the language, not {shown}", "say wmlab: 1")


def profile_errors(file: Node) -> Iterator[SpecError]:
    """Profiles are laid one at a time and never merged, so nothing else looks at all of them."""
    node = file.at(["profiles"])
    if node is not None and node.value is not None:
        without_nulls = {name: overlay for name, overlay in overlays_in(file).items() if overlay.value is not None}
        yield from schema_errors(replace(node, value=without_nulls or node.value), "profiles")


def profile_axis_errors(document: Document, profile: str, body: Resolved, resolved: Resolved) -> Iterator[SpecError]:
    """Axes that a profile adds or drops: it asks the same question on another budget."""
    theirs, ours = axis_names(body), axis_names(resolved)
    for name in sorted(theirs ^ ours):
        path = ["variants"] if name == "variant" else ["sweep", name]
        layers = [layer for layer in document.layers(profile) if layer.at(path[:1]) is not None]
        layer = layers[-1] if layers else document.leaf
        above = layer.at(path[:-1]) or layer
        source = above.keys.get(path[-1]) or layer.keys.get(path[0], layer.source)
        verb = "add" if name in ours else "drop"
        message = f"a profile may change an axis's values, never {verb} an axis"
        yield SpecError(source, show_path(["profiles", profile, *path]), message)


def axis_names(resolved: Resolved) -> set[str]:
    """The axes that a spec declares, sound or not."""
    names = set()
    sweep, variants = resolved.body.at(["sweep"]), resolved.body.at(["variants"])
    if sweep is not None and isinstance(sweep.value, dict):
        names |= set(sweep.value)
    if variants is not None and variants.value:
        names.add("variant")
    return names


# --- what a spec says under one profile --------------------------------------------------------------------------


class SpecChecker:
    """Checks resolved specs; what several files name is checked once."""

    def __init__(self) -> None:
        self._errors: dict[Resolved, tuple[SpecError, ...]] = {}

    def errors(self, resolved: Resolved) -> tuple[SpecError, ...]:
        """Every mistake of a spec under one profile; a suite asks for those of its members, too."""
        if resolved not in self._errors:
            broken = set(resolved.incomplete)
            errors = [*resolved.errors, *section_errors(resolved, broken)]
            part = self.suite_errors if resolved.is_suite else self.experiment_errors
            self._errors[resolved] = (*errors, *part(resolved, broken))
        return self._errors[resolved]

    def suite_errors(self, resolved: Resolved, broken: set[str]) -> Iterator[SpecError]:
        wrong = list(suite_errors(resolved, broken))
        yield from wrong
        if wrong or "suite" in broken:
            return
        if "report" not in broken:
            yield from table_errors(resolved)
            yield from style_errors(resolved)
        if "claims" not in broken and resolved.claims:
            yield from self.suite_claim_errors(resolved, broken)

    def suite_claim_errors(self, resolved: Resolved, broken: set[str]) -> Iterator[SpecError]:
        """Claims over the members of a suite, where these are sound; their own mistakes are told of them."""
        members = {}
        for path in resolved.suite:
            document = read(resolved.document.sibling(path))
            member = resolve(document, resolved.profile_for(document))
            if self.errors(member):
                return
            members[member.name or ""] = member
        yield from claim_errors(resolved, suite_scope(members), None if "seeds" in broken else len(resolved.seeds))

    def experiment_errors(self, resolved: Resolved, broken: set[str]) -> Iterator[SpecError]:
        errors, unsound = experiment_errors(resolved)
        yield from errors
        if resolved.is_fragment:
            return
        if "assumptions" not in broken:
            yield from assumption_errors(resolved)
        if not broken & {"compare", "seeds"}:
            yield from compare_errors(resolved)
        if axis_names(resolved) != {axis.name for axis in resolved.axes}:
            return  # an axis is in error, so that nothing can be said of labels
        scope = scope_of(resolved, unsound | broken, whole=not errors and not resolved.errors)
        if "claims" not in broken and "relate" not in broken:
            yield from claim_errors(resolved, scope, None if "seeds" in broken else len(resolved.seeds))
        if "relate" not in broken:
            yield from relation_errors(resolved, scope)
        if "report" not in broken:
            yield from style_errors(resolved)
        if resolved.is_body and not broken & {"report", "relate"}:
            # A smaller profile may lack what the report asks for; it then draws the rest.
            yield from report_errors(resolved, scope)
            yield from table_errors(resolved)


def section_errors(resolved: Resolved, broken: set[str]) -> Iterator[SpecError]:
    """What the schema says of sections that do not vary over points; `broken` gains those in error."""
    for key, node in resolved.sections.items():
        for error in schema_errors(node, key):
            if key not in ("wmlab", "default_profile"):  # told of each file already
                yield error
            broken.add(key)
