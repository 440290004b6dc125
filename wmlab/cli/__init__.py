"""The commands, a module each: it reads flags, calls the application, prints, and chooses an exit code.

Exit codes: 0 done, 1 a stage or a claim failed or the system refused something, 2 the spec or the command line is
wrong, 3 the budget was spent before everything was done, 130 interrupted, 141 the reader of the output left.
"""

from __future__ import annotations

import copy
import functools
import os
import pkgutil
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Annotated, Any, NoReturn

import typer

from wmlab.cli.cache import cache
from wmlab.cli.common import PlainCommand
from wmlab.cli.faults import fault_text
from wmlab.cli.runs import runs
from wmlab.cli.screen import screens
from wmlab.errors import SpecErrors, WmlabError, visible
from wmlab.runtime.worker_env import drop_kernel_choices

INTERRUPTED, BROKEN_PIPE = 130, 141
COMPLETION = "_WMLAB_COMPLETE"  # is set where a shell asks for what could follow
# Every module here is a command, with a function of the same name; where Python keeps a word for itself, both end
# with _. Help lists these first, then any others by name.
FIRST = (
    *("new", "import", "validate", "plan", "explain", "design", "run", "watch", "show"),
    *("report", "export", "diff", "schema", "reference"),
)
GROUPS = ("cache", "runs")  # of commands
NO_COMMANDS = (*GROUPS, "common", "completion", "faults", "screen")  # and what all share

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.add_typer(runs, name="runs")
app.add_typer(cache, name="cache")


def say_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"wmlab {version('wmlab')}")
        raise typer.Exit(0)


@app.callback(epilog="Begin with: wmlab new maze --from gridworld, then wmlab run maze.yaml")
def wmlab(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=say_version, is_eager=True)
    ] = False,
) -> None:
    """What world model hides inside a reinforcement-learning agent's values?"""


FOUND = {module.name.rstrip("_"): module.name for module in pkgutil.iter_modules(__path__)}  # command: its module
OTHERS = sorted({*FOUND}.difference(FIRST, NO_COMMANDS))
COMMANDS = (*FIRST, *OTHERS)
for name in COMMANDS:
    module = import_module(f"wmlab.cli.{FOUND[name]}")
    app.command(name, cls=PlainCommand, short_help=getattr(module, "SHORT_HELP", None))(getattr(module, FOUND[name]))


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """The entry point: errors that are for people are printed, not raised."""
    drop_kernel_choices()  # before NumPy is imported: statistics are computed in this process
    words = sys.argv[1:] if arguments is None else list(arguments)
    one = words[0] if words and words[0] in (*COMMANDS, *GROUPS) and COMPLETION not in os.environ else None
    command = typed(one)
    sys.exit(guarded(lambda: command(args=words, prog_name="wmlab", standalone_mode=False)))


@functools.cache
def typed(one: str | None) -> Callable[..., Any]:
    """What typer makes of all commands, or of one alone: to look at all of them takes it a tenth of a second."""
    chosen = copy.copy(app)
    if one is not None:
        chosen.registered_commands = [each for each in app.registered_commands if each.name == one]
        chosen.registered_groups = [each for each in app.registered_groups if each.name == one]
    return typer.main.get_command(chosen)


def guarded(command: Callable[[], Any]) -> int:
    """The exit code of a command, with what went wrong said in words."""
    with screens() as (out, err):
        code = outcome(command)
        out.flush()
        if code == 0 and out.fault is not None:  # what was asked for did not arrive
            code = BROKEN_PIPE if isinstance(out.fault, BrokenPipeError) else 1
            if code != BROKEN_PIPE:
                err.write(f"wmlab: the output cannot be written: {out.fault.strerror}\n")
    return code


def outcome(command: Callable[[], Any]) -> int:
    try:
        code = int(command() or 0)
        if code == INTERRUPTED:  # what typer makes of Ctrl-C
            print("interrupted", file=sys.stderr)
        return code
    except SpecErrors as errors:
        from wmlab.spec.check.formats import as_text

        print(as_text(list(errors.errors)), file=sys.stderr)
        return errors.exit_code
    except WmlabError as error:
        print(f"wmlab: {visible(str(error))}", file=sys.stderr)
        return error.exit_code
    except typer.Exit as stop:
        return int(stop.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except typer.TyperException as usage:  # a wrong flag or argument
        message = usage.format_message()  # of a command without arguments, its help
        print(message if message.startswith("Usage:") else complaint(usage, message), file=sys.stderr)
        return 2
    except OSError as fault:
        print(f"wmlab: {fault_text(fault)}", file=sys.stderr)
        return 1


def complaint(usage: typer.TyperException, message: str) -> str:
    """A wrong flag or argument, and the help to look at: that of the command which was typed."""
    context = getattr(usage, "ctx", None)
    command = "wmlab" if context is None else context.command_path
    words = message.replace("Value error, ", "").replace("(Possible options: ", "(did you mean ")
    words = f"{words[:-1]}?)" if "(did you mean " in words else words.rstrip(".")
    return f"wmlab: {words}\nTry '{command} --help'."
