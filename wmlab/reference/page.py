"""The reference as a Markdown page, and one topic of it as text for a terminal."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

from wmlab.errors import UsageError, suggest
from wmlab.reference.rules import Row
from wmlab.reference.topics import Topic, topics

FILE = "reference.md"
PLAIN = str.maketrans("", "", "<>[]")  # what an anchor leaves out of a path
HEAD = """# Reference

Every key, kind and option of a spec, written by `wmlab reference --write` from what the code declares; `wmlab reference
TOPIC` shows one of them on the screen. [language.md](language.md) explains how the parts play together, and
[tutorial.md](tutorial.md) begins at the beginning.

Each example is part of a whole spec that the tests validate. Any number may be an [expression](#expressions).
"""


def markdown() -> str:
    """The whole page."""
    parts = [HEAD, "\n".join(contents()), *(("\n".join(topic_lines(topic))) for topic in topics())]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def write(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / FILE
    path.write_text(markdown(), encoding="utf-8")
    return path


def contents(others: bool = False) -> Iterator[str]:
    """One line for each large topic, with its kinds behind it."""
    groups: list[tuple[Topic, list[Topic]]] = []
    for topic in topics(others):
        if topic.level == 2:
            groups.append((topic, []))
        else:
            groups[-1][1].append(topic)
    for topic, kinds in groups:
        behind = ", ".join(f"[{kind.name.partition('.')[2]}](#{kind.name})" for kind in kinds)
        yield f"- [{topic.title}](#{topic.name})" + (f": {behind}" if behind else "")


def topic_lines(topic: Topic) -> Iterator[str]:
    yield f'<a id="{topic.name}"></a>\n'
    yield f"{'#' * topic.level} {topic.title}\n"
    yield topic.says
    if topic.example:
        yield f"\n```yaml\n{topic.example}\n```"
    if topic.rows:
        yield "\n| option | type | default | |\n|---|---|---|---|"
        yield from (option_line(topic.name, row) for row in topic.rows)
    if topic.table:
        head, *lines = topic.table
        yield "\n" + table_line(*head) + "\n" + "|---" * len(head) + "|"
        yield from (table_line(*line) for line in lines)


def option_line(topic: str, row: Row) -> str:
    default = "required" if row.required else "" if row.default is None else row.default
    anchor = f'<a id="{topic}.{row.path.translate(PLAIN)}"></a>`{row.path}`'
    return table_line(anchor, row.type, default, row.says)


def table_line(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


# --- on a terminal ---------------------------------------------------------------------------------------------


def show_topics() -> str:
    """What can be asked for, the kinds of a family in a line."""
    lines = re.sub(r"\[([^]]*)\]\(#([^)]*)\)", r"\2", "\n".join(contents(others=True))).replace("- ", "  ")
    return f"wmlab reference TOPIC, with one of the topics\n{lines}\nor an option, such as agent.pqn.network.depth"


def show(name: str, width: int = 100) -> str:
    """One topic, or one option of it with its parts, as text."""
    entry = find(name)
    if isinstance(entry, Topic):
        return "\n".join(text_lines(entry, width))
    topic, option = entry
    lines = []
    for row in topic.rows:
        if row.path == option.path or row.path.startswith((f"{option.path}.", f"{option.path}[")):
            lines += [f"{topic.name}.{row.path}", *row_lines(row, width, "  ")]
    return "\n".join(lines)


def find(name: str) -> Topic | tuple[Topic, Row]:
    """By its whole name, by a kind's own, or by the path of an option."""
    known = topics(others=True)
    for topic in known:
        if name in (topic.name, topic.name.partition(".")[2]):
            return topic
    options = {f"{topic.name}.{row.path}": (topic, row) for topic in known for row in topic.rows}
    if name in options:
        return options[name]
    words = [word for topic in known for word in (topic.name, topic.name.partition(".")[2]) if word]
    hint = suggest(name, [*words, *options])
    raise UsageError(f"the reference has no '{name}'; " + (hint or "`wmlab reference` lists what it has"))


def text_lines(topic: Topic, width: int) -> Iterator[str]:
    plain = re.sub(r"\[([^]]*)\]\(#[^)]*\)", r"\1", topic.says)  # a link is only its words here
    yield topic.name
    yield from textwrap.wrap(plain.replace("`", ""), width, initial_indent="  ", subsequent_indent="  ")
    if topic.example:
        yield "\n" + textwrap.indent(topic.example, "    ")
    for row in topic.rows:
        yield f"\n  {row.path}"
        yield from row_lines(row, width, "    ")
    if topic.table:
        yield ""
        cells = [[re.sub(r"<a [^>]*></a>| \[more\].*|`", "", cell) for cell in line] for line in topic.table[1:]]
        room = max(len(line[0]) for line in cells)
        for first, *rest in cells:
            yield from textwrap.wrap(
                f"{first:<{room}}  {rest[0]}", width, initial_indent="  ", subsequent_indent=" " * (room + 4)
            )


def row_lines(row: Row, width: int, indent: str) -> list[str]:
    default = "required" if row.required else "" if row.default is None else f"default {row.default}"
    head = "; ".join(part for part in (row.type, default) if part).replace("`", "")
    return [
        *textwrap.wrap(head, width, initial_indent=indent, subsequent_indent=indent),
        *textwrap.wrap(row.says.replace("`", ""), width, initial_indent=indent, subsequent_indent=indent),
    ]
