"""Dates as publishers write them: W3C in all its precisions, RFC 822, and what is neither."""

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

_DATE: Final = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")
_ZONE: Final = re.compile(r"\s*(?:(?P<utc>Z|UTC|GMT)|(?P<offset>[+-]\d\d:?\d\d))$", re.IGNORECASE)


def read_date(text: str) -> datetime | None:
    """Read a date as UTC: its first moment when it is not exact, UTC when it has no zone; None when it is no date.

    >>> read_date("2024-05"), read_date("Mon, 06 May 2024 07:08:09 EST")
    (datetime.datetime(2024, 5, 1, 0, 0, tzinfo=datetime.timezone.utc), \
datetime.datetime(2024, 5, 6, 12, 8, 9, tzinfo=datetime.timezone.utc))
    >>> read_date("yesterday")

    Source: W3C, Date and Time Formats (NOTE-datetime); RFC 822, 5.
    """
    text = text.strip()
    try:
        if date := _DATE.fullmatch(text):
            return datetime(int(date[1]), int(date[2] or 1), int(date[3] or 1), tzinfo=UTC)
        if text[:4].isdigit():
            # Written with a space before the zone, or with its name, it is a W3C date all the same.
            time = datetime.fromisoformat(_ZONE.sub(lambda zone: zone["offset"] or "+00:00", text))
        else:
            time = parsedate_to_datetime(text)
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
