"""A first spec to change: templates that are valid, commented and small enough to run at once."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from wmlab.errors import UsageError, one_of, suggest
from wmlab.sections.forms import NAME
from wmlab.spec.schema import generate as schema

FOLDER = Path(__file__).resolve().parent.parent / "templates"
MODELINE = "# yaml-language-server: $schema="
BESIDE = "wmlab.schema.json"  # what editors complete from, where no project brings its own
OURS = '"title": "A wmlab spec file"'


@dataclass(frozen=True)
class NewSpec:
    """What was written: the spec, and what it needs beside it."""

    spec: Path
    beside: tuple[Path, ...]  # data that the spec reads
    schema: Path | None  # where there was none for editors to find


def templates() -> dict[str, str]:
    """Template: the question that it asks."""
    return {path.stem: title_of(path) for path in sorted(FOLDER.glob("*.yaml"))}


def title_of(path: Path) -> str:
    title = re.search(r"^title: (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    assert title is not None, f"{path.name} has no title"
    return title[1]


def write_new(name: str, template: str, output: Path | None = None) -> NewSpec:
    """Write a spec of this name from a template; nothing that exists is overwritten."""
    check_name(name)
    if template not in templates():
        hint = suggest(template, templates())
        raise UsageError(f"there is no template '{template}'; " + (hint or f"there are {one_of(templates())}"))
    target = target_of(name, output)
    companions = {source: target.parent / called for source, called in companions_of(template, name).items()}
    for path in (target, *companions.values()):
        if path.exists():
            raise UsageError(f"{path} exists, and nothing is overwritten; choose another name, or --output")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        known = find_schema(target.parent)
        editors = known or target.parent / BESIDE
        if known is None:
            editors.write_text((schema.folder() / schema.FILES["spec"]).read_text(encoding="utf-8"), encoding="utf-8")
        for source, path in companions.items():
            path.write_bytes(source.read_bytes())
        modeline = Path(os.path.relpath(editors, target.parent)).as_posix()
        target.write_text(filled(template, name, modeline), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{target} cannot be written: {error.strerror}") from error
    return NewSpec(target, tuple(companions.values()), None if known else editors)


def companions_of(template: str, name: str) -> dict[Path, str]:
    """Data files that belong to a template, and what they are called beside a spec of this name."""
    files = [path for path in sorted(FOLDER.glob(f"{template}_*")) if path.suffix != ".yaml"]
    return {path: path.name.replace(template, name, 1) for path in files}


def check_name(name: str) -> None:
    if re.match(NAME, name):
        return
    stem = Path(name).name.removesuffix(".yaml").removesuffix(".yml")
    better = re.sub(r"[^a-z0-9]+", "_", stem.lower()).strip("_")
    hint = f"; say {better}" if re.match(NAME, better) else ""
    if hint and "/" in name:
        hint += f" --output {Path(name).with_suffix('.yaml')}"
    raise UsageError(f"'{name}' is no name: lower-case letters, digits and _, beginning with a letter{hint}")


def target_of(name: str, output: Path | None) -> Path:
    """The file to write: here, in a folder, or as it is called."""
    if output is None:
        return Path(f"{name}.yaml")
    return output / f"{name}.yaml" if output.is_dir() or output.suffix not in (".yaml", ".yml") else output


def filled(template: str, name: str, modeline: str) -> str:
    """The template's text under another name, with the schema's place for editors."""
    first, *rest = (FOLDER / f"{template}.yaml").read_text(encoding="utf-8").splitlines(keepends=True)
    assert first.startswith(MODELINE), f"{template} does not begin with a modeline"
    text = "".join(rest)
    for source, called in companions_of(template, name).items():
        text = text.replace(source.name, called)
    # The comment behind the name stays in its column, where there is room.
    renamed = re.sub(
        rf"^name: {template} +",
        lambda line: f"{f'name: {name}':<{len(line[0]) - 1}} ",
        text,
        count=1,
        flags=re.MULTILINE,
    )
    return f"{MODELINE}{modeline}\n{renamed}"


def find_schema(folder: Path) -> Path | None:
    """The nearest schema of specs: a checkout's or project's schemas/ folder, or one that stands beside specs."""
    above = folder.resolve()
    for place in (above, *above.parents):
        for path in (place / BESIDE, place / "schemas" / schema.FILES["spec"]):
            if os.path.isfile(path) and OURS in path.read_text(encoding="utf-8", errors="replace")[:400]:
                return path
    return None
