"""What a page may ask of a run, and that nothing else is answered."""

from __future__ import annotations

import pytest

from tests.gallery.contents import GalleryError, NotYet
from tests.gallery.language import FACTS, answer
from tests.gallery.sample import MAZE, gallery_in


@pytest.fixture(scope="module")
def gallery(tmp_path_factory):
    return gallery_in(tmp_path_factory.mktemp("gallery"))


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("maze wm.nmse goals=4", "(1.30 ± 0.21)\u00a0×\u00a010⁻⁴"),
        ("maze wm.nmse goals=4 mean", "1.30\u00a0×\u00a010⁻⁴"),
        ("maze wm.nmse goals=4 mean/2", "1.3\u00a0×\u00a010⁻⁴"),
        ("maze wm.nmse goals=4 se/2", "2.1\u00a0×\u00a010⁻⁵"),
        ("maze wm.nmse goals=4 n", "3"),
        ("maze wm.nmse goals=1 least", "0.00400"),
        ("maze wm.nmse goals=1 most", "0.00600"),
        ("maze wm.nmse goals=1 interval/2", "0.0025 to 0.0075"),  # 0.005 ± 4.303 · 0.001 / √3, of Student's table
        ("maze wm.nmse goals=4 dimension:the_door", "(3.0 ± 1.0)\u00a0×\u00a010⁻⁴"),
        ("maze unseen.exit.ratio", "0.9900 ± 0.0058"),
        ("maze wm.nmse goals=1 over maze wm.nmse goals=4", "38.5"),
        ("maze claim exit paper", "0.994"),
        ("maze claim exit bound", "0.95"),
        ("maze claim exit goals", "4"),
        ("maze claim error measured", "(1.30 ± 0.21)\u00a0×\u00a010⁻⁴"),
        ("maze seeds", "11, 12 and 13"),
        ("maze runs", "3"),
        ("maze time", "12 min 34 s"),
        ("maze device", "cpu x86_64"),
        ("maze held", "1"),
        ("maze claims", "2"),
        ("maze axis goals", "1 and 4"),
        ("maze setting agent.discount", "0.95"),
        ("quoted paper.table", "1"),
    ],
)
def test_a_question_has_one_answer(question, said, gallery):
    assert answer(question, gallery) == said


@pytest.mark.parametrize(
    ("question", "why"),
    [
        ("maze wm.nmse", "2 results are called so; one is meant"),
        ("maze wm.tv", "0 results are called so; one is meant"),
        ("maze wm.nmse goals=2", "0 results are called so; one is meant"),
        ("maze wm.nmse goals=4 median", "asks for what is not there: KeyError('median')"),
        ("maze wm.nmse goals=4 mean n", "one part and one form at most"),
        ("maze claim error paper", "claim 'error' has no paper that is one number"),
        ("maze claim window paper", "asks for what is not there"),
        ("maze setting agent.kind", "asks for what is not there: KeyError('agent.kind')"),
        ("maze specs", "asks for what is not there: KeyError('suite')"),
        ("maize wm.nmse", "the gallery has no run of 'maize'"),
        ("quoted paper.tables", "asks for what is not there: KeyError('paper.tables')"),
        ("maze", "asks for what is not there"),
    ],
)
def test_what_is_not_there_is_refused_in_words(question, why, gallery):
    with pytest.raises(GalleryError) as error:
        answer(question, gallery)
    assert f"'{question}'" in str(error.value) and why in str(error.value)


def test_a_run_that_is_to_come_is_said_to_be(gallery):
    with pytest.raises(NotYet):
        answer("later wm.nmse", gallery)


def test_the_time_is_that_of_all_stages_of_all_members_or_else_of_the_run():
    unknown = {"provenance": {"seconds": 60.0}}  # of a version that did not add its stages up
    assert FACTS["time"]([unknown]) == "1 min 00 s"
    assert FACTS["time"]([unknown, MAZE, MAZE]) == "25 min 08 s"  # a suite, and its members
