"""Divides the documents of a run into batches."""

from __future__ import annotations


def batch_total(documents: int, size: int) -> int:
    """Count the batches that so many documents fill."""
    return -(-documents // size)


def batch_range(index: int, size: int, documents: int) -> range:
    """Ordinals of the documents of batch `index`; both count from 0."""
    return range(index * size, min((index + 1) * size, documents))
