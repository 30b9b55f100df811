"""robots.txt: which line decides about an address, and in what time."""

import time

import pytest

from assets.fetch.robots import RobotsDecision, RobotsRules, read_robots

URL = "https://e.test/robots.txt"
AGENT = "mybot"


def rules(text: str, agent: str = AGENT) -> RobotsRules:
    return read_robots(200, text.encode(), URL, agent)


def allows(text: str, path: str, agent: str = AGENT) -> bool:
    return rules(text, agent).allows(f"https://e.test{path}", agent)


def test_the_longest_match_wins_and_allow_wins_ties() -> None:
    text = (
        "User-agent: *\nDisallow: /staff\nAllow: /staff/open\nDisallow: /shop\nAllow: /shop/*/by=*/$\nDisallow: /*?*\n"
    )
    assert allows(text, "/staff/open/p")
    assert allows(text, "/shop/7/by=2/")
    assert not allows(text, "/shop/7/")
    assert not allows(text, "/i.html?x=1")
    assert allows("User-agent: *\nAllow: /a\nDisallow: /a", "/a")


def test_escapes_compare_as_the_rfc_says() -> None:
    text = "User-agent: *\nDisallow: /%7ejoe/\nDisallow: /ツ\nDisallow: /a%2fb\nDisallow: /c&d\nDisallow: /50%"
    for path in ("/~joe/x", "/%7Ejoe/x", "/ツ/x", "/%E3%83%84", "/a%2Fb", "/c&d", "/50%", "/50%25"):
        assert not allows(text, path), path
    for path in ("/a/b", "/c%26d", "/joe"):
        assert allows(text, path), path


def test_where_readings_of_escapes_differ_nothing_is_fetched() -> None:
    text = "User-agent: *\nDisallow: /\nAllow: /%7ejoe/\nAllow: /%E3%83%84\nAllow: /a b\nAllow: /c%2ad$\n"
    for path in ("/%7Ejoe/x", "/%E3%83%84", "/a%20b", "/c%2Ad"):
        assert allows(text, path), path
    for path in ("/~joe/x", "/ツ", "/c*d"):
        assert not allows(text, path), path


def test_stars_and_dollars_of_addresses_can_be_escaped_in_rules() -> None:
    text = "User-agent: *\nDisallow: /a%2Ab\nDisallow: /c%24\nDisallow: /d$e\n"
    for path in ("/a*b", "/a%2ab", "/c$", "/c%24x", "/d$e", "/d%24e"):
        assert not allows(text, path), path
    for path in ("/axb", "/c", "/d"):
        assert allows(text, path), path


@pytest.mark.parametrize(
    ("pattern", "fits", "not_fits"),
    [
        ("/a$", ["/a"], ["/a/", "/a?b", "/"]),
        ("/a*$", ["/a", "/a/b"], ["/b"]),
        ("/*.php$", ["/.php", "/x.php", "/x.php.php"], ["/x.php5", "/x.php?a"]),
        ("/*ab*ab$", ["/abab", "/ab/x/ab"], ["/ab", "/abx", "/xabxb"]),
        ("*/private", ["/private", "/x/private/y"], ["/privat"]),
        ("/a**b", ["/ab", "/axxb"], ["/ba"]),
        ("$", [], ["/", "/a"]),
        ("private", [], ["/private", "/"]),
    ],
)
def test_what_a_pattern_fits(pattern: str, fits: list[str], not_fits: list[str]) -> None:
    text = f"User-agent: *\nDisallow: {pattern}"
    assert [path for path in (*fits, *not_fits) if not allows(text, path)] == fits


def test_a_decision_names_the_line_that_made_it() -> None:
    answer = rules(
        "user-agent : Other\nUser-agent: MyBot/2 # us\nDisallow /private/ # why\n\n"
        "User-agent: *\nDisallow: /\n\nUser-agent: mybot\nAllow: /private/open\nallow: /index.html"
    )

    def decision(path: str, agent: str = AGENT) -> RobotsDecision:
        return answer.decision(f"https://e.test{path}", agent)

    assert decision("/private/x") == RobotsDecision(False, "robots_200", "Disallow /private/", "User-agent: MyBot/2")
    assert decision("/private/x", "other").group == "user-agent : Other"
    assert decision("/private/open") == RobotsDecision(True, "robots_200", "Allow: /private/open", "User-agent: mybot")
    assert decision("/").line == "allow: /index.html"
    assert decision("/a") == RobotsDecision(True, "robots_200")
    assert decision("/a", "stranger") == RobotsDecision(False, "robots_200", "Disallow: /", "User-agent: *")
    assert decision("/robots.txt", "stranger") == RobotsDecision(True, "robots_200")
    assert read_robots(404, b"", URL, AGENT).decision("/a", AGENT) == RobotsDecision(True, "robots_404")
    assert read_robots(500, b"", URL, AGENT).decision("/a", AGENT) == RobotsDecision(False, "robots_unreachable")


def test_hostile_files_cost_little() -> None:
    many = (
        "".join(f"User-agent: a{number}\n" for number in range(10_000)) + "Disallow: /*a*b*c\nCrawl-delay: 2\n" * 10_000
    )
    assert not allows(many, "/a/b/c", "A")
    assert allows("User-agent: *\nDisallow: " + "/*a" * 5_000 + "$", "/" + "a" * 2_000)
    assert rules("<!---->" * 140 + "\nUser-agent: *\nDisallow: /").reason == "robots_200"


HOSTILE = {
    "long wildcards": "User-agent: *\n" + ("Disallow: " + "/*a" * 5_000 + "$\n") * 35,
    "many wildcards": "User-agent: *\n" + "".join(f"Disallow: /*a*a*{n}$\n" for n in range(20_000)),
    "near misses": "User-agent: *\n" + "".join(f"Allow: /*aa{n}\n" for n in range(25_000)),
    "many groups": "".join(f"User-agent: a{n}\nDisallow: /{n}\n" for n in range(100_000)),
    "agents before rules": "".join(f"User-agent: a{n}\n" for n in range(15_000)) + "Disallow: /*a*b$\n" * 15_000,
    "one agent often": "User-agent: a\nUser-agent: b\nCrawl-delay: 1\n" * 11_000,
    "blanks": "User-agent: *\nDisallow" + " " * 500_000 + "x",
    "one line": "a" * 500_000,
    "no lines": "\r" * 500_000,
    "no values": "User-agent\n" * 40_000,
}


@pytest.mark.slow
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_time_is_bounded_whatever_a_file_holds(text: str) -> None:
    started_s = time.process_time()
    answer = RobotsRules.from_text("read_rules", "robots_200", text, URL, AGENT)
    for _ in range(3):
        answer.allows("/" + "a" * 2_000, AGENT)
    # The worst takes a second; a matcher that takes choices back takes hours.
    assert time.process_time() - started_s < 5
