"""Worker processes: order, limits, crashes. ``eval`` and ``exec`` let a document say what its worker must suffer."""

import functools
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from resources.document_workers import ProcessWorkers
from resources.ports import DocumentWorkers, WorkFailure
from resources.ports.workers import WorkFailureReason

MEGABYTE = 1024 * 1024


@pytest.fixture(scope="module")
def workers() -> Iterator[ProcessWorkers]:
    made = ProcessWorkers(2, timeout_s=3, memory_bytes=256 * MEGABYTE)
    yield made
    made.close()


def reasons(results: list[object]) -> list[object]:
    return [result.reason if isinstance(result, WorkFailure) else result for result in results]


def test_it_fits_the_port() -> None:
    assert isinstance(ProcessWorkers(), DocumentWorkers)


@pytest.mark.parametrize("limits", [{"processes": 0}, {"timeout_s": 0}, {"memory_bytes": 0}], ids=str)
def test_a_limit_must_be_positive(limits: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="must be positive"):
        ProcessWorkers(**limits)  # type: ignore[arg-type]


def test_no_documents_start_no_process() -> None:
    assert list(ProcessWorkers().map(len, [])) == []


@pytest.mark.slow
def test_results_come_in_the_order_of_many_documents(workers: ProcessWorkers) -> None:
    documents = [b"x" * (20_000 + number) for number in range(2_000)]
    assert list(workers.map(len, documents)) == [len(document) for document in documents]


@pytest.mark.slow
def test_only_a_bounded_number_of_documents_is_read_ahead(workers: ProcessWorkers) -> None:
    read = 0

    def documents() -> Iterator[str]:
        nonlocal read
        for _ in range(100):
            read += 1
            yield "x"

    results = workers.map(len, documents())
    next(results)
    assert read == 17
    results.close()  # type: ignore[attr-defined]


@pytest.mark.slow
def test_a_result_of_none_is_a_result(workers: ProcessWorkers) -> None:
    assert list(workers.map(eval, ["None"])) == [None]


@pytest.mark.slow
def test_a_hanging_document_is_a_timeout_and_the_others_go_on(workers: ProcessWorkers) -> None:
    results = list(workers.map(eval, ["1", "__import__('time').sleep(600)", "2", "3"]))
    assert reasons(results) == [1, WorkFailureReason.TIMEOUT, 2, 3]


@pytest.mark.slow
def test_c_code_that_never_returns_is_a_timeout(workers: ProcessWorkers) -> None:
    backtrack = functools.partial(re.match, r"(a+)+$")
    assert reasons(list(workers.map(backtrack, ["a" * 50 + "b"]))) == [WorkFailureReason.TIMEOUT]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux holds processes to an address space limit")
def test_a_document_that_eats_memory_is_a_failure_and_its_process_goes_on(workers: ProcessWorkers) -> None:
    documents = [f"len(bytearray({megabytes} * {MEGABYTE}))" for megabytes in (300, 100)] * 3
    assert reasons(list(workers.map(eval, documents))) == [WorkFailureReason.MEMORY, 100 * MEGABYTE] * 3


@pytest.mark.slow
def test_a_process_that_dies_costs_only_its_document(workers: ProcessWorkers) -> None:
    dies = "[__import__('time').sleep(0.05), __import__('os')._exit(3)]"
    results = list(workers.map(eval, [dies if number % 10 == 0 else str(number) for number in range(50)]))
    expected = [WorkFailureReason.CRASH if number % 10 == 0 else number for number in range(50)]
    assert reasons(results) == expected


@pytest.mark.slow
def test_idle_processes_that_were_killed_are_replaced(workers: ProcessWorkers) -> None:
    kill_soon = (
        "__import__('subprocess').Popen(['sh', '-c', f'kill -9 {__import__(\"os\").getpid()}']) and "
        "__import__('time').sleep(1)"
    )
    assert reasons(list(workers.map(eval, [kill_soon] * 2 + ["7"]))) == [WorkFailureReason.CRASH] * 2 + [7]
    assert list(workers.map(eval, ["8"] * 20)) == [8] * 20


@pytest.mark.slow
@pytest.mark.parametrize(
    ("document", "kind", "text"),
    [
        ("int('three')", ValueError, "three"),
        ("raise TimeoutError('its own')", TimeoutError, "its own"),
        ("raise SystemExit('out')", RuntimeError, "SystemExit: out"),
        ("class E(Exception):\n def __init__(self, a, b): super().__init__(a)\nraise E('x', 1)", RuntimeError, "E: x"),
    ],
    ids=["value error", "timeout error", "exit", "not picklable"],
)
def test_an_exception_of_the_function_is_raised_here(
    workers: ProcessWorkers, document: str, kind: type[Exception], text: str
) -> None:
    with pytest.raises(kind, match=text) as caught:
        list(workers.map(exec, [document]))
    assert "Traceback" in caught.value.__notes__[0]
    assert list(workers.map(len, ["ab"])) == [2]


@pytest.mark.slow
def test_a_result_that_cannot_be_sent_is_an_exception(workers: ProcessWorkers) -> None:
    with pytest.raises(TypeError, match="memoryview"):
        list(workers.map(eval, ["memoryview(b'')"]))


@pytest.mark.slow
def test_threads_share_the_processes_and_keep_their_order(workers: ProcessWorkers) -> None:
    results: dict[int, list[object]] = {}

    def crawl(first: int) -> None:
        results[first] = list(workers.map(eval, [str(first + number) for number in range(200)]))

    threads = [threading.Thread(target=crawl, args=(first,)) for first in (0, 1000, 2000)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {first: list(range(first, first + 200)) for first in (0, 1000, 2000)}


@pytest.mark.slow
def test_closing_ends_a_map_and_a_later_one_starts_again() -> None:
    workers = ProcessWorkers(1, timeout_s=10)
    results = workers.map(eval, ["1", "__import__('time').sleep(600)", "2"])
    assert next(results) == 1
    workers.close()
    with pytest.raises(RuntimeError, match="closed"):
        list(results)
    assert list(workers.map(eval, ["3"])) == [3]
    workers.close()


@pytest.mark.slow
def test_a_program_that_forgets_to_close_ends_and_its_main_module_runs_once(tmp_path: Path) -> None:
    script = tmp_path / "program"
    script.write_text(
        "from resources.document_workers import ProcessWorkers\n"
        "print('main', flush=True)\n"
        "workers = ProcessWorkers(2)\n"
        "print(list(workers.map(len, ['a', 'bb'])), flush=True)\n"
    )
    ended = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=60, check=True)
    assert (ended.stdout, ended.stderr) == ("main\n[1, 2]\n", "")
