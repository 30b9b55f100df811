"""When things run and with which parts: definitions, jobs, automation, deployments, the command line."""

import warnings

# Known and meant, and pinned with Dagster: a check per partition is in preview, and a job over assets of two backfill
# policies takes the smaller chunk. Users should not read that at every start.
warnings.filterwarnings("ignore", message="Specifying a partitions_def on an AssetCheckSpec")
warnings.filterwarnings("ignore", message="Asset job .* materializes assets with varying BackfillPolicies")
