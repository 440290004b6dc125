"""How much may be asked of wmlab at once: every limit of its input is said here, and nowhere else.

They are far above what experiments need, and low enough that whatever a spec says is answered within seconds and a few
hundred megabytes. docs/language.md lists them.
"""

from __future__ import annotations

from collections.abc import Iterable

# --- one file of YAML ---------------------------------------------------------------------------------------------
SPEC_BYTES = 5_000_000
VALUES = 100_000  # with every alias written out
DEPTH = 100  # of mappings and lists in each other

# --- what stands in it --------------------------------------------------------------------------------------------
NAME_CHARACTERS = 100  # of names and labels: files and folders are called by them
KEY_CHARACTERS = 200
EXPRESSION_CHARACTERS = 2_000
EXPRESSION_DEPTH = 50  # brackets within brackets, operators within operators
NAMED = 2_000  # claims, or variants, or goals, or whatever else has names of its own
LET_NAMES = 500
PROFILES = 20
POINTS = 2_000  # of a sweep, variants counted
STATES = (
    2_000_000  # of a finite world: checked in a second and 200 MB; what a method holds of them is weighed on its own
)
ACTIONS = 10_000  # of a world written in expressions
GOALS = 10_000  # that are listed, or lie on a grid
HINDSIGHT_STATES = 3_000  # each of which pays as a goal of its own: 72 MB of tables, and some 400 MB to draw them
CONTINUOUS_NUMBER = 1e18  # in a continuous world: float32 holds its square
GRID = 1_000_000  # points of a planner along one variable
SUITE_MEMBERS = 500
FILES = 100  # that one spec is made of, one extending the other

# --- files of arrays ----------------------------------------------------------------------------------------------
ARRAY_FILE_BYTES = 8_000_000_000
ARRAY_BYTES = 4_000_000_000  # of one array in memory
ARRAYS = 10_000  # in one file
ARRAY_HEADER_BYTES = 65_536
SMALL_ARRAYS_BYTES = 50_000_000  # of arrays that are read before anything runs
TABLE_BYTES = 1_000_000_000  # of a table of text
LINE_CHARACTERS = 100_000  # of one row of it

# --- files that other libraries save --------------------------------------------------------------------------------
AGENT_FILE_BYTES = 2_000_000_000
UNPACKED_BYTES = 64_000_000  # of one part of an archive that is compressed
DESCRIPTION_BYTES = 4_000_000  # of the part that says which tensors there are, or how an agent was made
TENSOR_NAMES = 20_000  # of tensors and of whatever stands beside them

# --- comparisons ---------------------------------------------------------------------------------------------------
SIDES = 26  # at once: each is called by a letter

# --- messages -----------------------------------------------------------------------------------------------------
WORD_CHARACTERS = 60  # of a word that a message repeats
LIST_CHARACTERS = 300  # of several
MESSAGE_CHARACTERS = 1_000  # of all of it
EXCERPT_CHARACTERS = 160  # of a source line


def holds_too_large(value: object) -> bool:
    """Whether a number, or one within a mapping or a list, is too large for a continuous world."""
    if isinstance(value, dict):
        return any(map(holds_too_large, value.values()))
    if isinstance(value, list):
        return any(map(holds_too_large, value))
    return isinstance(value, (int, float)) and abs(value) > CONTINUOUS_NUMBER


def shorten(text: str, most: int = WORD_CHARACTERS) -> str:
    """A text as a message repeats it: where it is long, its end is left out."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def listed(words: Iterable[str], most: int = LIST_CHARACTERS) -> str:
    """Words with commas between them, as many as a message has room for."""
    shown: list[str] = []
    room, left_out = most, 0
    for word in words:
        word = shorten(word)
        room -= len(word) + 2
        if room < 0:
            left_out += 1
        else:
            shown.append(word)
    return ", ".join(shown) + (f" and {grouped(left_out)} more" if left_out else "")


def grouped(number: int) -> str:
    """A number as people read it, 50 000; one of more digits than anybody reads is not written out."""
    return f"{number:_}".replace("_", " ") if number < 10**15 else "more than 10^15"
