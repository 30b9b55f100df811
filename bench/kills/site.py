"""The site that is crawled and killed: every kind of answer that a store keeps in a way of its own."""

from tests.support.pages import ORIGIN, Page

PAGES_A_SECTION = 25
PAUSE_S = 0.15


def killing_site(pages: int) -> dict[str, Page]:
    """Give a site of about this many pages.

    Among them are duplicates, redirects, missing pages, slow pages (one in eight), pages that robots.txt forbids, and
    pages that only the sitemap names.
    """
    sections = max(1, pages // PAGES_A_SECTION)
    site = {
        "/robots.txt": Page(
            f"User-agent: *\nDisallow: /private/\nSitemap: {ORIGIN}/sitemap.xml\n", content_type="text/plain"
        ),
        "/": _page("All sections", [f"/s{n}/" for n in range(sections)] + ["/private/a", "/private/b"]),
    }
    orphans = [f"/orphan/{n}" for n in range(max(1, pages // 30))]
    entries = "".join(f"<url><loc>{ORIGIN}{path}</loc></url>" for path in orphans)
    site["/sitemap.xml"] = Page(f'<?xml version="1.0"?><urlset>{entries}</urlset>', content_type="application/xml")
    site |= {path: _page(f"Orphan {path}", ["/"]) for path in orphans}
    for section in range(sections):
        links = []
        for number in range(PAGES_A_SECTION):
            path = f"/s{section}/p{number}"
            links.append(path)
            if number % 8 == 3:
                links[-1] = f"/_/slow?s={PAUSE_S}&n={section}-{number}"
            elif number % 8 == 5:
                site[path] = Page("", 301, (("Location", f"{ORIGIN}/s{section}/target{number}"),))
                site[f"/s{section}/target{number}"] = _page(f"Target {number} of {section}", ["/"])
            elif number % 8 == 6:
                site[path] = _page("The same everywhere", ["/"])
            elif number % 8 != 7:  # those are linked, but missing
                site[path] = _page(f"Page {number} of section {section}", ["/", f"/s{section}/"])
        site[f"/s{section}/"] = _page(f"Section {section}", links)
    return site


def _page(title: str, links: list[str]) -> Page:
    anchors = "".join(f'<li><a href="{link}">{link}</a>' for link in links)
    text = f"<p>{title}: the tide table of the harbour says nothing about it. " * 12
    return Page(f"<title>{title}</title><h1>{title}</h1>{text}<ul>{anchors}</ul>", headers=(("ETag", f'"{title}"'),))
