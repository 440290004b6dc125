"""The pickle inside a file of torch.save, read as data.

A pickle is a list of instructions to a small machine, and one of them is: look up this name and call it. Here is
another machine. It knows the instructions that torch writes for dictionaries of tensors; a name is compared with a
list, and is never looked up; "calling" one of these makes a record of this module. Any other name and any other
instruction ends the reading. Python's own pickle is not used, and nothing of the file is ever run.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, NoReturn

from wmlab.foreign.torch_names import KNOWN, ORDERED, PARAMETER, SIZE, STORAGES, TENSOR, Name, Storage, TensorPlace
from wmlab.limits import grouped, shorten
from wmlab.spec.check.array_headers import Unreadable

INSTEAD = "save the tensors alone, with torch.save(network.state_dict(), file)"
MOST = 500_000  # instructions; torch writes some 25 for a tensor


def read_instructions(data: bytes) -> Any:
    """What a pickle says: dictionaries, lists, tuples, texts, numbers, and places of tensors; Unreadable otherwise."""
    return Machine(data).run()


class Machine:
    """The stack, the marks in it and the memo that instructions work on."""

    def __init__(self, data: bytes):
        self.data, self.place = data, 0
        self.stack: list[Any] = []
        self.below: list[list[Any]] = []  # stacks under the marks
        self.memo: dict[int, Any] = {}

    def run(self) -> Any:
        for _ in range(MOST):
            code = self.take(1)[0]
            if code == 0x2E:  # STOP
                return self.pop()
            step = INSTRUCTIONS.get(code)
            if step is None:
                self.refuse(f"instruction 0x{code:02x} at byte {self.place - 1}, which no tensor needs")
            step(self)
        self.refuse(f"more than {grouped(MOST)} instructions")

    def refuse(self, what: str) -> NoReturn:
        raise Unreadable(f"its pickle holds {what}; {INSTEAD}")

    # --- what instructions need -------------------------------------------------------------------------------------

    def take(self, count: int) -> bytes:
        taken = self.data[self.place : self.place + count]
        if len(taken) < count:
            raise Unreadable("its pickle is cut short; save the agent again")
        self.place += count
        return taken

    def number(self, form: str) -> Any:
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def text(self, length: int) -> str:
        try:
            return self.take(length).decode("utf-8")
        except UnicodeDecodeError:
            self.refuse("bytes that are no text")

    def line(self) -> str:
        end = self.data.find(b"\n", self.place, self.place + 1_000)
        if end < 0:
            self.refuse("a name without an end")
        word = self.text(end - self.place)
        self.place += 1
        return word

    def pop(self) -> Any:
        if not self.stack:
            self.refuse("an instruction with nothing to work on")
        return self.stack.pop()

    def push(self, value: Any) -> None:
        self.stack.append(value)

    def since_mark(self) -> list[Any]:
        if not self.below:
            self.refuse("an instruction with nothing to work on")
        items, self.stack = self.stack, self.below.pop()
        return items

    def top(self, kind: type) -> Any:
        if not self.stack or not isinstance(self.stack[-1], kind):
            self.refuse("an instruction that does not fit what it works on")
        return self.stack[-1]

    # --- instructions -----------------------------------------------------------------------------------------------

    def mark(self) -> None:
        self.below.append(self.stack)
        self.stack = []

    def remember(self, slot: int) -> None:
        if not self.stack:
            self.refuse("an instruction with nothing to work on")
        self.memo[slot] = self.stack[-1]

    def recall(self, slot: int) -> None:
        if slot not in self.memo:
            self.refuse("a reference to nothing")
        self.push(self.memo[slot])

    def group(self, count: int) -> None:
        if len(self.stack) < count:
            self.refuse("an instruction with nothing to work on")
        items = self.stack[len(self.stack) - count :]
        del self.stack[len(self.stack) - count :]
        self.push(tuple(items))

    def set_items(self, items: list[Any]) -> None:
        known = self.top(dict)
        if len(items) % 2:
            self.refuse("a key without a value")
        for key, value in zip(items[::2], items[1::2], strict=True):
            if not isinstance(key, (str, int)):
                self.refuse("a dictionary whose keys are neither texts nor numbers")
            known[key] = value

    def name(self, module: Any, name: Any) -> None:
        if not isinstance(module, str) or not isinstance(name, str):
            self.refuse("a name that is no text")
        found = Name(module, name)
        if found not in KNOWN:
            self.refuse(f"'{shorten(str(found))}', which is no tensor and would be run by whoever loads the file")
        self.push(found)

    def storage(self) -> None:
        said = self.pop()
        match said:
            case ("storage", Name() as kind, str(key), str(), int(count)) if kind in STORAGES and count >= 0:
                self.push(Storage(key, STORAGES[kind], count))
            case _:
                self.refuse("a reference that is no storage of numbers")

    def make(self) -> None:
        arguments, name = self.pop(), self.pop()
        match name, arguments:
            case (_, ()) if name == ORDERED:
                self.push({})
            case (_, (list(pairs),)) if name == ORDERED:
                self.push({})
                self.set_items([part for pair in pairs for part in self.pair(pair)])
            case (_, (Storage() as storage, int(offset), tuple(shape), tuple(strides), *_)) if name in TENSOR:
                self.push(self.tensor(storage, offset, shape, strides))
            case (_, (TensorPlace() as tensor, *_)) if name == PARAMETER:
                self.push(tensor)
            case (_, (tuple(shape),)) if name == SIZE:
                self.push(shape)
            case _:
                self.refuse("a call that makes no tensor")

    def pair(self, pair: Any) -> tuple[Any, Any]:
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            self.refuse("a key without a value")
        return pair[0], pair[1]

    def tensor(self, storage: Storage, offset: int, shape: tuple[Any, ...], strides: tuple[Any, ...]) -> TensorPlace:
        numbers = (offset, *shape, *strides)
        if len(shape) != len(strides) or any(type(each) is not int or each < 0 for each in numbers):
            self.refuse("a tensor whose shape is none")
        return TensorPlace(storage, offset, shape, strides)

    def build(self) -> None:
        """An ordered dictionary of torch has versions of its modules beside it, which say nothing about numbers."""
        state = self.pop()
        if not isinstance(state, dict):
            self.refuse("a state that is no dictionary")
        self.top(dict)


def _tuple(machine: Machine) -> None:
    machine.push(tuple(machine.since_mark()))


def _appends(machine: Machine) -> None:
    items = machine.since_mark()
    machine.top(list).extend(items)


def _append(machine: Machine) -> None:
    item = machine.pop()
    machine.top(list).append(item)


def _set_items(machine: Machine) -> None:
    machine.set_items(machine.since_mark())


def _set_item(machine: Machine) -> None:
    value, key = machine.pop(), machine.pop()
    machine.set_items([key, value])


def _global(machine: Machine) -> None:
    module = machine.line()
    machine.name(module, machine.line())


def _stack_global(machine: Machine) -> None:
    name, module = machine.pop(), machine.pop()
    machine.name(module, name)


INSTRUCTIONS: dict[int, Callable[[Machine], None]] = {
    ord("("): Machine.mark,
    ord("}"): lambda machine: machine.push({}),
    ord("]"): lambda machine: machine.push([]),
    ord(")"): lambda machine: machine.push(()),
    ord("N"): lambda machine: machine.push(None),
    0x88: lambda machine: machine.push(True),
    0x89: lambda machine: machine.push(False),
    ord("K"): lambda machine: machine.push(machine.number("<B")),
    ord("M"): lambda machine: machine.push(machine.number("<H")),
    ord("J"): lambda machine: machine.push(machine.number("<i")),
    0x8A: lambda machine: machine.push(int.from_bytes(machine.take(machine.number("<B")), "little", signed=True)),
    ord("G"): lambda machine: machine.push(machine.number(">d")),
    ord("X"): lambda machine: machine.push(machine.text(machine.number("<I"))),
    0x8C: lambda machine: machine.push(machine.text(machine.number("<B"))),
    ord("q"): lambda machine: machine.remember(machine.number("<B")),
    ord("r"): lambda machine: machine.remember(machine.number("<I")),
    0x94: lambda machine: machine.remember(len(machine.memo)),
    ord("h"): lambda machine: machine.recall(machine.number("<B")),
    ord("j"): lambda machine: machine.recall(machine.number("<I")),
    ord("t"): _tuple,
    0x85: lambda machine: machine.group(1),
    0x86: lambda machine: machine.group(2),
    0x87: lambda machine: machine.group(3),
    ord("s"): _set_item,
    ord("u"): _set_items,
    ord("a"): _append,
    ord("e"): _appends,
    ord("c"): _global,
    0x93: _stack_global,
    ord("Q"): Machine.storage,
    ord("R"): Machine.make,
    ord("b"): Machine.build,
    0x80: lambda machine: machine.number("<B"),  # which version of pickle it is
    0x95: lambda machine: machine.number("<Q"),  # how long a stretch of it is
}
