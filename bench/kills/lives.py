"""The lives of a crawl: started as users start it, ended by ``kill -9`` at a given moment, and carried on."""

import contextlib
import math
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from warcio.archiveiterator import ArchiveIterator

from bench.kills.stores import StoreView
from pipelines.project import PROJECT
from tests.support.loopback import LoopbackSite

GIVE_UP_S: Final = 180.0
LEASE_S: Final = 1
DEPTH: Final = 2
DERIVED: Final = "derived tables"
BATCH_BYTES: Final = 8_000
NOT_PAGES: Final = frozenset({"/robots.txt"})  # robots.txt is asked by every run that has no fresh rules


@dataclass(frozen=True, slots=True)
class Kill:
    """One kill: when, in which stage, and what it left behind."""

    moment_s: float  # processor time since the walk began: what has happened by then is the same on a busy machine
    stage: str
    unfinished: int  # writes in the store
    scratch: int  # files in scratch folders
    orphans: int  # WARC files that no row names


@dataclass
class Ground:
    """One site, one store, and the folder of the processes that crawl one into the other."""

    site: LoopbackSite
    store: StoreView
    folder: Path
    kills: list[Kill] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    walk_s: float = 0.0  # processor time that the last walk took
    _published: set[str] = field(default_factory=set)  # paths of the crawl under way
    _seen: int = 0  # requests before this life

    def __post_init__(self) -> None:
        self.temporary_folder.mkdir(parents=True)
        self.home.mkdir()
        shutil.copy(PROJECT / "dagster_home" / "dagster.yaml", self.home)
        (self.folder / "sites.yaml").write_text(
            f"sites:\n  '{self.site.host}':\n    min_delay_s: 0\n    allow_private_networks: true\n"
            f"    seeds: ['{self.site.url('/')}']\n    batch_max_bytes: {BATCH_BYTES}\n"
        )

    @property
    def home(self) -> Path:
        """The home of its Dagster instance."""
        return self.folder / "home"

    @property
    def temporary_folder(self) -> Path:
        """Where its processes keep their temporary files."""
        return self.folder / "tmp"

    @property
    def log(self) -> str:
        """All that its processes said."""
        return (self.folder / "log.txt").read_text()

    def start(self, command: Sequence[str] = (), *, lease_s: int = LEASE_S) -> subprocess.Popen[bytes]:
        """Start a crawl, or another command, in a session of its own."""
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "ISOBATH_"))},
            **self.store.environment,
            "DAGSTER_HOME": str(self.home),
            "TMPDIR": str(self.temporary_folder),
            "ISOBATH_STORE": self.store.url,
            "ISOBATH_SITES": str(self.folder / "sites.yaml"),
            "ISOBATH_INDEX": str(self.folder / "index"),
            "ISOBATH_LEASE_S": str(lease_s),
            "ISOBATH_WORKERS": "1",
            "ISOBATH_MAX_DEPTH": str(DEPTH),
        }
        isobath = str(Path(sys.executable).with_name("isobath"))
        with (self.folder / "log.txt").open("ab") as log:
            return subprocess.Popen(
                command or [isobath, "crawl", self.site.url("/")],
                env=environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def live(self, kill_after_s: float = math.inf) -> bool:
        """Run the crawl once; say whether it came to its end before it was killed.

        Args:
            kill_after_s: processor time of its walk.
        """
        before = self.crawls()
        process = self.start()
        self._await_walk(process)
        code = self._kill_after(process, kill_after_s)
        self.end_session(process.pid)
        self.look_back(before)
        if code == -signal.SIGKILL:
            self.kills.append(self._kill(kill_after_s, before))
        elif code:
            self.violations.append(f"a crawl ended with {code}: {self.log[-2000:]}")
        return code != -signal.SIGKILL

    def interrupt(
        self, after_requests: int, number: signal.Signals, command: Sequence[str] = (), *, whole_group: bool = False
    ) -> int:
        """Start a crawl whose lease would keep others away for long, interrupt it in the middle; give its exit code.

        Args:
            after_requests: when the site has been asked so often.
            number: the signal.
            command: another program that crawls.
            whole_group: signal its worker processes too, as a terminal does.
        """
        before = self.crawls()
        process = self.start(command, lease_s=600)
        deadline = time.monotonic() + GIVE_UP_S
        while len(self.site.requests) < after_requests and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.001)
        (os.killpg if whole_group else os.kill)(process.pid, number)
        code = process.wait(GIVE_UP_S)
        self.end_session(process.pid)
        self.look_back(before)
        return code

    @property
    def is_through(self) -> bool:
        """Whether the last kill came after the crawl's own end."""
        return bool(self.kills) and self.kills[-1].stage == DERIVED

    @property
    def kept(self) -> set[str]:
        """Give the paths whose captures are published, of the crawl under way."""
        return set(self._published)

    def _await_walk(self, process: subprocess.Popen[bytes]) -> None:
        """Wait until a process has made its scratch folder."""
        there = set(self.temporary_folder.iterdir())
        deadline = time.monotonic() + GIVE_UP_S
        while process.poll() is None and time.monotonic() < deadline:
            if any(path.name.startswith("isobath-") for path in {*self.temporary_folder.iterdir()} - there):
                return
            time.sleep(0.005)

    def crawls(self) -> dict[str, list[str]]:
        """Give the stages that each crawl of the site has done, the newest crawl last."""
        done: dict[str, list[str]] = {}
        for row in rows_of(self.store.table("crawls")):
            done.setdefault(row["crawl_id"], []).append(row["stage"])
        return dict(sorted(done.items()))

    def look_back(self, before: dict[str, list[str]]) -> None:
        """Compare what this life asked for with what had been published before it."""
        after = self.crawls()
        if after.keys() != before.keys() and before:
            # A new crawl asks for everything again. It may begin only where the one before had ended.
            newest = list(before)[-1]
            if "crawl_report" not in before[newest]:
                self.violations.append(f"crawl {newest} was not carried on")
            self._published = set()
        paths = self.site.paths_seen()
        again = sorted(set(paths[self._seen :]) & self._published - NOT_PAGES)
        if again:
            self.violations.append(f"asked again though published: {again}")
        self._seen = len(paths)
        self._published = self._captured(list(after)[-1]) if after else set()

    def _kill_after(self, process: subprocess.Popen[bytes], kill_after_s: float) -> int:
        deadline, began_s = time.monotonic() + GIVE_UP_S, processor_s(process.pid)
        self.walk_s = 0.0
        while process.poll() is None:
            self.walk_s = max(self.walk_s, processor_s(process.pid) - began_s)
            if self.walk_s >= kill_after_s:
                os.kill(process.pid, signal.SIGKILL)
            elif time.monotonic() > deadline:
                self.violations.append(f"a crawl did not end within {GIVE_UP_S:g} s")
                os.kill(process.pid, signal.SIGTERM)
                deadline = math.inf
            time.sleep(0.005)
        return process.wait()

    def _captured(self, crawl_id: str) -> set[str]:
        found = set()
        for key, data in self.store.files(f"raw/site={self.site.host}/crawl={crawl_id}").items():
            if key.endswith(".warc.gz"):
                for record in ArchiveIterator(BytesIO(data)):
                    if record.rec_type in ("response", "revisit"):
                        found.add(record.rec_headers.get_header("WARC-Target-URI").removeprefix(self.site.url("")))
        return found

    def _kill(self, moment_s: float, before: dict[str, list[str]]) -> Kill:
        after = self.crawls()
        newest = list(after)[-1] if after else ""
        done = after.get(newest, [])
        if newest in before and "crawl_report" in before[newest]:
            stage = "started"
        elif "crawl_report" in done:
            stage = DERIVED
        else:
            stage = next(stage for stage in stages() if stage not in done)
        files = [path for path in self.temporary_folder.glob("isobath-*/*") if path.is_file()]
        named = {row["warc_file"] for row in rows_of(self.store.table("fetches"))}
        kept = {key for key in self.store.files(f"raw/site={self.site.host}") if key.endswith(".warc.gz")}
        return Kill(moment_s, stage, len(self.store.unfinished()), len(files), len(kept - named))

    def end_session(self, session: int) -> None:
        """Wait until all processes of a session have ended by themselves; end those that do not, and note them."""
        deadline = time.monotonic() + 20
        while (left := session_members(session)) and time.monotonic() < deadline:
            time.sleep(0.02)
        for pid in left:
            # Dagster follows a run's output with a process that it may not live to tell how to end.
            if "/compute_logs/" not in (name := command_line(pid)):
                self.violations.append(f"process {pid} outlived its crawl: {name}")
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def stages() -> list[str]:
    """Give the stages of the crawl side in order."""
    layers = [f"depth_{n}/{stage}" for n in range(DEPTH + 1) for stage in ("frontier", "raw_batches", "links")]
    return ["started", "seeds/seed_check", *layers, "crawl_report"]


def rows_of(table: pa.Table | None) -> list[dict[str, Any]]:
    """Give the rows of a table that may not be there."""
    return [] if table is None else list(table.to_pylist())


def processor_s(pid: int) -> float:
    """Give the processor time that a process has used; 0 for one that has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def session_members(session: int) -> list[int]:
    """Give the processes of a session that are alive."""
    members = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                state, _, _, of = (entry / "stat").read_text().rpartition(")")[2].split()[:4]
            except (FileNotFoundError, ProcessLookupError):
                continue
            if int(of) == session and state != "Z":
                members.append(int(entry.name))
    return members


def command_line(pid: int) -> str:
    """Give how a process was called, or say that it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")[:200]
    except (FileNotFoundError, ProcessLookupError):
        return "ended"
