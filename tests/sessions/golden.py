"""The golden cases: what a session comes to, as it was recorded from other implementations."""

from __future__ import annotations

import json
from pathlib import Path

from holdall.sessions.calls import same_json
from holdall.sessions.replay import INTERRUPTED, PREFACE

FOLDER = Path(__file__).parents[1] / "golden"
AT = "<at>"


def cases_of(area):
    """Return the cases of an area, by their ids."""
    return {case["id"]: case for case in json.loads((FOLDER / f"{area}.json").read_text())["cases"]}


def assert_same(found, wanted):
    """Demand the same JSON: 1 is 1.0, and neither is true."""
    assert same_json(found, wanted), f"{json.dumps(found, indent=1)}\nand not\n{json.dumps(wanted, indent=1)}"


def with_placeholders(message):
    """Return a message as JSON, with the placeholders of the cases in place of our own texts."""
    told = message.to_map()
    for block in told["content"][:1]:
        text = block.get("text", "")
        if text == INTERRUPTED:
            block["text"] = "<interrupted>"
        elif text.startswith(PREFACE):
            block["text"] = text.replace(PREFACE, "<preface>", 1)
    return told
