"""Palettes: the colours of lines, and maps of values, of what has a sign, of cells with numbers, and of labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import matplotlib
from matplotlib.colors import Colormap, LinearSegmentedColormap

WHITE = "#ffffff"
UNSAFE = {"unsafe": "#f3d9d0", "unsafe_edge": "#4a2a2a"}  # states to be avoided
REGIONS = ("region_0", "region_1", "region_2", "region_3")  # parts of a map with a name: lines over its values


@dataclass(frozen=True)
class Palette:
    """Colours by what they are called in figures, and maps by what they show."""

    colours: Mapping[str, str]
    maps: Mapping[str, Colormap]  # values: pale to dark, less than its least white; heat: dark to pale


def _maps(values: list[str], signed: list[str], heat: Colormap, labels: Colormap) -> dict[str, Colormap]:
    return {
        "values": LinearSegmentedColormap.from_list("values", values).with_extremes(under=WHITE),
        "signed": LinearSegmentedColormap.from_list("signed", signed),
        "heat": heat,
        "labels": labels,
    }


PALETTES = {
    # Okabe and Ito's colours, told apart in every common form of colour blindness. What has a sign goes from blue to
    # vermilion through white, darker towards both ends.
    "okabe_ito": Palette(
        {
            "blue": "#0072b2",
            "orange": "#e69f00",
            "green": "#009e73",
            "vermillion": "#d55e00",
            "purple": "#cc79a7",
            "sky": "#56b4e9",
            "yellow": "#f0e442",
            **UNSAFE,
            **dict(zip(REGIONS, ("#2f6d9e", "#7a5c2e", "#555555", "#2f6d5e"), strict=True)),
        },
        _maps(
            ["#f4f1e4", "#cfe3da", "#8cc0b1", "#4a9182"],
            ["#00446b", "#0072b2", "#9cc9e3", "#f7f7f5", "#f0b48a", "#d55e00", "#7a3500"],
            matplotlib.colormaps["cividis"],
            matplotlib.colormaps["viridis"],
        ),
    ),
    # Paul Tol's bright colours and his map of what has a sign, told apart likewise.
    "tol_bright": Palette(
        {
            "blue": "#4477aa",
            "orange": "#ccbb44",
            "green": "#228833",
            "vermillion": "#ee6677",
            "purple": "#aa3377",
            "sky": "#66ccee",
            "yellow": "#ddcc77",
            **UNSAFE,
            **dict(zip(REGIONS, ("#2f6d9e", "#7a5c2e", "#555555", "#2f6d5e"), strict=True)),
        },
        _maps(
            ["#f7f7f5", "#c9dcec", "#8fb3d3", "#4477aa"],
            ["#364b9a", "#6ea6cd", "#c2e4ef", "#eaeccc", "#fdb366", "#dd3d2d", "#a50026"],
            matplotlib.colormaps["cividis"],
            matplotlib.colormaps["viridis"],
        ),
    ),
    # By lightness alone, as on paper without colours; lines differ by their marks, too. What has a sign goes from black
    # through grey to white.
    "greyscale": Palette(
        {
            "blue": "#000000",
            "orange": "#8c8c8c",
            "green": "#4d4d4d",
            "vermillion": "#6b6b6b",
            "purple": "#a6a6a6",
            "sky": "#bfbfbf",
            "yellow": "#ffffff",
            "unsafe": "#e0e0e0",
            "unsafe_edge": "#303030",
            **dict(zip(REGIONS, ("#404040", "#606060", "#555555", "#4d4d4d"), strict=True)),
        },
        _maps(
            ["#f2f2f2", "#d0d0d0", "#a8a8a8", "#7a7a7a"],
            ["#1a1a1a", "#8c8c8c", "#fafafa"],
            LinearSegmentedColormap.from_list("heat", ["#2b2b2b", "#f5f5f5"]),
            LinearSegmentedColormap.from_list("labels", ["#000000", "#c4c4c4"]),
        ),
    ),
}
