"""Servers from Debian's packages, started for a test on sockets of their own and stopped by process id."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

_LINES_MAX = 200


@contextmanager
def postgres() -> Iterator[str]:
    """Start PostgreSQL on a socket in an empty folder; give its address."""
    binaries = [path for path in (shutil.which("initdb"), shutil.which("postgres")) if path]
    found = [Path(path).resolve().parent for path in binaries] or sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not found:
        pytest.skip("PostgreSQL is not installed (Debian: apt-get install postgresql)")
    user = _unprivileged("postgres")
    with tempfile.TemporaryDirectory(prefix="pg") as folder:
        if user:
            shutil.chown(folder, user, user)
        data = f"{folder}/data"
        made = [str(found[-1] / "initdb"), "-D", data, "-A", "trust", "-U", "isobath", "-E", "UTF8", "--no-sync"]
        subprocess.run(made, check=True, capture_output=True, user=user, cwd="/", timeout=60)
        command = [str(found[-1] / "postgres"), "-D", data, "-F", "-k", folder, "-h", ""]
        with _running(command, "ready to accept connections", user=user):
            yield f"postgresql://isobath@/postgres?host={folder}"


@contextmanager
def redis() -> Iterator[str]:
    """Start Redis on a socket in an empty folder; give its address."""
    binary = shutil.which("redis-server")
    if binary is None:
        pytest.skip("Redis is not installed (Debian: apt-get install redis-server)")
    with tempfile.TemporaryDirectory(prefix="redis") as folder:
        socket = f"{folder}/socket"
        command = [binary, "--port", "0", "--unixsocket", socket, "--save", "", "--dir", folder]
        with _running(command, "ready to accept connections"):
            yield f"unix://{socket}"


def _unprivileged(name: str) -> str | None:
    """Give the user to run a server as that refuses to run as root; None when we are not root."""
    if os.getuid():
        return None
    try:
        return pwd.getpwnam(name).pw_name
    except KeyError:
        pytest.skip(f"there is no user {name}, and the server does not run as root")


@contextmanager
def _running(command: Sequence[str], ready: str, *, user: str | None = None) -> Iterator[None]:
    with tempfile.TemporaryFile() as input_file:
        process = subprocess.Popen(
            command, stdin=input_file, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, user=user, cwd="/"
        )
    try:
        assert process.stdout is not None
        lines = []
        for _ in range(_LINES_MAX):
            lines.append(process.stdout.readline())
            if ready in lines[-1]:
                break
            assert lines[-1], f"{command[0]} ended: {''.join(lines)}"
        yield
    finally:
        process.terminate()
        process.communicate(timeout=30)
