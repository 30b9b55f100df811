"""PostgreSQL and Redis of Debian for tests: on free ports of this machine, in a folder of the test."""

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

START_S: Final = 60.0
_POSTGRES_FOLDERS: Final = "/usr/lib/postgresql/*/bin"  # Debian keeps its programs off the PATH


def free_port() -> int:
    """Give a port that is free now."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


@contextlib.contextmanager
def postgres_server(folder: Path) -> Iterator[str]:
    """Run PostgreSQL with a fresh cluster; give the URL of its database."""
    programs = [found for pattern in Path("/").glob(_POSTGRES_FOLDERS[1:]) if (found := pattern / "initdb").exists()]
    initdb = str(programs[-1]) if programs else shutil.which("initdb")
    if initdb is None:
        pytest.skip("PostgreSQL is not installed")
    data, port = folder / "data", free_port()
    data.mkdir(parents=True)
    as_user = _unprivileged_owner_of(folder)
    subprocess.run(
        [initdb, "-D", data, "-U", "isobath", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"],
        check=True,
        stdout=subprocess.DEVNULL,
        **as_user,
    )
    command = [str(Path(initdb).with_name("postgres")), "-D", str(data), "-p", str(port), "-h", "127.0.0.1"]
    command += ["-k", "", "-F"]
    with _running(command, lambda: _answers(port, b"", b""), folder / "postgres.txt", as_user):
        yield f"postgresql://isobath@127.0.0.1:{port}/postgres"


@contextlib.contextmanager
def redis_server(folder: Path) -> Iterator[str]:
    """Run Redis, which keeps nothing on disk; give the URL of its first database."""
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("Redis is not installed")
    folder.mkdir(parents=True, exist_ok=True)
    port = free_port()
    command = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    with _running(command, lambda: _answers(port, b"PING\r\n", b"+PONG"), folder / "redis.txt"):
        yield f"redis://127.0.0.1:{port}/0"


def _unprivileged_owner_of(folder: Path) -> dict[str, Any]:
    """Give a folder to a user who may run PostgreSQL, which refuses root; say how to start a process as that user."""
    if os.geteuid() != 0:
        return {}
    user = pwd.getpwnam("nobody")
    for path in (folder, *folder.rglob("*")):
        os.chown(path, user.pw_uid, user.pw_gid)
    for parent in folder.parents:
        # What pytest makes is for its user only; nobody must be able to pass through.
        with contextlib.suppress(PermissionError):
            parent.chmod(parent.stat().st_mode | 0o001)
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


@contextlib.contextmanager
def _running(
    command: Sequence[str], answers: Callable[[], bool], log: Path, as_user: Mapping[str, Any] | None = None
) -> Iterator[None]:
    with log.open("ab") as said:
        process = subprocess.Popen(command, stdout=said, stderr=said, start_new_session=True, **(as_user or {}))
    try:
        deadline = time.monotonic() + START_S
        while not answers():
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, f"{command[0]} did not answer within {START_S:g} s"
            time.sleep(0.05)
        yield
    finally:
        process.send_signal(signal.SIGINT)  # PostgreSQL: fast shutdown
        process.wait(START_S)


def _answers(port: int, question: bytes, answer: bytes) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
        if not question:
            return True
        connection.sendall(question)
        return connection.recv(64).startswith(answer)
    return False
