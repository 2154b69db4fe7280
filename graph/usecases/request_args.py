"""Check what callers of the facade ask for, and bring it into the form in which the graph takes it."""

from __future__ import annotations

import getpass
import os
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from graph.adapters.documents.reader import INSTALL_OCR, lacking_for_ocr
from graph.composition import Container
from nodes.domain.runs.options import ENGINES, OptionError
from nodes.domain.runs.settings import Settings, chain
from nodes.domain.shared.errors import EndpointRefused, MissingPart


def reply_of(
    decisions: Sequence[Mapping[str, Any]] | None, accept_all: bool, reviewer: str, reason: str
) -> dict[str, Any] | None:
    """Build the reply to the gate; the user of the machine signs when no one else is named."""
    if decisions is None and not accept_all:
        return None
    reply: dict[str, Any] = {"reviewer": reviewer or getpass.getuser()}
    if decisions is not None:
        reply["decisions"] = [dict(decision) if isinstance(decision, Mapping) else decision for decision in decisions]
    if accept_all:
        reply |= {"accept_all": True, "reason": reason}
    return reply


def absolute(sources: Sequence[str | os.PathLike[str]], playbook: str) -> tuple[str, str]:
    """Make the paths of source and playbook such that a resume from another working folder still finds them."""
    places = [os.path.abspath(source) if Path(source).exists() else str(source) for source in sources]
    return "\n".join(places), os.path.abspath(playbook) if Path(playbook).is_file() else playbook


def plain(options: Mapping[str, Any]) -> dict[str, Any]:
    """Turn options into JSON; those that are None are left out."""
    return {
        name: str(setting) if isinstance(setting, Decimal) else setting
        for name, setting in options.items()
        if setting is not None
    }


def check_reading(container: Container, settings: Settings) -> None:
    """Refuse before the work begins what would fail page by page. Raises MissingPart."""
    lacking = lacking_for_ocr(settings.language) if container.settings.ocr else ()
    if lacking:
        raise MissingPart(
            f"Scanned pages could not be read, since {' and '.join(lacking)} {'is' if len(lacking) == 1 else 'are'} "
            f"missing: {INSTALL_OCR}, or set REPRISE_OCR=false to go on without OCR."
        )


def check_engine(container: Container, engine: str, settings: Settings, *, key: bool = True) -> None:
    """Refuse before a cent is spent: an engine without its key, a budget without a price.

    Raises OptionError, EndpointRefused, and MissingPart where scanned pages could not be read.
    """
    check_reading(container, settings)
    if engine not in ENGINES:
        raise OptionError(f"There is no engine {engine}: use {' or '.join(ENGINES)}.")
    if engine == "local":
        return
    if key and not container.has_key:
        raise EndpointRefused(
            "The engine openai needs a key: set OPENAI_API_KEY (and OPENAI_BASE_URL for another endpoint), "
            "or use --engine local."
        )
    if key and container.settings.endpoint_problem:
        raise EndpointRefused(f"{container.settings.endpoint_problem}; set it right, or use --engine local.")
    models = {**container.services.models, **settings.models}
    for model in [model for step in models for model in chain(models, step)]:
        if settings.budget_usd is not None and not container.prices.knows(model):
            raise OptionError(
                f"The price of {model} is not known, so a budget for it cannot be kept: "
                "name the price in the file of REPRISE_PRICES, or leave the budget out."
            )
