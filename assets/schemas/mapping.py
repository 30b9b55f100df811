"""Tables of the site map beyond its pages: resources, redirects, sections, crawls through time, changes."""

import pyarrow as pa

from assets.schemas.columns import CRAWL_ID, SITE, URL, UTC_TIME, column

MAP_RESOURCES = pa.schema(
    [
        SITE,
        CRAWL_ID,
        URL,
        column("kind", pa.string(), "image, script, style, media, document, icon, other"),
        column("pages", pa.int64(), "pages that name it", unit="pages"),
        column("uses", pa.int64(), "times that they name it", unit="times"),
        column("status", pa.int32(), "HTTP status, when it was asked for", optional=True),
        column("outcome", pa.string(), "fetch outcome, when it was asked for; else empty"),
    ]
)

MAP_REDIRECTS = pa.schema(
    [
        SITE,
        CRAWL_ID,
        URL,
        column("final_url", pa.string(), "where it ends"),
        column("outcome", pa.string(), "fetch outcome of the end"),
        column("hops", pa.int32(), "redirects on the way", unit="redirects"),
        column("urls", pa.list_(pa.string()), "all addresses from the first to the last"),
        column("is_loop", pa.bool_(), "whether it never ends"),
        column("in_links", pa.int64(), "pages that link the first address", unit="pages"),
    ]
)

MAP_SECTIONS = pa.schema(
    [
        SITE,
        CRAWL_ID,
        column("section", pa.string(), "path prefix, ends in a slash"),
        column("parent", pa.string(), "the section around it; empty for the root"),
        column("pages", pa.int64(), "pages in it and below", unit="pages"),
        column("own_pages", pa.int64(), "pages in it and not below", unit="pages"),
        column("min_depth", pa.int32(), "hops to its nearest page", unit="hops"),
        column("max_depth", pa.int32(), "hops to its farthest page", unit="hops"),
        column(
            "median_age_days",
            pa.float64(),
            "since its pages changed, as they or the server say",
            unit="d",
            optional=True,
        ),
        column("newest_change_at", UTC_TIME, "latest of those changes", optional=True),
        column("dead_share", pa.float64(), "share of its addresses that are dead, 0..1"),
    ]
)

MAP_HISTORY = pa.schema(
    [
        SITE,
        CRAWL_ID,
        column("crawled_at", UTC_TIME, "when its last request was sent"),
        column("pages", pa.int64(), "addresses that were asked, redirects joined", unit="pages"),
        column("live_pages", pa.int64(), "of those: answered with a page", unit="pages"),
        column("dead_pages", pa.int64(), "of those: gone, or the like", unit="pages"),
        column("links", pa.int64(), "hyperlinks", unit="links"),
        column("dead_links", pa.int64(), "pairs of a page and a dead address that it links", unit="pairs"),
        column("orphans", pa.int64(), "pages known but not linked", unit="pages"),
        column("findings", pa.int64(), "rows of all findings", unit="rows"),
        column("words", pa.int64(), "words of visible text", unit="words"),
        column("body_bytes", pa.int64(), "payload of the live pages", unit="bytes"),
        column("median_fetch_ms", pa.float64(), "median response time of the live pages", unit="ms"),
        column("max_depth", pa.int32(), "hops to the farthest page", unit="hops"),
    ],
    metadata={"partitioned": "no"},
)

MAP_CHANGES = pa.schema(
    [
        SITE,
        CRAWL_ID,
        column("before_crawl_id", pa.string(), "the crawl it is compared with"),
        column("change", pa.string(), "added, removed, moved, changed, status_changed, title_changed, newly_dead_link"),
        URL,
        column("before_url", pa.string(), "of a move: where the text was before; else empty"),
        column("on_url", pa.string(), "of a dead link: the page that holds it; else empty"),
        column("before", pa.string(), "status, title or section before; empty when none"),
        column("after", pa.string(), "status, title or section after; empty when none"),
        column("similarity", pa.float64(), "Jaccard similarity of the two texts, 0..1", optional=True),
        column("text_diff", pa.string(), "of a changed text: a unified diff, cut when it is long; else empty"),
    ]
)
