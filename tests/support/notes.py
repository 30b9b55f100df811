"""Notes on a run that never ran, for tests of what shows them."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from resources.ports import Ending, HostWait, RunNote, SiteNote, WaitReason

NOW = datetime(2030, 1, 1, 12, tzinfo=UTC)


def site_note(site: str = "a.example", **facts: Any) -> SiteNote:
    """Make the note of a site that backs off."""
    wait = HostWait(f"https://{site}", 40, WaitReason.BACKING_OFF, NOW + timedelta(minutes=3), refusals=2)
    whole = SiteNote(
        site=site,
        stage="depth_1/raw_batches",
        done=1_200,
        left=40,
        pages_per_s=2.5,
        errors={"timeout": 3, "server_error": 1},
        body_bytes=3 * 2**20,
        end=Ending(NOW + timedelta(minutes=4), is_bound=True),
        slowest=wait,
    )
    return replace(whole, **facts)


def run_note(*sites: SiteNote, **facts: Any) -> RunNote:
    """Make the note of a run in which these sites are at work."""
    whole = RunNote(
        run_id="run",
        at=NOW,
        sites_total=len(sites) + 1,
        sites_done=1,
        done=1_300,
        left=40,
        queued=40,
        open_requests=7,
        pages_per_s=2.5,
        overall_pages_per_s=4.0,
        errors={"timeout": 3, "server_error": 1},
        body_bytes=3 * 2**20,
        waiting={WaitReason.DELAY: 2, WaitReason.BACKING_OFF: 1},
        hosts=tuple(site.slowest for site in sites if site.slowest),
        sites=sites,
        ended=(),
        end=sites[0].end if sites else None,
    )
    return replace(whole, **facts)
