"""Tables of what is derived from content: duplicates, the index feed, the site map."""

import pyarrow as pa

from assets.schemas.columns import CRAWL_ID, SITE, URL, URL_KEY, UTC_TIME, column

ALIASES = pa.schema(
    [
        SITE,
        column("url_key", pa.string(), "an address that is another page's"),
        column("alias_of", pa.string(), "url_key of the page that it is"),
        column("evidence", pa.string(), "redirect, canonical or digest"),
        column("detail", pa.string(), "what was seen: the redirect target, the declared canonical, the shared digest"),
        column("seen_at", UTC_TIME, "when the evidence was seen last"),
    ]
)

EXACT_DUPLICATES = pa.schema(
    [
        SITE,
        URL,
        URL_KEY,
        column("text_digest", pa.string(), "what the cluster shares"),
        column("representative_site", pa.string(), "site of the page that stands for the cluster"),
        column("representative_key", pa.string(), "url_key of the page that stands for the cluster"),
        column("chosen_by", pa.string(), "canonical, earliest or shortest"),
        column("cluster_pages", pa.int64(), "pages in the cluster", unit="pages"),
    ]
)

NEAR_PAIRS = pa.schema(
    [
        SITE,
        URL_KEY,
        column("other_site", pa.string(), "site of the other page"),
        column("other_key", pa.string(), "url_key of the other page"),
        column("distance", pa.int32(), "differing bits of the fingerprints", unit="bits"),
        column("similarity", pa.float64(), "Jaccard similarity of the shingles, 0..1"),
        column(
            "veto",
            pa.string(),
            "why the two are not merged (reviewer, pagination, version, language, canonical); empty when they may be",
        ),
        column("verdict", pa.string(), "what a person said of the pair: same or different; empty when nobody did"),
        column("only_here", pa.string(), "words that the other page has not, cut short"),
        column("only_there", pa.string(), "words that only the other page has, cut short"),
    ]
)

DUPLICATE_PATTERNS = pa.schema(
    [
        SITE,
        column("mark", pa.string(), "a query parameter (?print) or a folder (/print/) of addresses"),
        column("pages", pa.int64(), "live pages with the mark; a page without it stands for each", unit="pages"),
        column("example", pa.string(), "url_key of one of them"),
        column("repeats", pa.string(), "url_key of the page that stands for the example"),
    ]
)

MIRRORS = pa.schema(
    [
        SITE,
        column("host", pa.string(), "a host of the site: scheme, name and port"),
        column("other_site", pa.string(), "site of the other host"),
        column("other_host", pa.string(), "the host whose pages it repeats, and of which it may be called an alias"),
        column("shared_pages", pa.int64(), "pages of the host whose text the other host has too", unit="pages"),
        column("share", pa.float64(), "of the pages of the smaller of the two, 0..1"),
    ]
)

DUPLICATE_VERDICTS = pa.schema(
    [
        SITE,
        URL_KEY,
        column("other_site", pa.string(), "site of the other page"),
        column("other_key", pa.string(), "url_key of the other page"),
        column("verdict", pa.string(), "what a person said of the pair: same or different"),
    ]
)

NEAR_DUPLICATES = pa.schema(
    [
        SITE,
        URL,
        URL_KEY,
        column("representative_site", pa.string(), "site of the page that stands for the cluster"),
        column("representative_key", pa.string(), "url_key of the page that stands for the cluster"),
        column("similarity", pa.float64(), "Jaccard similarity with the representative, 0..1"),
    ]
)

FEED_STATE = pa.schema(
    [
        SITE,
        URL_KEY,
        column("document_id", pa.string(), "id in the index, stable over crawls"),
        column("document_digest", pa.string(), "SHA-256 of the document as fed"),
        column("sequence", pa.int64(), "batch that fed it"),
        column("source", pa.string(), "digest of the page version and links it was made of; empty: to be made anew"),
    ]
)

CHUNK_STATE = pa.schema(
    [
        SITE,
        column("document_id", pa.string(), "the document that it is cut from"),
        column("chunk_id", pa.string(), "id in the chunk feed; empty in the one row of a site without chunks"),
        column("chunk_digest", pa.string(), "SHA-256 of the chunk as fed"),
        column("sequence", pa.int64(), "batch of chunks up to which the site's rows are true"),
    ]
)

SITE_MAP = pa.schema(
    [
        SITE,
        CRAWL_ID,
        URL,
        URL_KEY,
        column("title", pa.string(), "text of <title>"),
        column("depth", pa.int32(), "least hops from a seed", unit="hops"),
        column("parent_key", pa.string(), "url_key of the page before it on a shortest path; empty for a seed"),
        column("section", pa.string(), "path prefix without the last segment"),
        column("outcome", pa.string(), "final fetch outcome"),
        column("status", pa.int32(), "HTTP status", optional=True),
        column("body_bytes", pa.int64(), "bytes of payload as stored", unit="bytes"),
        column("fetch_ms", pa.int64(), "response time", unit="ms"),
        column("in_links", pa.int64(), "pages that link here", unit="pages"),
        column("out_links", pa.int64(), "distinct pages that it links", unit="pages"),
        column("words", pa.int64(), "words of visible text", unit="words"),
        column("forms", pa.int32(), "forms"),
        column("iframes", pa.int32(), "iframes"),
        column("scripts", pa.int32(), "script elements"),
        column("videos", pa.int32(), "video elements"),
        column("images", pa.int32(), "img elements"),
        column("flags", pa.list_(pa.string()), "of the text, as in pages; noindex also by robots meta or header"),
        column("canonical_key", pa.string(), "url_key of the declared canonical; empty when there is none"),
        column("payload_digest", pa.string(), "of the bytes; empty when there are none"),
        column("text_digest", pa.string(), "of the text; empty when there is none, or it was not extracted"),
        column("changed_at", UTC_TIME, "when it last changed, as the page or its server says", optional=True),
        column("page_rank", pa.float64(), "PageRank by the links of the site; that of all pages is 1"),
        column("hub", pa.float64(), "how good the pages are that it links (HITS), 0..1"),
        column("authority", pa.float64(), "how good the pages are that link it (HITS), 0..1"),
    ]
)

FINDINGS = pa.schema(
    [
        SITE,
        CRAWL_ID,
        column("finding", pa.string(), "what it is: a Finding of the site map room, such as dead_link or orphan"),
        URL,
        column("on_url", pa.string(), "the page that holds it; empty when none does"),
        column("detail", pa.string(), "anchor text, chain, or count"),
    ]
)
