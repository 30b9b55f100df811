"""Batch order: which batches an index sink has not seen, and whether they follow what it has."""

from collections.abc import Iterator, Sequence

from resources.errors import PermanentError
from resources.ports import FeedBatch


def not_yet_applied(batches: Sequence[FeedBatch], cursor: int, where: str) -> Iterator[FeedBatch]:
    """Give the batches of one site that come after a cursor.

    Args:
        batches: in order.
        cursor: the last batch that was applied.
        where: what is at that batch, for the error.

    Raises:
        PermanentError: a batch does not follow the one before it.
    """
    for batch in batches:
        if batch.sequence <= cursor:
            continue
        if not batch.follows(cursor) or batch.site != batches[0].site:
            at = f"{where} is at batch {cursor} of {batches[0].site}"
            raise PermanentError(f"{at}; batch {batch.sequence} of {batch.site} does not follow")
        yield batch
        cursor = batch.sequence
