"""Whether data keeps every rule of a schema: a quick yes, or else a doubt that jsonschema settles.

A sound spec is by far the usual case, and needs no reason. Each schema becomes one function, made once. It says yes
only where jsonschema would find nothing; a keyword that is not known here is a doubt.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator
from typing import Any

from wmlab.spec.schema.generate import Schema, load

Test = Callable[[Any], bool]

SAY_NOTHING = {
    "$schema", "$defs", "title", "description", "default", "examples",
    "then", "else",  # read with `if`
}  # fmt: skip
TYPES: dict[str, Test] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "integer": lambda value: is_number(value) and (isinstance(value, int) or value.is_integer()),
    "number": lambda value: is_number(value),
}


def conforms(schema: Schema, value: Any, partial: bool = False) -> bool:
    """Whether jsonschema would surely find nothing wrong with the value; with `partial`, but for missing keys."""
    return (PARTIAL if partial else WHOLE).test(schema)(value)


def says_nothing(keyword: str) -> bool:
    """Whether a keyword only explains, as our own marks do."""
    return keyword in SAY_NOTHING or keyword.startswith("x-")


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def every(tests: list[Test]) -> Test:
    if len(tests) == 1:
        return tests[0]

    def test(value: Any) -> bool:
        for one in tests:  # noqa: SIM110, for a loop takes half the time of all()
            if not one(value):
                return False
        return True

    return test


class Tests:
    """The tests of schemas, each made when it is first needed: a kind that no spec uses costs nothing."""

    def __init__(self, partial: bool):
        self.partial = partial
        self._made: dict[int, tuple[Schema, Test]] = {}  # by id; the schema is kept, so that its id stays its own

    def test(self, schema: Schema) -> Test:
        found = self._made.get(id(schema))
        if found is None:
            found = self._made[id(schema)] = (schema, every([*self.parts(schema)]))
        return found[1]

    def parts(self, schema: Schema) -> Iterator[Test]:
        """A test for each keyword."""
        for keyword, wanted in schema.items():
            if keyword in ("properties", "additionalProperties"):
                if keyword == "properties" or "properties" not in schema:
                    yield self.mapping(schema.get("properties", {}), schema.get("additionalProperties", True))
            elif keyword == "if":
                yield self.condition(wanted, schema.get("then"), schema.get("else"))
            elif keyword == "items":
                yield self.items(wanted)
            elif keyword == "propertyNames":
                yield self.names(wanted)
            elif keyword == "allOf":
                yield every([self.test(part) for part in wanted])
            elif keyword == "$ref":
                yield self.reference(wanted)
            elif not says_nothing(keyword) and not (keyword == "required" and self.partial):
                yield KEYWORDS.get(keyword, doubt)(wanted)

    def mapping(self, properties: Schema, others: Any) -> Test:
        """Each key by its own rules, and all other keys by one."""

        def test(value: Any) -> bool:
            if not isinstance(value, dict):
                return True
            for key, item in value.items():
                rules = properties.get(key, others)
                if rules is True:
                    continue
                if rules is False or not self.test(rules)(item):
                    return False
            return True

        return test

    def condition(self, asked: Schema, then: Schema | None, otherwise: Schema | None) -> Test:
        """One branch or the other. A doubt must not decide, so that only simple questions may be asked."""
        consts = [rule.get("const") for rule in asked.get("properties", {}).values() if set(rule) == {"const"}]
        simple = len(consts) == len(asked.get("properties", {})) and all(isinstance(word, str) for word in consts)
        if not simple or not set(asked) <= {"type", "properties", "required"}:
            return doubt(asked)
        holds = every([*WHOLE.parts(asked)])

        def test(value: Any) -> bool:
            branch = then if holds(value) else otherwise
            return branch is None or self.test(branch)(value)

        return test

    def items(self, rules: Schema) -> Test:
        return lambda value: not isinstance(value, list) or all(map(self.test(rules), value))

    def names(self, rules: Schema) -> Test:
        return lambda value: not isinstance(value, dict) or all(map(self.test(rules), value))

    def reference(self, to: str) -> Test:
        above, _, name = to.rpartition("/")
        if above != "#/$defs":
            return doubt(to)
        return lambda value: self.test(load("experiment")["$defs"][name])(value)


WHOLE, PARTIAL = Tests(partial=False), Tests(partial=True)


# --- keywords that need no other schema --------------------------------------------------------------------------


def doubt(wanted: Any) -> Test:
    return lambda value: False


def of_type(wanted: str | list[str]) -> Test:
    tests = [TYPES[name] for name in ([wanted] if isinstance(wanted, str) else wanted)]
    return tests[0] if len(tests) == 1 else lambda value: any(test(value) for test in tests)


def constant(wanted: Any) -> Test:
    return lambda value: type(value) is type(wanted) and value == wanted  # true is not 1


def one_of(wanted: list[Any]) -> Test:
    return lambda value: any(type(value) is type(word) and value == word for word in wanted)


def required(keys: list[str]) -> Test:
    return lambda value: not isinstance(value, dict) or all(key in value for key in keys)


def bound(holds: Callable[[Any, Any], bool]) -> Callable[[Any], Test]:
    return lambda limit: lambda value: not is_number(value) or holds(value, limit)


def count(kind: type[list[Any]] | type[dict[str, Any]], holds: Callable[[int, int], bool]) -> Callable[[int], Test]:
    return lambda limit: lambda value: not isinstance(value, kind) or holds(len(value), limit)


def matches(pattern: str) -> Test:
    search = re.compile(pattern).search
    return lambda value: not isinstance(value, str) or search(value) is not None


def differ(wanted: bool) -> Test:
    """No item twice; Python finds a few more things equal than JSON does, and those are doubts."""
    return lambda value: not isinstance(value, list) or not any(item in value[:i] for i, item in enumerate(value))


KEYWORDS: dict[str, Callable[[Any], Test]] = {
    "type": of_type,
    "const": constant,
    "enum": one_of,
    "required": required,
    "pattern": matches,
    "uniqueItems": differ,
    "minimum": bound(operator.ge),
    "maximum": bound(operator.le),
    "exclusiveMinimum": bound(operator.gt),
    "exclusiveMaximum": bound(operator.lt),
    "minItems": count(list, operator.ge),
    "maxItems": count(list, operator.le),
    "minProperties": count(dict, operator.ge),
}
