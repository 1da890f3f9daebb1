"""Attempt ids: UUIDs that sort by the time they were made (RFC 9562, section 5.7)."""

from __future__ import annotations

import os
import time
from uuid import UUID


def uuid7() -> UUID:
    """Return a new id: 48 bits of Unix milliseconds, then 74 random bits."""
    stamp = time.time_ns() // 1_000_000
    random = int.from_bytes(os.urandom(10), "big")
    value = (stamp & (1 << 48) - 1) << 80 | random
    value = value & ~(0xF << 76) | 0x7 << 76  # version 7
    value = value & ~(0x3 << 62) | 0x2 << 62  # the RFC's variant
    return UUID(int=value)


def short(attempt: UUID) -> str:
    """Return the first 13 characters: the milliseconds, which a person can tell apart and grep."""
    return str(attempt)[:13]
