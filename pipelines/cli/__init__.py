"""The command line: everything that a terminal can start. ``isobath --help`` lists it.

Exit codes: 0 all is well; 1 something went wrong unexpectedly; 2 a setting, an argument or the store is wrong;
3 the site was crawled and nothing could be fetched; 130 interrupted.
"""

from pipelines.cli.app import main

__all__ = ["main"]
