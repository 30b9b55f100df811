"""Volatile parts: what a page shows that is different at every visit though nobody edited it.

Clocks, ages, visitor counters, the date of today, copyright years. They are left out of what is hashed, never of what
is stored. A date or a number in a sentence of the page is content: it goes only where words say that it is such a part.
"""

from typing import Final

import re2

_MONTH: Final = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?"
_WEEKDAY: Final = r"(?:mon|tues?|wed(?:nes)?|thur?s?|fri|sat(?:ur)?|sun)(?:day)?\b\.?"
_DATE: Final = (
    rf"(?:(?:{_WEEKDAY},?\s+)?(?:\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}|\d{{1,2}}[-/.]\d{{1,2}}[-/.]\d{{2,4}}"
    rf"|\d{{1,2}}(?:st|nd|rd|th)?\.?\s+{_MONTH},?\s+\d{{4}}|{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?(?:,?\s+\d{{4}})?)"
    rf"|{_WEEKDAY})"
)
_ZONE: Final = r"(?:\s?[ap]\.?m\b\.?)?(?:\s?(?:utc|gmt|[ce]e?[sd]?t|p[sd]t|z)\b)?(?:\s?[+-]\d{2}:?\d{2})?"
_SECONDS_CLOCK: Final = rf"\d{{1,2}}:\d{{2}}:\d{{2}}(?:[.,]\d{{1,6}})?{_ZONE}(?:\s+\d{{4}}\b)?"
_CLOCK: Final = rf"(?:{_SECONDS_CLOCK}|\d{{1,2}}:\d{{2}}{_ZONE})"
_NUMBER: Final = "\\d+(?:[.,' \u00a0\u202f]\\d{3})*"

_CUE: Final = (
    r"(?:(?:current|local|server|system)\s+(?:date|time)(?:\s+and\s+time)?|date\s+and\s+time"
    r"|today(?:['’]s\s+date)?(?:\s+is)?|it\s+is\s+now|time\s+now|last\s+(?:checked|refreshed|visit)"
    r"|(?:generated|rendered|retrieved|served|accessed|printed)(?:\s+(?:on|at|in))?)"
)
_COUNTED: Final = (
    r"(?:visitors?|visits?|views?|hits?|page\s?views?|downloads?|(?:users?|guests?|members?|people)\s+online|readers?)"
)
_AGE: Final = (
    r"(?:\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten|a\s+few)\s*"
    r"(?:s|secs?|seconds?|mins?|minutes?|h|hrs?|hours?|d|days?|wks?|weeks?|months?|years?|yrs?)\s+ago"
)

# RE2, as texts come from anywhere and its time is linear in them.
_VOLATILE: Final = re2.compile(
    "(?im)"
    + "|".join(
        (
            # A time stamp to the second is made by a machine; a day beside it belongs to it.
            rf"\b(?:{_DATE}[,\sT]{{1,3}})?{_SECONDS_CLOCK}",
            rf"\b{_CUE}\s*:?\s*(?:{_DATE}(?:,?\s+(?:at\s+)?{_CLOCK})?|{_CLOCK}(?:,?\s+(?:on\s+)?{_DATE})?)",
            rf"\b(?:generated|rendered|served|loaded)\s+in\s+{_NUMBER}\s*(?:ms|milliseconds?|s|secs?|seconds?)\b",
            rf"\b{_AGE}\b|\bjust\s+now\b",
            # "3 views" in a sentence is content: as a counter it stands by itself.
            rf"(?:^|[|•·(])\s*{_NUMBER}\s*{_COUNTED}\s*(?:$|[|•·)])",
            rf"\b{_COUNTED}\s*[:#]\s*{_NUMBER}",
            rf"\byou\s+are\s+visitor(?:\s+(?:number|no\.?))?\s+#?{_NUMBER}",
            r"(?:©|\(c\)|\bcopyright\b)[\s©:]*(?:\(c\)\s*)?(?:19|20)\d{2}(?:\s*[-–—,]\s*(?:(?:19|20)\d{2}|present))*",
            # The same in Chinese, Japanese, Russian, German, French and Spanish.
            r"\d+\s*(?:秒|分钟|分鐘|分|小时|小時|時間|天|日|周|週間|个月|個月|ヶ月|年)(?:之)?前",
            r"\d+\s+(?:секунд|минут|час|дн|недел|месяц)\pL*\s+назад",
            r"\bvor\s+\d+\s+(?:sekunde|minute|stunde|tag|woche)[en]*\b",
            r"\bil\s+y\s+a\s+\d+\s+(?:seconde|minute|heure|jour|semaine)s?\b",
            r"\bhace\s+\d+\s+(?:segundo|minuto|hora|día)s?\b",
            rf"(?:访问量|浏览量|阅读量|浏览次数|訪問者数|アクセス数|閲覧数)\s*[:：]?\s*{_NUMBER}",
        )
    )
)


def without_volatile(text: str) -> str:
    """Take the volatile parts out of a text.

    >>> without_volatile("Posted 5 minutes ago by Ann, 12:30:01")
    'Posted   by Ann,  '
    """
    if not text.isascii():
        # RE2 reads UTF-8, which has no lone surrogates.
        text = text.encode("utf-8", "replace").decode("utf-8")
    stable: str = _VOLATILE.sub(" ", text)
    return stable
