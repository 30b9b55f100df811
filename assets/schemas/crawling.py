"""Tables of the crawl: what was asked, what was refused, what came back, what it links."""

import pyarrow as pa

from assets.schemas.columns import CRAWL_ID, LAYER, SITE, URL, URL_KEY, UTC_TIME, column

CRAWLS = pa.schema(
    [
        SITE,
        CRAWL_ID,
        column(
            "stage",
            pa.string(),
            "started, seeds/seed_check, ..., crawl_report; or refresh_started, ..., refresh_report",
        ),
        column("at", UTC_TIME, "when the stage was done"),
        column("run_id", pa.string(), "the Dagster run that did it"),
        column("outcome", pa.string(), "ok, or why the stage did nothing (no_usable_seed, ...)"),
        column("reason", pa.string(), "one sentence for people; empty when all is well"),
        column("rows_in", pa.int64(), "rows that the stage looked at", unit="rows"),
        column("rows_out", pa.int64(), "rows that the stage made", unit="rows"),
        column("max_depth", pa.int32(), "deepest layer that this crawl was asked for", unit="layers"),
    ]
)

SEEDS = pa.schema(
    [
        SITE,
        CRAWL_ID,
        column("seed_url", pa.string(), "the URL a person chose"),
        column("final_url", pa.string(), "where it ended after redirects; empty when nowhere"),
        column("status", pa.int32(), "HTTP status of the last hop", optional=True),
        column("outcome", pa.string(), "fetch outcome of the last hop"),
        column("usable", pa.bool_(), "whether the crawl may start here"),
        column("reason", pa.string(), "why not; empty when usable"),
        column("robots", pa.string(), "allowed, denied, or unreachable"),
        column("sitemaps", pa.list_(pa.string()), "sitemap.xml addresses found for its host"),
        column("checked_at", UTC_TIME, "when"),
    ]
)

ROBOTS = pa.schema(
    [
        SITE,
        column("host_key", pa.string(), "scheme, host and port"),
        column("fetched_at", UTC_TIME, "when it was asked"),
        column("expires_at", UTC_TIME, "when it must be asked again"),
        column("url", pa.string(), "of the last hop"),
        column("status", pa.int32(), "HTTP status of the last hop; 304 when it confirmed the text", optional=True),
        column("verdict", pa.string(), "read_rules, allow_all or disallow_all"),
        column("reason", pa.string(), "what decided the verdict"),
        column("body", pa.string(), "the text, as far as it was read"),
        column("etag", pa.string(), "ETag of the text", optional=True),
        column("last_modified", pa.string(), "Last-Modified of the text", optional=True),
        column("crawl_delay_s", pa.float64(), "Crawl-delay that applies to us", unit="s", optional=True),
        column("sitemaps", pa.list_(pa.string()), "Sitemap lines, absolute"),
    ]
)

SITEMAP_FILES = pa.schema(
    [
        SITE,
        CRAWL_ID,
        column("sitemap_url", pa.string(), "the publisher's file, as it is named"),
        column("final_url", pa.string(), "where it ended after redirects"),
        column("named_by", pa.string(), "robots, index or usual_place"),
        column("found_on", pa.string(), "the index, or the host key of the robots.txt; empty for the usual place"),
        column("level", pa.int32(), "1, or one more than that of its index"),
        column("outcome", pa.string(), "fetch outcome of the last hop"),
        column("reason", pa.string(), "why not all of it could be read, or why nothing was; empty when all is well"),
        column("read_at", UTC_TIME, "when it was asked"),
        column("payload_digest", pa.string(), "sha1:BASE32 of the payload", optional=True),
        column("retired", pa.string(), "why it need not be asked any more; empty when it must be"),
        column("entries", pa.int64(), "entries taken", unit="entries"),
        column("sitemaps", pa.int64(), "sitemaps that it names", unit="files"),
        column("other_host", pa.int64(), "addresses left out, for it may not speak for their hosts", unit="addresses"),
        column("lastmods", pa.int64(), "entries that state a lastmod", unit="entries"),
        column("invalid_lastmods", pa.int64(), "of those: no date", unit="entries"),
        column("future_lastmods", pa.int64(), "of those: later than tomorrow; ignored", unit="entries"),
    ]
)

SITEMAP_ENTRIES = pa.schema(
    [
        SITE,
        CRAWL_ID,
        column("sitemap_url", pa.string(), "the publisher's file, as it is named"),
        URL,
        URL_KEY,
        column("lastmod", UTC_TIME, "when the publisher says it changed; never in the future", optional=True),
        column("changefreq", pa.string(), "always, hourly, daily, weekly, monthly, yearly or never", optional=True),
        column("sitemap_priority", pa.float64(), "0..1", optional=True),
    ]
)

FRONTIER = pa.schema(
    [
        SITE,
        CRAWL_ID,
        LAYER,
        URL,
        URL_KEY,
        column("host_key", pa.string(), "scheme, host and port: the unit of politeness"),
        column("priority", pa.float64(), "higher is asked first"),
        column("found_by", pa.string(), "seed, hub, due, link or sitemap"),
        column("found_on", pa.string(), "url_key of the first page that links it; the sitemap; empty for a seed"),
        column("in_links", pa.int64(), "pages of the layer before that link it", unit="pages"),
        column("other_urls", pa.list_(pa.string()), "other spellings of the same key, asked if the first is gone"),
    ]
)

REFUSALS = pa.schema(
    [
        SITE,
        CRAWL_ID,
        LAYER,
        URL,
        URL_KEY,
        column("reason", pa.string(), "RejectReason"),
        column("rule", pa.string(), "the rule in full: the pattern, the limit, the suffix"),
        column("found_on", pa.string(), "url_key of the first page that links it; empty for a seed"),
    ]
)

FETCHES = pa.schema(
    [
        SITE,
        CRAWL_ID,
        LAYER,
        column("purpose", pa.string(), "page, robots, sitemap, or probe: an address that nobody made"),
        URL,
        URL_KEY,
        column("origin_key", pa.string(), "url_key of the frontier row that this request served"),
        column("hop", pa.int32(), "redirects before this request"),
        column("attempt", pa.int32(), "1 for the first try of this hop"),
        column("is_final", pa.bool_(), "whether this row ends the story of its origin_key in this crawl"),
        column("outcome", pa.string(), "FetchOutcome"),
        column("reason", pa.string(), "details for people; empty when there are none"),
        column("requested_at", UTC_TIME, "when the request was sent, or decided not to be"),
        column("fetch_ms", pa.int64(), "from sending to the last byte", unit="ms"),
        column("status", pa.int32(), "HTTP status", optional=True),
        column("peer_ip", pa.string(), "who answered", optional=True),
        column("redirect_url", pa.string(), "where Location or a short refresh points, absolute", optional=True),
        column("content_type", pa.string(), "Content-Type as sent; of the stored copy for a 304", optional=True),
        column("etag", pa.string(), "ETag as sent", optional=True),
        column("last_modified", pa.string(), "Last-Modified as sent", optional=True),
        column("robots_tag", pa.string(), "X-Robots-Tag values, comma-joined", optional=True),
        column("link_header", pa.string(), "Link values of rel canonical and alternate, comma-joined", optional=True),
        column("retry_at", UTC_TIME, "when a deferred URL may be asked", optional=True),
        column("body_bytes", pa.int64(), "bytes of payload as stored", unit="bytes"),
        column(
            "payload_digest",
            pa.string(),
            "sha1:BASE32 of the payload; of the stored copy for a 304",
            optional=True,
        ),
        column("truncated", pa.string(), "why the body is short: length, time, disconnect", optional=True),
        column("record_type", pa.string(), "response or revisit", optional=True),
        column("warc_file", pa.string(), "object key of the WARC file of this capture", optional=True),
        column("warc_offset", pa.int64(), "where its record starts", unit="bytes", optional=True),
        column("warc_bytes", pa.int64(), "length of its gzip member", unit="bytes", optional=True),
        column("body_warc_file", pa.string(), "where the payload itself lies", optional=True),
        column("body_warc_offset", pa.int64(), "where its record starts", unit="bytes", optional=True),
        column("body_warc_bytes", pa.int64(), "length of its gzip member", unit="bytes", optional=True),
    ]
)

HYPERLINK = pa.struct(
    [
        column("url", pa.string(), "absolute, without fragment"),
        column("url_key", pa.string(), "sameness of the target"),
        column("kind", pa.string(), "a, area, frame, iframe, next, prev, alternate, canonical, refresh"),
        column("anchor", pa.string(), "text of the link, white space folded, at most 300 characters"),
        column("rel", pa.string(), "rel tokens, space-joined, lower case"),
    ]
)
RESOURCE = pa.struct(
    [
        column("url", pa.string(), "absolute, without fragment"),
        column("kind", pa.string(), "image, script, style, media, document, icon, other"),
        column("count", pa.int32(), "times that the page names it"),
    ]
)

LINKS = pa.schema(
    [
        SITE,
        CRAWL_ID,
        LAYER,
        URL,
        URL_KEY,
        column("requested_at", UTC_TIME, "of the capture that was parsed"),
        column("reason", pa.string(), "why nothing could be read (timeout, crash, ...); empty when all is well"),
        column("title", pa.string(), "text of <title>"),
        column("language", pa.string(), "html lang; empty when there is none"),
        column("charset", pa.string(), "WHATWG name of the encoding used"),
        column("charset_source", pa.string(), "bom, header, meta, detected or default"),
        column(
            "declared_canonical",
            pa.string(),
            "first rel=canonical of head or Link header, absolute; empty for none",
        ),
        column("robots_meta", pa.string(), "robots meta, comma-joined, lower case"),
        column("words", pa.int64(), "words of visible text; characters for scripts without spaces", unit="words"),
        column("forms", pa.int32(), "forms"),
        column("iframes", pa.int32(), "iframes"),
        column("scripts", pa.int32(), "script elements"),
        column("videos", pa.int32(), "video elements"),
        column("images", pa.int32(), "img elements"),
        column("hyperlinks", pa.list_(HYPERLINK), "in document order"),
        column("resources", pa.list_(RESOURCE), "each address once"),
    ]
)
