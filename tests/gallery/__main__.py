"""`python -m tests.gallery [FOLDER …]`: fill reports/gallery from reports, and the pages' numbers from the gallery.

A FOLDER is a report (`reports/reacher/laptop`) or a folder of reports (`reports`, which is also the default).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from tests.gallery.collect import MOST, collect, screenshot, sizes
from tests.gallery.contents import FOLDER, ROOT, Gallery, GalleryError
from tests.gallery.pages import PAGES, fill, problems


def main(arguments: Sequence[str]) -> int:
    sources = [Path(argument) for argument in arguments] or [ROOT / "reports"]
    try:
        missing = [str(source) for source in sources if not source.is_dir()]
        if missing:
            raise GalleryError(f"no such folder: {', '.join(missing)}")
        came = collect(Gallery.at(), sources, screenshot)
        gallery = Gallery.at()
        texts = {page: fill(page.text, page.base, gallery) for page in PAGES}
    except GalleryError as error:
        print(f"gallery: {error}", file=sys.stderr)
        return 1
    for page, text in texts.items():
        page.path.write_text(text, encoding="utf-8")
    return tell(gallery, came)


def tell(gallery: Gallery, came: Sequence[str]) -> int:
    """What came in, what is still to come, how large it is, and which numbers of the pages have no source."""
    each = dict(sizes(FOLDER))
    for name in gallery.entries:
        state = "new" if name in came else "not yet" if name in gallery.pending else "as it was"
        print(f"{name:28} {each.get(name, 0) / 1e6:6.2f} MB  {state}")
    total = sum(each.values())
    print(f"the gallery: {total / 1e6:.2f} MB of {MOST / 1e6:.0f} MB at most")
    wrong = [f"{page.path.name}: {one}" for page in PAGES for one in problems(page, page.text, gallery)]
    print("\n".join(wrong) or "every number of the pages is in the gallery")
    return 1 if wrong or total > MOST else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
