"""Parts of a .zip that others made: read in place, within limits, and never unpacked to the disk."""

from __future__ import annotations

import io
import os
import stat
import zipfile
from typing import IO

from wmlab.limits import UNPACKED_BYTES, listed, shorten
from wmlab.spec.check.array_headers import DAMAGED_ARCHIVE, Unreadable, require_few_members
from wmlab.spec.files import size

LOCAL_HEADER = 30  # bytes before the name of a part, which says at 26 and 28 how long its name and its extras are
DAMAGED = "it is no whole archive; copy it again, or save the agent again"


class Window(io.RawIOBase):
    """A stretch of a file, as a file of its own."""

    def __init__(self, stream: IO[bytes], first: int, length: int):
        self.stream, self.first, self.length, self.place = stream, first, length, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self.place, os.SEEK_END: self.length}[whence]
        self.place = max(0, start + offset)
        return self.place

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        wanted = max(0, min(len(buffer), self.length - self.place))
        self.stream.seek(self.first + self.place)
        data = self.stream.read(wanted)
        buffer[: len(data)] = data
        self.place += len(data)
        return len(data)


class Archive:
    """The parts of a .zip by name. Whatever is wrong with it is Unreadable, in words."""

    def __init__(self, stream: IO[bytes]):
        self.stream = stream
        self.length = stream.seek(0, os.SEEK_END)
        require_few_members(stream)
        try:
            self.zip = zipfile.ZipFile(stream)
            parts = self.zip.infolist()
        except DAMAGED_ARCHIVE:
            raise Unreadable(DAMAGED) from None
        self.parts = {part.filename: part for part in parts}
        if len(self.parts) < len(parts):
            raise Unreadable("it lists a part twice: two readers could find different things in it")

    def read(self, name: str, most: int) -> bytes:
        """All of a part of at most so many bytes."""
        part = self.part(name)
        limit = most if part.compress_type == zipfile.ZIP_STORED else min(most, UNPACKED_BYTES)
        if part.file_size > limit:
            raise Unreadable(f"'{shorten(name)}' claims {size(part.file_size)}; {size(limit)} are allowed")
        try:
            with self.zip.open(part) as stream:
                data = stream.read(limit + 1)
        except DAMAGED_ARCHIVE:
            raise Unreadable(f"'{shorten(name)}' is damaged: {DAMAGED}") from None
        if len(data) != part.file_size:
            raise Unreadable(f"'{shorten(name)}' is cut short: {size(part.file_size)} claimed, {size(len(data))} there")
        return data

    def open(self, name: str) -> IO[bytes]:
        """A part as a file to look around in: in place, or in memory where it is compressed."""
        part = self.part(name)
        if part.compress_type != zipfile.ZIP_STORED:
            return io.BytesIO(self.read(name, UNPACKED_BYTES))
        self.stream.seek(part.header_offset)
        header = self.stream.read(LOCAL_HEADER)
        name_and_extras = sum(int.from_bytes(header[at : at + 2], "little") for at in (26, 28))
        first = part.header_offset + LOCAL_HEADER + name_and_extras
        return io.BufferedReader(Window(self.stream, first, min(part.file_size, max(0, self.length - first))))

    def part(self, name: str) -> zipfile.ZipInfo:
        """A part that can be read: a file, not encrypted, and no larger than all of the archive unless compressed."""
        if name not in self.parts:
            raise Unreadable(f"it has no part '{shorten(name)}'; it holds {listed(self.parts) or 'nothing'}")
        part = self.parts[name]
        if stat.S_ISLNK(part.external_attr >> 16):
            raise Unreadable(f"'{shorten(name)}' is a link to somewhere else, not a file")
        if part.flag_bits & 1:
            raise Unreadable(f"'{shorten(name)}' is encrypted")
        if part.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise Unreadable(f"'{shorten(name)}' is packed in a way that is not read here; save the agent again")
        if part.compress_type == zipfile.ZIP_STORED and part.file_size > self.length:
            raise Unreadable(f"'{shorten(name)}' claims {size(part.file_size)}, more than the whole file has")
        return part
