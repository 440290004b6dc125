"""A stage: one piece of work in a plan."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any


@dataclass(frozen=True)
class Stage:
    """A question with a definite answer: a module's `run`, its parameters, and the answers it builds on."""

    kind: str  # "extract"
    params: Mapping[str, Any]  # JSON data: all that the answer depends on beside the inputs
    inputs: Mapping[str, str] = field(default_factory=dict)  # name in `run`'s inputs: id of the stage
    label: str = ""  # for people and for finding the stage's last run; unique within an experiment
    modules: tuple[str, ...] = ()  # modules of the kinds that the stage reaches through the registry
    package: str = "wmlab.stages"  # of the module that answers
    cores: int = 1  # fixed here, so that the number of workers changes no bit
    long: bool = False  # long stages are sent to workers one by one, small ones in batches
    accelerated: bool = False  # trains or extracts with networks: it is worth an accelerator, where there is one

    @property
    def module(self) -> str:
        """The module whose `run(params, inputs, context)` gives the answer."""
        return f"{self.package}.{self.kind}"

    @cached_property
    def id(self) -> str:
        """The question, apart from the code that answers it: equal questions are one stage."""
        return digest({"kind": self.module, "params": self.params, "inputs": self.inputs, "cores": self.cores})


Stages = Mapping[str, Stage]  # stage id: stage, each after the stages that it builds on


def canonical(data: Any) -> str:
    """JSON with one spelling: sorted keys, no spaces, floats as Python writes them, no NaN."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest(data: Any) -> str:
    """The SHA-256 of canonical JSON, in hexadecimal."""
    return hashlib.sha256(canonical(data).encode()).hexdigest()
