"""Doing one stage: under the key's lock, from inputs in the store to a result in the store."""

from __future__ import annotations

import importlib
import json
import os
import resource
import time
import traceback
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeAlias

from wmlab.core.memory import usable_memory
from wmlab.errors import OutOfMemory, WmlabError
from wmlab.runtime import codec, layout
from wmlab.runtime.cache import format_size
from wmlab.runtime.folder import Partial
from wmlab.runtime.layout import CacheError
from wmlab.runtime.limits import is_lack_of_memory, is_transient
from wmlab.runtime.lock import Holder, KeyLock
from wmlab.runtime.result import Result
from wmlab.runtime.store import CorruptEntry, MissingEntry, Store
from wmlab.runtime.watch import memory_of, memory_words

# Says something to the parent: an event (its type names a class of wmlab.runtime.events), a vital sign (see
# wmlab.runtime.watch), `finished` or `idle`.
Send: TypeAlias = Callable[[dict[str, Any]], None]
_INPUTS_IN_MEMORY = 128 * 2**20
_TRACEBACK_LINES = 16


@dataclass(frozen=True)
class StageTask:
    """A stage as a worker gets it: JSON data all through."""

    id: str
    key: str
    kind: str
    module: str
    label: str
    params: Mapping[str, Any]
    inputs: Mapping[str, str]  # name: key hash
    cores: int
    parts: Mapping[str, Any] = field(default_factory=dict)  # of the key: code, versions, device


@dataclass
class Context:
    """What a stage's `run` may use beside its parameters and inputs."""

    label: str
    partial: Partial
    _id: str
    _send: Send
    _last: float = 0.0

    def progress(self, done: float, total: float, note: str = "", numbers: Mapping[str, float] | None = None) -> None:
        """Say how far the stage is, in words and in numbers to draw curves of; cheap enough for an inner loop."""
        now = time.monotonic()
        if now - self._last >= 0.1 or done >= total:
            self._last = now
            share: dict[str, Any] = {"done": float(done), "total": float(total), "note": note}
            if numbers:
                share["numbers"] = {name: float(value) for name, value in numbers.items()}
            self._send({"type": "StageProgress", "id": self._id, "label": self.label, **share})


class Inputs:
    """Loaded inputs, kept in memory as long as they are few: neighbouring stages often share them."""

    def __init__(self, store: Store):
        self.store = store
        self._kept: OrderedDict[str, tuple[dict[str, Any], bytes]] = OrderedDict()
        self._size = 0

    def load(self, key: str) -> Result:
        """The result of a key. The data is decoded anew each time, so that no stage sees another's changes."""
        if key not in self._kept:
            files = self.store.load_files(key)
            with self.store.verified(key):
                result = codec.decode(files)
            self._kept[key] = (dict(result.arrays), files[codec.DATA])
            self._size += sum(len(content) for content in files.values())
            while self._size > _INPUTS_IN_MEMORY and len(self._kept) > 1:
                arrays, data = self._kept.popitem(last=False)[1]
                self._size -= sum(array.nbytes for array in arrays.values()) + len(data)
        self._kept.move_to_end(key)
        arrays, data = self._kept[key]
        return Result(dict(arrays), codec.decode_data(data))


def do_batch(tasks: Iterable[StageTask], inputs: Inputs, send: Send, go_on: Callable[[bool], bool]) -> None:
    """Do stages one after the other; those that another process is computing come last.

    `go_on(failed)` is asked after each stage whether to do the next.
    """
    busy = []
    for task in tasks:
        finished = do_task(task, inputs, send, block=False)
        if finished is None:
            busy.append(task)
        elif not go_on(finished["outcome"] == "failed"):
            return
    for task in busy:
        finished = do_task(task, inputs, send, block=True)
        if not go_on(finished is not None and finished["outcome"] == "failed"):
            return


def do_task(task: StageTask, inputs: Inputs, send: Send, *, block: bool) -> dict[str, Any] | None:
    """Do one stage and say how it went; None when another process has it and `block` is false."""
    lock = inputs.store.lock(task.key, task.label)

    def waiting(holder: Holder | None) -> None:
        send({"type": "StageWaiting", "id": task.id, "holder": str(holder or "another process")})

    started = time.perf_counter()
    try:
        if not _taken(lock, block, waiting):
            return None
        try:
            send({"type": "StageStarted", "id": task.id, "label": task.label, "pid": os.getpid(), "kind": task.kind})
            outcome = _attempt(task, inputs, send)
        finally:
            lock.release()
    except Exception as error:  # of the store or the lock: it costs this stage, and not the worker with all its others
        outcome = _failed(error, time.perf_counter() - started)
    finished = {"type": "finished", "id": task.id, **outcome}
    send(finished)
    return finished


def _taken(lock: KeyLock, block: bool, waiting: Callable[[Holder | None], None]) -> bool:
    try:
        return lock.acquire(block=block, waiting=waiting)
    except OSError as error:  # a full disk, or a server that has no locks left
        why = f"its lock {lock.path} cannot be taken: {layout.reason(error)}; run again when it can be"
        raise CacheError(why) from error


def _attempt(task: StageTask, inputs: Inputs, send: Send) -> dict[str, Any]:
    store = inputs.store
    if store.has(task.key):
        return {"outcome": "cached"}
    try:
        loaded = {name: inputs.load(key) for name, key in task.inputs.items()}
    except (CorruptEntry, MissingEntry) as error:
        return {"outcome": "unloadable", "input": error.key, "reason": error.reason}
    started = datetime.now(UTC)
    clock = time.perf_counter()
    _forget_peak()
    partial = store.partial(task.key, task.label, lambda text: send({"type": "Notice", "text": text}))
    estimate = None
    try:
        send({"type": "loading"})
        module = importlib.import_module(task.module)
        params = json.loads(json.dumps(task.params))
        estimate = module.estimate(params, loaded) if hasattr(module, "estimate") else None
        send({"type": "loaded", "estimate": estimate})
        _require_memory(estimate)
        result = module.run(params, loaded, Context(task.label, partial, task.id, send))
        if not isinstance(result, Result):
            raise TypeError(f"{task.module}.run returned {type(result).__name__}, not a Result")
        cost = {"seconds": round(time.perf_counter() - clock, 6), "peak_memory": _peak()}
        store.save(task.key, result, {**_about(task), "started": started.isoformat(timespec="milliseconds"), **cost})
    except (Exception, SystemExit) as error:
        return _failed(error, time.perf_counter() - clock, estimate)
    partial.clear()
    return {"outcome": "ran", **cost}


def _require_memory(estimate: int | None) -> None:
    """OutOfMemory, before a stage starts, where it would take more than there is."""
    there = usable_memory()
    if estimate is not None and estimate > there:
        raise OutOfMemory(f"it would take about {format_size(estimate)}, and {format_size(there)} may be used here")


def _failed(error: BaseException, seconds: float, estimate: int | None = None) -> dict[str, Any]:
    """The outcome of a stage that raised an error."""
    peak = _peak()
    failure = _failure(error)
    if is_lack_of_memory(f"{failure['type']}: {failure['message']}"):
        words = [failure["message"], f"there was not enough memory: {memory_words(peak, estimate)}"]
        failure["message"] = "; ".join(word for word in words if word)
    cost = {"seconds": round(seconds, 6), "peak_memory": peak}
    return {"outcome": "failed", **cost, "failure": failure, "transient": is_transient(error)}


def _about(task: StageTask) -> dict[str, Any]:
    names = {"stage": task.kind, "label": task.label, "module": task.module, "kind": task.module}
    known = {**names, "params": task.params, "inputs": task.inputs, "cores": task.cores}
    # The key's parts stand as they were hashed, among what else is known; their names tell them apart.
    return {**known, **task.parts, "parts": sorted(task.parts)}


def _failure(error: BaseException) -> dict[str, str]:
    # A WmlabError was written for people; of the others the way to the line is half of the message.
    lines = "" if isinstance(error, WmlabError) else "".join(traceback.format_exception(error))
    tail = "\n".join(lines.rstrip().splitlines()[-_TRACEBACK_LINES:])
    return {"type": type(error).__name__, "message": str(error), "traceback": tail}


def _forget_peak() -> None:
    try:
        with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
            file.write("5")  # the peak of this stage, not of the worker's life
    except OSError:
        return


def _peak() -> int:
    if peak := memory_of(os.getpid())[1]:
        return peak
    unit = 1 if os.uname().sysname == "Darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
