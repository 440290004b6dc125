"""What metrics, points and states are called where people read them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from wmlab.report.numbers import compact

MEANINGS = {
    "agent.return": "discounted return of the agent's own policy in the true world",
    "q.nmse": "error of the agent's Q against the Q of its own policy, over the variance",
    "q.max_error": "largest error of the agent's Q against the optimal Q",
    "q.l1_max": "largest error of Q over states and actions, summed over goals",
    "wm.mse": "mean squared error of the extracted model",
    "wm.tv": "mean total-variation distance of the extracted model from the true kernel",
    "wm.l1_max": "largest ℓ₁ distance of a row of the extracted model from the true one",
    "wm.nmse": "error of the predicted next state over its variance; see wm.identity_nmse for the scale",
    "wm.identity_nmse": "what wm.nmse would be if nothing ever moved",
    "wm.delta_nmse": "error of the predicted displacement over its variance; about 1 if nothing moved",
    "wm.delta_nmse_interior": "wm.delta_nmse where the true successor touches no bound",
    "wm.sd_ratio": "spread of the extracted model's noise over the true one's",
    "wm.energy": "energy distance between the extracted and the true successor distribution",
    "fit.residual": "mean residual of the Bellman equation that the extraction solves; needs no truth",
    "fit.residual_rms": "root mean square residual of the Bellman equation: what least squares makes least",
    "fit.residual_max": "largest residual of the Bellman equation that the extraction solves",
    "ident.rank": "rank of M",
    "ident.least_rank": "least rank of M, each discount and policy on its own",
    "ident.nullity": "dimension of the kernel of M",
    "ident.simplex_nullity": "dimension of the kernel of M with a row of ones added",
    "ident.sigma_min": "smallest singular value of M",
    "ident.gap": "smallest distance between two columns of M",
    "ident.width": "widest interval of a transition probability that fits the agent's values",
}
UNSEEN = {
    "r_star": "return on {goal} of the optimal policy (R*)",
    "r_wm": "return on {goal} of the policy planned in the extracted model (Rᵂᴹ)",
    "ratio": "Rᵂᴹ over R* on {goal}",
    "r_believed": "return on {goal} that the extracted model promises to its own policy",
}
LABELS = {
    "agent.return": "agent's return",
    "q.nmse": "Q error (NMSE)",
    "wm.mse": "model error (MSE)",
    "wm.tv": "model error (total variation)",
    "wm.nmse": "model error (NMSE)",
    "wm.delta_nmse": "displacement error (NMSE)",
    "wm.delta_nmse_interior": "displacement error, bounds left out (NMSE)",
    "fit.residual": "Bellman residual",
    "ident.rank": "rank of M",
    "ident.width": "identified width",
}
COMPARED = {
    "nmse": "distance between this model and that of {other}: error of the next state over its variance",
    "mse": "distance between this model and that of {other}: mean squared difference of next states",
    "tv": "distance between this model and that of {other}: mean total variation",
    "nmse_interior": "the same over states from which no action leads to a bound",
    "mse_interior": "the same over states from which no action leads to a bound",
    "times_closer": "how many times closer this model is to that of {other} than to the truth",
    "times_closer_interior": "the same over states from which no action leads to a bound: without walls that both miss",
}
STATISTICS = {
    "se_over_seeds": "mean, s.e. over seeds",
    "sd_over_starts": "standard deviation over starts",
    "bootstrap_over_points": "bootstrap over points",
}


def meaning(metric: str) -> str:
    """What a metric measures, in one line; empty for one that we do not know."""
    if metric in MEANINGS:
        return MEANINGS[metric]
    parts = metric.split(".")
    if parts[0] == "unseen" and len(parts) == 3 and parts[2] in UNSEEN:
        goal = "average over the unseen goals" if parts[1] == "mean" else f"the unseen goal {parts[1]}"
        return UNSEEN[parts[2]].format(goal=goal)
    if parts[0] == "compare" and len(parts) == 3 and parts[2] in COMPARED:
        return COMPARED[parts[2]].format(other=f"comparison {parts[1]}")
    if parts[0] == "relate" and len(parts) == 3:
        return f"{parts[2].replace('_', ' ')} of {parts[1].replace('_', ' ')}, across points"
    if parts[0] == "bound" and len(parts) == 3:
        return f"the {parts[2]} bound of {parts[1].replace('_', ' ')}"
    return ""


def axis_label(metric: str) -> str:
    """What stands beside an axis of a figure."""
    parts = metric.split(".")
    if parts[0] == "unseen" and len(parts) == 3:
        return {"r_star": "R*, discounted return", "r_wm": "Rᵂᴹ, discounted return", "ratio": "Rᵂᴹ / R*"}.get(
            parts[2], parts[2]
        )
    return LABELS.get(metric, metric)


def point(where: Mapping[str, Any]) -> str:
    """A point of a sweep: goals = 20, width = 512; axes in alphabetical order."""
    return ", ".join(f"{axis} = {compact(where[axis])}" for axis in sorted(where))


def slug(*parts: str) -> str:
    """A file name that is safe everywhere."""
    return "-".join(re.sub(r"[^a-z0-9_.]+", "-", part.lower()).strip("-.") or "x" for part in parts)[:120]


def printable(text: Any) -> str:
    """Text without control characters, which could drive a terminal or break an SVG."""
    spaces = "\t\r\n\u00a0\u202f"
    clean = (character for character in str(text) if character.isprintable() or character in spaces)
    return "".join(" " if character in "\t\r\n" else character for character in clean)
