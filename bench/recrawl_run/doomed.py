"""The process of one refresh, which is killed from outside: ``python -m bench.recrawl_run.doomed`` and what it needs.

Host, folder, budget a day, longest days, and the seconds that the clock is ahead.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from bench.recrawl_run.ground import ReckonedClock, instance_in, rig_in

BATCH_BYTES: Final = 5_000  # so that it has stored a part when it is killed


def main(arguments: Sequence[str]) -> int:
    """Refresh the site; say by the exit code whether that succeeded."""
    host, folder, per_day, longest_days, ahead_s = arguments
    clock = ReckonedClock()
    clock.advance(seconds=float(ahead_s))
    with instance_in(Path(folder), is_shared=True) as instance:
        rig = rig_in(
            Path(folder),
            instance,
            clock,
            host,
            per_day=int(per_day),
            longest_days=float(longest_days),
            batch_bytes=BATCH_BYTES,
        )
        return 0 if rig.refresh(host).success else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
