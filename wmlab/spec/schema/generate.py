"""JSON Schemas from what is declared: one for editors (files, in part), one for resolved experiments (whole).

Both come from the same records and kinds. A union is told apart by JSON type and a kind by its `kind`, in `if … then`
form, because that form gives the real error where `oneOf` says that nothing fits. Our own marks:
`x-wmlab: number` (a string here is a constant expression), `x-wmlab: bound` (an expression of a claim's point),
`x-wmlab: file` (a path relative to the file that wrote it),
`x-wmlab: expression` (a text that is worked out at each step; known numbers are written into it), and `condition`,
`x-words` (strings that are not expressions), `x-whole` (an overlay replaces this value whole), `x-keys` (what the keys
of a mapping name), `x-defaults` (the default in each sort of world: `registry/defaults`).
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
import types
import typing
from pathlib import Path
from typing import Any, Literal

from wmlab.registry import FAMILIES, REQUIRED, Family, Kind, KindChoice, KindError, as_data, field_types, first_sentence
from wmlab.sections.cluster import ClusterFile
from wmlab.sections.forms import EXPERIMENT_KEYS, NAME, PROFILE_KEYS, named
from wmlab.sections.spec import Spec
from wmlab.spec.schema.nulls import Schema, nullable, with_nulls

FILES = {"spec": "spec.schema.json", "experiment": "experiment.schema.json", "cluster": "cluster.schema.json"}
HEAD = "https://json-schema.org/draft/2020-12/schema"


def folder() -> Path:
    """Where the committed schemas are: in the wheel beside the code, in a checkout beside the package."""
    package = Path(__file__).resolve().parents[2]
    packaged = package / "schemas"
    return packaged if packaged.is_dir() else package.parent / "schemas"


@functools.cache
def committed(name: str) -> Schema:
    """A committed schema: of our own kinds."""
    return typing.cast(Schema, json.loads((folder() / FILES[name]).read_text(encoding="utf-8")))


@functools.cache
def load(name: str) -> Schema:
    """What specs are validated against: a committed schema, with the kinds of other packages in it."""
    schema, strict = committed(name), name == "experiment"
    families = [family for family in FAMILIES.values() if family.others]
    if not families or "$defs" not in schema:
        return schema
    definitions = {family.name: family_schema(family, [*family], strict) for family in families}
    return schema | {"$defs": Definitions(strict, schema["$defs"] | definitions)}


class Definitions(dict[str, Schema]):
    """The definitions of a schema. That of another package's kind is made, and its module imported, on first use."""

    def __init__(self, strict: bool, known: Schema):
        super().__init__(known)
        self.strict = strict

    def __missing__(self, name: str) -> Schema:
        family, _, kind = name.partition(".")
        if family not in FAMILIES or kind not in FAMILIES[family].others:
            raise KeyError(name)
        try:
            rules = kind_schema(FAMILIES[family][kind], self.strict)
            self[name] = rules if self.strict else nullable(with_nulls(rules))
        except (KindError, TypeError) as error:
            # Nothing goes with this kind; `x-broken` says why, where the spec says the kind.
            self[name] = {"type": "object", "properties": {"kind": {"not": {}, "x-broken": str(error)}}}
        return self[name]


def generate(name: str, others: bool = False) -> Schema:
    """The schema that the code declares, which `wmlab schema --write` commits; `others`: with the kinds of other
    packages, as far as they can be used."""
    if name == "cluster":  # a file of its own, without kinds
        return {"$schema": HEAD, "title": "A wmlab cluster file"} | record_schema(ClusterFile, strict=True)
    strict = name == "experiment"
    body = record_schema(Spec, strict)
    if not strict:
        body = with_nulls(body)
        # A file holds part of a spec, and so does an overlay: nothing is required, everything is explained.
        for key, sections in (("variants", EXPERIMENT_KEYS), ("profiles", PROFILE_KEYS)):
            overlay = {
                "type": ["object", "null"],
                "properties": {section: body["properties"][section] for section in sections},
                "additionalProperties": False,
            }
            body["properties"][key] = body["properties"][key] | {"additionalProperties": overlay}
    title = "A resolved wmlab experiment" if strict else "A wmlab spec file"
    definitions: Schema = {}
    for family in FAMILIES.values():
        kinds = usable_kinds(family) if others else [*family.own]
        choice = family_schema(family, kinds, strict)
        definitions[family.name] = choice if strict else with_nulls(choice)
        for kind in kinds:
            rules = kind_schema(family[kind], strict)
            definitions[f"{family.name}.{kind}"] = rules if strict else nullable(with_nulls(rules))
    head = {"$schema": HEAD, "title": title}
    return head | body | {"$defs": definitions}


def write(target: Path) -> list[Path]:
    """Write all schemas into a folder."""
    target.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, filename in FILES.items():
        path = target / filename
        path.write_text(text(name), encoding="utf-8")
        paths.append(path)
    return paths


def text(name: str, others: bool = False) -> str:
    return json.dumps(generate(name, others), indent=1, ensure_ascii=False) + "\n"


def usable_kinds(family: Family[Any, Any]) -> list[str]:
    """The kinds of a family, without those of other packages that cannot be imported or described."""
    usable = []
    for kind in family:
        with contextlib.suppress(KindError, TypeError):
            kind_schema(family[kind], strict=True)
            usable.append(kind)
    return usable


def family_schema(family: Family[Any, Any], names: list[str], strict: bool) -> Schema:
    """A mapping with a `kind`, and for each kind its own rules."""
    cases = [
        {
            "if": {"properties": {"kind": {"const": kind}}, "required": ["kind"]},
            "then": {"$ref": f"#/$defs/{family.name}.{kind}"},
        }
        for kind in names
    ]
    kinds = {"enum": names, "description": family.doc, "x-noun": family.noun}
    found: Schema = {"type": "object", "properties": {"kind": kinds}, "allOf": cases}
    if strict:
        return found | {"required": ["kind"]}
    return {**found, "type": ["object", "null"]}


def kind_schema(kind: Kind[Any], strict: bool) -> Schema:
    found = record_schema(kind.options, strict)
    found["description"] = kind.doc
    found["properties"] = {"kind": {"const": kind.name}} | found["properties"]
    return found


def record_schema(record: type, strict: bool) -> Schema:
    """An options dataclass as an object schema; with `strict`, what has no default is required."""
    properties, required = {}, []
    fields = {field.name: field for field in dataclasses.fields(record)}
    for key, (name, hint) in field_types(record).items():
        field = fields[name]
        properties[key] = field_schema(field, hint, strict)
        if field.default is REQUIRED and field.default_factory is REQUIRED:
            required.append(key)
    schema: Schema = {"type": "object", "description": first_sentence(record.__doc__), "properties": properties}
    if strict and required:
        schema["required"] = required
    return schema | {"additionalProperties": False}


def field_schema(field: dataclasses.Field[Any], hint: Any, strict: bool) -> Schema:
    marks = field.metadata
    schema = dict(marks["schema"]) if marks["schema"] is not None else type_schema(hint, strict)
    schema |= marks["bounds"]
    schema["description"] = marks["doc"]
    if marks["whole"]:
        schema["x-whole"] = True
    made = field.default_factory
    default = made() if callable(made) else field.default
    if marks["by_world"] is not None:
        schema["x-defaults"] = marks["by_world"].cases
    elif default is not REQUIRED:
        schema["default"] = default_data(default)
    return schema


def default_data(default: Any) -> Any:
    """A default as JSON data. What depends on the world inside it is left out, to be filled in where that is known."""
    data = as_data(default)
    if dataclasses.is_dataclass(default):
        for field in dataclasses.fields(default):
            key = field.name.rstrip("_")
            if field.metadata["by_world"] is not None:
                data.pop(key, None)
            elif key in data:
                data[key] = default_data(getattr(default, field.name))
    return data


def type_schema(hint: Any, strict: bool) -> Schema:
    """The rules that a type annotation implies."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint is float:
        return {"type": ["number", "string"], "x-wmlab": "number"}
    if hint is int:
        return {"type": ["integer", "string"], "x-wmlab": "number"}
    if hint is bool:
        return {"type": "boolean"}
    if hint is str:
        return {"type": "string"}
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin is tuple:
        return {"type": "array", "items": type_schema(arguments[0], strict)}
    if origin is dict:
        values = {} if arguments[1] is Any else type_schema(arguments[1], strict)
        schema = {"type": "object", "additionalProperties": values}
        # What has a record of its own is named in results, and its name goes by their rules.
        return schema | named(NAME) if dataclasses.is_dataclass(arguments[1]) else schema
    if isinstance(hint, type) and issubclass(hint, KindChoice):
        return {"$ref": f"#/$defs/{hint.family.name}"}
    if dataclasses.is_dataclass(hint):
        return record_schema(typing.cast(type, hint), strict)
    if origin in (typing.Union, types.UnionType):
        return union_schema([member for member in arguments if member is not type(None)], strict)
    raise TypeError(f"an option of type {hint} needs an explicit schema")


def union_schema(members: list[Any], strict: bool) -> Schema:
    """Members told apart by JSON type; words beside a number are words, other strings are expressions."""
    if len(members) == 1:
        return type_schema(members[0], strict)
    words = [word for member in members if typing.get_origin(member) is Literal for word in typing.get_args(member)]
    rest = [type_schema(member, strict) for member in members if typing.get_origin(member) is not Literal]
    kinds: list[str] = []
    cases = []
    numeric: Schema = {}
    for rules in rest:
        names = rules["type"] if isinstance(rules["type"], list) else [rules["type"]]
        kinds += [name for name in names if name not in kinds]
        if rules.get("x-wmlab") == "number":
            numeric = {"x-wmlab": "number"} | ({"x-words": words} if words else {})
        else:
            cases += [{"if": {"type": names[0]}, "then": {k: v for k, v in rules.items() if k != "type"}}]
    if words and not numeric:
        cases.append({"if": {"type": "string"}, "then": {"enum": words}})
    if words and "string" not in kinds:
        kinds.append("string")
    return {"type": kinds, **numeric} | ({"allOf": cases} if cases else {})
