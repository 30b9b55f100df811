"""The words of an alert: one subject and one text, the same for every sink."""

from collections.abc import Callable, Iterator

from resources.ports.alerts import Alert, FailedPlace


def subject_of(alert: Alert) -> str:
    """Give one line.

    >>> from datetime import UTC, datetime
    >>> at = datetime(2030, 1, 1, tzinfo=UTC)
    >>> subject_of(Alert("links: ParserBug", at, at, [FailedPlace("a.test", "links", "ParserBug", "http://ui/")]))
    'Isobath: links: ParserBug (a.test)'
    """
    title = " ".join(alert.title.split())
    return f"Isobath: {title}{' goes on' if alert.repeated else ''} ({_whom(alert)})"


def text_of(alert: Alert, *, linked: Callable[[FailedPlace, str], str] | None = None) -> str:
    """Give the whole text, a line a place.

    Args:
        alert: what is said.
        linked: makes a place's line with its link; by default the link follows in a line of its own.
    """
    return "\n".join(_lines(alert, linked or _plainly_linked))


def _lines(alert: Alert, linked: Callable[[FailedPlace, str], str]) -> Iterator[str]:
    yield f"{'First' if alert.first_at != alert.last_at else 'Failed'} at {alert.first_at:%Y-%m-%d %H:%M} UTC" + (
        f", last at {alert.last_at:%Y-%m-%d %H:%M} UTC." if alert.first_at != alert.last_at else "."
    )
    for place in alert.places:
        since = " (has succeeded since)" if place.succeeded_since else ""
        whom = f"{place.site}, {place.where}" if place.site else place.where
        yield linked(place, f"{whom}: {' '.join(place.reason.split())}{since}")
    if alert.more:
        yield f"and {alert.more}{' or more' if alert.at_least else ''} others."


def _plainly_linked(place: FailedPlace, line: str) -> str:
    return f"- {line}\n  {place.link}"


def _whom(alert: Alert) -> str:
    count = len(alert.places) + alert.more
    if count == 1 and alert.places:
        return alert.places[0].site or alert.places[0].where
    return f"{count}{' or more' if alert.at_least else ''} sites"
