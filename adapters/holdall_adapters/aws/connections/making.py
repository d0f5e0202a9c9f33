"""Clients of botocore and aiobotocore as they are made, and those that the caller brings."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from holdall.errors import ConfigError
from holdall.plugins import import_driver
from holdall.spi import Option
from holdall_adapters.aws.connections.sending_at_once import send_at_once
from holdall_adapters.aws.connections.sending_once import sends_once, session_class

__all__ = ["AWS_OPTIONS", "Made", "Making"]

AWS_OPTIONS = (
    Option(name="region", kind=str, default=None, help="such as eu-central-1; else that of the profile or environment"),
    Option(
        name="endpoint_url", kind=str, default=None, help="another server than AWS's, such as http://localhost:8000"
    ),
    Option(name="profile", kind=str, default=None, help="a profile of ~/.aws/config"),
    Option(name="access_key_id", kind=str, default=None, help="else the usual places are searched for credentials"),
    Option(name="secret_access_key", kind=str, default=None, help="the secret of access_key_id"),
    Option(name="session_token", kind=str, default=None, help="of temporary credentials"),
    Option(name="pool", kind=int, default=16, help="the most connections of a handle"),
)
_SESSIONS = {False: "Session", True: "AioSession"}
_CLIENTS = {False: "BaseClient", True: "AioBaseClient"}


@dataclass(frozen=True, slots=True)
class Made:
    """A client, how it is closed (not at all if it is the caller's), and whether it sends a request once only."""

    client: Any
    context: Any = None
    sends_once: bool = True


@dataclass(frozen=True, slots=True)
class Making:
    """How clients are made.

    Attributes:
        service: "dynamodb" or "s3".
        adapter: the adapter's name, which is that of the extra too.
        options: those of the URL.
        timeout: seconds after which the reply to a request counts as lost.
        suspending: whether its requests are awaited.
        given: a client or session of the caller's, or None.

    """

    service: str
    adapter: str
    options: Mapping[str, Any]
    timeout: float
    suspending: bool
    given: Any = field(default=None, repr=False)

    def check(self) -> None:
        """Refuse what is no client or session of the kind that the handle needs.

        Raises:
            ConfigError: so it is.

        """
        if self.given is None:
            return
        names = {kind.__name__ for kind in type(self.given).__mro__}
        is_client = _CLIENTS[self.suspending] in names and (self.suspending or _CLIENTS[True] not in names)
        if is_client and self.given.meta.service_model.service_name == self.service:
            return
        if not is_client and _SESSIONS[self.suspending] in names:
            return
        side, package = ("an asynchronous", "aiobotocore") if self.suspending else ("a synchronous", "boto3")
        wanted = f"{side} handle takes a client of {package} for {self.service}, or a session of {package}"
        message = f"{wanted}, not a {type(self.given).__name__}"
        raise ConfigError(message)

    def config(self, timeout: float) -> dict[str, Any]:
        """Return what a client is made with.

        Args:
            timeout: seconds for the connection, and for the reply.

        """
        options = self.options
        made: dict[str, Any] = {"region_name": options["region"], "endpoint_url": options["endpoint_url"]}
        if options["access_key_id"] is not None:
            made["aws_access_key_id"] = options["access_key_id"]
            made["aws_secret_access_key"] = options["secret_access_key"]
            made["aws_session_token"] = options["session_token"]
        if str(options["endpoint_url"] or "").startswith("http:"):
            made["verify"] = False  # no certificates are read that nobody needs
        kind, more = import_driver("botocore.config", self.adapter, self.adapter).Config, {}
        if self.suspending:
            kind = import_driver("aiobotocore.config", self.adapter, "aws-async").AioConfig
            more = {"http_session_cls": session_class()}
        made["config"] = kind(
            **more,
            connect_timeout=timeout,
            read_timeout=timeout,
            retries={"total_max_attempts": 1},
            max_pool_connections=options["pool"],
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
            parameter_validation=False,
            user_agent_extra="holdall",
            tcp_keepalive=True,
        )
        return made

    def is_client(self) -> bool:
        """Return whether the caller brings a client, and not a session or nothing."""
        return self.given is not None and hasattr(self.given, "meta")

    def make(self, timeout: float) -> Made:
        """Return a client that blocks.

        Args:
            timeout: seconds for the connection, and for the reply.

        Raises:
            ConfigError: botocore does not take the options.

        """
        if self.is_client():
            return Made(self.given, sends_once=_has_one_try(self.given))
        session = _session(self.adapter, self.options["profile"]) if self.given is None else self.given
        client = _taken(lambda: session.client(self.service, **self.config(timeout)))
        send_at_once(client)
        return Made(client, client)

    async def make_suspending(self, timeout: float) -> Made:
        """Return a client whose requests are awaited.

        Args:
            timeout: seconds for the connection, and for the reply.

        Raises:
            ConfigError: botocore does not take the options.

        """
        if self.is_client():
            return Made(self.given, sends_once=self.service == "dynamodb" and _has_one_try(self.given))
        session = self.given
        if session is None:
            kind = import_driver("aiobotocore.session", self.adapter, "aws-async").AioSession
            session = _taken(lambda: kind(profile=self.options["profile"]))
            session.register_component("data_loader", _loader(self.adapter))
        context = _taken(lambda: session.create_client(self.service, **self.config(timeout)))
        try:
            client = await context.__aenter__()
        except _refused_by_botocore() as error:
            raise _untaken(error) from error
        send_at_once(client)
        return Made(client, context, sends_once=self.service == "dynamodb" or sends_once())


def _session(adapter: str, profile: str | None) -> Any:
    """Return a session; the descriptions of services are read once in a process."""
    boto3, core = import_driver("boto3", adapter, adapter), import_driver("botocore.session", adapter, adapter)
    inner = core.get_session()
    inner.register_component("data_loader", _loader(adapter))
    return _taken(lambda: boto3.session.Session(botocore_session=inner, profile_name=profile))


@functools.cache
def _loader(adapter: str) -> Any:
    return import_driver("botocore.loaders", adapter, adapter).create_loader()


def _refused_by_botocore() -> tuple[type[Exception], ...]:
    return (import_driver("botocore.exceptions", "aws", "dynamodb").BotoCoreError, ValueError)


def _taken(make: Any) -> Any:
    try:
        return make()
    except _refused_by_botocore() as error:
        raise _untaken(error) from error


def _untaken(error: Exception) -> ConfigError:
    return ConfigError(f"the options of the URL do not lead to a client ({type(error).__name__}): {error}")


def _has_one_try(client: Any) -> bool:
    """Tell whether a client of the caller's sends no request again by itself."""
    retries: Mapping[str, Any] = getattr(client.meta.config, "retries", None) or {}
    return retries.get("total_max_attempts") == 1


async def credentials_of(client: Any) -> dict[str, str] | None:
    """Return the credentials of a client of the caller's, where they are such that last.

    Args:
        client: the client, of either kind.

    """
    signer = getattr(client, "_request_signer", None)
    found = getattr(signer, "_credentials", None)
    if found is None or type(found).__name__ not in {"Credentials", "AioCredentials"}:
        return None
    frozen = found.get_frozen_credentials()
    frozen = await frozen if inspect.isawaitable(frozen) else frozen
    return {"access_key_id": frozen.access_key, "secret_access_key": frozen.secret_key, "session_token": frozen.token}
