"""Figures as SVG and PDF; the only place that imports matplotlib."""
