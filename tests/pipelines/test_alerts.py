"""The alert sensor on a real Dagster instance: runs fail, and people are told."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import time, timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from assets import names
from assets.derived import CheckResult, SiteEvent, SiteResult, derived_asset, per_site
from assets.partitions import sites
from pipelines.alert_events import RUNS_A_READ
from pipelines.alert_settings import AlertSettings, alert_settings_from, alert_sinks
from pipelines.alerts import AlertRules, SilenceWindow, alert_of_failures
from pipelines.cli.alerts import answers_of
from resources.errors import BadSettings, TransientError
from resources.ports import Alert
from tests.support.alert_receivers import HookReceiver, MailReceiver
from tests.support.answers import NOON
from tests.support.clocks import TurnableClock

HOUR_S = 3600.0
PAGES = names.PAGES.to_user_string()


@dataclass
class Heard:
    """A sink that keeps what it is told, and refuses on demand."""

    name: str
    fault: Exception | None = None
    alerts: list[Alert] = field(default_factory=list)

    def send(self, alert: Alert) -> None:
        """Take an alert."""
        if self.fault is not None:
            raise self.fault
        self.alerts.append(alert)

    def take(self) -> list[Alert]:
        """Give what came since the last time."""
        taken, self.alerts = self.alerts, []
        return taken


@dataclass
class Watched:
    """An instance whose runs end as a test wants, and the sensor that watches them."""

    instance: dg.DagsterInstance
    sinks: list[Heard] = field(default_factory=lambda: [Heard("one"), Heard("other")])
    rules: AlertRules = field(default_factory=lambda: AlertRules(ui="http://ui"))
    clock: TurnableClock = field(default_factory=lambda: TurnableClock(NOON))
    cursor: str | None = None

    def tick(self) -> str:
        """Evaluate the sensor as after a restart: all that it knows is its cursor."""
        sensor = alert_of_failures(self.sinks, self.rules)
        resources = {"clock": self.clock}
        with dg.build_sensor_context(instance=self.instance, cursor=self.cursor, resources=resources) as context:
            result = sensor(context)
        assert isinstance(result, dg.SensorResult)
        self.cursor = result.cursor
        return str(result.skip_reason.skip_message if result.skip_reason else "")

    def run(self, *of: str, bad: Mapping[str, str] | None = None, check_fails: bool = False) -> None:
        """Materialize pages of sites; those that are bad fail for the reason given."""

        @derived_asset(
            key=names.PAGES,
            deps=[],
            group="g",
            description="d",
            kinds=set(),
            code_version="1",
            checks={"has_text": "d"},
        )
        def pages(context: dg.AssetExecutionContext) -> Iterator[SiteEvent]:
            def work(site: str) -> SiteResult:
                if site in (bad or {}):
                    raise ValueError((bad or {})[site])
                severity = dg.AssetCheckSeverity.WARN if site == "warned.test" else dg.AssetCheckSeverity.ERROR
                check = CheckResult("has_text", not check_fails, f"{site} has no text", severity=severity)
                return SiteResult({}, "1", (check,))

            yield from per_site(context, names.PAGES, work)

        self.instance.add_dynamic_partitions(str(sites.name), list(of))
        tags = {"dagster/asset_partition_range_start": of[0], "dagster/asset_partition_range_end": of[-1]}
        self._execute(pages, partition_key=of[0]) if len(of) == 1 else self._execute(pages, tags=tags)

    def _execute(self, asset: dg.AssetsDefinition, **of: Any) -> None:
        dg.materialize(
            [asset],
            instance=self.instance,
            raise_on_error=False,
            run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
            **of,
        )

    def heard(self) -> list[tuple[str, list[str]]]:
        """Give what the first sink was told: titles, and the sites named."""
        return [(alert.title, [place.site for place in alert.places]) for alert in self.sinks[0].take()]


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    """Give an instance that keeps its events in files, run by run, as that of one machine does."""
    with dg.DagsterInstance.local_temp(str(tmp_path)) as made:
        yield made


@pytest.fixture
def watched(instance: dg.DagsterInstance) -> Watched:
    made = Watched(instance)
    made.run("before.test", bad={"before.test": "long ago"})
    assert made.tick() == "listens from now on"
    return made


@pytest.mark.slow
def test_a_run_over_many_sites_tells_each_cause_once_with_its_sites(watched: Watched) -> None:
    broken = {"a.test": "no room for a.test", "c.test": "no room for c.test", "d.test": "another thing"}
    watched.run("a.test", "b.test", "c.test", "d.test", bad=broken)
    watched.tick()
    no_room, other = f"{PAGES} failed: ValueError: no room for SITE", f"{PAGES} failed: ValueError: another thing"
    (run,) = watched.instance.get_runs(limit=1)
    alerts = watched.sinks[0].alerts
    assert {place.link for alert in alerts for place in alert.places} == {f"http://ui/runs/{run.run_id}"}
    assert watched.heard() == [(no_room, ["a.test", "c.test"]), (other, ["d.test"])]
    # One of them goes on elsewhere; nothing new. Then both sites succeed, and one breaks again.
    watched.run("a.test", bad={"a.test": "no room for a.test"})
    watched.tick()
    assert watched.heard() == []
    watched.run("a.test", "b.test", "c.test", bad={"b.test": "another thing"})
    watched.run("c.test", bad={"c.test": "no room for c.test"})
    watched.tick()
    assert watched.heard() == [(no_room, ["c.test"])]
    assert [len(sink.take()) for sink in watched.sinks] == [0, 3]


@pytest.mark.slow
def test_failed_checks_are_told_by_severity_one_message_a_check(watched: Watched) -> None:
    watched.run("a.test", "b.test", check_fails=True)
    watched.run("c.test", check_fails=True)
    watched.run("warned.test", check_fails=True)
    watched.tick()
    (alert,) = watched.sinks[0].take()
    assert alert.title == "check has_text failed"
    assert [(place.site, place.reason) for place in alert.places] == [
        (site, f"{site} has no text") for site in ("a.test", "b.test", "c.test")
    ]
    assert alert.places[0].link == "http://ui/assets/content/pages?view=checks&checkDetail=has_text"
    watched.rules = AlertRules(warnings=True)
    watched.clock.advance(24 * HOUR_S)
    watched.run("warned.test", check_fails=True)
    watched.tick()
    (again,) = watched.sinks[0].take()
    assert (again.repeated, len(again.places)) == (True, 4)
    watched.run("a.test", "b.test", "c.test")
    watched.run("warned.test")
    watched.run("a.test", check_fails=True)
    watched.tick()
    assert watched.heard() == [("check has_text failed", ["a.test"])]


@pytest.mark.slow
def test_messages_wait_for_the_end_of_a_silence_window(watched: Watched) -> None:
    watched.rules = AlertRules(silence=(SilenceWindow(time(11), time(13)),))
    watched.run("a.test", bad={"a.test": "one"})
    watched.run("b.test", bad={"b.test": "another"})
    assert watched.tick() == "a silence window: 2 causes wait"
    watched.run("a.test")
    watched.tick()
    assert watched.heard() == []
    watched.clock.advance(HOUR_S)
    watched.tick()
    assert [[place.succeeded_since for place in alert.places] for alert in watched.sinks[0].alerts] == [[True], [False]]
    assert [sites for _, sites in watched.heard()] == [["a.test"], ["b.test"]]


@pytest.mark.parametrize("fault", [TransientError("one: answered 503"), ValueError("a bug")], ids=["refuses", "breaks"])
def test_a_sink_that_fails_is_owed_its_messages_and_the_other_has_them(watched: Watched, fault: Exception) -> None:
    first, second = watched.sinks
    first.fault = fault
    watched.run("a.test", bad={"a.test": "one"})
    assert str(fault) in watched.tick()
    assert (len(first.take()), len(second.take())) == (0, 1)
    watched.run("b.test", bad={"b.test": "another"})
    watched.tick()
    assert (len(first.take()), len(second.take())) == (0, 1)
    first.fault = None
    watched.tick()
    watched.tick()
    assert (len(first.take()), len(second.take())) == (2, 0)


def test_a_run_that_never_came_to_a_step_is_told_and_one_that_is_retried_or_cancelled_is_not(watched: Watched) -> None:
    @dg.job
    def tidy() -> None:
        return

    for tags in ({}, {"dagster/will_retry": "true"}):
        run = watched.instance.create_run_for_job(tidy, status=dg.DagsterRunStatus.STARTED, tags=tags)
        watched.instance.report_run_failed(run, "the process 4711 is gone")
    run = watched.instance.create_run_for_job(tidy, status=dg.DagsterRunStatus.STARTED)
    watched.instance.report_run_canceled(run)
    watched.tick()
    (alert,) = watched.sinks[0].take()
    assert alert.title == "job tidy failed: the process # is gone"
    assert [(place.site, place.where) for place in alert.places] == [("", "job tidy")]


@pytest.mark.slow
def test_more_ends_of_runs_than_one_read_are_read_in_their_order(watched: Watched) -> None:
    @dg.job
    def tidy() -> None:
        return

    for number in range(RUNS_A_READ + 3):
        run = watched.instance.create_run_for_job(tidy, status=dg.DagsterRunStatus.STARTED)
        watched.instance.report_run_failed(run, "again")
        if number in (0, RUNS_A_READ + 2):
            tidy.execute_in_process(instance=watched.instance)
    watched.tick()
    (alert,) = watched.sinks[0].take()
    assert alert.places[0].succeeded_since


def test_without_a_sink_nothing_is_owed(watched: Watched) -> None:
    sinks, watched.sinks = watched.sinks, []
    watched.run("a.test", bad={"a.test": "one"})
    assert watched.tick().startswith("nobody to tell")
    watched.sinks = sinks
    watched.tick()
    assert watched.heard() == []


@pytest.mark.parametrize(
    ("hour", "silent"), [(21, False), (22, True), (23, True), (0, True), (6, True), (7, False), (12, True), (13, False)]
)
def test_a_silence_window_may_go_over_midnight(hour: int, silent: bool) -> None:
    rules = alert_settings_from({"ISOBATH_ALERT_SILENCE": "22:00-07:00, 12:00-13:00"}).rules
    assert rules.is_silent(NOON.replace(hour=hour)) == silent


def test_the_environment_names_the_sinks_and_each_gets_the_test_message() -> None:
    with HookReceiver() as hook, HookReceiver() as slack, MailReceiver() as mail:
        settings = alert_settings_from(
            {
                "ISOBATH_ALERT_WEBHOOK": hook.url,
                "ISOBATH_ALERT_SLACK": slack.url,
                "ISOBATH_ALERT_EMAIL": "a@x.test, b@x.test",
                "ISOBATH_SMTP": f"smtp://{mail.host}:{mail.port}",
                "ISOBATH_ALERT_AGAIN_HOURS": "2",
                "ISOBATH_ALERT_WARNINGS": "1",
                "ISOBATH_UI": "https://ui.test/isobath/",
            }
        )
        slack.status = 403
        answers = answers_of(alert_sinks(settings, authorities=""), NOON, settings.rules.ui)
    assert settings.rules == AlertRules("https://ui.test/isobath", warnings=True, again_after=timedelta(hours=2))
    assert hook.url not in repr(settings)
    assert answers == [("webhook", ""), ("slack", "slack: answered 403 words of the server"), ("email", "")]
    assert [len(hook.taken), len(slack.taken), mail.taken[0][0]] == [1, 0, ["a@x.test", "b@x.test"]]
    assert alert_sinks(AlertSettings(), authorities="") == ()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ISOBATH_ALERT_WEBHOOK", "hooks.test/secret"),
        ("ISOBATH_ALERT_SLACK", "http://secret:x/"),
        ("ISOBATH_ALERT_EMAIL", "ops"),
        ("ISOBATH_SMTP", "smtp://me:secret@"),
        ("ISOBATH_ALERT_SILENCE", "22-07"),
        ("ISOBATH_ALERT_SILENCE", "24:00-07:00"),
        ("ISOBATH_ALERT_SILENCE", "07:00-07:00"),
        ("ISOBATH_ALERT_AGAIN_HOURS", "0"),
        ("ISOBATH_ALERT_WARNINGS", "maybe"),
        ("ISOBATH_UI", "localhost:3000"),
    ],
)
def test_a_wrong_setting_is_named_and_no_secret_is_shown(name: str, value: str) -> None:
    with pytest.raises(BadSettings, match=name) as raised:
        alert_settings_from({name: value})
    assert "secret" not in str(raised.value)
