"""Ports within fault points: every call on them can be drilled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from graph.runtime.fault_points import fault_point
from nodes.domain.runs.settings import Run
from nodes.domain.text.documents import SourceDocument
from nodes.ports import Artifacts, Releases, Sources, Tool, ToolAnswer, ToolRequest, Usage, Webhook


@dataclass(frozen=True)
class InstrumentedArtifacts:
    """Satisfies nodes.ports.Artifacts."""

    within: Artifacts

    async def put(self, data: bytes) -> str:
        with fault_point("artifact.put"):
            return await self.within.put(data)

    async def get(self, sha256: str) -> bytes:
        with fault_point("artifact.get"):
            return await self.within.get(sha256)

    async def size(self, sha256: str) -> int | None:
        with fault_point("artifact.size"):
            return await self.within.size(sha256)

    async def lacking(self, sizes: Mapping[str, int]) -> list[str]:
        with fault_point("artifact.lacking"):
            return await self.within.lacking(sizes)

    def uri(self, sha256: str) -> str:
        return self.within.uri(sha256)


@dataclass(frozen=True)
class InstrumentedReleases:
    """Satisfies nodes.ports.Releases."""

    within: Releases

    async def put(self, run: Run, name: str, data: bytes) -> str:
        with fault_point("release.put"):
            return await self.within.put(run, name, data)

    async def find(self, run: Run, name: str, sha256: str) -> str | None:
        with fault_point("release.find"):
            return await self.within.find(run, name, sha256)


@dataclass(frozen=True)
class InstrumentedWebhook:
    """Satisfies nodes.ports.Webhook."""

    within: Webhook

    @property
    def where(self) -> str:
        return self.within.where

    async def send(self, key: str, event: Mapping[str, Any], stop: Callable[[], bool]) -> Mapping[str, Any]:
        with fault_point("webhook.send"):
            return await self.within.send(key, event, stop)


@dataclass(frozen=True)
class InstrumentedSources:
    """Satisfies nodes.ports.Sources."""

    within: Sources

    async def check(self, source: str) -> int:
        with fault_point("source.check"):
            return await self.within.check(source)

    async def scan(self, source: str, passwords: Mapping[str, str] | None = None) -> list[SourceDocument]:
        with fault_point("source.scan"):
            return await self.within.scan(source, passwords)


@dataclass(frozen=True)
class InstrumentedTool:
    """Satisfies nodes.ports.Tool."""

    within: Tool

    @property
    def name(self) -> str:
        return self.within.name

    @property
    def attempts(self) -> int:
        return self.within.attempts

    def worst_usage(self, question: ToolRequest) -> Usage | None:
        return self.within.worst_usage(question)

    async def answer(self, question: ToolRequest, feedback: str = "") -> ToolAnswer:
        with fault_point(f"tool.{self.within.name}"):
            return await self.within.answer(question, feedback)
