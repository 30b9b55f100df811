"""The one exception behind every fetch that brings no answer; the fetcher turns it into a response with a failure."""

from resources.ports.fetching import FetchFailure


class NoAnswer(Exception):
    """There is no (whole) head of an answer."""

    def __init__(self, failure: FetchFailure, detail: str) -> None:
        super().__init__(detail)
        self.failure = failure
        self.detail = detail


class NotHttp(NoAnswer):
    """What came is no HTTP/1.x answer."""

    def __init__(self, detail: str) -> None:
        super().__init__(FetchFailure.NETWORK_ERROR, detail)


def reason_of(error: BaseException) -> str:
    """Say in a few words what an error of the system or of TLS says.

    >>> reason_of(ConnectionRefusedError(111, "Connection refused"))
    'Connection refused'
    >>> reason_of(ConnectionResetError())
    'ConnectionResetError'
    """
    said = getattr(error, "strerror", None) or str(error)
    return said if isinstance(said, str) and said else type(error).__name__
