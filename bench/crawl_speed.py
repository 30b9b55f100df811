"""Crawl speed: pages a second of a whole site on loopback, ours beside Scrapy's, in one run.

``python -m bench.crawl_speed FOLDER... [--scrapy PYTHON]`` serves each folder of HTML with nginx, crawls it by turns,
and prints pages, pages/s, memory and the ratio. PYTHON is one that has scrapy and warcio installed; by default that of
``make peers``, when it is there.
"""

import argparse
import json
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

TURN_LIMIT_S: Final = 900
HERE: Final = Path(__file__).resolve().parent
PEERS: Final = HERE.parent / ".venv-peers" / "bin" / "python"


def main() -> None:
    """Measure each folder by turns."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument(
        "--scrapy", help="a Python with scrapy and warcio", default=str(PEERS) if PEERS.exists() else None
    )
    parser.add_argument("--turns", type=int, default=1)
    arguments = parser.parse_args()
    if shutil.which("nginx") is None:
        raise SystemExit("this benchmark needs nginx: on Debian, apt-get install nginx-light")
    table = Table(title="Crawl speed: the median turn", title_justify="left")
    for heading in ("site", "crawler", "pages", "pages/s", "peak MiB", "ratio"):
        table.add_column(heading, justify="left" if heading in ("site", "crawler") else "right")
    for folder in arguments.folders:
        with served(folder) as url, tempfile.TemporaryDirectory() as scratch:
            ours, theirs = [], []
            for turn in range(arguments.turns):
                if arguments.scrapy:
                    command = [arguments.scrapy, str(HERE / "scrapy_peer.py"), url, f"{scratch}/peer-{turn}.warc.gz"]
                    theirs.append(run(command))
                ours.append(run([sys.executable, "-m", "bench.isobath_peer", url, f"{scratch}/store-{turn}"]))
        name = "/".join(folder.resolve().parts[-2:])
        peer_speed = add_row(table, name, "Scrapy", theirs, None) if theirs else None
        add_row(table, name, "Isobath", ours, peer_speed)
    Console(soft_wrap=True).print(table)


def add_row(table: Table, site: str, crawler: str, turns: list[dict[str, float]], peer_speed: float | None) -> float:
    """Show the median turn of a crawler; give its pages a second."""
    median = sorted(turns, key=lambda turn: turn["pages"] / turn["seconds"])[len(turns) // 2]
    speed = median["pages"] / median["seconds"]
    ratio = f"{speed / peer_speed:.2f}" if peer_speed else ""
    table.add_row(site, crawler, f"{median['pages']:.0f}", f"{speed:.0f}", f"{median['peak_kib'] / 1024:.0f}", ratio)
    return speed


def run(command: list[str]) -> dict[str, float]:
    """Run a crawler; give the JSON of its last line."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=TURN_LIMIT_S, cwd=HERE.parent, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{command} failed:\n{done.stderr[-2000:]}")
    result: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
    return result


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder with nginx on a free port of 127.0.0.1; give the address of its start page."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory() as home:
        config = Path(home, "nginx.conf")
        config.write_text(
            f"daemon off; master_process off; pid {home}/pid; error_log {home}/error.log;\n"
            "events { worker_connections 512; }\n"
            "http { include /etc/nginx/mime.types; access_log off; keepalive_requests 1000000;\n"
            f"  client_body_temp_path {home}; proxy_temp_path {home}; fastcgi_temp_path {home};\n"
            f"  uwsgi_temp_path {home}; scgi_temp_path {home};\n"
            f"  server {{ listen 127.0.0.1:{port}; root {folder.resolve()}; }} }}\n"
        )
        process = subprocess.Popen(["nginx", "-p", home, "-c", str(config)], stderr=subprocess.DEVNULL)
        try:
            for _ in range(200):
                with socket.socket() as client:
                    client.settimeout(0.1)
                    if client.connect_ex(("127.0.0.1", port)) == 0:
                        break
            yield f"http://127.0.0.1:{port}/"
        finally:
            process.terminate()
            process.wait(10)


if __name__ == "__main__":
    main()
