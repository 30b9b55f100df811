"""The map command: the map of a crawl as a file for other programs."""

from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path

from rich.console import Console
from rich.text import Text

from assets.site_map.exports import csv_bytes, csv_files, tree_json
from assets.site_map.graph_exports import graphml, map_json, write_sqlite
from assets.site_map.mapped_crawl import MappedCrawl, map_crawl
from assets.site_map.sitemap_export import redirect_map, sitemap_files
from pipelines.cli.crawl import site_and_seeds
from pipelines.cli.parts import deployment_for
from resources.errors import BadSettings


class MapFormat(StrEnum):
    """What a map can be written as."""

    CSV = "csv"  # a folder: pages, links, resources, redirects, sections
    JSON = "json"
    TREE = "tree"  # JSON, pages under their parents
    GRAPHML = "graphml"
    SQLITE = "sqlite"
    SITEMAP = "sitemap"  # a folder: sitemap.xml of the live pages, more files when there are many
    REDIRECTS = "redirects"  # CSV: where the pages of an old site should lead


def map_format(text: str) -> MapFormat:
    """Give the format of this name.

    Raises:
        BadSettings: there is none.
    """
    if text not in list(MapFormat):
        raise BadSettings(f"there is no format {text!r}: use one of {', '.join(MapFormat)}")
    return MapFormat(text)


def write_map(
    site_or_url: str, form: MapFormat, out: Path, *, crawl_id: str | None, to: str | None, store: str | None
) -> int:
    """Write the map of a crawl.

    Args:
        crawl_id: the crawl; default: the last finished one.
        to: for redirects, the new site.

    Raises:
        BadSettings: redirects without a new site, or a file that cannot be written.
        StageMissing: the crawl is not known.
    """
    if (form is MapFormat.REDIRECTS) != (to is not None):
        raise BadSettings("--to names the new site, and goes with --format redirects")
    deployment = deployment_for(store)
    tables, engine = deployment.tables, deployment.resources["engine"]
    crawl = map_crawl(site_and_seeds(site_or_url)[0], tables, engine, crawl_id)
    try:
        if to is not None:
            written = _write(
                out, [csv_bytes(redirect_map(crawl, map_crawl(site_and_seeds(to)[0], tables, engine), tables))]
            )
        else:
            written = _write_map(crawl, form, out)
    except OSError as error:
        raise BadSettings(
            f"{out}: cannot be written ({error.strerror}); name a file, for csv and sitemap a folder"
        ) from error
    for path in written:
        Console(soft_wrap=True).print(Text(str(path)))
    return 0


def _write_map(crawl: MappedCrawl, form: MapFormat, out: Path) -> list[Path]:
    if form is MapFormat.CSV:
        return _write_folder(out, csv_files(crawl))
    if form is MapFormat.SITEMAP:
        urls = crawl.nodes["url"].to_pylist()
        base = "/".join(urls[0].split("/", 3)[:3]) + "/" if urls else ""
        return _write_folder(out, sitemap_files(crawl.nodes, base))
    if form is MapFormat.SQLITE:
        out.parent.mkdir(parents=True, exist_ok=True)
        write_sqlite(crawl, out)
        return [out]
    if form is MapFormat.TREE:
        return _write(out, [tree_json(crawl.site, crawl.nodes)])
    parts = graphml(crawl) if form is MapFormat.GRAPHML else map_json(crawl)
    return _write(out, (part.encode("utf-8", "replace") for part in parts))


def _write_folder(out: Path, files: dict[str, bytes]) -> list[Path]:
    return [path for name, data in files.items() for path in _write(out / name, [data])]


def _write(path: Path, parts: Iterable[bytes]) -> list[Path]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.writelines(parts)
    return [path]
