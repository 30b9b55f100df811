"""Writing of the reference pages: ``python -m pipelines.reference``."""

from pipelines.project import PROJECT
from pipelines.reference import PAGES

for name, page in PAGES.items():
    path = PROJECT / "docs" / "reference" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page())
