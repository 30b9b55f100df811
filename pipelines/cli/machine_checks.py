"""Looks at this machine: Python and packages, DNS, disk room, open files, the UI's port, Dagster's home."""

import os
import resource
import shutil
import socket
import sys
import tempfile
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotInTime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

import dagster as dg
import yaml

from pipelines.cli.doctor_findings import Finding, ok, problem, warning

LEAST_FREE_BYTES: Final = 1024**3
GOOD_FREE_BYTES: Final = 10 * 1024**3
LEAST_FREE_FILES: Final = 100_000
DNS_TIMEOUT_S: Final = 5.0
FILES_BESIDE_REQUESTS: Final = 256
SOME_HOST: Final = "example.org"


def python_findings(version_info: tuple[int, ...] = tuple(sys.version_info[:3])) -> Iterator[Finding]:
    """Look at the version of Python."""
    shown = ".".join(str(part) for part in version_info)
    if version_info < (3, 11):
        yield problem("python", f"{shown} is too old", "install 3.11 or newer, then: make PYTHON=python3.11 setup")
    else:
        yield ok("python", f"{shown} on {sys.platform}")


def package_findings(lock: Path) -> Iterator[Finding]:
    """Compare the packages that are installed with a lock file."""
    if not lock.is_file():
        yield warning("packages", f"no {lock.name} to compare with", "run Isobath from its checkout")
        return
    locked = dict(line.split("==", 1) for line in lock.read_text().splitlines() if "==" in line)
    missing, other = [], []
    for name, wanted in locked.items():
        try:
            found = version(name)
        except PackageNotFoundError:
            missing.append(name)
            continue
        if found != wanted:
            other.append(f"{name} {found}, tested with {wanted}")
    if missing:
        yield problem("packages", f"not installed: {', '.join(missing)}", "run: make setup")
    if other:
        yield warning("packages", "; ".join(other), "run: make setup")
    if not missing and not other:
        yield ok("packages", f"{len(locked)} as in {lock.name}")


def dns_findings(hosts: Sequence[str], proxy_host: str | None = None) -> Iterator[Finding]:
    """Look up hosts of sites, or of the proxy that does it for us; and a name that cannot be."""
    if proxy_host is not None:
        if _resolves(proxy_host):
            yield ok("dns", f"the proxy {proxy_host} resolves, and looks up all others")
        else:
            yield problem("dns", f"the proxy {proxy_host} does not resolve", "correct ISOBATH_PROXY")
        return
    lost = [host for host in hosts if not _resolves(host)]
    if lost:
        # One of several may just be a site that is gone.
        found = problem if lost == list(hosts) else warning
        advice = "correct the sites, or this machine's /etc/resolv.conf"
        yield found("dns", f"does not resolve: {', '.join(lost)}", advice)
    elif not hosts and not _resolves(SOME_HOST):
        yield warning("dns", f"{SOME_HOST} does not resolve", "without outside DNS, crawl hosts of your network")
    elif _resolves(f"{uuid.uuid4().hex}.invalid"):
        yield warning(
            "dns",
            "the resolver has answers for names that do not exist",
            "use another: dead hosts look alive by it",
        )
    else:
        yield ok("dns", f"{', '.join(hosts) or SOME_HOST} resolves")


def disk_findings(folders: Sequence[Path], *, free_bytes: int | None = None) -> Iterator[Finding]:
    """Look at the room on the disks of folders that are or will be there.

    Args:
        folders: where things are written.
        free_bytes: taken for what each disk has; None: ask.
    """
    seen = set()
    for folder in (*folders, Path(tempfile.gettempdir())):
        place = next(parent for parent in (folder.absolute(), *folder.absolute().parents) if parent.exists())
        if place.stat().st_dev in seen:
            continue
        seen.add(place.stat().st_dev)
        free = shutil.disk_usage(place).free if free_bytes is None else free_bytes
        nodes = os.statvfs(place)
        said = f"{free / 1024**3:.1f} GiB free at {place}"
        if free < LEAST_FREE_BYTES:
            yield problem("disk", said, "make room, or set ISOBATH_STORE to another place")
        elif free < GOOD_FREE_BYTES:
            yield warning("disk", said, "make room: a crawl of 100,000 pages takes some 5 to 10 GiB")
        elif nodes.f_files and nodes.f_favail < LEAST_FREE_FILES:
            yield warning("disk", f"room for {nodes.f_favail} more files at {place}", "remove files that nobody needs")
        else:
            yield ok("disk", said)


def open_file_findings(open_requests: int) -> Iterator[Finding]:
    """Compare the limit of open files with what the requests need."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = open_requests + FILES_BESIDE_REQUESTS
    if limit != resource.RLIM_INFINITY and limit < needed:
        yield warning(
            "open files",
            f"at most {limit}, and {open_requests} requests at once need some {needed}",
            f"run: ulimit -n {needed}, or set ISOBATH_OPEN_REQUESTS lower",
        )
    else:
        yield ok("open files", "no limit" if limit == resource.RLIM_INFINITY else f"at most {limit}")


def port_findings(port: int) -> Iterator[Finding]:
    """Look whether the UI's port is free, or the UI's own."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
        except OSError as error:
            refused = error.strerror
        else:
            yield ok("ui port", f"{port} is free; start the UI with: make ui")
            return
    if _is_dagster(port):
        yield ok("ui port", f"the UI answers on http://127.0.0.1:{port}")
    else:
        yield warning("ui port", f"{port} cannot be had: {refused}", f"use another one: make ui PORT={port + 1}")


def home_findings(home: str) -> Iterator[Finding]:
    """Look at the folder of Dagster's history and settings, and open the instance."""
    advice = "set DAGSTER_HOME to the absolute path of a folder with a dagster.yaml, as dagster_home in the project"
    folder = Path(home)
    if not home or not folder.is_absolute() or not folder.is_dir():
        yield problem("dagster home", f"DAGSTER_HOME={home} is no folder with an absolute path", advice)
        return
    if not os.access(folder, os.W_OK | os.X_OK):
        yield problem("dagster home", f"{folder} cannot be written", f"give write access there, or {advice}")
        return
    settings = folder / "dagster.yaml"
    if not settings.is_file():
        yield warning("dagster home", f"{folder} has no dagster.yaml", f"copy the project's into it, or {advice}")
    else:
        try:
            yaml.safe_load(settings.read_text())
        except (yaml.YAMLError, OSError, UnicodeDecodeError) as error:
            yield problem("dagster home", f"{settings}: {' '.join(str(error).split())}", "correct it there")
            return
    with dg.DagsterInstance.from_config(home) as instance:
        yield ok("dagster home", f"{folder}, {instance.get_runs_count()} runs in its history")


def _resolves(host: str) -> bool:
    pool = ThreadPoolExecutor(1)
    try:
        return bool(pool.submit(socket.getaddrinfo, host, 443).result(timeout=DNS_TIMEOUT_S))
    except (OSError, NotInTime, UnicodeError):
        return False
    finally:
        pool.shutdown(wait=False)


def _is_dagster(port: int) -> bool:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"http://127.0.0.1:{port}/server_info", timeout=DNS_TIMEOUT_S) as answer:
            return b"dagster" in answer.read(4096)
    except (OSError, ValueError):
        return False
