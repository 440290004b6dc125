"""Ranges of what is certain and possible: taken from results, drawn, and told in words."""

from __future__ import annotations

from wmlab.report.certain import certain_returns, describe
from wmlab.report.data import ReportData
from wmlab.report.gallery import gallery


def results(axes, **metrics):
    """Results of one seed: metric to a mean, or to a mean for each label of the one axis."""
    entries = {}
    for name, means in metrics.items():
        metric = f"unseen.{name.replace('__', '.')}"
        for label, mean in means.items() if isinstance(means, dict) else [(None, means)]:
            where = {} if label is None else {"goals": label}
            entries[f"{label}/{metric}"] = {"metric": metric, "where": where, "mean": mean, "n": 1}
    return {"axes": axes, "metrics": entries, "seeds": [0]}


SWEEP = {"goals": {"values": [1, 4]}}
OVER_GOALS = results(
    SWEEP,
    far__r_certain={1: 0.1, 4: 0.7},
    far__r_possible={1: 0.9, 4: 0.8},
    far__r_star={1: 0.75, 4: 0.75},
    far__r_cautious={1: 0.5, 4: None},
    mean__r_certain={1: 0.1, 4: 0.7},
)


def test_a_range_for_each_label_and_a_figure_for_each_goal():
    (figure,) = certain_returns(OVER_GOALS)
    assert (figure.goal, figure.x_label, figure.labels) == ("far", "goals", ("1", "4"))
    assert figure.returns == {
        "r_certain": (0.1, 0.7),
        "r_possible": (0.9, 0.8),
        "r_star": (0.75, 0.75),
        "r_cautious": (0.5, None),
    }
    assert describe(figure).startswith("Returns on far by goals. 1: certain 0.1")


def test_without_an_axis_goals_stand_side_by_side():
    plain = results({}, a__r_certain=0.2, a__r_possible=0.4, b__r_certain=0.3, b__r_possible=0.3)
    (figure,) = certain_returns(plain)
    assert (
        figure.labels == ("a", "b")
        and figure.x_label == "unseen goal"
        and set(figure.returns)
        == {
            "r_certain",
            "r_possible",
        }
    )


def test_two_axes_and_no_guarantees_are_not_drawn():
    assert certain_returns({**OVER_GOALS, "axes": {**SWEEP, "wind": {"values": [0]}}}) == []
    assert certain_returns(results({}, a__r_star=0.2)) == []


def test_the_figure_is_on_the_page_with_its_words():
    (group,) = gallery(ReportData(OVER_GOALS))
    assert group.title == "What is certain and what is possible"
    (figure,) = group.items
    assert figure.file == "certain-far" and "<svg" in figure.svg and "one seed" in figure.caption
    assert "the cautious policy attains" in figure.alt
