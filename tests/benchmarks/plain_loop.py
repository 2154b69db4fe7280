"""The loop that is usually written: a thread pool a batch, wait for all of it, save to SQLite, go on."""

from __future__ import annotations

import sqlite3
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path


class Results:
    """Answers by document, and how far the loop is."""

    def __init__(self, file: Path) -> None:
        self.connection = sqlite3.connect(file)
        self.connection.execute("CREATE TABLE IF NOT EXISTS results (document INTEGER PRIMARY KEY, answer TEXT)")
        self.connection.execute("CREATE TABLE IF NOT EXISTS progress (batch INTEGER)")

    def save(self, batch: int, answers: Sequence[tuple[int, str]]) -> None:
        """One commit a batch."""
        with self.connection:
            self.connection.executemany("INSERT OR REPLACE INTO results VALUES (?, ?)", answers)
            self.connection.execute("DELETE FROM progress")
            self.connection.execute("INSERT INTO progress VALUES (?)", (batch + 1,))

    def next_batch(self) -> int:
        """Where to go on."""
        row = self.connection.execute("SELECT batch FROM progress").fetchone()
        return int(row[0]) if row else 0

    def count(self) -> int:
        """Documents that have an answer."""
        return int(self.connection.execute("SELECT count(*) FROM results").fetchone()[0])


def ask(document: int, latency: float) -> tuple[int, str]:
    """Stands for the call of a model."""
    time.sleep(latency)
    return document, f"answer {document}"


def plain_loop(latencies: Sequence[float], size: int, workers: int) -> float:
    """Seconds that the loop takes for documents of these latencies."""
    with tempfile.TemporaryDirectory() as folder:
        results = Results(Path(folder) / "results.sqlite")
        began = time.monotonic()
        for batch in range(results.next_batch(), -(-len(latencies) // size)):
            numbers = range(batch * size, min((batch + 1) * size, len(latencies)))
            with ThreadPoolExecutor(workers) as pool:
                futures = [pool.submit(ask, number, latencies[number]) for number in numbers]
                wait(futures)
            results.save(batch, [future.result() for future in futures])
        assert results.count() == len(latencies)
        results.connection.close()
        return time.monotonic() - began
