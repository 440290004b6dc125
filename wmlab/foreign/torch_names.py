"""What the pickle of torch.save may speak of: ten names for storages, five for what is made of them, and no others."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Name:
    """A name of Python that a pickle mentions; it stands for nothing but itself."""

    module: str
    name: str

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"


@dataclass(frozen=True)
class Storage:
    """A part of the archive that holds numbers."""

    key: str  # the name of the part
    dtype: str  # as NumPy calls it; bfloat16 is none of NumPy's
    count: int


@dataclass(frozen=True)
class TensorPlace:
    """Where a tensor's numbers lie."""

    storage: Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


ORDERED = Name("collections", "OrderedDict")
TENSOR = tuple(Name("torch._utils", name) for name in ("_rebuild_tensor", "_rebuild_tensor_v2"))
PARAMETER = Name("torch._utils", "_rebuild_parameter")
SIZE = Name("torch", "Size")
STORAGES = {
    Name("torch", f"{name}Storage"): dtype
    for name, dtype in {
        "Float": "float32",
        "Double": "float64",
        "Half": "float16",
        "BFloat16": "bfloat16",
        "Long": "int64",
        "Int": "int32",
        "Short": "int16",
        "Char": "int8",
        "Byte": "uint8",
        "Bool": "bool",
    }.items()
}
KNOWN = {ORDERED, *TENSOR, PARAMETER, SIZE, *STORAGES}
