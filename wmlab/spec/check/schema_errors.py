"""What the JSON Schema has to say, in words for people and with a place in a file."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wmlab.errors import Source, SpecError, one_of, suggest
from wmlab.limits import listed, shorten
from wmlab.registry import outside
from wmlab.spec.schema.conform import conforms, exact_validator, whole_validator
from wmlab.spec.schema.generate import Schema, load
from wmlab.spec.schema.walk import Rules, section_rules
from wmlab.spec.yaml.diagnose import cut_at_commas
from wmlab.spec.yaml.node import NOUNS, Node, show, show_path

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator

Messages = Iterator[tuple[Source, list[str | int], str, str | None]]  # where, path below, message, hint


@dataclass(frozen=True)
class BrokenRule:
    """A rule of the schema that a value breaks."""

    keyword: str  # type, enum, required, …
    wanted: Any  # what the keyword asks for
    value: Any
    schema: Schema  # in which the keyword stands
    message: str  # jsonschema's own
    place: Node
    known: list[str]  # the keys that may stand here


def schema_errors(node: Node, section: str, partial: bool = False) -> Iterator[SpecError]:
    """Every way in which a section of a resolved spec breaks the schema; with `partial`, keys may be missing."""
    if conforms(node.plain(), section, partial):
        return
    for broken, path in broken_rules(node, exact_validator(section), section_rules(section)):
        if not (partial and broken.keyword == "required"):
            yield from in_words(broken, node, path, [section])


def file_errors(node: Node, name: str) -> Iterator[SpecError]:
    """Every way in which a whole file breaks the schema of this name."""
    for broken, path in broken_rules(node, whole_validator(name), Rules(load(name))):
        yield from in_words(broken, node, path, [])


def in_words(broken: BrokenRule, node: Node, path: list[str | int], above: list[str | int]) -> Iterator[SpecError]:
    say = MESSAGES.get(broken.keyword, other)
    for source, below, message, hint in say(broken):
        item = broken.value if path and isinstance(path[-1], int) else None
        if hint is None and isinstance(item, str) and " " in item:
            hint = "is a comma missing?"  # [0 1] is one text to YAML
        # A value that is only a default is shown at the section that lacks it.
        yield SpecError(node.latest if source.is_default else source, show_path([*above, *path, *below]), message, hint)


def broken_rules(
    node: Node, validator: Draft202012Validator, all_rules: Rules
) -> Iterator[tuple[BrokenRule, list[str | int]]]:
    data: Any = node.plain()
    for error in validator.iter_errors(data):
        path = list(error.absolute_path)
        rules = all_rules.at(data, path)
        known = [] if rules is None else rules.known_keys(error.instance)
        schema: Any = error.schema
        if error.validator == "type" and "const" in schema.get("properties", {}).get("kind", {}):
            continue  # what is no mapping is no kind of any name, and the family says so once
        keyword, wanted, place = str(error.validator), error.validator_value, node.at(path) or node
        yield BrokenRule(keyword, wanted, error.instance, schema, error.message, place, known), path


def unknown_key(broken: BrokenRule) -> Messages:
    allowed = set(broken.schema.get("properties", {}))
    for key in broken.value:
        if key in allowed:
            continue
        source = broken.place.key(key)
        cut = cut_at_commas(source, key)
        if cut is not None:
            yield source, [key], *cut
        else:
            known = sorted(set(broken.known))
            hint = suggest(key, known) or (f"known: {', '.join(known)}" if known else None)
            yield source, [], f"unknown key '{key}'", hint


def wrong_word(broken: BrokenRule) -> Messages:
    noun = broken.schema.get("x-noun")
    known = [str(word) for word in broken.wanted]
    word = broken.value
    if not isinstance(word, str):
        yield broken.place.source, [], f"expected {f'one {noun}' if noun else one_of(known)}, not {show(word)}", None
        return
    others = broken.schema.get("x-beside", ())  # what may stand in place of a word
    message = f"unknown {noun} {show(word)}" if noun else f"expected {one_of([*known, *others])}, not {show(word)}"
    hint = suggest(word, known) or (f"known: {', '.join(known)}" if noun else broken.schema.get("x-hint"))
    empty = outside().problems if noun else ()  # a kind may be missing because its package brings nothing
    yield broken.place.source, [], message, "; ".join([*([hint] if hint else []), *empty]) or None


def wrong_type(broken: BrokenRule) -> Messages:
    wanted = broken.wanted if isinstance(broken.wanted, list) else [broken.wanted]
    names = [word for name in wanted for word in nouns(name, broken.schema)]
    message = f"expected {one_of(dict.fromkeys(names))}, not {show(broken.value)}"
    yield broken.place.source, [], message, mapping_hint(broken.value, broken.schema)


def mapping_hint(value: Any, schema: Schema) -> str | None:
    """What to write for a word or a switch that stands alone, without the mapping that it belongs to."""
    if "properties" not in schema:
        return None
    options = schema["properties"]
    for key, rules in options.items() if isinstance(value, str) else ():
        near = difflib.get_close_matches(value, [word for word in rules.get("enum", ()) if isinstance(word, str)], 1)
        if near:
            return f"say {{{key}: {near[0]}}}"
    if "kind" in options and "required" in schema:
        return f"say {{kind: …}}, one of {listed(options['kind'].get('enum', ()))}"
    if value is False or value in ("no", "off"):
        return "say null, or leave it out"
    if not schema.get("required") and (not options or value is True or value in ("yes", "on")):
        return "say {}" if not options else f"say {{}}, or some of its keys: {listed(options)}"
    return f"its keys: {listed(options)}"


def nouns(name: str, schema: Schema) -> list[str]:
    """What a JSON type stands for here: a text may be one of a few words, or an expression for a number."""
    if name != "string":
        return [] if name == "integer" and "number" in schema.get("type", ()) else [NOUNS[name]]
    rules = Rules(schema).holding("").schemas
    words = [word for rule in rules for word in (*rule.get("enum", ()), *rule.get("x-words", ()))]
    numeric = any(rule.get("x-wmlab") in ("number", "bound") for rule in rules)
    return [str(word) for word in words] if words or numeric else [NOUNS[name]]


def missing_key(broken: BrokenRule) -> Messages:
    strangers = [key for key in broken.value if key not in broken.known]
    for key in broken.wanted:
        if key in broken.value or f"'{key}'" not in broken.message:
            continue
        misspelt = next((one for one in strangers if suggest(one, [key])), None)
        if misspelt is None:
            yield broken.place.latest, [], f"missing key '{key}'", None
        elif broken.schema.get("additionalProperties") is not False:  # else it is told as an unknown key
            yield broken.place.key(misspelt), [], f"missing key '{key}'", f"is it '{misspelt}' that is misspelt?"


def out_of_bounds(broken: BrokenRule) -> Messages:
    words = {"minimum": "at least", "maximum": "at most", "exclusiveMinimum": "above", "exclusiveMaximum": "below"}
    message = f"must be {words[broken.keyword]} {show(broken.wanted)}, not {show(broken.value)}"
    yield broken.place.source, [], message, None


def wrong_count(broken: BrokenRule) -> Messages:
    word = "at least" if broken.keyword.startswith("min") else "at most"
    noun = "key" if "Properties" in broken.keyword else "item"
    plural = "" if broken.wanted == 1 else "s"
    texts = [item for item in broken.value if isinstance(item, str)] if broken.keyword == "minItems" else []
    if any(Rules(broken.schema.get("items", {})).mark(text, "x-wmlab") == "number" for text in texts):
        return  # an expression without a value, such as [0 1]: told of the item itself
    hint = "is a comma missing?" if any(" " in text for text in texts) else None
    yield broken.place.source, [], f"expected {word} {broken.wanted} {noun}{plural}, not {len(broken.value)}", hint


def listed_twice(broken: BrokenRule) -> Messages:
    items = broken.place.items
    for i, item in enumerate(items):
        if any(item.plain() == other.plain() for other in items[:i]):
            yield item.source, [i], f"{show(item.plain())} is listed twice", None


def wrong_pattern(broken: BrokenRule) -> Messages:
    # propertyNames reports the key as the instance, at the mapping's own path.
    message = f"'{shorten(broken.value)}' is not a name: use lower-case letters, digits and _, a letter first"
    yield broken.place.key(broken.value), [], message, None


def too_long(broken: BrokenRule) -> Messages:
    source = broken.place.key(broken.value) if isinstance(broken.place.value, dict) else broken.place.source
    message = f"a name of {len(broken.value)} characters; {broken.wanted} are allowed"
    yield source, [], message, "give it a short name, and say the rest in the title"


def wrong_constant(broken: BrokenRule) -> Messages:
    yield broken.place.source, [], f"must be {show(broken.wanted)}, not {show(broken.value)}", None


def broken_kind(broken: BrokenRule) -> Messages:
    """A kind of another package that cannot be used."""
    yield broken.place.source, [], broken.schema.get("x-broken", broken.message), None


def other(broken: BrokenRule) -> Messages:
    yield broken.place.source, [], broken.message, None


MESSAGES: dict[str, Callable[[BrokenRule], Messages]] = {
    "additionalProperties": unknown_key,
    "enum": wrong_word,
    "type": wrong_type,
    "required": missing_key,
    "minimum": out_of_bounds,
    "maximum": out_of_bounds,
    "exclusiveMinimum": out_of_bounds,
    "exclusiveMaximum": out_of_bounds,
    "minItems": wrong_count,
    "maxItems": wrong_count,
    "minProperties": wrong_count,
    "maxProperties": wrong_count,
    "maxLength": too_long,
    "uniqueItems": listed_twice,
    "pattern": wrong_pattern,
    "const": wrong_constant,
    "not": broken_kind,
}
