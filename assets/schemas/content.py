"""Tables of the content: page versions, and which of them is current."""

from typing import Final

import pyarrow as pa

from assets.schemas.columns import CRAWL_ID, SITE, URL, URL_KEY, UTC_TIME, column

# Flags of pages that are no document of an index, and that cannot stand for a page that is one.
NEVER_INDEXED_FLAGS: Final = frozenset({"noindex", "needs_js", "soft_404", "empty"})

PAGES = pa.schema(
    [
        SITE,
        CRAWL_ID,
        URL,
        URL_KEY,
        column("fetched_at", UTC_TIME, "when the bytes came"),
        column("payload_digest", pa.string(), "of the bytes that were extracted"),
        column("extractor_version", pa.string(), "which rules made this row"),
        column("reason", pa.string(), "why there is no text (timeout, crash, ...); empty when all is well"),
        column("title", pa.string(), "the page's own title, without the site's name"),
        column("title_source", pa.string(), "h1, h2, h3, og:title, title, document (its own facts) or path"),
        column("markdown", pa.string(), "main text as Markdown"),
        column("text", pa.string(), "main text, plain"),
        column("language", pa.string(), "html lang, else empty"),
        column("text_language", pa.string(), "ISO 639 code of the language that the text is in; empty when open"),
        column("author", pa.string(), "as the page says; empty when it does not"),
        column("description", pa.string(), "as the page says; empty when it does not"),
        column("published_on", pa.string(), "ISO date as the page says; empty when it does not"),
        column("modified_on", pa.string(), "ISO date as the page says; empty when it does not"),
        column("site_name", pa.string(), "as the page says; empty when it does not"),
        column("schema_types", pa.list_(pa.string()), "schema.org types that the page says it has: Article, ..."),
        column("charset", pa.string(), "WHATWG name of the encoding used"),
        column("charset_source", pa.string(), "bom, header, meta, detected or default"),
        column(
            "declared_canonical",
            pa.string(),
            "first rel=canonical of head or Link header, absolute; empty for none",
        ),
        column("canonical_verdict", pa.string(), "self, same_host, same_domain, other_domain, conflicting, or empty"),
        column("other_canonicals", pa.list_(pa.string()), "further rel=canonical, of head and header", optional=True),
        column(
            "alternates",
            pa.list_(pa.struct([("language", pa.string()), ("url", pa.string())])),
            "hreflang and address of its versions in other languages, of head and header",
            optional=True,
        ),
        column("robots", pa.list_(pa.string()), "what robots meta and X-Robots-Tag ask of us"),
        column("characters", pa.int64(), "length of the plain text", unit="characters"),
        column(
            "words", pa.int64(), "tokens of the plain text; a character each in scripts without spaces", unit="words"
        ),
        column("headings", pa.list_(pa.string()), "headings in the main text, with their marks: '## Tides'"),
        column("text_links", pa.list_(pa.string()), "links in the main text, absolute, each once"),
        column("text_images", pa.list_(pa.string()), "images in the main text, absolute, each once"),
        column("flags", pa.list_(pa.string()), "needs_js, empty, too_short, boilerplate_only, noindex, soft_404"),
        column("flag_evidence", pa.list_(pa.string()), "what speaks for each flag: 'too_short: 12 characters'"),
        column("text_digest", pa.string(), "SHA-256 of the normalised text; empty when there is no text"),
        column("simhash", pa.int64(), "fingerprint of the text, as a signed 64-bit number", optional=True),
        column("features", pa.int64(), "distinct shingles that went into the fingerprint", unit="shingles"),
        column("bands", pa.list_(pa.int64()), "MinHash bands: texts that share one are candidates"),
        column(
            "fingerprint_version", pa.int32(), "rules that made simhash, features and bands; 0 when older than these"
        ),
    ]
)

PAGE_STATE = pa.schema(
    [
        SITE,
        URL,
        URL_KEY,
        column("status", pa.string(), "live, gone, error or not_a_page"),
        column("page_crawl_id", pa.string(), "crawl of the current row in pages; empty when there is none"),
        column("extractor_version", pa.string(), "of the current row in pages; empty when there is none"),
        column("payload_digest", pa.string(), "of the current version; empty when there is none"),
        column("text_digest", pa.string(), "of the current version; empty when there is no text"),
        column("simhash", pa.int64(), "of the current version", optional=True),
        column("features", pa.int64(), "distinct shingles of the current version", unit="shingles"),
        column("bands", pa.list_(pa.int64()), "of the current version"),
        column("fingerprint_version", pa.int32(), "of the current version; 0 when there is none"),
        column("characters", pa.int64(), "length of the current text", unit="characters"),
        column("language", pa.string(), "of the current version; empty when unknown"),
        column(
            "declared_canonical_key",
            pa.string(),
            "url_key of the declared canonical; empty when there is none",
        ),
        column("flags", pa.list_(pa.string()), "of the current version"),
        column("first_seen_at", UTC_TIME, "when it was fetched for the first time"),
        column("last_asked_at", UTC_TIME, "when it was asked for the last time"),
        column("gone_since", UTC_TIME, "first 404/410 of an unbroken row of them", optional=True),
        column("gone_visits", pa.int32(), "404/410 answers in that row", unit="visits"),
        column("forbidden_since", UTC_TIME, "first of at least two refusals by robots.txt over a day", optional=True),
    ]
)
