"""`wmlab explain`: whether theory promises an answer."""

from __future__ import annotations

from wmlab.cli.common import OneSpec, Profile, Sets, TextOrJson

SHORT_HELP = "Say whether theory promises an answer, before anything runs."


def explain(spec: OneSpec, profile: Profile = None, sets: Sets = None, format: TextOrJson = "text") -> None:
    """Say, before anything runs, whether these values can have only one world in them: which theorem says so, or what
    is missing for one; and what earlier runs found: what is certain, where the spec asks for guarantees, and whether
    values are good enough to show chance."""
    from wmlab.app.certainty import measured_sentences
    from wmlab.explain.show import show_explanation
    from wmlab.graph.study import open_study

    study = open_study(spec, profile, sets or ())
    print(show_explanation(study, format, measured_sentences(study)))
