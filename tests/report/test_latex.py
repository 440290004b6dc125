"""Tables as LaTeX: nothing but ASCII, so that pdflatex sets them, whatever is in names and numbers."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from wmlab.report.claims import claim_rows
from wmlab.report.latex import latex_number, latex_text
from wmlab.report.table_files import table_files

GALLERY = Path(__file__).parents[2] / "reports" / "gallery"
STORED = sorted(GALLERY.rglob("results.json"))


@pytest.mark.parametrize("path", STORED, ids=lambda path: str(path.parent.relative_to(GALLERY)))
def test_tables_of_stored_results_are_ascii(path):
    results = json.loads(path.read_text())
    files = table_files(results, claim_rows(results))
    latex = {name: content.decode() for name, content in files.items() if name.endswith(".tex")}
    assert latex or "suite" in results
    for name, text in latex.items():
        assert text.isascii(), (name, re.findall(r"[^\x00-\x7f]", text))
        assert "[U+" not in text, name  # every sign that is in use has its LaTeX
        assert all(len(re.findall(r"(?<!\\)\$", line)) % 2 == 0 for line in text.splitlines()), name


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("≤ 1 × 10⁻⁶", r"$\leq$ 1 $\times$ 10$^{-6}$"),
        ("±0.1, −2 → ∞", r"$\pm$0.1, $-$2 $\to$ $\infty$"),
        ("σ, γ and Δλ", r"$\sigma$, $\gamma$ and $\Delta$$\lambda$"),
        ("x₁₂, πᵂ", r"x$_{12}$, $\pi$$^{W}$"),
        ("a–b… ‘c’ §4", r"a--b\ldots{} `c' \S{}4"),
        ("1 < 2 | 3 > 2", "1 $<$ 2 $|$ 3 $>$ 2"),
        ("Müller, Çaña", r"M\"{u}ller, \c{C}a\~{n}a"),
        ("ﬁt", "fit"),
        ("a_b & 5 %", r"a\_b \& 5 \%"),
        ("😀 漢", "[U+1F600] [U+6F22]"),
    ],
)
def test_signs_become_what_they_mean_and_others_their_number(text, latex):
    assert latex_text(text) == latex


def test_numbers_stay_in_mathematics():
    assert latex_number("≤ 2\u00a0×\u00a010⁻⁶") == r"$\leq 2 \times 10^{-6}$"
    assert latex_number("±∞") == r"$\pm\infty$"
    assert latex_number("2 × n, ±n") == r"$2 \times n, \pm n$"
