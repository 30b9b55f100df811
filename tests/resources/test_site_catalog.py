"""The site catalog: settings over defaults, and one clear sentence for everything that is wrong."""

import dataclasses
import os
from pathlib import Path

import pytest

from resources.errors import BadSettings
from resources.ports import SiteCatalog, SiteSettings
from resources.site_catalog import YamlCatalog
from resources.site_entry import SettingsEntry

SHIPPED = Path(__file__).resolve().parents[2] / "sites.yaml"
SETTINGS = [field.name for field in dataclasses.fields(SiteSettings) if field.name != "site"]


def catalog(folder: Path, text: str | bytes) -> YamlCatalog:
    path = folder / "sites.yaml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return YamlCatalog(path)


def fault(folder: Path, text: str | bytes) -> str:
    with pytest.raises(BadSettings) as caught:
        catalog(folder, text).listed()
    message = str(caught.value)
    assert message.startswith(str(folder / "sites.yaml"))
    assert "\n" not in message
    return message.removeprefix(f"{folder / 'sites.yaml'}: ")


def test_it_fits_the_port() -> None:
    assert isinstance(YamlCatalog(None), SiteCatalog)


def test_the_file_knows_every_setting() -> None:
    assert list(SettingsEntry.model_fields) == SETTINGS


def test_an_entry_stands_over_the_defaults_and_these_over_the_built_in_ones(tmp_path: Path) -> None:
    sites = catalog(
        tmp_path,
        """
        defaults: {max_depth: 5, min_delay_s: 2, exclude: ['/print/']}
        sites:
          docs.example.org:
            seeds: [https://docs.example.org/]
            max_depth: 1
            exclude: []
          blog:
        """,
    )
    assert sites.listed() == ("docs.example.org", "blog")
    assert sites.settings("docs.example.org") == SiteSettings(
        "docs.example.org", seeds=("https://docs.example.org/",), max_depth=1, min_delay_s=2.0
    )
    assert sites.settings("blog") == SiteSettings("blog", max_depth=5, min_delay_s=2.0, exclude=("/print/",))
    assert sites.settings("not.listed") == SiteSettings("not.listed", max_depth=5, min_delay_s=2, exclude=("/print/",))


@pytest.mark.parametrize("path", [None, Path("no/such/sites.yaml")], ids=["no path", "no file"])
def test_no_file_lists_no_sites(path: Path | None) -> None:
    assert YamlCatalog(path).listed() == ()
    assert YamlCatalog(path).settings("a.example") == SiteSettings("a.example")


@pytest.mark.parametrize("text", ["", "# nothing\n", "sites:\ndefaults:\n", "\ufeffsites: {}\n"], ids=repr)
def test_an_empty_file_lists_no_sites(tmp_path: Path, text: str) -> None:
    assert catalog(tmp_path, text).listed() == ()


def test_a_changed_file_is_read_again_and_a_removed_one_lists_nothing(tmp_path: Path) -> None:
    sites = catalog(tmp_path, "sites: {a: }")
    assert sites.listed() == ("a",)
    (tmp_path / "sites.yaml").write_text("sites: {b: }")
    os.utime(tmp_path / "sites.yaml", (1, 1))
    assert sites.listed() == ("b",)
    (tmp_path / "sites.yaml").unlink()
    assert sites.listed() == ()


def test_a_file_that_was_corrected_is_good_again(tmp_path: Path) -> None:
    sites = catalog(tmp_path, "sites: {a: {max_depth: 99}}")
    for _ in range(2):
        with pytest.raises(BadSettings):
            sites.settings("b")
    (tmp_path / "sites.yaml").write_text("sites: {a: {max_depth: 9}}")
    assert sites.settings("a").max_depth == 9


def test_a_folder_is_not_a_catalog(tmp_path: Path) -> None:
    with pytest.raises(BadSettings, match=r"cannot be read \(Is a directory\)"):
        YamlCatalog(tmp_path).listed()


def test_an_unknown_key_comes_with_a_guess(tmp_path: Path) -> None:
    message = fault(tmp_path, "sites: {docs.example.org: {max_dept: 3}}")
    assert message.startswith(
        "site 'docs.example.org': unknown key 'max_dept'; did you mean 'max_depth'? Known keys: seeds, hubs, max_depth,"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sits: {}", "unknown key 'sits'; did you mean 'sites'? Known keys: defaults, sites"),
        ("zzz: {}", "unknown key 'zzz'. Known keys: defaults, sites"),
        ("[1]", "the file must hold keys and values, but holds [1]; write it as 'key: value' lines"),
        ("sites: [a]", "sites must hold keys and values, but holds ['a']; write it as 'key: value' lines"),
        ("sites: {a: b}", "site 'a' must hold keys and values, but holds 'b'; write it as 'key: value' lines"),
        ("defaults: {max_depth: 11}", "defaults: max_depth is 11; max_depth must be a whole number from 0 to 10"),
        ("sites: {a: {max_depth: '3'}}", "site 'a': max_depth is '3'; max_depth must be a whole number from 0 to 10"),
        ("sites: {a: {max_depth: }}", "site 'a': max_depth is None; max_depth must be a whole number from 0 to 10"),
        (
            "sites: {a: {max_depth: yes}}",
            "site 'a': max_depth is True; max_depth must be a whole number from 0 to 10",
        ),
        (
            "sites: {a: {max_pages: 0}}",
            "site 'a': max_pages is 0; max_pages must be a whole number of pages, at least 1",
        ),
        (
            "sites: {a: {min_delay_s: -1}}",
            "site 'a': min_delay_s is -1; min_delay_s must be a number of seconds, at least 0",
        ),
        (
            "sites: {a: {max_delay_s: .inf}}",
            "site 'a': max_delay_s is inf; max_delay_s must be a number of seconds, at least min_delay_s",
        ),
        (
            "sites: {a: {batch_max_s: .nan}}",
            "site 'a': batch_max_s is nan; batch_max_s must be a number of seconds, more than 0",
        ),
        (
            "sites: {a: {text_limits: {max_text_lost: 2}}}",
            (
                "site 'a': text_limits[max_text_lost] is 2; text_limits must be shares from 0 to 1 by name: "
                "max_without_text, max_unreadable, max_text_lost, max_flag_growth"
            ),
        ),
        (
            "sites: {a: {check_severity: {page_kept: warn}}}",
            (
                "site 'a': check_severity[page_kept][[key]] is 'page_kept' (no such check); check_severity must be "
                "warn or error by the name of an asset check, as {no_new_dead_links: error}"
            ),
        ),
        (
            "sites: {a: {min_delay_s: 40}}",
            (
                "site 'a': need 0 <= min_delay_s <= max_delay_s, got 40.0, 30.0; change one of them (settings "
                "in defaults count too)"
            ),
        ),
        (
            "sites: {a: {robots_unreachable: deny}}",
            "site 'a': robots_unreachable is 'deny'; robots_unreachable must be disallow or allow",
        ),
        (
            "sites: {a: {allow_private_networks: 1}}",
            "site 'a': allow_private_networks is 1; allow_private_networks must be true or false",
        ),
        (
            "sites: {a: {seeds: 'https://a/'}}",
            (
                "site 'a': seeds is 'https://a/'; seeds must be a list of absolute http(s) URLs such as "
                "[https://docs.example.org/]"
            ),
        ),
        (
            "sites: {a: {include: ['(']}}",
            (
                "site 'a': include[0] is '(' (not an RE2 pattern: missing ): (); include must be a list of RE2 "
                "patterns such as ['/docs/']"
            ),
        ),
        (
            "sites: {a: {include: [3]}}",
            "site 'a': include[0] is 3; include must be a list of RE2 patterns such as ['/docs/']",
        ),
        (
            "sites: {a: {document_suffixes: [pdf]}}",
            (
                "site 'a': document_suffixes[0] is 'pdf' (not a dot followed by letters and digits); document_suffixes "
                "must be a list of suffixes such as ['.pdf', '.js']"
            ),
        ),
        (
            "sites: {a: {requests_per_day: -1}}",
            "site 'a': requests_per_day is -1; requests_per_day must be a number of requests, at least 0",
        ),
        (
            "sites: {a: {freshness_target_days: 0}}",
            "site 'a': freshness_target_days is 0; freshness_target_days must be a number of days, more than 0",
        ),
        (
            "sites: {a: {min_recrawl_hours: 48, max_recrawl_days: 1}}",
            (
                "site 'a': need min_recrawl_hours within max_recrawl_days, got 48.0 h, 1.0 d; change one of them "
                "(settings in defaults count too)"
            ),
        ),
        (
            "sites: {a: {section_weights: {docs: 2}}}",
            (
                "site 'a': section_weights[docs][[key]] is 'docs' (not a path that starts with /); section_weights "
                "must be path prefixes with a weight of more than 0, as {/docs/: 3}"
            ),
        ),
        (
            "sites: {a: {page_weights: {'/x': 0}}}",
            ("site 'a': page_weights[/x] is 0; page_weights must be URLs or RE2 patterns with a weight of more than 0"),
        ),
        (
            "sites: {12: }",
            "site 12: not a site name; use a text of letters, digits and . _ - : @ + such as 'docs.example.org'",
        ),
        (
            "sites: {a...b: }",
            "site 'a...b': not a site name; use a text of letters, digits and . _ - : @ + such as 'docs.example.org'",
        ),
        (
            "sites: {'../x': }",
            "site '../x': not a site name; use a text of letters, digits and . _ - : @ + such as 'docs.example.org'",
        ),
        ("sites:\n  a:\n  b:\n  a:\n", "'a' stands twice in one mapping, in lines 2 and 4; keep one of them"),
        (
            "sites:\n  a:\n    hubs: []\n    hubs: []\n",
            "'hubs' stands twice in one mapping, in lines 3 and 4; keep one of them",
        ),
        (
            "sites: {a: [\n",
            (
                "not readable as YAML, line 2, column 1: expected the node content, but found '<stream end>'; "
                "correct it there"
            ),
        ),
        (
            "sites:\n\ta: 1",
            (
                "not readable as YAML, line 2, column 1: found character '\\t' that cannot start any token; "
                "correct it there"
            ),
        ),
        (
            "sites: !!python/object:os.system {}",
            (
                "not readable as YAML, line 1, column 8: could not determine a constructor for the tag "
                "'tag:yaml.org,2002:python/object:os.system'; correct it there"
            ),
        ),
        ("sites: {a: {max_depth: 2024-99-99}}", "not readable as YAML: month must be in 1..12; correct it there"),
        ("[" * 2000, "not readable as YAML: nested too deeply; correct it there"),
    ],
    ids=lambda text: text[:40],
)
def test_what_is_wrong_is_one_sentence(tmp_path: Path, text: str, message: str) -> None:
    assert fault(tmp_path, text) == message


@pytest.mark.parametrize(
    "seed",
    ["docs.example.org", "/docs", "ftp://a.example/", "https://", "http://[::1", "http://a:b/", "http://a b/", ""],
    ids=repr,
)
def test_a_seed_is_an_absolute_web_address(tmp_path: Path, seed: str) -> None:
    message = fault(tmp_path, f"sites: {{a: {{seeds: ['https://a.example/', {seed!r}]}}}}")
    assert message.startswith(f"site 'a': seeds[1] is {seed!r} (")
    assert message.endswith("; seeds must be a list of absolute http(s) URLs such as [https://docs.example.org/]")


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    assert fault(tmp_path, b"sites: {\xff\xfe}").startswith("not readable as YAML: ")


def test_the_shipped_file_lists_nothing_and_changes_nothing() -> None:
    assert YamlCatalog(SHIPPED).listed() == ()
    assert YamlCatalog(SHIPPED).settings("a.example") == SiteSettings("a.example")


def uncommented(section: str) -> str:
    """Give a section of the shipped file as it is when its lines are taken into use."""
    lines = SHIPPED.read_text(encoding="utf-8").splitlines()
    start = lines.index(f"# {section}:")
    taken = []
    for line in lines[start:]:
        if not line.startswith("# "):
            break
        taken.append(line[2:])
    return "\n".join(taken) + "\n"


def test_the_examples_of_the_shipped_file_are_good_and_name_every_setting(tmp_path: Path) -> None:
    text = uncommented("defaults") + uncommented("sites")
    sites = catalog(tmp_path, text)
    assert sites.listed() == ("docs.example.org", "intranet.example.org")
    assert sites.settings("intranet.example.org") == SiteSettings("intranet.example.org"), "defaults as built in"
    assert [name for name in SETTINGS if f"{name}:" not in text] == []
