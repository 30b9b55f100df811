"""Partitions: one partition is one site."""

import dagster as dg

sites = dg.DynamicPartitionsDefinition(name="sites")

# Two different policy objects on purpose: a backfill then runs what is derived after the crawl, and only for the
# sites whose crawl succeeded.
CRAWL_POLICY = dg.BackfillPolicy.multi_run(max_partitions_per_run=100)
DERIVED_POLICY = dg.BackfillPolicy.multi_run(max_partitions_per_run=500)
