"""The worker process: how it is started, and how it runs one function of one document under limits.

Every worker imports this module: it imports the standard library only. The pool belongs to ``document_workers``.
"""

import contextlib
import os
import pickle
import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Final

if sys.platform == "win32":
    from multiprocessing.context import SpawnContext as _Context
    from multiprocessing.context import SpawnProcess as _Process
else:
    # A fork of this process would inherit its threads' locks; a server's forks cannot, and start in milliseconds.
    from multiprocessing.context import ForkServerContext as _Context
    from multiprocessing.context import ForkServerProcess as _Process

_MAIN_LOCK: Final = threading.Lock()


class WorkerProcess(_Process):
    """A process that does not import the main module of the program again.

    ``multiprocessing`` does so in every process, for functions that are defined there. Workers take none of those, and
    the import costs a console script seconds a process.
    """

    @staticmethod
    def _Popen(process_obj: BaseProcess) -> Any:  # noqa: N802 - a name of the standard library
        main = sys.modules["__main__"]
        with _MAIN_LOCK:
            spec = main.__spec__
            # What `python -m package` calls its main module is never imported by a child.
            main.__spec__ = ModuleSpec("__main__", None)
            try:
                return _Process._Popen(process_obj)
            finally:
                main.__spec__ = spec


class WorkerContext(_Context):
    """Where pebble gets its processes, pipes and locks."""

    Process = WorkerProcess


@dataclass(frozen=True, slots=True)
class Reply:
    """What a process sends back: a pickled result, or an exception, or neither when the memory was not enough."""

    result: bytes | None = None
    error: BaseException | None = None


def start_process() -> None:
    """Make a worker process die at once when it is told to (pebble's own handler waits for the C code to end)."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def run_job(job: bytes, memory_bytes: int, alarm_s: float) -> Reply:
    """Run one pickled function of one document in a worker process.

    Results and exceptions cross the pipe in a form that cannot fail there, since that would break the pool.
    """
    try:
        with _limits(memory_bytes, alarm_s):
            function, document = pickle.loads(job)
            return Reply(result=pickle.dumps(function(document), protocol=pickle.HIGHEST_PROTOCOL))
    except MemoryError:
        return Reply()
    except BaseException as error:  # noqa: BLE001 - raised again in the parent, a SystemExit too
        return Reply(error=_portable(error))


@contextlib.contextmanager
def _limits(memory_bytes: int, alarm_s: float) -> Iterator[None]:
    """Limit memory and time of what runs inside; pebble's own sending and receiving stays unlimited."""
    if sys.platform == "win32":
        yield
        return
    import resource

    unlimited = resource.getrlimit(resource.RLIMIT_AS)
    limit = _address_space_bytes() + memory_bytes
    limit = min([limit, *(bound for bound in unlimited if bound != resource.RLIM_INFINITY)])
    # macOS refuses to set this limit; the time limit is left there.
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (limit, unlimited[1]))
    # The parent enforces the time; if it was killed, an endless document must not run on for ever.
    signal.setitimer(signal.ITIMER_REAL, alarm_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_AS, unlimited)


def _address_space_bytes() -> int:
    """Give the address space in use: libraries reserve gigabytes of it on machines with many cores."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def _portable(error: BaseException) -> Exception:
    """Give the exception with its traceback as a note, or one that says the same if it does not survive pickling."""
    text = "".join(traceback.format_exception(error))
    try:
        survivor = pickle.loads(pickle.dumps(error))
    except Exception:  # noqa: BLE001 - an exception's own pickling code can raise anything
        survivor = None
    copy = survivor if isinstance(survivor, Exception) else RuntimeError(f"{type(error).__name__}: {error}")
    copy.add_note(f"In a worker process:\n{text}")
    return copy
