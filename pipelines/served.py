"""Servers that answer in a thread of this process."""

import socketserver
import threading
from types import TracebackType
from typing import Final, Self

_POLL_S: Final = 0.02  # how long its end may take


class Served:
    """A server that answers inside its ``with``, and is closed at the end of it."""

    def __init__(self, server: socketserver.BaseServer) -> None:
        self._server = server
        self._thread = threading.Thread(
            target=server.serve_forever, kwargs={"poll_interval": _POLL_S}, name=type(self).__name__, daemon=True
        )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
