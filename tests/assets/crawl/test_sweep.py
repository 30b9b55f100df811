"""What killed runs left is swept, what living ones hold is not."""

import subprocess
import sys
from pathlib import Path

import pytest

from assets.crawl.sweep import Sweeper, scratch_folder, sweep_scratch_folders, swept_metadata
from resources.folder_objects import FolderObjects
from resources.ports.objects import Swept

_RUN = """
import sys
from assets.crawl.sweep import scratch_folder
from pathlib import Path
with scratch_folder(Path(sys.argv[1])) as folder:
    (folder / "batch.warc.gz").write_bytes(b"x" * 1000)
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def temporary_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "tmp"
    folder.mkdir()
    return folder


@pytest.mark.slow
def test_the_scratch_folder_of_a_run_is_swept_once_its_process_is_gone(temporary_folder: Path) -> None:
    command = [sys.executable, "-c", _RUN, str(temporary_folder)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    folder = Path(process.stdout.readline().strip())
    assert sweep_scratch_folders(temporary_folder) == Swept()
    assert (folder / "batch.warc.gz").exists()
    process.kill()
    process.communicate()
    assert sweep_scratch_folders(temporary_folder) == Swept(1, 1000)
    assert not folder.exists()


def test_a_scratch_folder_goes_with_its_run_and_is_no_leftover(temporary_folder: Path) -> None:
    with scratch_folder(temporary_folder) as folder:
        (folder / "half.warc.gz").write_bytes(b"half")
        assert sweep_scratch_folders(temporary_folder) == Swept()
    assert list(temporary_folder.iterdir()) == []
    assert sweep_scratch_folders(temporary_folder) == Swept()


def test_only_own_folders_of_that_name_are_swept(temporary_folder: Path, tmp_path: Path) -> None:
    (temporary_folder / "isobath-scratch-empty").mkdir()
    (temporary_folder / "isobath-notes").mkdir()
    (temporary_folder / "isobath-scratch-file").write_bytes(b"somebody's")
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_bytes(b"1")
    (temporary_folder / "isobath-scratch-link").symlink_to(kept)
    assert sweep_scratch_folders(temporary_folder) == Swept(1, 0)
    names = {"isobath-notes", "isobath-scratch-file", "isobath-scratch-link"}
    assert {path.name for path in temporary_folder.iterdir()} == names
    assert (kept / "file").exists()


def test_each_leftover_is_counted_for_one_site(temporary_folder: Path, tmp_path: Path) -> None:
    (temporary_folder / "isobath-scratch-dead").mkdir()
    (temporary_folder / "isobath-scratch-dead" / "1.warc.gz").write_bytes(b"x" * 10)
    for key in (
        "raw/site=a/crawl=1/.tmp-1",
        "feed/site=b/.tmp-2",
        "reports/a/.tmp-3",
        "leases/.tmp-4",
        "tables/.tmp-5",
    ):
        path = tmp_path / "store" / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * 100)
    sweeper = Sweeper(FolderObjects(tmp_path / "store"), temporary_folder)
    swept = [sweeper.sweep_leftovers(site) for site in ("a", "b", "a")]
    assert swept == [Swept(4, 310), Swept(1, 100), Swept()]
    assert swept_metadata(swept[0]) == {"leftovers_swept": 4, "leftovers_swept_bytes": 310}
    assert swept_metadata(Swept()) == {}
