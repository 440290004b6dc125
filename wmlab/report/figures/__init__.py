"""Figures as SVG and PDF; the only place that imports matplotlib."""

from __future__ import annotations

from wmlab.report.figures.charts import bar_chart, curve_chart, heat_chart, suite_chart
from wmlab.report.figures.maps import map_chart
from wmlab.report.figures.planes import plane_chart, sheet_chart
from wmlab.report.figures.style import Picture

__all__ = [
    "Picture",
    "bar_chart",
    "curve_chart",
    "heat_chart",
    "map_chart",
    "plane_chart",
    "sheet_chart",
    "suite_chart",
]
