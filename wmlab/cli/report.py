"""`wmlab report`: the report again, from stored results."""

from __future__ import annotations

import sys

from wmlab.cli.common import Profile, Reports, Sets, Specs, Trust, relative
from wmlab.cli.screen import styled

SHORT_HELP = "Write the report again, from stored results."


def report(
    specs: Specs, profile: Profile = None, sets: Sets = None, output: Reports = None, trust: Trust = False
) -> None:
    """Write the report of what was run before. Nothing is computed."""
    from wmlab.app.run import report_study
    from wmlab.graph.study import open_all
    from wmlab.runtime.progress import show_progress
    from wmlab.runtime.store import Store

    for study in open_all(specs, profile, sets or ()):
        with show_progress(styled(sys.stderr)) as listener:
            page = report_study(study, Store(), output, listener).page
        print(relative(page))
