"""The files of a layer: their names, and how those are taken up that a killed run published without their rows."""

from typing import Final

import pyarrow.compute as pc

from assets import names
from assets.crawl.ports import CrawlPorts
from assets.schemas import FETCHES
from assets.warc.cdxj import cdxj
from assets.warc.reading import read_facts
from assets.warc.writing import facts_table

WARC_SUFFIX: Final = ".warc.gz"


def index_key(warc_key: str) -> str:
    """Name the index of a WARC file.

    >>> index_key("raw/a-20260101T000000-00001.warc.gz")
    'raw/a-20260101T000000-00001.cdxj'
    """
    return warc_key.removesuffix(WARC_SUFFIX) + ".cdxj"


def take_up_files(ports: CrawlPorts, site: str, crawl_id: str, layer: str | None = None) -> int:
    """Commit the rows of files that were published without them, of one layer or of all of a crawl.

    Returns:
        captures in those files.

    Raises:
        DamagedArchive: a file is not one that a batch wrote.
    """
    where = pc.field("crawl_id") == crawl_id
    prefix = f"raw/site={site}/crawl={crawl_id}/"
    if layer is not None:
        # Another layer's rows never name these files.
        where &= pc.field("layer") == layer
        prefix = names.raw_prefix(site, crawl_id, layer)
    rows = ports.tables.read(names.T_FETCHES, sites=[site], columns=["warc_file"], where=where)
    known = set(pc.unique(rows["warc_file"]).to_pylist())
    captures = 0
    for stored in ports.objects.list(prefix):
        if stored.key.endswith(WARC_SUFFIX) and stored.key not in known:
            found = facts_table(read_facts(ports.objects.get(stored.key), stored.key), FETCHES)
            ports.objects.put(index_key(stored.key), cdxj(found))
            ports.tables.append(names.T_FETCHES, found)
            captures += len(found) - found["warc_file"].null_count
    return captures
