"""The one table that turns errors of Redis and its driver into those of holdall."""

from __future__ import annotations

from redis import exceptions as of_redis

from holdall.errors import ConfigError, HoldallError, OutcomeUnknown, StoreTimeout, Unavailable

__all__ = ["no_answer", "not_connected", "refused"]

_CLUSTER = (ConfigError, "this is a Redis Cluster, which the adapter does not support")
_LOGIN = (ConfigError, "the server wants another user or password, or the user may not do this")

# What the server answers instead of running a request, so nothing of it was applied. The more particular come first.
_BY_TYPE: tuple[tuple[type[Exception], tuple[type[HoldallError], str]], ...] = (
    (of_redis.BusyLoadingError, (Unavailable, "the server is still loading its data")),
    (of_redis.AuthenticationError, _LOGIN),
    (of_redis.AuthenticationWrongNumberOfArgsError, _LOGIN),
    (of_redis.AuthorizationError, _LOGIN),
    (of_redis.NoPermissionError, _LOGIN),
    (of_redis.MasterDownError, (Unavailable, "the server is a replica that has lost its master")),
    (of_redis.AskError, _CLUSTER),
    (of_redis.ClusterError, _CLUSTER),
    (of_redis.ClusterCrossSlotError, _CLUSTER),
)
# These come from inside of a script too, where only the text of the error has the word. Redis looks for them at the
# first command that writes, and each script of the adapter has written nothing before that.
_BY_WORD: dict[str, tuple[type[HoldallError], str]] = {
    "OOM": (Unavailable, "the server has reached its maxmemory; nothing was written"),
    "READONLY": (Unavailable, "the server is a replica by now; nothing was written"),
    "read only replica": (Unavailable, "the server is a replica by now; nothing was written"),
    "MISCONF": (Unavailable, "the server cannot write to its disk; nothing was written"),
    "NOREPLICAS": (Unavailable, "the server has too few replicas; nothing was written"),
    "BUSY": (Unavailable, "the server is busy with somebody's script"),
    "WRONGTYPE": (ConfigError, "the prefix is in use for something else: take another one"),
    "unknown command": (ConfigError, "the server does not know or does not allow a command"),
    "DB index": (ConfigError, "the server has no database of this number"),
}


def refused(error: Exception, *, writing: bool) -> HoldallError:
    """Return the error of holdall for an answer of the server.

    Args:
        error: what was raised; the caller raises the result from it.
        writing: whether the request may write, so that what is not in the table leaves its outcome open.

    """
    text = str(error)
    unknown = (OutcomeUnknown if writing else Unavailable, "the server refused a request")
    found = next((each for kind, each in _BY_TYPE if isinstance(error, kind)), None)
    found = found or next((each for word, each in _BY_WORD.items() if word in text), unknown)
    kind, message = found
    return kind(f"{message} ({type(error).__name__})")


def not_connected(error: Exception) -> HoldallError:
    """Return the error of holdall for a connection that could not be made: nothing was sent.

    Args:
        error: what was raised; the caller raises the result from it.

    """
    if isinstance(error, (of_redis.ResponseError, of_redis.AuthenticationError, of_redis.BusyLoadingError)):
        return refused(error, writing=False)
    return (StoreTimeout if _late(error) else Unavailable)(f"the server cannot be reached ({type(error).__name__})")


def no_answer(error: BaseException, *, writing: bool) -> HoldallError:
    """Return the error of holdall for a request that was sent, and whose answer did not come.

    The server runs what it has read, whether or not anybody waits for the answer.

    Args:
        error: what was raised; the caller raises the result from it.
        writing: whether the request may have written.

    """
    if isinstance(error, (of_redis.AuthenticationError, of_redis.BusyLoadingError)):
        return refused(error, writing=writing)  # answers, although the driver has them among its connection errors
    late = _late(error)
    message = "the server did not answer in time" if late else "the connection broke"
    kind = OutcomeUnknown if writing else StoreTimeout if late else Unavailable
    return kind(f"{message} ({type(error).__name__})")


def _late(error: BaseException) -> bool:
    return isinstance(error, (of_redis.TimeoutError, TimeoutError))
