"""The small site: a whole site in one dictionary, for tests that crawl.

What a right crawl from ``/`` finds, with max_depth 3 and everything else at its default (12 HTML pages are fetched):

    depth  path                found by                  outcome
    0      /                   seed                      fetched, 200
    1      /about              link on /                 fetched, 200
    1      /guide/             link on /                 fetched, 200
    1      /news               link on /                 fetched, 200
    1      /missing            link on /                 gone, 404
    1      /old                link on /                 redirected, 301 to /new
    1      /new                the redirect from /old    fetched, 200; its links are of depth 1 too
    1      /private/ledger     link on /                 robots_denied; never asked
    1      /orphan             sitemap.xml alone         fetched, 200
    2      /guide/lead-line    link on /guide/           fetched, 200
    2      /guide/echo         link on /guide/           fetched, 200
    2      /zh/                link on /about            fetched, 200; Chinese
    2      /ja/                link on /about            fetched, 200; Japanese
    2      /about-us           link on /news             fetched, 200; byte for byte the page /about
    3      /guide/charts       link on /guide/echo       fetched, 200; links only back

Also asked: /robots.txt (200) and /sitemap.xml (200; it names / and /orphan). Known but not asked: /logo.png (an image
on every page), /files/tides.pdf (a link on /guide/; a non-page suffix), http://offsite.example/ (a link on /news; out
of scope). Two links carry a fragment and are no pages of their own. /new, behind the redirect, links /guide/ only.
"""

from typing import Final

from tests.support.pages import ORIGIN, Page

SMALL_SITE_DEPTHS: Final[dict[int, tuple[str, ...]]] = {
    0: ("/",),
    1: ("/about", "/guide/", "/new", "/news", "/orphan"),
    2: ("/about-us", "/guide/echo", "/guide/lead-line", "/ja/", "/zh/"),
    3: ("/guide/charts",),
}  # paths that end in a fetched page

_PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"
    "0000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
)


def small_site() -> dict[str, Page]:
    """Give the pages of the small site, fresh for each caller; the module's docstring says what a crawl finds."""
    about = _html(
        "About the sounding museum",
        "The sounding museum keeps the tools with which people have measured the depth of the sea. It was founded by "
        "three retired pilots who could not bear to see their old lead lines thrown away, and it lives in the former "
        "customs house at the end of the long pier.",
        "Visitors may touch nearly everything. On the first floor stands a working echo sounder from a trawler, and "
        "children can drop a weight into a basin and read the depth from knots, just as sailors once did at night.",
        links=("/", "/zh/", "/ja/", "/about#hours"),
    )
    return {
        "/robots.txt": Page(
            "User-agent: *\nDisallow: /private/\n\nSitemap: /sitemap.xml\n", content_type="text/plain; charset=utf-8"
        ),
        "/sitemap.xml": Page(
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
            f"<url><loc>{ORIGIN}/</loc></url>\n<url><loc>{ORIGIN}/orphan</loc></url>\n</urlset>\n",
            content_type="application/xml",
        ),
        "/": _html(
            "The sounding museum",
            "How deep is the sea here? For most of history the only answer came from a rope with a weight on its end. "
            "This museum tells how that rope became a wire, the wire became a sound, and the sound became a map on "
            "which lines of equal depth wind around every bank and trench.",
            "Start with the guide if you like instruments, or with the news if you would like to know what the pilots "
            "have dragged out of the harbour this month. Entrance is free on the first Sunday of spring.",
            links=("/about", "/guide/", "/news", "/missing", "/old", "/private/ledger"),
        ),
        "/about": about,
        "/about-us": about,
        "/guide/": _html(
            "A guide to the collection",
            "The guide walks through the rooms in the order in which the instruments were invented. Every chapter "
            "names the makers, explains how a reading was taken in bad weather, and says how far off it usually was. "
            "Bring a coat, because the basement with the winches has no heating at all.",
            "Two chapters are ready. The tide tables of the old harbour office can be had as a document to print.",
            links=("/guide/lead-line", "/guide/echo", "/files/tides.pdf", "/"),
        ),
        "/guide/lead-line": _html(
            "The lead line",
            "A lead line is a rope marked with leather, cloth and knots, so that a hand can read it in the dark. The "
            "weight is hollow below and filled with tallow; whatever sticks to the tallow tells the pilot whether the "
            "ground is sand, shell or mud, which is often worth more than the number of fathoms.",
            "Heaving the lead was cold work. The leadsman stood outside the rail, held by a canvas belt, and sang out "
            "the depth with a melody of its own for each mark.",
            links=("/guide/", "/guide/echo"),
        ),
        "/guide/echo": _html(
            "The echo sounder",
            "Sound travels through sea water at about fifteen hundred metres a second, a little faster where it is "
            "warm or salty. An echo sounder sends a short cry downwards, waits for the answer, and divides. What used "
            "to take a crew an hour in deep water now takes seconds, and the ship need not even slow down.",
            "Shoals of fish answer too. Early operators drew whole islands that swam away before the next survey.",
            links=("/guide/lead-line", "/guide/charts"),
        ),
        "/guide/charts": _html(
            "Reading a chart",
            "Join all the soundings of ten metres and you have drawn an isobath. Where the lines crowd together the "
            "ground falls steeply; where they wander apart lies a plain. Chart makers leave out most of the numbers "
            "they have, and the art is in knowing which of them a helmsman will look for at three in the morning.",
            "Old charts are beautiful and should not be trusted: sandbanks walk.",
            links=("/guide/", "/"),
        ),
        "/news": _html(
            "News from the pier",
            "In March the divers brought up an anchor that nobody had missed. It has two flukes of different length, "
            "which the blacksmith explains by a quarrel between his predecessors. It now lies beside the entrance, "
            "where it has already been painted by seagulls.",
            "The museum café has changed hands, and there is soup again. Friends of ours have opened a lighthouse.",
            links=("/about-us", "/guide/#top", "http://offsite.example/"),
        ),
        "/old": Page("<p>Moved.", 301, (("Location", "/new"),)),
        "/new": _html(
            "Opening hours",
            "From April to October the doors are open from ten until the evening tide, in winter only when the flag is "
            "up. Groups are asked to write a week ahead, so that someone can be found who knows how the steam winch "
            "is started and, more to the point, how it is stopped.",
            "Dogs are welcome on the pier but not among the charts.",
            links=("/guide/",),
        ),
        "/orphan": _html(
            "The forgotten storeroom",
            "Nobody links to this page, as nobody visits the storeroom behind the boiler. It holds nine crates of "
            "spare thermometers, a plaster model of a trench, and the complete correspondence between the museum and "
            "a button factory that was, for eleven years, addressed to the wrong museum.",
            "Only the list of all pages still knows the way.",
            links=("/",),
        ),
        "/private/ledger": _html("The ledger", "Accounts that robots are asked not to read.", links=("/",)),
        "/zh/": _html(
            "测深博物馆",
            "本馆收藏了人们用来测量海洋深度的各种工具。最早的工具只是一根系着铅锤的绳子，绳子上用皮革和布条做记号，"
            "水手在黑夜里用手一摸就知道水有多深。铅锤底部涂着牛油，粘上来的泥沙可以告诉领航员海底是什么样子。",
            "后来有了回声测深仪，船不必停下，几秒钟就能得到一个数字。把深度相同的点连成线，就是海图上的等深线。",
            links=("/", "/ja/"),
            language="zh",
        ),
        "/ja/": _html(
            "測深博物館",
            "この博物館には、海の深さを測るために使われてきた道具が集められています。いちばん古いものは、先に鉛のおもりを"
            "付けた一本の縄です。縄には革や布の印が付いていて、船乗りは暗い夜でも手で触れて深さを読むことができました。",
            "やがて音響測深機が生まれ、船を止めなくても数秒で深さがわかるようになりました。同じ深さの点を結んだ線を等深線と呼びます。",
            links=("/", "/zh/"),
            language="ja",
        ),
        "/files/tides.pdf": Page(b"%PDF-1.4\n% a tide table\n%%EOF\n", content_type="application/pdf"),
        "/logo.png": Page(_PIXEL, content_type="image/png"),
    }


def _html(title: str, *paragraphs: str, links: tuple[str, ...], language: str = "en") -> Page:
    body = "\n".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    menu = "\n".join(f'<li><a href="{link}">{link}</a></li>' for link in links)
    head = f'<meta charset="utf-8"><title>{title}</title>'
    main = f"<main><article>\n<h1>{title}</h1>\n{body}\n</article></main>"
    return Page(
        f'<!doctype html>\n<html lang="{language}">\n<head>{head}</head>\n<body>\n'
        f'<header><img src="/logo.png" alt="logo"></header>\n{main}\n<nav><ul>\n{menu}\n</ul></nav>\n</body>\n</html>\n'
    )
