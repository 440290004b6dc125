"""The lines of Python that ask an agent's own library for its values, for `agent.check`."""

from __future__ import annotations

import json
from collections.abc import Sequence

from wmlab.foreign.agents import ForeignAgent
from wmlab.foreign.wiring import PARTS, Wiring

ROWS = 100
LINE = 118  # characters
DOES = "  # what env does with 0, 1, …"
CLASSES = {
    "DQN": ("stable_baselines3", "DQN", "q_net({})"),
    "QR-DQN": ("sb3_contrib", "QRDQN", "quantile_net({}).mean(1)"),
    **{name: ("stable_baselines3", name, "critic") for name in ("DDPG", "TD3", "SAC")},
}


def probe_lines(agent: ForeignAgent, wiring: Wiring, source: str, probe: str) -> list[str]:
    """Six lines and their imports; `env` is the reader's own environment."""
    load, asked = loading(agent, source)
    by_part = agent.kind == "sb3" and bool(wiring.inputs)
    read = "{key: np.stack([row[key] for row in rows]) for key in rows[0]}" if by_part else "np.stack(rows)"
    given = "read.astype(np.float32)" if agent.kind == "flax" else "torch.as_tensor(read)"
    if by_part:
        given = "{key: torch.as_tensor(each) for key, each in read.items()}"
    saved = saved_parts(agent, wiring) if by_part else saved_columns(wiring)
    rows = f"rows = [env.reset()[0] if i % 5 == 0 else env.step(env.action_space.sample())[0] for i in range({ROWS})]"
    if wiring.box:
        value, policy = of_box(agent)
        acts = {"action": "action", "components": texts(wiring.actions)}
        acts |= {"policy": policy, "value": "value.detach().numpy()"}
        return [
            *load,
            rows,
            f"read = {read}",
            "action = np.stack([env.action_space.sample() for _ in rows])",
            f"given = {given}{'' if by_part else '.float()'}",
            f"value = {value}",
            *call(f"np.savez({json.dumps(probe)}", {**saved, **acts}),
        ]
    named = {"action": "names[taken]", "value": "value" if agent.kind == "flax" else "value.detach().numpy()"}
    return [
        *load,
        rows,
        f"read = {read}",
        f"names, taken = np.array({texts(wiring.actions)}), np.arange({ROWS}) % {len(wiring.actions)}{DOES}",
        f"value = {asked.format(given)}[np.arange({ROWS}), taken]",
        *call(f"np.savez({json.dumps(probe)}", {**saved, **named}),
    ]


def of_box(agent: ForeignAgent) -> tuple[str, str]:
    """How critics are asked for the values of actions, and the actor for what it does."""
    if agent.kind == "sb3":
        scaled = "torch.as_tensor(model.policy.scale_action(action))"
        return f"torch.cat(model.critic(given, {scaled}), 1).mean(1)", "model.predict(read, deterministic=True)[0]"
    critics = ", ".join(f"qf{place}" for place in range(1, len(agent.critics) + 1))  # as CleanRL calls them
    value = f"torch.cat([qf(given, torch.as_tensor(action)) for qf in [{critics}]], 1).mean(1)"
    return value, "actor(given).detach().numpy()"


def texts(words: Sequence[str]) -> str:
    """A list of texts, as Python writes it."""
    return "[" + ", ".join(json.dumps(word) for word in words) + "]"


def call(start: str, arguments: dict[str, str]) -> list[str]:
    """A call, in lines that are not too long."""
    lines = [f"{start},"]
    for place, (name, value) in enumerate(arguments.items()):
        entry = f" {name}={value}" + (")" if place == len(arguments) - 1 else ",")
        if len(lines[-1]) + len(entry) > LINE:
            lines.append(" " * (start.index("(")) + entry)
        else:
            lines[-1] += entry
    return lines


def saved_parts(agent: ForeignAgent, wiring: Wiring) -> dict[str, str]:
    """What a dictionary of observations holds, by the names that a check knows."""
    state = [f"read[{json.dumps(block.name)}]" for block in agent.reads if block.name not in PARTS]
    saved = {
        "observation": state[0] if len(state) == 1 else f"np.hstack([{', '.join(state)}])",
        "variables": texts([number.name for number in wiring.state]),
        "goal": 'read["desired_goal"]',
        "wanted": texts(wiring.wanted),
    }
    return saved | ({"achieved": 'read["achieved_goal"]'} if "achieved" in wiring.inputs else {})


def saved_columns(wiring: Wiring) -> dict[str, str]:
    """What rows of numbers hold: the state, and the goal where it is among them."""
    if wiring.states is not None:
        return {"observation": "read"}
    widths = {"state": len(wiring.state), "goal": len(wiring.wanted), "achieved": len(wiring.wanted)}
    columns, first = {}, 0
    for part in wiring.inputs or ("state",):
        columns[part] = "read" if not wiring.inputs else f"read[:, {first}:{first + widths[part]}]"
        first += widths[part]
    saved = {"observation": columns["state"], "variables": texts([number.name for number in wiring.state])}
    saved |= {"goal": columns["goal"], "wanted": texts(wiring.wanted)} if "goal" in columns else {}
    return saved | ({"achieved": columns["achieved"]} if "achieved" in columns else {})


def loading(agent: ForeignAgent, source: str) -> tuple[list[str], str]:
    """Imports, the line that loads the agent, and how it is asked for values."""
    if agent.kind == "sb3":
        package, name, call = CLASSES[agent.algorithm]
        imports = ["import numpy as np", "import torch", f"from {package} import {name}"]
        return [
            *imports,
            f"model = {name}.load({json.dumps(source)}, replay_buffer_class=None, buffer_size=1)",
        ], f"model.{call}"
    if agent.kind == "torch":
        return ["import numpy as np", "import torch"], "q_network({}.float())"
    return ["import numpy as np"], "np.asarray(network.apply(params, {}))"
