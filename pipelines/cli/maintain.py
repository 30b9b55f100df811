"""The maintain command: the maintenance job, or some of its ops, in this process."""

import json
from collections.abc import Sequence
from typing import Any

import dagster as dg
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from pipelines.build import build
from pipelines.cli.crawl import failures, was_interrupted
from pipelines.cli.exit_codes import FAILED, INTERRUPTED
from pipelines.cli.instance import open_instance
from pipelines.cli.parts import deployment_for
from pipelines.maintenance import MAINTENANCE, check_sample

Numbers = dict[str, dict[str, Any]]  # op -> measure -> number


def maintain(ops: Sequence[str], *, captures: int | None, store: str | None, as_json: bool) -> int:
    """Run parts of the maintenance, all without a word; give the exit code.

    Args:
        ops: of the job, besides the check of a sample.
        captures: to read back; None: as many as by default if all is done, else none.
        store: of which; None: that of the environment.
        as_json: print JSON.

    Raises:
        IsobathError: a setting or the store is wrong; nothing was started.
    """
    deployment = deployment_for(store)
    deployment.objects.check()
    chosen = [*ops, *([check_sample.name] if captures is not None else [])]
    config = {} if captures is None else {"ops": {check_sample.name: {"config": {"captures": captures}}}}
    with open_instance() as instance:
        result = (
            build(deployment)
            .resolve_job_def(MAINTENANCE)
            .execute_in_process(
                instance=instance,
                op_selection=chosen or None,
                run_config={**config, "loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
                tags={"isobath/started_by": "command line"},
                raise_on_error=False,
            )
        )
    errors = Console(stderr=True, soft_wrap=True)
    if was_interrupted(result):
        errors.print("isobath: interrupted; what was done stays done")
        return INTERRUPTED
    told = numbers_of(result)
    if as_json:
        Console(soft_wrap=True).print_json(json.dumps(told))
    else:
        Console(soft_wrap=True).print(_table(told))
    for sentence in failures(result):
        errors.print(f"[red]isobath:[/red] {escape(sentence)}", highlight=False)
    return 0 if result.success else FAILED


def numbers_of(result: dg.ExecuteInProcessResult) -> Numbers:
    """Give what each op that came to its end counted."""
    told: Numbers = {}
    for event in result.all_events:
        if event.is_successful_output:
            metadata = event.step_output_data.metadata
            told[str(event.step_key)] = {
                name: value.value for name, value in metadata.items() if isinstance(value, dg.IntMetadataValue)
            }
    return dict(sorted(told.items()))


def _table(told: Numbers) -> Table:
    table = Table("part", "measure", "number")
    for op, numbers in told.items():
        for name, number in numbers.items():
            table.add_row(op.replace("_", " "), name.replace("_", " "), f"{number:,}")
    return table
