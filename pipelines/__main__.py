"""The command line, started as ``python -m pipelines``."""

from pipelines.cli import main

main()
