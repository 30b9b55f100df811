"""Run config of a crawl: what a person may say for one run, over the site's settings."""

from dataclasses import replace

import dagster as dg
from pydantic import Field

from assets.url.parse import parse
from resources.errors import BadSettings
from resources.ports import SiteSettings


class CrawlConfig(dg.Config):
    """Empty fields leave the site's settings (sites.yaml) as they are."""

    max_depth: int | None = Field(default=None, description="Deepest layer to fetch; 0 fetches the seeds only.")
    max_pages: int | None = Field(default=None, description="Most pages to fetch in this crawl.")
    min_delay_s: float | None = Field(
        default=None, description="Least seconds between two requests to a host; 0 only for servers of your own."
    )
    allow_private_networks: bool | None = Field(
        default=None, description="Fetch from private and loopback addresses too."
    )
    seeds: list[str] = Field(default=[], description="Start here instead; for a run of one site.")
    new_crawl: bool = Field(default=False, description="Begin a new crawl even if the last one was interrupted.")


class RefreshConfig(dg.Config):
    """Empty fields leave the site's settings (sites.yaml) as they are."""

    max_pages: int | None = Field(default=None, description="Most pages to ask in this refresh.")
    min_delay_s: float | None = Field(
        default=None, description="Least seconds between two requests to a host; 0 only for servers of your own."
    )
    allow_private_networks: bool | None = Field(
        default=None, description="Fetch from private and loopback addresses too."
    )

    def as_crawl_config(self) -> CrawlConfig:
        """Give the same for the walk."""
        return CrawlConfig(
            max_pages=self.max_pages,
            min_delay_s=self.min_delay_s,
            allow_private_networks=self.allow_private_networks,
        )


def with_config(settings: SiteSettings, config: CrawlConfig, *, depth_limit: int) -> SiteSettings:
    """Put run config over a site's settings.

    Args:
        depth_limit: the deepest layer that the asset graph has.

    Raises:
        BadSettings: a value is out of range, or deeper than the graph.
    """
    if config.max_depth is not None and config.max_depth > depth_limit:
        raise BadSettings(
            f"max_depth is {config.max_depth}, but the asset graph ends at depth {depth_limit}: "
            f"set ISOBATH_MAX_DEPTH={config.max_depth} and reload, or ask for less"
        )
    changes: dict[str, object] = {
        name: value
        for name in ("max_depth", "max_pages", "min_delay_s", "allow_private_networks")
        if (value := getattr(config, name)) is not None
    }
    for name, urls in (("seeds", config.seeds or settings.seeds), ("hubs", settings.hubs)):
        changes[name] = tuple(_address(settings.site, url) for url in urls)
    if config.min_delay_s is not None and config.min_delay_s > settings.max_delay_s:
        changes["max_delay_s"] = config.min_delay_s
    try:
        merged = replace(settings, **changes)  # type: ignore[arg-type]
    except ValueError as error:
        raise BadSettings(f"run config for {settings.site}: {error}") from error
    return replace(merged, max_depth=min(merged.max_depth, depth_limit))


def _address(site: str, url: str) -> str:
    address = parse(url)
    if address is None or not address.startswith(("http://", "https://")):
        raise BadSettings(f"seed {url!r} of {site} is not an absolute http(s) address")
    return address
