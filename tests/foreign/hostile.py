"""A hundred files that mean no good: pickles that run, headers that lie, archives that swell or lead elsewhere."""

from __future__ import annotations

import functools
import io
import json
import pickle
import struct
import zipfile
import zlib
from collections.abc import Iterator

import numpy as np

from tests.foreign.conftest import DATA

TRAP = "touch HERE_IT_RAN"
SWOLLEN = 300_000_000  # bytes that a small part claims to become
END = b"PK\x05\x06"


# --- pickles ----------------------------------------------------------------------------------------------------


class Runs:
    """An object whose pickle calls something when it is loaded."""

    def __init__(self, call, *arguments):
        self.made = call, arguments

    def __reduce__(self):
        return self.made


def called(module: str, name: str, argument: str = TRAP) -> bytes:
    """GLOBAL, an argument, REDUCE: the shortest way to run something."""
    return (
        b"\x80\x02c"
        + f"{module}\n{name}\n".encode()
        + b"X"
        + struct.pack("<I", len(argument))
        + argument.encode()
        + b"\x85R."
    )


def tensor(storage: bytes = b"c" + b"torch\nFloatStorage\n", key: str = "0", count: int = 4, **said) -> bytes:
    """A pickle {'a.weight': tensor} as torch writes it, with whatever is said of the tensor."""
    offset, shape, strides = said.get("offset", 0), said.get("shape", (2, 2)), said.get("strides", (2, 1))

    def number(value: int) -> bytes:
        return b"\x8a\x08" + struct.pack("<q", value)

    def group(values) -> bytes:
        return b"(" + b"".join(map(number, values)) + b"t"

    named = b"".join(b"X" + struct.pack("<I", len(word)) + word.encode() for word in ("storage",))
    key_text = b"X" + struct.pack("<I", len(key)) + key.encode()
    place = b"(" + named + storage + key_text + b"X\x03\x00\x00\x00cpu" + number(count) + b"tQ"
    rebuilt = (
        b"ctorch._utils\n_rebuild_tensor_v2\n(" + place + number(offset) + group(shape) + group(strides) + b"\x89}tR"
    )
    return b"\x80\x02}X\x08\x00\x00\x00a.weight" + rebuilt + b"s."


def pickles() -> dict[str, bytes]:
    """Programs that are to be refused wherever they stand."""
    word = b"X" + struct.pack("<I", len(TRAP)) + TRAP.encode()
    doubled = b"\x80\x02)" + b"q\x00h\x00h\x00\x86" * 40 + b"."
    return {
        "system": called("posix", "system"),
        "system_by_protocol_4": b"\x80\x04\x8c\x05posix\x8c\x06system\x93" + word + b"\x85R.",
        "eval": called("builtins", "eval", "__import__('os').system('touch HERE_IT_RAN')"),
        "exec": called("builtins", "exec", "import os; os.system('touch HERE_IT_RAN')"),
        "getattr": called("builtins", "getattr"),
        "popen": called("subprocess", "Popen"),
        "import_module": called("importlib", "import_module", "antigravity"),
        "torch_load": called("torch.serialization", "load", "/etc/passwd"),
        "torch_hub": called("torch.hub", "load"),
        "rebuild_from_type": called("torch._tensor", "_rebuild_from_type_v2"),
        "numpy_object": pickle.dumps(np.array([Runs(print, 1)], dtype=object), protocol=2),
        "dict_subclass": called("collections", "defaultdict"),
        "ordered_dict_of_text": called("collections", "OrderedDict"),
        "storage_called": called("torch", "FloatStorage"),
        "instance": b"(" + word + b"iposix\nsystem\n.",
        "object": b"(cposix\nsystem\n" + word + b"o.",
        "new_object": b"\x80\x02cposix\nsystem\n" + word + b"\x85\x81.",
        "new_object_with_names": b"\x80\x04\x8c\x05posix\x8c\x06system\x93)}\x92.",
        "extension": b"\x80\x02\x82\x01.",
        "persistent_text": b"P" + TRAP.encode() + b"\n.",
        "persistent_other": b"\x80\x02" + word + b"Q.",
        "build_of_a_tensor": tensor()[:-2] + b"}bs.",
        "build_without_dict": b"\x80\x02}" + word + b"b.",
        "attributes": b"\x80\x02cos\nenviron\n}b.",
        "reduce_of_text": b"\x80\x02" + word + word + b"\x85R.",
        "memo_of_nothing": b"\x80\x02h\x07.",
        "tuple_without_mark": b"\x80\x02t.",
        "key_that_is_a_list": b"\x80\x02}]Ns.",
        "cut_short": called("posix", "system")[:9],
        "empty": b"",
        "marks_without_end": b"\x80\x02" + b"(" * 3_000_000,
        "dictionaries_without_end": b"\x80\x04" + b"}\x94" * 1_500_000 + b".",
        "laughing": doubled,
        "in_itself": b"\x80\x02}q\x00X\x01\x00\x00\x00ah\x00s.",
        "float_key": b"\x80\x02}G?\xf0\x00\x00\x00\x00\x00\x00Ns.",
    }


# --- archives ---------------------------------------------------------------------------------------------------


def zipped(parts: dict[str, bytes], compress: bool = False, **attributes) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED) as archive:
        for name, content in parts.items():
            entry = zipfile.ZipInfo(name)
            entry.compress_type = archive.compression
            entry.external_attr = attributes.get("mode", 0o644) << 16
            archive.writestr(entry, content)
    return held.getvalue()


def torched(program: bytes, **parts: bytes) -> bytes:
    """A file of torch.save with this pickle."""
    return zipped({"archive/data.pkl": program, "archive/data/0": b"\0" * 16, "archive/version": b"3\n"} | parts)


def sb3(change=None, policy: bytes | None = None, **more: bytes) -> bytes:
    """The agent of Stable-Baselines3 with its JSON changed, or with other tensors."""
    with zipfile.ZipFile(DATA / "dqn.zip") as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    told = json.loads(parts["data"])
    if change is not None:
        change(told)
    parts |= {"data": json.dumps(told).encode(), **more}
    return zipped(parts if policy is None else parts | {"policy.pth": policy})


def swelling(name: str, others: dict[str, bytes]) -> bytes:
    """An archive of which one part is zeros without end."""
    raw = zipped({**others, name: b""}, compress=True)
    return patched_part(raw, name, zeros(), SWOLLEN, zipfile.ZIP_DEFLATED)


@functools.cache
def zeros() -> bytes:
    packer = zlib.compressobj(1, zlib.DEFLATED, -15)
    return packer.compress(b"\0" * SWOLLEN) + packer.flush()


def patched_part(raw: bytes, name: str, block: bytes, claimed: int, method: int) -> bytes:
    """An archive with one part more, whose directory says what we like."""
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        parts = {entry.filename: archive.read(entry) for entry in archive.infolist() if entry.filename != name}
    body, directory = b"", b""
    everything = [(each, content, len(content), zipfile.ZIP_STORED) for each, content in parts.items()]
    for each, content, size, how in [*everything, (name, block, claimed, method)]:
        crc = zlib.crc32(content) if how == zipfile.ZIP_STORED and size == len(content) else 0
        common = struct.pack("<HHHHHIIIHH", 20, 0, how, 0, 33, crc, len(content), size, len(each), 0)
        directory += (
            b"PK\x01\x02"
            + struct.pack("<H", 20)
            + common
            + struct.pack("<HHHII", 0, 0, 0, 0, len(body))
            + each.encode()
        )
        body += b"PK\x03\x04" + common + each.encode() + content
    count = len(parts) + 1
    return body + directory + END + struct.pack("<HHHHIIH", 0, 0, count, count, len(directory), len(body), 0)


def archives() -> Iterator[tuple[str, bytes]]:
    good = tensor()
    with zipfile.ZipFile(DATA / "dqn.zip") as archive:
        whole = {name: archive.read(name) for name in archive.namelist()}
    yield "bomb_in_data.zip", swelling("data", {"policy.pth": whole["policy.pth"]})
    yield "bomb_in_policy.zip", swelling("policy.pth", {"data": whole["data"]})
    yield "bomb_in_program.pth", swelling("archive/data.pkl", {})
    yield (
        "bomb_in_storage.pth",
        swelling(
            "archive/data/0", {"archive/data.pkl": tensor(count=SWOLLEN // 4, shape=(SWOLLEN // 4, 1), strides=(1, 1))}
        ),
    )
    yield "bomb_in_array.npz", swelling("w.weight.npy", {})
    yield "link_as_data.zip", zipped(whole | {"data": b"/etc/passwd"}, mode=0o120777)
    yield "link_as_policy.zip", zipped({"data": whole["data"], "policy.pth": b"../../outside"}, mode=0o120777)
    yield "link_as_program.pth", zipped({"archive/data.pkl": b"/etc/passwd"}, mode=0o120777)
    yield "link_as_storage.pth", zipped({"archive/data.pkl": good, "archive/data/0": b"/etc/passwd "}, mode=0o120777)
    yield "way_out.zip", zipped({"../../../outside": b"x", "/tmp/outside": b"x"})
    yield "way_out_by_storage.pth", torched(tensor(key="../../../../etc/passwd"))
    yield "listed_twice.pth", twice()
    yield "claims_more.pth", patched_part(zipped({"archive/data.pkl": good}), "archive/data/0", b"\0" * 16, 10**9, 0)
    yield "claims_more.zip", patched_part(zipped({"policy.pth": whole["policy.pth"]}), "data", b"{}", 4 * 10**9, 0)
    yield "unknown_packing.zip", patched_part(zipped({"policy.pth": whole["policy.pth"]}), "data", b"{}", 2, 12)
    yield "encrypted.zip", encrypted(zipped({"data": b"{}", "policy.pth": b"x"}))
    yield "too_many.zip", crowded()
    yield "no_directory.zip", zipped({"data": b"{}"})[:-20]
    yield (
        "directory_elsewhere.zip",
        zipped({"data": b"{}", "policy.pth": b""})[:-6] + struct.pack("<I", 2**31) + b"\0\0",
    )
    yield "archive_in_archive.zip", zipped({"data": whole["data"], "policy.pth": zipped({"policy.pth": b"x"})})
    yield "nothing_known.zip", zipped({"readme": b"hello"})
    yield "damaged.zip", bytes(byte ^ (0x55 if 300 < place < 9000 else 0) for place, byte in enumerate(sb3()))


def twice() -> bytes:
    raw = bytearray(zipped({"archive/data.pkl": tensor(), "archive/data.pkm": called("posix", "system")}))
    return bytes(raw.replace(b"data.pkm", b"data.pkl"))


def encrypted(raw: bytes) -> bytes:
    """Every entry says that it is encrypted."""
    changed = bytearray(raw)
    for sign, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = changed.find(sign)
        while place >= 0:
            changed[place + offset] |= 1
            place = changed.find(sign, place + 4)
    return bytes(changed)


def crowded() -> bytes:
    """A directory of six megabytes."""
    return (
        b"PK\x03\x04"
        + b"\0" * 26
        + b"\0" * 6_000_000
        + END
        + struct.pack("<HHHHIIH", 0, 0, 65535, 65535, 6_000_000, 30, 0)
    )


# --- tensors that lie -------------------------------------------------------------------------------------------


def liars() -> Iterator[tuple[str, bytes]]:
    huge = 2**40
    yield "more_than_storage.pth", torched(tensor(shape=(4, 4), strides=(4, 1)))
    yield "expanded.pth", torched(tensor(shape=(100_000, 100_000), strides=(0, 0)))
    yield "expanded_a_little.pth", torched(tensor(shape=(100, 100), strides=(0, 0)))
    yield "offset_beyond.pth", torched(tensor(offset=3))
    yield "negative_stride.pth", torched(tensor(strides=(-2, 1)))
    yield "negative_shape.pth", torched(tensor(shape=(-2, -2)))
    yield "shape_and_strides.pth", torched(tensor(strides=(1,)))
    yield "storage_of_huge_count.pth", torched(tensor(count=huge, shape=(2**20, 2**20), strides=(2**20, 1)))
    yield "storage_missing.pth", torched(tensor(key="7"))
    yield "storage_cut.pth", torched(tensor(), **{"archive/data/0": b"\0" * 15})
    yield "storage_of_names.pth", torched(tensor(storage=b"ccollections\nOrderedDict\n"))
    yield "other_byte_order.pth", torched(tensor(), **{"archive/byteorder": b"big"})
    yield "no_numbers.pth", torched(tensor(), **{"archive/data/0": struct.pack("<4f", 1, 2, np.nan, 3)})
    yield "safetensors_header.safetensors", struct.pack("<Q", 2**62) + b'{"a":' + b" " * 100
    yield (
        "safetensors_offsets.safetensors",
        safetensored({"a.weight": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 10**12]}}),
    )
    yield (
        "safetensors_shape.safetensors",
        safetensored({"a.weight": {"dtype": "F32", "shape": [2**32, 2**32], "data_offsets": [0, 16]}}, 16),
    )
    yield (
        "safetensors_type.safetensors",
        safetensored({"a.weight": {"dtype": "PYTHON", "shape": [4], "data_offsets": [0, 16]}}, 16),
    )
    yield "safetensors_deep.safetensors", struct.pack("<Q", 100_000) + b'{"a":' + b"[" * 99_995
    yield "array_of_objects.npz", npz(np.array([Runs(print, 1)], dtype=object))
    yield "array_header.npz", npz_header("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, 1000000), }")
    yield "array_type.npz", npz_header("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }")
    yield "array_code.npz", npz_header("{'descr': __import__('os').system('touch HERE_IT_RAN'), 'shape': (1,)}")
    yield "bare_array.npy", npz_header("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", bare=True)
    yield "flax_list.msgpack", b"\x81\xa1a\xdd\xff\xff\xff\xff" + b"\xc0" * 1000
    yield "flax_nothing_in_lists.msgpack", b"\x81\xa1a\xdd\x00\x1e\x84\x80" + b"\x90" * 2_000_000
    yield "flax_deep.msgpack", b"\x81\xa1a" * 100_000 + b"\xc0"
    yield "flax_type.msgpack", flax_array([2, 2], "object", 16)
    yield "flax_shape.msgpack", flax_array([2**20, 2**20], "float32", 16)
    yield "flax_other.msgpack", b"\x81\xa1a\xc7\x04\x05abcd"
    yield "flax_cut.msgpack", flax_array([2, 2], "float32", 16)[:-8]
    yield "flax_key.msgpack", b"\x81\x01\xc0"


def safetensored(header: dict, length: int = 0) -> bytes:
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + b"\0" * length


def npz(array: np.ndarray) -> bytes:
    held = io.BytesIO()
    np.savez(held, w=array)
    return held.getvalue()


def npz_header(header: str, bare: bool = False) -> bytes:
    text = header.encode() + b"\n"
    array = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + pickle.dumps(1)
    return array if bare else zipped({"w.weight.npy": array})


def flax_array(shape, dtype: str, length: int) -> bytes:
    packed = b"\x93" + bytes([0x90 + len(shape)]) + b"".join(b"\xce" + struct.pack(">I", side) for side in shape)
    packed += bytes([0xA0 + len(dtype)]) + dtype.encode() + b"\xc4" + bytes([length]) + b"\0" * length
    return b"\x81\xa1a\x81\xa6kernel\xc7" + bytes([len(packed)]) + b"\x01" + packed


# --- descriptions that lie --------------------------------------------------------------------------------------


def descriptions() -> Iterator[tuple[str, bytes]]:
    def space(told, **fields):
        told["observation_space"] |= fields

    deep = b'{"a":' * 50_000
    yield "json_deep.zip", sb3(data=deep)
    yield "json_none.zip", sb3(data=b"no json")
    yield "json_list.zip", sb3(data=b"[]")
    yield "json_numbers.zip", sb3(data=b'{"gamma": ' + b"9" * 10_000 + b"}")
    yield "json_wide.zip", sb3(data=b'{"a": [' + b"{}," * 1_300_000 + b"{}]}")
    yield "discount_of_text.zip", sb3(lambda told: told.update(gamma="0.9; rm -rf"))
    yield "discount_of_one.zip", sb3(lambda told: told.update(gamma=1.0))
    yield "spaces_open.zip", sb3(lambda told: space(told, spaces="{'observation': Box(-1.0, 1.0, (3,"))
    yield "spaces_long.zip", sb3(lambda told: space(told, spaces="(" * 1_000_000))
    yield "spaces_huge.zip", sb3(lambda told: space(told, spaces="{'observation': Box(-1, 1, (999999999, 99), f)}"))
    yield "spaces_code.zip", sb3(lambda told: space(told, spaces="__import__('os').system('touch HERE_IT_RAN')"))
    yield "actions_huge.zip", sb3(lambda told: told["action_space"].update(n="99999999999999999999"))
    yield "actions_negative.zip", sb3(lambda told: told["action_space"].update(n="-5"))
    yield "activation_code.zip", sb3(lambda told: told.update(policy_kwargs={"activation_fn": "os.system('x')"}))
    yield "no_spaces.zip", sb3(lambda told: told.pop("observation_space"))


def hostile_files() -> dict[str, bytes]:
    """Name: content, of every file."""
    found = dict(archives()) | dict(liars()) | dict(descriptions())
    for name, program in pickles().items():
        found[f"{name}.pth"] = torched(program)
        if len(program) < 1_000_000:
            found[f"{name}_in_policy.zip"] = sb3(policy=torched(program))
        if name in ("system", "eval", "numpy_object", "instance"):
            found[f"{name}.pkl"] = program if program.startswith(b"\x80") else b"\x80\x02" + program
    return found
