"""Payload digests, as WARC and CDXJ name them."""

import base64
import hashlib


def payload_digest(body: bytes) -> str:
    """Name a payload by its digest.

    >>> payload_digest(b"")
    'sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ'
    """
    return "sha1:" + base64.b32encode(hashlib.sha1(body, usedforsecurity=False).digest()).decode("ascii")
