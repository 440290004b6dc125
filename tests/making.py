"""Goals, claims and stages' parameters from what a spec would say: tests write dicts, the product passes records."""

from __future__ import annotations

from wmlab.core.continuous import goals as continuous
from wmlab.core.finite import goals as finite
from wmlab.registry import RewardChoice, build
from wmlab.sections.experiment import Ending, Evaluate, GoalsSection, UnseenGoal


def make_goals(reward, space, at, terminate, seed):
    """The goals of a finite world."""
    ends = terminate if isinstance(terminate, str) else build(Ending, terminate)
    return finite.make_goals(RewardChoice(reward), space, at, ends, seed)


def goals_section(data):
    return build(GoalsSection, data)


def continuous_goals(data, space, encoding="raw"):
    return continuous.continuous_goals(goals_section(data), space, encoding)


def unseen_task(data, space):
    return continuous.unseen_task(build(UnseenGoal, data), space)


def evaluate_section(data):
    return build(Evaluate, data)
