"""The one table that turns errors of botocore into those of holdall."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdall.errors import ConfigError, HoldallError, OutcomeUnknown, StoreTimeout, Unavailable

__all__ = ["Cancelled", "Expired", "Missing", "Refused", "Skewed", "Throttled", "TooBig", "code_of", "translated"]

_GRANT = "grant the role or user what the page of the adapter names"
_MENDED_BY: dict[str, str] = {
    "AccessDenied": f"the service refused access: {_GRANT}",
    "AccessDeniedException": f"the service refused access: {_GRANT}",
    "IncompleteSignature": "the service does not take the credentials",
    "IncompleteSignatureException": "the service does not take the credentials",
    "InvalidAccessKeyId": "the service does not know the access key",
    "InvalidClientTokenId": "the service does not know the access key",
    "InvalidSignatureException": "the service does not take the signature: check the secret key and this host's clock",
    "MissingAuthenticationToken": "the service wants credentials",
    "MissingAuthenticationTokenException": "the service wants credentials",
    "NoSuchBucket": "there is no such bucket",
    "PermanentRedirect": "the bucket is in another region: name that one with region=",
    "AuthorizationHeaderMalformed": "the bucket is in another region: name that one with region=",
    "ResourceNotFoundException": "there is no such table in this region",
    "SignatureDoesNotMatch": "the service does not take the signature: check the secret key",
    "UnrecognizedClientException": "the service does not know the access key or session token",
}
_EXPIRED = {"ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired"}
_NOT_OF_NOW = ("Signature expired", "Signature not yet current")
_THROTTLED = {
    "LimitExceededException",
    "ProvisionedThroughputExceeded",
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "RequestThrottled",
    "RequestThrottledException",
    "SlowDown",
    "Throttling",
    "ThrottlingException",
    "TooManyRequestsException",
    "TransactionConflictException",
    "TransactionInProgressException",
}
_REFUSED = {"412", "ConditionalRequestConflict", "OperationAborted", "PreconditionFailed"}
"""Conditions of S3; the two in the middle say that another write was under way, and won."""
_MISSING = {"404", "NoSuchKey", "NotFound"}
_NEVER_SENT = {"ConnectTimeoutError", "EndpointConnectionError", "ProxyConnectionError", "SSLError"}
_SET_UP = {
    "CredentialRetrievalError",
    "InvalidConfigError",
    "InvalidRegionError",
    "NoAuthTokenError",
    "NoCredentialsError",
    "NoRegionError",
    "PartialCredentialsError",
    "ProfileNotFound",
    "SSOError",
    "TokenRetrievalError",
    "UnauthorizedSSOTokenError",
}
_SERVER_ERROR = 500


class Refused(Exception):
    """A condition of the request did not hold, and nothing was changed.

    Args:
        item: what is there, if the service told, or None.

    """

    def __init__(self, item: Any = None) -> None:
        super().__init__("the condition did not hold")
        self.item = item


class Missing(Exception):
    """There is no such object."""


class Cancelled(Exception):
    """A transaction was cancelled, and nothing was changed.

    Args:
        reasons: a code for each of its items, such as "ConditionalCheckFailed" or "None".

    """

    def __init__(self, reasons: tuple[str, ...]) -> None:
        super().__init__("the transaction was cancelled")
        self.reasons = reasons


class Expired(ConfigError):
    """The credentials have expired; nothing was changed."""


class Skewed(ConfigError):
    """The request was signed by a clock that is too far from the service's; nothing was changed."""


class Throttled(Unavailable):
    """The service wants the request later, and has not applied it."""


class TooBig(Unavailable):
    """What would be stored is larger than the service takes; nothing was changed."""


def code_of(error: Any) -> str:
    """Return the code of an error that the service answered, or "".

    Args:
        error: what botocore raised.

    """
    response: Mapping[str, Any] = getattr(error, "response", None) or {}
    return str(response.get("Error", {}).get("Code", ""))


def translated(error: Any, *, writing: bool, sent_once: bool) -> Exception:
    """Return the error of holdall for one of botocore.

    Args:
        error: what was raised; the caller raises the result from it.
        writing: whether a write was under way, so that a lost reply leaves its outcome open.
        sent_once: whether the client tried once; otherwise a try before the one that failed may have been applied.

    """
    code, kind = code_of(error), type(error).__name__
    if code:
        return _answered(error, code, writing=writing)
    if kind in _SET_UP or (kind == "RuntimeError" and "refreshed credentials" in str(error)):
        message = f"the credentials, the profile or the region cannot be had ({kind}): {error}"
        return ConfigError(message)
    if kind in _NEVER_SENT and (sent_once or not writing):
        return Unavailable(f"the service could not be reached ({kind})")
    if writing:
        return OutcomeUnknown(f"the reply of the service was lost ({kind})")
    if "Timeout" in kind:
        return StoreTimeout("the service did not answer in time")
    return Unavailable(f"the connection to the service was lost ({kind})")


def _answered(error: Any, code: str, *, writing: bool) -> Exception:
    refused = _refused(error, code) or _to_be_mended(error, code)
    if refused is not None:
        return refused
    if code in _THROTTLED:
        return Throttled(f"the service wants the request later ({code})")
    if code == "ValidationException" and "size" in str(error) and "exceeded" in str(error):
        return TooBig("the item would be larger than the service takes")
    return _failed(error, code, writing=writing)


def _to_be_mended(error: Any, code: str) -> ConfigError | None:
    """Return what a person has to mend, or None if that is not it."""
    if code in _EXPIRED:
        return Expired(f"the credentials have expired: renew them ({code})")
    if code == "RequestTimeTooSkewed" or any(words in str(error) for words in _NOT_OF_NOW):
        return Skewed(f"this host's clock is too far from the service's: set it ({code})")
    return ConfigError(f"{_MENDED_BY[code]} ({code})") if code in _MENDED_BY else None


def _refused(error: Any, code: str) -> Exception | None:
    """Return what says that a condition did not hold, or None if it is something else."""
    if code == "ConditionalCheckFailedException":
        return Refused(error.response.get("Item"))
    if code == "TransactionCanceledException":
        return Cancelled(tuple(reason.get("Code", "None") for reason in error.response.get("CancellationReasons", ())))
    if code in _MISSING:
        return Missing()
    return Refused() if code in _REFUSED else None


def _failed(error: Any, code: str, *, writing: bool) -> HoldallError:
    status = int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
    if status >= _SERVER_ERROR and writing:
        return OutcomeUnknown(f"the service failed, and does not say whether it wrote before ({code})")
    return Unavailable(f"the service failed ({code}, HTTP {status})")
