"""Sink cursors in the object store: how far a sink got that cannot say so itself."""

from resources.errors import ObjectMissing
from resources.ports import ObjectStore


class SinkCursors:
    """The cursors of one sink, an object a site."""

    def __init__(self, objects: ObjectStore, sink: str) -> None:
        self._objects = objects
        self._prefix = f"feed_cursors/{sink}/site="

    def read(self, site: str) -> int:
        """Give the number of the last batch applied for a site; 0 when none was."""
        try:
            return int(self._objects.get(self._prefix + site))
        except ObjectMissing:
            return 0

    def write(self, site: str, sequence: int) -> None:
        """Remember that a batch was applied."""
        self._objects.put(self._prefix + site, str(sequence).encode())
