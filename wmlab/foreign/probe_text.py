"""The lines of Python that ask an agent's own library for its values, for `agent.check`."""

from __future__ import annotations

from wmlab.foreign.agents import ForeignAgent
from wmlab.foreign.wiring import Wiring

ROWS = 100
CLASSES = {
    "DQN": ("stable_baselines3", "DQN", "q_net({})"),
    "QR-DQN": ("sb3_contrib", "QRDQN", "quantile_net({}).mean(1)"),
}


def probe_lines(agent: ForeignAgent, wiring: Wiring, source: str, probe: str) -> list[str]:
    """Six lines and their imports; `env` is the reader's own environment."""
    actions = list(wiring.actions)
    taken = [f"names, taken = np.array({actions}), np.arange({ROWS}) % {len(actions)}  # what env does with 0, 1, …"]
    rows = f"rows = [env.reset()[0] if i % 5 == 0 else env.step(env.action_space.sample())[0] for i in range({ROWS})]"
    load, asked = loading(agent, source)
    if wiring.inputs and agent.kind == "sb3":
        stack = ["read = {key: np.stack([row[key] for row in rows]) for key in rows[0]}"]
        given = "{key: torch.as_tensor(each) for key, each in read.items()}"
        state = " + ".join(
            f'read["{block.name}"]' for block in agent.reads if block.name not in ("achieved_goal", "desired_goal")
        )
        state = state if "+" not in state else f"np.hstack([{state.replace(' + ', ', ')}])"
        saved = f'observation={state}, goal=read["desired_goal"], wanted={list(wiring.wanted)}'
        saved += ', achieved=read["achieved_goal"]' if "achieved" in wiring.inputs else ""
    else:
        stack = ["read = np.stack(rows)"]
        given = "read.astype(np.float32)" if agent.kind == "flax" else "torch.as_tensor(read)"
        saved = "observation=read"
        if wiring.inputs:
            k = len(wiring.wanted)
            stack = ["read = np.stack(rows)  # what the network reads, in its order"]
            saved = (
                f"observation=…, goal=…, wanted={list(wiring.wanted)}  # {len(wiring.state)} and {k} columns of read"
            )
    value = f"value = {asked.format(given)}[np.arange({ROWS}), taken]"
    value += "" if agent.kind == "flax" else ".detach().numpy()"
    names = "" if wiring.states is not None else f", variables={[number.name for number in wiring.state]}"
    save = f'np.savez("{probe}", {saved}{names}, action=names[taken], value=value)'
    return [*load, rows, *stack, *taken, value, save]


def loading(agent: ForeignAgent, source: str) -> tuple[list[str], str]:
    """Imports, the line that loads the agent, and how it is asked for values."""
    if agent.kind == "sb3":
        package, name, call = CLASSES[agent.algorithm]
        imports = ["import numpy as np", "import torch", f"from {package} import {name}"]
        return [*imports, f'model = {name}.load("{source}", replay_buffer_class=None, buffer_size=1)'], f"model.{call}"
    if agent.kind == "torch":
        return ["import numpy as np", "import torch"], "q_network({}.float())"
    return ["import numpy as np"], "np.asarray(network.apply(params, {}))"
