"""The feed command: a site's feed as consumers read it, and what a person can ask of it."""

import json
import sys
from dataclasses import dataclass

from rich.console import Console

from assets import names
from assets.feed.checks import replay_check, sinks_check, vanished_check
from assets.feed.chunk_log import ChunkLog
from assets.feed.compaction import compact
from assets.feed.index_feed import FeedResult, FeedRules, index_feed_of_site, withdraw_site
from assets.feed.log import BatchLog, line_of
from pipelines.cli.parts import deployment_for
from pipelines.deployments import Deployment
from resources.errors import BadSettings


@dataclass(frozen=True, slots=True)
class FeedRequest:
    """What was asked; at most one of these."""

    since: int | None = None
    chunks: bool = False  # with since: those instead of documents
    verify: bool = False
    let_vanish: bool = False
    withdraw: bool = False
    compact: bool = False

    def __post_init__(self) -> None:
        if (self.since is not None) + self.verify + self.let_vanish + self.withdraw + self.compact > 1:
            raise BadSettings("--since, --verify, --let-vanish, --withdraw and --compact: use one of them")
        if self.chunks and self.since is None:
            raise BadSettings("--chunks: say after which batch with --since, 0 for all")


def feed(site: str, request: FeedRequest, *, store: str | None, as_json: bool) -> int:
    """Do what was asked of a site's feed; give the exit code.

    Raises:
        BadSettings: the site was never fed.
    """
    deployment = deployment_for(store)
    log = BatchLog(deployment.objects, site)
    if not log.last() and not request.let_vanish:
        raise BadSettings(f"{site} has no feed in this store: see isobath sites")
    if request.since is not None and request.chunks:
        for batch in ChunkLog(deployment.objects, site).since(request.since):
            sys.stdout.writelines(batch.lines())
        return 0
    if request.since is not None:
        print_since(log, request.since)
        return 0
    if request.compact:
        compact(log)
    elif request.withdraw or request.let_vanish or request.verify:
        result = _fed(site, request, deployment)
        checks = [
            replay_check(result),
            vanished_check(result, _share(site, deployment)),
            sinks_check(result.sink_errors),
        ]
        for check in (check for check in checks if not check.passed):
            Console(stderr=True, soft_wrap=True).print(
                f"{check.name}: {check.description}", markup=False, highlight=False
            )
        if not all(check.passed for check in checks):
            return 1
    _print_state(log, deployment, as_json=as_json)
    return 0


def print_since(log: BatchLog, sequence: int) -> None:
    """Print what a consumer at a number has not seen, as NDJSON in the order in which it must be applied."""
    for batch in log.since(sequence):
        said = {"op": "batch", "site": batch.site, "sequence": batch.sequence, "is_snapshot": batch.is_snapshot}
        sys.stdout.write(line_of(said))
        sys.stdout.writelines(map(line_of, batch.changes()))


def _fed(site: str, request: FeedRequest, deployment: Deployment) -> FeedResult:
    parts = (deployment.tables, deployment.objects, deployment.resources["sinks"])
    if request.withdraw:
        return withdraw_site(site, *parts)
    share = _share(site, deployment)
    rules = FeedRules(share, let_vanish=request.let_vanish, read_whole_log=request.verify)
    return index_feed_of_site(site, *parts, rules)


def _share(site: str, deployment: Deployment) -> float:
    return float(deployment.resources["catalog"].settings(site).max_vanished_share)


def _print_state(log: BatchLog, deployment: Deployment, *, as_json: bool) -> None:
    bounds = log.bounds()
    sinks = {}
    for sink in deployment.resources["sinks"]:
        try:
            sinks[sink.name] = str(sink.cursor(log.site))
        except Exception as error:  # noqa: BLE001  # a sink may raise anything; the others are told all the same
            sinks[sink.name] = f"{type(error).__name__}: {error}"
    documents = deployment.tables.read(names.T_FEED_STATE, sites=[log.site], columns=["document_id"]).num_rows
    state = {"documents": documents, "last_batch": bounds.last, "snapshot": bounds.snapshot}
    console = Console(soft_wrap=True)
    if as_json:
        console.print_json(json.dumps({"site": log.site, **state, "sinks": sinks}))
        return
    console.print(f"{log.site}: {documents} documents, batch {bounds.last}, snapshot {bounds.snapshot or 'none'}")
    console.print(f"batches: {deployment.objects.location(names.feed_prefix(log.site))}")
    for name, cursor in sinks.items():
        console.print(f"{name}: {cursor}", markup=False)
