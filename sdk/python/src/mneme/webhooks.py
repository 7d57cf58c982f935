"""Verifies deliveries of webhooks, which are signed as Standard Webhooks 1.0 says."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from typing import Any

from ._api import models as m
from .errors import WebhookVerificationError

TOLERANCE = 300.0
"""Seconds that a delivery's time may lie from now."""


def verify(
    payload: bytes, headers: Mapping[str, str], secret: str, *, tolerance: float = TOLERANCE, now: float | None = None
) -> m.Event:
    """The event of a delivery, if it is signed with the secret and of now.

    Args:
        payload: the body as it came, byte for byte.
        headers: the headers as they came; case does not matter.
        secret: what the API showed once: ``whsec_...``, or ``whpk_...`` for ed25519 (needs ``mneme-sdk[ed25519]``).
        tolerance: seconds that the delivery's time may lie from now.
        now: the time in Unix seconds, for tests.

    Raises:
        WebhookVerificationError: it is not.
    """
    given = {name.lower(): value for name, value in headers.items()}
    ident, at, signatures = (given.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature"))
    if not (ident and signatures and at.isascii() and at.isdecimal()):
        raise WebhookVerificationError("headers are missing")
    if abs((time.time() if now is None else now) - int(at)) > tolerance:
        raise WebhookVerificationError("the time is too far from now")
    signed = f"{ident}.{at}.".encode() + payload
    kind, check = _checks(secret)
    for one in signatures.split():
        version, _, signature = one.partition(",")
        if version == kind and check(_decoded(signature), signed):
            return m.Event.from_dict({"id": ident, **_told(payload)})
    raise WebhookVerificationError("no signature is of this secret")


def _told(payload: bytes) -> dict[str, Any]:
    try:
        told = json.loads(payload)
    except ValueError as failure:
        raise WebhookVerificationError("the body is not JSON") from failure
    if not isinstance(told, dict):
        raise WebhookVerificationError("the body is not an object")
    return told


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""


def _checks(secret: str) -> tuple[str, Any]:
    if secret.startswith("whpk_"):
        return "v1a", lambda signature, signed: _ed25519(_decoded(secret.removeprefix("whpk_")), signature, signed)
    key = _decoded(secret.removeprefix("whsec_"))
    if not key:
        raise WebhookVerificationError("the secret is not one of a webhook")
    return "v1", lambda signature, signed: hmac.compare_digest(hmac.digest(key, signed, hashlib.sha256), signature)


def _ed25519(key: bytes, signature: bytes, signed: bytes) -> bool:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, signed)
    except (InvalidSignature, ValueError):
        return False
    return True
