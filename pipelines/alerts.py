"""The sensor that alerts: it reads how runs ended, and tells each cause of failures once to each sink.

What it has read and what it owes to whom stands in its cursor: it survives restarts, and a tick that is lost is done
again.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, time, timedelta
from typing import Final

import dagster as dg
from pydantic import TypeAdapter, ValidationError

from pipelines.alert_causes import Cause, Causes, after, told
from pipelines.alert_events import ends_after, newest_end, said_by
from resources.errors import TransientError
from resources.ports import AlertSink, Clock

READ_S: Final = 15.0  # of a tick, which has 60 s
SEND_S: Final = 20.0  # of all sinks; what they were asked last may take longer


@dataclass(frozen=True, slots=True)
class SilenceWindow:
    """A time of each day, in UTC, in which nobody is told; it may go over midnight."""

    begins: time
    ends: time

    def __contains__(self, at: datetime) -> bool:
        clock = at.time().replace(tzinfo=None)
        if self.begins < self.ends:
            return self.begins <= clock < self.ends
        return clock >= self.begins or clock < self.ends


@dataclass(frozen=True, slots=True)
class AlertRules:
    """What is told, and when."""

    ui: str = "http://127.0.0.1:3000"  # where links lead
    warnings: bool = False  # failed checks of severity WARN are told too
    again_after: timedelta = timedelta(hours=24)
    silence: tuple[SilenceWindow, ...] = ()

    def is_silent(self, at: datetime) -> bool:
        """Tell whether alerts wait at this time."""
        return any(at in window for window in self.silence)


@dataclass(frozen=True, slots=True)
class AlertState:
    """What is read, and what is owed."""

    read_to: int  # storage id of the end of a run
    causes: Mapping[str, Cause] = field(default_factory=dict)


_STATE: Final = TypeAdapter(AlertState)


def alert_of_failures(sinks: Sequence[AlertSink], rules: AlertRules) -> dg.SensorDefinition:
    """Make the sensor; it runs by default where there is a sink to tell.

    Args:
        sinks: who are told.
        rules: what they are told, and when.
    """

    @dg.sensor(
        name="alert_of_failures",
        minimum_interval_seconds=30,
        default_status=dg.DefaultSensorStatus.RUNNING if sinks else dg.DefaultSensorStatus.STOPPED,
        description=(
            "Tells of failed runs and failed checks by webhook, Slack or mail, once for each cause, with the sites, "
            "reasons and links. Needs ISOBATH_ALERT_WEBHOOK, ISOBATH_ALERT_SLACK or ISOBATH_ALERT_EMAIL."
        ),
    )
    def of_failures(context: dg.SensorEvaluationContext, clock: dg.ResourceParam[Clock]) -> dg.SensorResult:
        """Read what ended, and tell what is due."""
        state = _state_of(context.cursor)
        if state is None or not sinks:
            # Nobody wants to be told of all that ever failed.
            state = AlertState(newest_end(context.instance))
            said = "listens from now on" if sinks else "nobody to tell: set ISOBATH_ALERT_WEBHOOK, _SLACK or _EMAIL"
            return dg.SensorResult(skip_reason=said, cursor=_STATE.dump_json(state).decode())
        state = read_on(context.instance, state, rules, clock)
        causes, said = send_due(state.causes, sinks, rules, clock, on_error=context.log.warning)
        return dg.SensorResult(skip_reason=said, cursor=_STATE.dump_json(replace(state, causes=causes)).decode())

    return of_failures


def read_on(instance: dg.DagsterInstance, state: AlertState, rules: AlertRules, clock: Clock) -> AlertState:
    """Read the ends of runs that are new, as many as a tick has time for."""
    read_to, causes = state.read_to, state.causes
    until = clock.monotonic_s() + READ_S
    # Ids are given again when the history was wiped.
    ends = ends_after(instance, read_to)
    if not ends:
        return replace(state, read_to=min(read_to, newest_end(instance)))
    while ends:
        for end in ends:
            causes = after(causes, list(said_by(instance, end, ui=rules.ui, warnings=rules.warnings)), clock.now())
            read_to = end.storage_id
            if clock.monotonic_s() >= until:
                return AlertState(read_to, causes)
        ends = ends_after(instance, read_to)
    return AlertState(read_to, causes)


def send_due(
    causes: Causes, sinks: Sequence[AlertSink], rules: AlertRules, clock: Clock, *, on_error: Callable[[str], object]
) -> tuple[Causes, str]:
    """Tell each sink of what it is to be told; give the causes as they then stand, and a sentence.

    A sink that fails is left alone until the next tick; the others have theirs.
    """
    now = clock.now()
    kept = dict(causes)
    if rules.is_silent(now):
        waiting = sum(any(cause.is_due(sink.name, now, rules.again_after) for sink in sinks) for cause in kept.values())
        return kept, f"a silence window: {waiting} causes wait"
    sent, problems = 0, []
    for sink in sinks:
        # One that is slow does not take the time of the others.
        until = clock.monotonic_s() + SEND_S / len(sinks)
        due = [key for key, cause in kept.items() if cause.is_due(sink.name, now, rules.again_after)]
        for key in sorted(due, key=lambda key: kept[key].first_at):
            try:
                sink.send(kept[key].alert(sink.name))
            except Exception as error:  # noqa: BLE001 - a tick that ends here would send again what others have
                said = (
                    str(error) if isinstance(error, TransientError) else f"{sink.name}: {type(error).__name__} {error}"
                )
                on_error(f"an alert waits: {said}")
                problems.append(said)
                break
            kept[key] = kept[key].told_to(sink.name, now)
            sent += 1
            if clock.monotonic_s() >= until:
                break
    said = f"sent {sent} messages; {len(kept)} causes are known" + "".join(f"; {problem}" for problem in problems)
    return told(kept, {sink.name for sink in sinks}, now), said


def _state_of(cursor: str | None) -> AlertState | None:
    """Read a cursor; one that a person or another version wrote begins anew."""
    try:
        return _STATE.validate_json(cursor) if cursor else None
    except ValidationError:
        return None
