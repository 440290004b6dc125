"""Folders that are written for a user: replaced in one step, by one process at a time, and the user's own files stay.

What is written waits for the disk: it is what a user shows to others, and small.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from wmlab.errors import WmlabError
from wmlab.runtime.durable import make_folders, recover_folder, replace_folder
from wmlab.runtime.events import Listener, Notice
from wmlab.runtime.lock import Holder, KeyLock

OVERRIDES = 80  # bytes of what was changed on the command line, in the name of a folder
LONGEST = 150  # bytes of a name; most file systems take 255, and names of locks and folders aside are longer


@contextmanager
def lock_folder(folder: Path, tell: Listener) -> Iterator[None]:
    """Keep other processes from writing into a folder; what one that was killed had begun is finished first."""
    make_folders(folder.parent)
    lock = KeyLock(folder.with_name(f".{folder.name}.lock"), folder.name)

    def waiting(holder: Holder | None) -> None:
        who = f"process {holder.pid} on {holder.host}" if holder else "another process"
        tell(Notice(f"waiting for {who} to write {folder}"))

    lock.acquire(waiting=waiting)
    try:
        recover_folder(folder)
        yield
    finally:
        lock.release()


def replace_output(folder: Path, fill: Callable[[Path], None], is_ours: Callable[[str], bool]) -> None:
    """Put what `fill` writes in the place of a folder; files there that are not ours, by their paths in it, stay."""

    def fill_and_keep(new: Path) -> None:
        fill(new)
        if folder.is_dir():
            os.chmod(new, stat.S_IMODE(os.stat(folder).st_mode))
            _carry_over(folder, new, is_ours)

    replace_folder(folder, fill_and_keep, durable=True)


def _carry_over(old: Path, new: Path, is_ours: Callable[[str], bool]) -> None:
    """Give a user's files and folders their place in the new folder, too: the same files under a second name."""
    for place, folders, files in os.walk(old):
        inside = Path(place).relative_to(old)
        links = [name for name in folders if (Path(place) / name).is_symlink()]
        for name in {*folders}.difference(links):
            _make_beside(new / inside / name, old / inside / name)
        for name in (*files, *links):
            if not is_ours((inside / name).as_posix()):
                _link(old / inside / name, new / inside / name)


def _make_beside(path: Path, like: Path) -> None:
    if path.is_dir():
        return
    if not os.path.lexists(path):
        path.mkdir()
        shutil.copystat(like, path)
    elif next(like.iterdir(), None) is not None:
        raise WmlabError(f"{like} is a folder where a file is to be written; move it elsewhere and try again")


def _link(source: Path, target: Path) -> None:
    if os.path.lexists(target):
        return  # ours by its name
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:  # a file system without second names
        shutil.copy2(source, target, follow_symlinks=False)


# --- names ------------------------------------------------------------------------------------------------------


def safe_name(text: str) -> str:
    """A name or label as the name of one file: what a file system refuses is written as %XX, and a long one is cut."""
    name = "".join(character if _fits(character) else _escaped(character) for character in text)
    name = f"%2E{name[1:]}" if name.startswith(".") else name or "%"
    if len(name.encode()) <= LONGEST:
        return name
    mark = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{name.encode()[: LONGEST - 13].decode(errors='ignore')}~{mark}"


def profile_folder(profile: str, sets: Sequence[str]) -> str:
    """The name of a profile's folder; what was changed on the command line has one of its own, `smoke+seeds=3`.

    What a shell would have to quote is left out, and a long name is cut; then a mark tells such names apart.
    """
    if not sets:
        return safe_name(profile)
    changes = "+".join(sets)
    plain = re.sub(r"[^A-Za-z0-9._=,+-]+", "_", changes)[:OVERRIDES]
    mark = "" if plain == changes else f"~{hashlib.sha256(changes.encode('utf-8', 'surrogatepass')).hexdigest()[:7]}"
    return safe_name(f"{profile}+{plain}{mark}")


def _fits(character: str) -> bool:
    try:
        os.fsencode(character)
    except UnicodeEncodeError:
        return False
    return character != "/" and character.isprintable()


def _escaped(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogatepass"))
