"""`wmlab import`: an agent of another library, as a file of tensors and a first spec."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

SHORT_HELP = "Read an agent of another library, and write a first spec."
SHOWN = "    "  # before lines of Python


def import_(
    file: Annotated[Path, typer.Argument(help="What a library saved of an agent.", metavar="FILE")],
    state: Annotated[
        str, typer.Option(help="Names of an observation's numbers, in order: x,y,vx,vy.", metavar="NAMES")
    ] = "",
    goal: Annotated[
        str, typer.Option(help="The variables that a goal names, in its order: x,y.", metavar="NAMES")
    ] = "",
    actions: Annotated[
        str, typer.Option(help="Names of the actions, in the order of the outputs.", metavar="NAMES")
    ] = "",
    within: Annotated[
        float | None,
        typer.Option(help="How near a goal counts as reached, where it pays for that.", metavar="DISTANCE"),
    ] = None,
    discount: Annotated[
        float | None, typer.Option(help="The discount, where the file does not say it.", metavar="NUMBER")
    ] = None,
    normalise: Annotated[
        str | None,
        typer.Option(
            help="Averages of observations in training: an .npz with mean and var, or 'mean=0,1 var=2,3'.",
            metavar="FILE|VALUES",
        ),
    ] = None,
    reward_scale: Annotated[
        float, typer.Option(help="What rewards were multiplied by in training.", metavar="NUMBER")
    ] = 1.0,
    inputs: Annotated[
        str,
        typer.Option(
            help="What a network reads, in order, where the file does not say it: state,goal.", metavar="PARTS"
        ),
    ] = "",
    activation: Annotated[
        Literal["relu", "silu", "tanh", "elu", "gelu", "gelu_tanh"] | None,
        typer.Option(help="Between layers, where the file does not say it."),
    ] = None,
    norm_place: Annotated[
        Literal["before", "after"] | None, typer.Option(help="Layer normalisation before or after activations.")
    ] = None,
    network: Annotated[
        str | None, typer.Option(help="The network that is meant, of several: how its names begin.", metavar="PREFIX")
    ] = None,
    value: Annotated[str | None, typer.Option(help="A duelling network's stream of values.", metavar="PREFIX")] = None,
    advantage: Annotated[
        str | None, typer.Option(help="A duelling network's stream of advantages.", metavar="PREFIX")
    ] = None,
    quantiles: Annotated[
        int | None,
        typer.Option(help="Outputs are so many quantiles, the actions of each side by side.", min=1, metavar="N"),
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="What the spec is called; as the file by default.", metavar="NAME")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", help="The folder to write to; here by default.", metavar="FOLDER")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite what an earlier import wrote.")] = False,
) -> None:
    """Read what Stable-Baselines3, PyTorch or Flax saved of an agent, and write its weights and a first spec.

    Nothing in the file is run, and none of these libraries is needed. Nothing is overwritten unasked.
    """
    from wmlab.cli.common import hurry
    from wmlab.errors import visible
    from wmlab.foreign.agents import Asked
    from wmlab.foreign.bring import Request, bring
    from wmlab.foreign.wiring import Names

    hurry()
    names = Names(
        *(tuple(part.strip() for part in said.split(",") if part.strip()) for said in (state, goal, inputs, actions))
    )
    asked = Asked(network, value, advantage, quantiles, activation, norm_place)
    request = Request(file, output, name, force, asked, names, discount, within, normalise, reward_scale)
    brought = bring(request)
    print(f"read {visible(str(file))}: {visible(brought.source)}")
    for path in brought.written:
        print(f"wrote {visible(str(path))}")
    for remark in brought.remarks:
        print(f"note: {visible(remark)}")
    if brought.probe:
        print("to check the wiring, let its own library say some of its values (env is your environment):")
        print("\n".join(f"{SHOWN}{line}" for line in brought.probe))
    if brought.spec is not None:
        print(f"next:\n  wmlab validate {visible(str(brought.spec))}")
