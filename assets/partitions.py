"""Partitions: one partition is one site."""

import warnings

import dagster as dg

# Both are known, meant, and pinned with Dagster: checks per partition are in preview, and a job over assets of two
# policies takes the smaller chunk. Nobody needs to read that at every start.
warnings.filterwarnings("ignore", message="Specifying a partitions_def on an AssetCheckSpec")
warnings.filterwarnings("ignore", message="Asset job .* materializes assets with varying BackfillPolicies")

sites = dg.DynamicPartitionsDefinition(name="sites")

# Two different policy objects on purpose: a backfill then runs what is derived after the crawl, and only for the
# sites whose crawl succeeded.
CRAWL_POLICY = dg.BackfillPolicy.multi_run(max_partitions_per_run=100)
DERIVED_POLICY = dg.BackfillPolicy.multi_run(max_partitions_per_run=500)
