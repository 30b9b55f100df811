"""The Dagster UI in a real browser: what people click all day, with a picture of each step for those who ask for them.

``ISOBATH_PICTURES`` names a folder for the pictures.
"""

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final
from urllib.parse import quote

import pytest
import yaml
from playwright.sync_api import Page, expect, sync_playwright

from pipelines.project import PROJECT
from pipelines.report_server import ReportServer
from resources.folder_objects import FolderObjects
from tests.support.loopback import LoopbackSite, small_site
from tests.support.ui import DagsterUi

pytestmark = pytest.mark.slow

BACKFILLED: Final = 3
STEP_MS: Final = 60_000.0
CHOICES: Final = 10
RUN_S: Final = 180.0
FLAGS: Final = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
CHROMIUM: Final = shutil.which("chromium")


@pytest.fixture
def sites() -> Iterator[list[LoopbackSite]]:
    with ExitStack() as stack:
        yield [stack.enter_context(LoopbackSite(small_site())) for _ in range(BACKFILLED + 1)]


@pytest.fixture
def ui(tmp_path: Path, sites: list[LoopbackSite]) -> Iterator[DagsterUi]:
    home = tmp_path / "home"
    home.mkdir()
    shutil.copy(PROJECT / "dagster_home" / "dagster.yaml", home)
    listed = {site.host: {"min_delay_s": 0, "allow_private_networks": True, "seeds": [site.url("/")]} for site in sites}
    (tmp_path / "sites.yaml").write_text(yaml.safe_dump({"sites": listed}))
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "ISOBATH_"))},
        "DAGSTER_HOME": str(home),
        "ISOBATH_STORE": str(tmp_path / "store"),
        "ISOBATH_SITES": str(tmp_path / "sites.yaml"),
        "ISOBATH_INDEX": str(tmp_path / "index"),
        "ISOBATH_WORKERS": "1",
        "ISOBATH_MAX_DEPTH": "1",
    }
    reports = ReportServer(FolderObjects(tmp_path / "store"), 0)
    environment["ISOBATH_REPORTS_URL"] = reports.url
    program = str(Path(sys.executable).with_name("dagster"))
    with (
        reports,
        (tmp_path / "log.txt").open("ab") as log,
        DagsterUi(
            lambda command: subprocess.Popen(
                [program, *command], env=environment, cwd=PROJECT, stdout=log, stderr=log, start_new_session=True
            )
        ) as ui,
    ):
        yield ui


class Browser:
    """A tab on the Dagster UI."""

    def __init__(self, page: Page, address: str, pictures: Path) -> None:
        self.page = page
        self._address = address
        self.pictures = pictures
        pictures.mkdir(parents=True, exist_ok=True)

    def open(self, path: str) -> None:
        """Go to a page of the UI."""
        self.page.goto(f"{self._address}{path}")

    def press(self, name: str) -> None:
        """Press the button that says so."""
        self.page.get_by_text(name, exact=True).first.click()

    def choose(self, name: str, text: str) -> None:
        """Press a button until a text is there: Dagster forgets what was chosen while it still reads the partitions."""
        for _ in range(CHOICES):
            self.press(name)
            with contextlib.suppress(AssertionError):
                expect(self.page.get_by_text(text, exact=True).first).to_be_visible(timeout=STEP_MS / CHOICES)
                return
        raise AssertionError(f"{text} never came")

    def sees(self, text: str) -> None:
        """Wait until a text is on the page. The daemon looks at backfills and sensors twice a minute."""
        expect(self.page.get_by_text(text).first).to_be_visible(timeout=STEP_MS)

    def picture(self, name: str) -> None:
        """Keep what the tab shows."""
        self.page.screenshot(path=self.pictures / f"{name}.png")

    def materialize_all(self) -> None:
        """Open the dialog over all assets of a crawl."""
        self.open("/locations/isobath/jobs/crawl_site")
        self.press("Materialize all…")
        # No refresh was made yet, which a crawl does not need.
        self.press("Confirm")


@pytest.fixture
def browser(ui: DagsterUi, tmp_path: Path) -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("chromium is not installed")
    pictures = Path(os.environ.get("ISOBATH_PICTURES", tmp_path / "pictures"))
    with sync_playwright() as running:
        chromium = running.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = chromium.new_page(viewport={"width": 1600, "height": 1000})
        page.set_default_timeout(STEP_MS)
        expect.set_options(timeout=STEP_MS)
        yield Browser(page, ui.address, pictures)
        chromium.close()


def test_people_backfill_sites_read_a_report_add_a_site_and_switch_the_recrawl_on(
    ui: DagsterUi, browser: Browser, sites: list[LoopbackSite]
) -> None:
    *known, added = sites
    for site in known:
        ui.add_site(site.host)

    browser.materialize_all()
    browser.press("All")
    browser.picture("backfill")
    browser.press("Launch backfill")
    ui.await_that(lambda: all("/" in site.paths_seen() for site in known), RUN_S, "all sites are crawled")
    browser.open("/overview/backfills")
    browser.sees("Success")
    browser.picture("backfills")

    browser.open(f"/assets/map/report?view=partitions&partition={quote(known[0].host)}")
    with browser.page.context.expect_page() as opened:
        browser.page.get_by_role("link", name="/report.html").first.click()
    expect(opened.value.get_by_role("heading", level=1)).to_contain_text(known[0].host)
    opened.value.screenshot(path=browser.pictures / "site_report.png")
    opened.value.close()

    browser.materialize_all()
    browser.press("Add a partition")
    browser.page.get_by_placeholder("name").fill(added.host)
    browser.press("Save")
    browser.choose("Missing", "Launch 1 run")
    browser.picture("partition")
    browser.press("Launch 1 run")
    ui.await_that(lambda: "/" in added.paths_seen(), RUN_S, "the added site is crawled")
    browser.open("/assets/crawl_report?view=partitions")
    browser.sees(added.host)
    browser.picture("report")

    browser.open("/locations/isobath/sensors/recrawl_due_sites")
    browser.page.locator("label:has(input[type=checkbox])").first.click()
    browser.sees("0 runs requested")
    browser.picture("sensor")
