"""Errors of opening and using a store that must come in time, and show the password nowhere."""

from __future__ import annotations

import logging
import time
import traceback

import pytest

from holdall import HoldallError
from tests.adapters.handles import opened

TIMEOUT = 3.0
PASSWORD, ENCODED = "g-hei/m#1", "g-hei%2Fm%231"


@pytest.fixture
def told(caplog):
    """Run something that must fail, and return the error; nothing that it shows holds the password."""
    caplog.set_level(logging.DEBUG)

    def run(kind, url, expected, match, use=None, **named):
        started = time.monotonic()
        with pytest.raises(expected) as caught, opened(kind, url, timeout=TIMEOUT, **named) as handles:
            use(handles)
        assert time.monotonic() - started < 10 * TIMEOUT, "it hangs"
        assert isinstance(caught.value, HoldallError)
        seen = "".join(traceback.format_exception(caught.value)) + repr(caught.value) + caplog.text
        error = caught.value
        while error is not None:
            seen += repr(error) + str(error) + repr(error.args)
            error = error.__cause__ or error.__context__
        for secret in (PASSWORD, ENCODED):
            assert secret not in seen
        assert match in str(caught.value)
        return caught.value

    return run
