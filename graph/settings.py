"""Settings of an operator, from the environment; read where stores and tools are made, and by `doctor`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import AliasChoices, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from nodes.domain.shared.errors import OperatorError

CHECKOUT = Path(__file__).resolve().parents[1]


class Settings(BaseSettings):
    """Every variable begins with REPRISE_, but for the two that OpenAI clients share."""

    # A variable that is set to nothing is as one that is not set: so a unit file or a shell takes one back.
    model_config = SettingsConfigDict(
        env_prefix="REPRISE_",
        extra="ignore",
        populate_by_name=True,
        frozen=True,
        env_ignore_empty=True,
        str_strip_whitespace=True,
    )

    home: Path = Field(
        default=CHECKOUT / ".reprise",
        description="Database, artifacts, notes; at the checkout, so that every working folder sees the same runs.",
    )
    database_url: str = Field(default="", description="Address of a Postgres server; empty: the embedded one.")
    openai_base_url: str = Field(
        default="",
        validation_alias=AliasChoices("openai_base_url", "OPENAI_BASE_URL"),
        description="OpenAI-compatible endpoint; empty: OpenAI's own.",
    )
    openai_api_key: SecretStr = Field(
        default=SecretStr(""),
        validation_alias=AliasChoices("openai_api_key", "OPENAI_API_KEY"),
        description="Key of the endpoint; used with --engine openai only.",
    )
    model: str = Field(default="gpt-4.1-mini", description="Model of every step that a run names none for.")
    prices: Path | None = Field(default=None, description="TOML file with prices of private models.")
    request_seconds: float = Field(default=45.0, gt=0, description="Longest wait for one answer of a model.")
    ocr: bool = Field(default=True, description="Read scanned pages by OCR; false: they count as failed.")
    parsing_seconds: float = Field(default=120.0, gt=0, description="Longest time that one file may take to parse.")
    endpoint_concurrency: int = Field(
        default=0, ge=0, description="Calls of a model at once, of all runs; 0: no limit."
    )
    requests_per_minute: int = Field(default=0, ge=0, description="Of the endpoint; 0: no limit.")
    tokens_per_minute: int = Field(default=0, ge=0, description="Of the endpoint, in and out; 0: no limit.")
    attempts: int = Field(default=4, ge=1, le=20, description="Attempts of one call to a model.")
    webhook_url: SecretStr = Field(
        default=SecretStr(""), description="Where the news of each finished run is sent; empty: nowhere."
    )
    webhook_seconds: float = Field(default=10.0, gt=0, description="Longest wait for its answer.")
    lease_seconds: float = Field(
        default=30.0, ge=3, le=86_400, description="Silence after which a driver may be overtaken."
    )
    database_wait_seconds: float = Field(
        default=60.0, ge=0, description="Time that a run waits for a database that went away; 0: it stops at once."
    )
    retention_days: int = Field(
        default=30,
        ge=0,
        le=36_500,
        description="After so long a finished run keeps its latest checkpoint alone; 0: it keeps all.",
    )
    grace_seconds: float = Field(default=20.0, ge=0, description="Time that calls in flight get at a drain.")
    children: int = Field(default=0, ge=0, description="Child processes that read documents; 0: one a core.")
    child_memory_mb: int = Field(default=2048, ge=256, le=1 << 20, description="Memory that one of them may use.")

    die_at: str = Field(default="", description="For drills: the boundary at which this process kills itself.")
    trace: Path | None = Field(default=None, description="For drills: file that tells each boundary passed.")

    @field_validator("webhook_url")
    @classmethod
    def _check_url(cls, secret: SecretStr) -> SecretStr:
        url = secret.get_secret_value()
        if url and not re.match(r"https?://[^/?#]+", url):
            raise ValueError("it must begin with http:// or https:// and name a host")
        return secret

    @field_validator("home")
    @classmethod
    def _expand_user(cls, path: Path) -> Path:
        """Expand a ~ that no shell has expanded, as in a unit file."""
        return path.expanduser()

    @property
    def endpoint_problem(self) -> str:
        """Why OPENAI_BASE_URL names no endpoint; "" when it does. The variable is shared with other programs, so that
        only who asks a model has to care."""
        try:
            address = urlsplit(self.openai_base_url)
            valid = address.scheme in ("http", "https") and address.hostname and (address.port or True)
        except ValueError:
            valid = False
        if not self.openai_base_url or valid:
            return ""
        return "OPENAI_BASE_URL is no address of an endpoint: it must begin with http:// or https:// and name a host"

    @property
    def own_server(self) -> bool:
        """True when the embedded server is used."""
        return not self.database_url


def operator_settings(**changes: Any) -> Settings:
    """Read the environment. Raises OperatorError for a variable with a value that it cannot have."""
    try:
        return Settings(**changes)
    except ValidationError as error:
        problem = error.errors()[0]
        name = str(problem["loc"][0]) if problem["loc"] else "setting"
        variable = name if name.isupper() else f"REPRISE_{name.upper()}"
        reason = str(problem["msg"]).removeprefix("Value error, ")
        raise OperatorError(f"{variable} has a value that it cannot have: {reason}.") from None
