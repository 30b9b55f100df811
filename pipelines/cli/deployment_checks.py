"""Looks at the parts of a deployment: store, tables, clock, site catalog, worker processes, index, who is told."""

import os
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Final

from assets import names
from assets.url.host import site_key_problem
from assets.url.scope import seeds_outside_scope
from pipelines.cli.doctor_findings import Finding, ok, problem, warning
from pipelines.deployments import DEFAULT_CONTACT_URL, Deployment
from resources.errors import ObjectMissing
from resources.ports import Clock, DocumentWorkers, ObjectStore, SiteCatalog

FOLDER: Final = "doctor/"
TOLERATED_S: Final = 3.0  # a Date header has whole seconds, and took its time to come
TIMEOUT_S: Final = 10.0


def store_findings(objects: ObjectStore, clock: Clock) -> Iterator[Finding]:
    """Write, read, list, write on conditions and delete an object.

    Raises:
        StoreUnusable: the store refuses; the message says what to do.
    """
    began_s = clock.monotonic_s()
    key, data = f"{FOLDER}probe-{uuid.uuid4().hex}", os.urandom(1000)
    wrong = []
    try:
        etag = objects.create(key, data)
        if etag is None or objects.create(key, b"again") is not None:
            wrong.append("it writes over an object that is to be created")
        if objects.get(key, offset=1, length=8) != data[1:9] or objects.get(key) != data:
            wrong.append("it gives other bytes than were written")
        if [info.key for info in objects.list(key)] != [key]:
            wrong.append("it does not list what was written")
        newer = objects.replace(key, b"newer", etag=objects.get_tagged(key)[1])
        if newer is None or objects.replace(key, b"lost", etag=etag or "") is not None:
            wrong.append("it does not keep If-Match")
    finally:
        objects.delete(key)
    try:
        objects.get(key)
    except ObjectMissing:
        pass
    else:
        wrong.append("it keeps what was deleted")
    where = objects.location(FOLDER).removesuffix("/").removesuffix("/doctor")
    if wrong:
        advice = "use a store that keeps conditions and is consistent: a local folder, AWS S3, MinIO"
        yield problem("store", f"{where}: {'; '.join(wrong)}", advice)
    else:
        milliseconds = 1000 * (clock.monotonic_s() - began_s)
        yield ok("store", f"{where}: written, read, listed, kept conditions and deleted in {milliseconds:.0f} ms")


def table_findings(deployment: Deployment) -> Iterator[Finding]:
    """Read the log of crawls."""
    rows = deployment.tables.read(names.T_CRAWLS, columns=["site"])
    yield ok("tables", f"{len(set(rows.column('site').to_pylist()))} sites have been crawled")


def clock_findings(deployment: Deployment) -> Iterator[Finding]:
    """Compare this machine's clock with the store's, where that has one of its own."""
    clock: Clock = deployment.resources["clock"]
    store = deployment.settings.store
    theirs = _time_of_server() if store.startswith("s3://") else _time_of_folder(deployment.objects)
    if theirs is None:
        yield warning("clock", "the store does not tell its time", "see that this machine follows NTP: timedatectl")
        return
    ahead_s = (clock.now() - theirs).total_seconds()
    advice = "set the clock by NTP: leases and schedules of several machines go by it"
    said = f"{abs(ahead_s):.1f} s {'ahead of' if ahead_s > 0 else 'behind'} the store's"
    if abs(ahead_s) > max(TOLERATED_S, deployment.settings.lease_s / 2):
        yield problem("clock", said, advice)
    elif abs(ahead_s) > TOLERATED_S:
        yield warning("clock", said, advice)
    else:
        yield ok("clock", said)


def site_findings(deployment: Deployment) -> Iterator[Finding]:
    """Read the site catalog and the settings of each site.

    Raises:
        BadSettings: it cannot be read; the message says where and what to do.
    """
    catalog: SiteCatalog = deployment.resources["catalog"]
    path = deployment.settings.sites_file
    listed = list(catalog.listed())
    faults = [fault for site in listed if (fault := site_key_problem(site))]
    faults += [sentence for site in listed for sentence in seeds_outside_scope(catalog.settings(site))]
    for fault in faults:
        yield warning("sites", fault, f"correct it in {path}")
    if not path.is_file():
        yield ok("sites", f"no {path}: every site has the defaults")
    elif not faults:
        yield ok("sites", f"{len(listed)} sites in {path}")


def worker_findings(workers: DocumentWorkers, clock: Clock) -> Iterator[Finding]:
    """Start the worker processes and let them do something."""
    began_s = clock.monotonic_s()
    try:
        answers = list(workers.map(abs, [-1, -2, -3]))
    finally:
        workers.close()
    if answers != [1, 2, 3]:
        yield problem("workers", f"they answer {answers}", "see whether this machine has memory left: free -h")
    else:
        yield ok("workers", f"started and worked within {clock.monotonic_s() - began_s:.1f} s")


def index_findings(deployment: Deployment) -> Iterator[Finding]:
    """Open the full-text index and see whether its folder can be written."""
    folder = deployment.settings.index_folder
    if folder is None or deployment.index is None:
        yield ok("index", "switched off by ISOBATH_EMBEDDED_INDEX")
        return
    place = next(parent for parent in (folder.absolute(), *folder.absolute().parents) if parent.exists())
    if not place.is_dir() or not os.access(place, os.W_OK | os.X_OK):
        yield problem(
            "index", f"{folder} cannot be written", "give write access there, or set ISOBATH_INDEX to another folder"
        )
        return
    deployment.index.search("isobath", limit=1)
    yield ok("index", str(folder) if folder.exists() else f"{folder}: made when the first page is fed")


def contact_findings(contact_url: str) -> Iterator[Finding]:
    """See whether webmasters can reach whoever crawls."""
    if contact_url == DEFAULT_CONTACT_URL:
        advice = "set ISOBATH_CONTACT_URL to a page or mailto: of yours before you crawl sites of others"
        yield warning("contact", f"User-Agent names {contact_url}, where nobody reads", advice)
    else:
        yield ok("contact", f"User-Agent names {contact_url}")


def alert_findings(deployment: Deployment) -> Iterator[Finding]:
    """See whether somebody is told when something fails."""
    told = ", ".join(sink.name for sink in deployment.alerts)
    yield ok("alerts", f"by {told}; try them: isobath alerts test" if told else "nobody is told of failures")


def hosts_of_sites(deployment: Deployment, most: int = 3) -> list[str]:
    """Give the host names of some listed sites."""
    listed = deployment.resources["catalog"].listed()
    return [str(site).partition(":")[0] for site in listed if not site_key_problem(site)][:most]


def _time_of_folder(objects: ObjectStore) -> datetime:
    """Give the time that the file system writes; a network's is that of its server."""
    key = f"{FOLDER}clock-{uuid.uuid4().hex}"
    objects.put(key, b"")
    try:
        return datetime.fromtimestamp(Path(objects.location(key)).stat().st_mtime, UTC)
    finally:
        objects.delete(key)


def _time_of_server() -> datetime | None:
    """Give the time of the S3 server: it stands in each answer, refusals among them."""
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or "https://s3.amazonaws.com"
    try:
        with urllib.request.urlopen(urllib.request.Request(endpoint, method="HEAD"), timeout=TIMEOUT_S) as answer:
            date = answer.headers["Date"]
    except urllib.error.HTTPError as error:
        with error:
            date = error.headers["Date"]
    except OSError:
        return None
    try:
        return parsedate_to_datetime(date) if date else None
    except ValueError:
        return None
