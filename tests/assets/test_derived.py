"""Behaviour of site events: what Dagster is told of a site's checks, in a run of one site and in a run of many."""

from collections.abc import Iterator

import dagster as dg
import pytest

from assets import names
from assets.derived import CheckResult, Severities, SiteEvent, SiteResult, derived_asset, per_site
from assets.partitions import sites

WARN, ERROR = dg.AssetCheckSeverity.WARN, dg.AssetCheckSeverity.ERROR


@derived_asset(
    key=names.PAGES,
    deps=[],
    group="g",
    description="d",
    kinds=set(),
    code_version="1",
    checks={"warns": "d", "breaks": "d"},
    severe=["breaks"],
)
def checked(context: dg.AssetExecutionContext) -> Iterator[SiteEvent]:
    """Report two checks of each site; site b.test sets the severity of both."""

    def work(site: str) -> SiteResult:
        results = (CheckResult("warns", False, "bad"), CheckResult("breaks", False, "worse", severity=ERROR))
        turned: Severities = (("warns", "error"), ("breaks", "warn")) if site == "b.test" else ()
        return SiteResult({}, "1", results, turned)

    yield from per_site(context, names.PAGES, work)


@pytest.mark.parametrize("of", [["a.test"], ["b.test"], ["a.test", "b.test"]], ids=" ".join)
def test_a_site_sets_how_bad_a_failed_check_is(of: list[str]) -> None:
    ends = {"dagster/asset_partition_range_start": of[0], "dagster/asset_partition_range_end": of[-1]}
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions(str(sites.name), of)
        result = dg.materialize(
            [checked],
            instance=instance,
            partition_key=of[0] if len(of) == 1 else None,
            tags=ends if len(of) > 1 else None,
        )
        evaluations = result.get_asset_check_evaluations()
    told = {(evaluation.partition, evaluation.check_name): evaluation.severity for evaluation in evaluations}
    wanted = {"a.test": (WARN, ERROR), "b.test": (ERROR, WARN)}
    assert told == {(site, name): wanted[site][n] for site in of for n, name in enumerate(("warns", "breaks"))}
