"""The doctor: what is well is said, what is not comes with advice, and nothing that is broken ends it."""

import json
import socket
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import pytest

from pipelines.cli import deployment_checks as parts
from pipelines.cli import machine_checks as machine
from pipelines.cli import main
from pipelines.cli.doctor_findings import Finding, State, looked, ok
from pipelines.deployments import Deployment, deploy, settings_from
from resources.errors import StoreUnusable
from resources.ports import ObjectInfo
from tests.conftest import Store
from tests.support.clocks import TurnableClock
from tests.support.loopback import LoopbackSite, Page
from tests.support.memory import MemoryObjects
from tests.support.rig import SameProcessWorkers

OK, WARNING, PROBLEM = State.OK, State.WARNING, State.PROBLEM
CLOCK = TurnableClock()


def states(findings: Iterator[Finding]) -> list[State]:
    return [finding.state for finding in findings]


@pytest.fixture
def deployment(store: Store, tmp_path: Path) -> Deployment:
    settings = settings_from(
        {"ISOBATH_STORE": store[2], "ISOBATH_SITES": str(tmp_path / "sites.yaml"), "ISOBATH_INDEX": str(tmp_path / "i")}
    )
    return deploy(settings)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def with_clock(deployment: Deployment, ahead_s: float) -> Deployment:
    clock = TurnableClock(datetime.now(UTC))
    clock.advance(ahead_s)
    return replace(deployment, resources={**deployment.resources, "clock": clock})


@pytest.mark.parametrize(
    ("lock", "expected"),
    [
        (f"dagster=={version('dagster')}\n", [OK]),
        ("dagster==0.1\n", [WARNING]),
        (f"dagster=={version('dagster')}\nno-such-package==1.0\n", [PROBLEM]),
        (None, [WARNING]),
    ],
)
def test_packages_are_compared_with_the_lock(lock: str | None, expected: list[State], tmp_path: Path) -> None:
    path = tmp_path / "requirements.lock"
    if lock is not None:
        path.write_text(lock)
    assert states(machine.package_findings(path)) == expected


@pytest.mark.parametrize(
    ("findings", "expected"),
    [
        (lambda: machine.python_findings((3, 10, 9)), [PROBLEM]),
        (lambda: machine.python_findings(), [OK]),
        (lambda: machine.dns_findings(["localhost"]), [OK]),
        (lambda: machine.dns_findings(["localhost", "lost.invalid"]), [WARNING]),
        (lambda: machine.dns_findings(["lost.invalid"]), [PROBLEM]),
        (lambda: machine.dns_findings(["lost.invalid"], proxy_host="localhost"), [OK]),
        (lambda: machine.dns_findings([], proxy_host="lost.invalid"), [PROBLEM]),
        (lambda: machine.open_file_findings(1), [OK]),
        (lambda: parts.contact_findings("https://example.org/isobath"), [WARNING]),
        (lambda: parts.contact_findings("https://a.test/bot"), [OK]),
        (lambda: parts.worker_findings(SameProcessWorkers(), CLOCK), [OK]),
    ],
)
def test_what_is_wrong_is_told_from_what_is_well(findings: object, expected: list[State]) -> None:
    assert callable(findings)
    assert states(findings()) == expected


@pytest.mark.parametrize(("gibibytes", "state"), [(0.5, PROBLEM), (5, WARNING), (50, OK)])
def test_each_disk_is_looked_at_once(gibibytes: float, state: State, tmp_path: Path) -> None:
    found = list(machine.disk_findings([tmp_path / "a" / "b", tmp_path], free_bytes=int(gibibytes * 1024**3)))
    assert set(states(iter(found))) == {state}
    assert len(found) <= 2  # of these folders, and of temporary files
    assert str(tmp_path) in found[0].said


def test_a_port_is_free_or_the_uis_or_taken() -> None:
    with LoopbackSite({"/server_info": Page('{"dagster_version": "1"}')}) as ui, LoopbackSite({}) as other:
        said = [next(machine.port_findings(int(site.host.rpartition(":")[2]))) for site in (ui, other)]
    said.append(next(machine.port_findings(free_port())))
    assert [finding.state for finding in said] == [OK, WARNING, OK]
    assert ["answers" in said[0].said, "make ui PORT=" in said[1].advice, "free" in said[2].said] == [True] * 3


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ("telemetry: {enabled: false}\n", [OK]),
        (None, [WARNING, OK]),
        ("a: b: c\n", [PROBLEM]),
        ("no_such_key: 1\n", [PROBLEM]),
    ],
)
def test_dagsters_home_is_opened(settings: str | None, expected: list[State], tmp_path: Path) -> None:
    if settings is not None:
        (tmp_path / "dagster.yaml").write_text(settings)
    home = str(tmp_path)
    assert states(looked("dagster home", lambda: machine.home_findings(home), "x")) == expected


@pytest.mark.parametrize("home", ["", "relative", "/no/such/folder"])
def test_a_home_that_is_none_is_a_problem(home: str) -> None:
    assert states(machine.home_findings(home)) == [PROBLEM]


class Careless(MemoryObjects):
    """A store that lists nothing, and keeps neither conditions nor promises."""

    def create(self, key: str, data: bytes) -> str | None:
        """Write in any case."""
        self.put(key, data)
        return "etag"

    def replace(self, key: str, data: bytes, *, etag: str) -> str | None:
        """Write in any case."""
        return self.create(key, data)

    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        """Give nothing."""
        return iter(())

    def delete(self, key: str) -> None:
        """Keep it."""


class Refusing(MemoryObjects):
    """A store that nobody may write."""

    def create(self, key: str, data: bytes) -> str | None:
        """Refuse."""
        raise StoreUnusable("access denied: ask for s3:PutObject")


def test_a_store_is_tried_and_left_as_it_was(deployment: Deployment) -> None:
    assert states(parts.store_findings(deployment.objects, CLOCK)) == [OK]
    assert states(parts.clock_findings(deployment)) == [OK]
    assert states(parts.table_findings(deployment)) == [OK]
    assert list(deployment.objects.list("")) == []


def test_what_a_store_does_wrong_is_named() -> None:
    (careless,) = parts.store_findings(Careless(), CLOCK)
    assert careless.state is PROBLEM
    for fault in ("writes over", "other bytes", "does not list", "If-Match", "was deleted"):
        assert fault in careless.said
    (refused,) = looked("store", lambda: parts.store_findings(Refusing(), CLOCK), "see the credentials")
    assert (refused.state, refused.said) == (PROBLEM, "access denied: ask for s3:PutObject")


@pytest.mark.parametrize(
    ("ahead_s", "state"), [(0, OK), (-10, WARNING), (10, WARNING), (-3600, PROBLEM), (3600, PROBLEM)]
)
def test_a_clock_that_is_not_the_stores_is_told(ahead_s: float, state: State, deployment: Deployment) -> None:
    (finding,) = parts.clock_findings(with_clock(deployment, ahead_s))
    assert finding.state is state


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, [OK]),
        ("sites: {a.test: {}}\n", [OK]),
        ("sits: {}\n", [PROBLEM]),
        ("sites: {a.test: {seeds: ['http://a.test/x'], include: ['/docs/']}}\n", [WARNING]),
    ],
)
def test_the_site_catalog_is_read(text: str | None, expected: list[State], tmp_path: Path) -> None:
    path = tmp_path / "sites.yaml"
    if text is not None:
        path.write_text(text)
    made = deploy(settings_from({"ISOBATH_STORE": str(tmp_path / "s"), "ISOBATH_SITES": str(path)}))
    assert states(looked("sites", lambda: parts.site_findings(made), "x")) == expected


def test_an_index_without_a_place_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    environment = {"ISOBATH_STORE": str(tmp_path / "s"), "ISOBATH_INDEX": str(tmp_path / "file" / "index")}
    assert states(parts.index_findings(deploy(settings_from(environment)))) == [PROBLEM]
    assert states(parts.index_findings(deploy(settings_from({**environment, "ISOBATH_EMBEDDED_INDEX": "off"})))) == [OK]
    environment["ISOBATH_INDEX"] = str(tmp_path / "none" / "index")
    assert states(parts.index_findings(deploy(settings_from(environment)))) == [OK]


def test_an_error_is_a_finding_and_what_was_found_before_it_is_kept() -> None:
    def look() -> Iterator[Finding]:
        yield ok("x", "well")
        raise ZeroDivisionError("by\n zero")

    found = list(looked("x", look, "mend it"))
    assert [(finding.state, finding.said) for finding in found] == [
        (OK, "well"),
        (PROBLEM, "ZeroDivisionError: by zero"),
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sites", "environment", "code", "problems"),
    [
        ("sites: {localhost: {}}\n", {}, 0, []),
        ("sits: {}\n", {}, 1, ["sites"]),
        ("", {"ISOBATH_MAX_DEPTH": "99"}, 1, ["settings"]),
        ("", {"ISOBATH_STORE": "@HOME@/dagster.yaml/store"}, 1, ["store", "index"]),
    ],
)
def test_the_command_ends_with_1_when_there_is_a_problem(
    sites: str,
    environment: dict[str, str],
    code: int,
    problems: Sequence[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "dagster.yaml").write_text("telemetry: {enabled: false}\n")
    (tmp_path / "sites.yaml").write_text(sites)
    ours = {"DAGSTER_HOME": "@HOME@", "ISOBATH_STORE": "@HOME@/store", "ISOBATH_SITES": "@HOME@/sites.yaml"}
    for name, value in {**ours, "ISOBATH_WORKERS": "1", **environment}.items():
        monkeypatch.setenv(name, value.replace("@HOME@", str(tmp_path)))
    with pytest.raises(SystemExit) as ended:
        main(["doctor", "--json", "--port", str(free_port())])
    found = json.loads(capsys.readouterr().out)
    assert ended.value.code == code
    assert [finding["subject"] for finding in found if finding["state"] == "problem"] == problems
    assert all(finding["advice"] for finding in found if finding["state"] != "ok")
