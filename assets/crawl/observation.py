"""Observations: the note of a run as an event of Dagster, whose metadata the UI shows and plots while the run works."""

from typing import Final

import dagster as dg

from resources.ports import RunNote

SHOWN_SITES: Final = 20
_SITES: Final = dg.TableSchema(
    columns=[
        dg.TableColumn("site"),
        dg.TableColumn("stage"),
        dg.TableColumn("done", "int"),
        dg.TableColumn("left", "int"),
        dg.TableColumn("pages_per_s", "float"),
        dg.TableColumn("errors", "int"),
        dg.TableColumn("end"),
        dg.TableColumn("slowest_host"),
        dg.TableColumn("why"),
    ]
)
_HOSTS: Final = dg.TableSchema(
    columns=[dg.TableColumn("host"), dg.TableColumn("queued", "int"), dg.TableColumn("why")],
)


def observation_of(note: RunNote, *, partition: str | None) -> dg.AssetObservation | None:
    """Make the event that tells how a run stands; None when no site is at work.

    It belongs to the asset at which the site that ends last is working. One for the whole run, not one a site: an
    event costs the event log tens of milliseconds.

    Args:
        note: how the run stands.
        partition: the site, when it is the run's only one.
    """
    if not note.sites:
        return None
    # The UI shows the first few without a click. No name is one of what a materialization says: a plot would mix them.
    return dg.AssetObservation(
        dg.AssetKey.from_user_string(note.sites[0].stage),
        partition=partition,
        description=note.say(),
        metadata={
            "pages_done": note.done,
            "pages_left": note.left,
            "pages_per_s": round(note.pages_per_s, 2),
            "waiting": note.say_waiting(),
            "end": note.end.say(note.at) if note.end else "not known yet",
            "queued": note.queued,
            "open_requests": note.open_requests,
            "overall_pages_per_s": round(note.overall_pages_per_s, 2),
            "errors_so_far": sum(note.errors.values()),
            "errors_by_kind": dg.MetadataValue.json(dict(note.errors)),
            "bytes_so_far": note.body_bytes,
            "sites_done": note.sites_done,
            "sites_at_work": len(note.sites),
            "hosts": _hosts_table(note),
            "sites": _sites_table(note),
        },
    )


def _hosts_table(note: RunNote) -> dg.TableMetadataValue:
    records = [
        dg.TableRecord({"host": host.host_key, "queued": host.queued, "why": host.why(note.at)}) for host in note.hosts
    ]
    return dg.MetadataValue.table(records, schema=_HOSTS)


def _sites_table(note: RunNote) -> dg.TableMetadataValue:
    records = [
        dg.TableRecord(
            {
                "site": site.site,
                "stage": site.stage,
                "done": site.done,
                "left": site.left,
                "pages_per_s": round(site.pages_per_s, 2),
                "errors": sum(site.errors.values()),
                "end": site.end.say(note.at) if site.end else "",
                "slowest_host": site.slowest.host_key if site.slowest else "",
                "why": site.slowest.why(note.at) if site.slowest else "",
            }
        )
        for site in note.sites[:SHOWN_SITES]
    ]
    return dg.MetadataValue.table(records, schema=_SITES)
