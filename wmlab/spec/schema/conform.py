"""Whether data keeps the schema's rules.

Sound data, by far the usual case, is told by jsonschema-rs, which is quick. What is wrong with the rest is told by
jsonschema, which is exact about places: jsonschema-rs leaves empty keys out of a path, and takes the key '0' for a
position in a list.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from wmlab.spec.schema.generate import committed, load

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator
    from jsonschema_rs import Draft202012Validator as QuickValidator


@functools.cache
def quick_validator() -> QuickValidator:
    """Of any sections of a resolved spec, without asking for the others.

    It knows our own kinds alone: data with one of another package is left to the exact validator.
    """
    from jsonschema_rs import Draft202012Validator as QuickValidator

    return QuickValidator({key: rule for key, rule in committed("experiment").items() if key != "required"})


@functools.cache
def exact_validator(section: str) -> Draft202012Validator:
    from jsonschema import Draft202012Validator  # a tenth of a second, which a sound spec does not need

    schema = load("experiment")
    return Draft202012Validator({"$defs": schema["$defs"], **schema["properties"][section]})


@functools.cache
def whole_validator(name: str) -> Draft202012Validator:
    """Of a whole file, by the schema of this name."""
    from jsonschema import Draft202012Validator

    return Draft202012Validator(load(name))


def conforms(data: Any, section: str, partial: bool = False) -> bool:
    """Whether a section of our own kinds keeps every rule of the schema; with `partial`, keys may be missing."""
    errors = quick_validator().iter_errors({section: data})
    return all(partial and error.schema_path[-1] == "required" for error in errors)


def is_sound(data: Any, section: str) -> bool:
    """Whether a section keeps every rule of the schema, kinds of other packages included."""
    return conforms(data, section) or exact_validator(section).is_valid(data)
