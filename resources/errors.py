"""Errors of the outside world, sorted by whether another try can help.

    IsobathError
    |-- TransientError          another try may help
    |   |-- StoreBusy           a commit lost its race too often
    |   `-- SiteBusy            another run holds the site's lease
    `-- PermanentError          another try gives the same answer
        |-- ObjectMissing       no object under that key
        |-- StoreUnusable       the store cannot be written: says what to do
        |-- BadSettings         sites.yaml, run config or environment: says where and what to do
        |-- BadRows             rows that do not fit their table's schema
        |-- DamagedArchive      a WARC file is not what was written
        `-- StageMissing        an earlier stage of this crawl was not materialized

What a crawl expects to go wrong (a dead link, a refused host) is a row, never one of these.
"""


class IsobathError(Exception):
    """Base of all errors that Isobath raises on purpose."""


class TransientError(IsobathError):
    """Another try may help."""


class PermanentError(IsobathError):
    """Another try gives the same answer."""


class StoreBusy(TransientError):
    """A commit lost the race against other writers too often."""


class SiteBusy(TransientError):
    """Another run holds the lease of this site."""


class ObjectMissing(PermanentError):
    """There is no object under that key."""


class StoreUnusable(PermanentError):
    """The store cannot be used; the message says why and what to do."""


class BadSettings(PermanentError):
    """A setting is wrong; the message says where and what to do."""


class BadRows(PermanentError):
    """Rows do not fit the schema of their table."""


class DamagedArchive(PermanentError):
    """A WARC file is not what was written."""


class StageMissing(PermanentError):
    """An earlier stage of this crawl was not materialized."""
