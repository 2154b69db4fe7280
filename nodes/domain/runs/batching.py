"""Which documents make a batch."""

from __future__ import annotations


def batch_total(documents: int, size: int) -> int:
    """Batches that so many documents fill."""
    return -(-documents // size)


def batch_range(index: int, size: int, documents: int) -> range:
    """Ordinals of batch `index`, counted from 0."""
    return range(index * size, min((index + 1) * size, documents))
