"""A storage with one of everything that is hard to move."""

import holdall

NAMES = [
    "plain",
    "with\x00nul",
    "new\nline",
    "a/b/../c",
    "😀👩‍👩‍👧",
    "\u202eright to left",
    "é",
    "e\u0301",
    " spaces ",
    '"quoted"',
    "%2F",
    "\U0010ffff",
    "--after",
]
DEEP = 1
for _ in range(128):
    DEEP = [DEEP]
VALUES = [
    None,
    True,
    0,
    -1,
    2**63,
    2**64,
    -(10**4299),
    0.0,
    -0.0,
    5e-324,
    1.7976931348623157e308,
    0.1,
    1.0,
    1,
    "",
    "\x00\x1f\x7f\u2028\u2029😀",
    " leading",
    [],
    {},
    {"b": 1, "a": 2, "": {"b": [], "a": None}},
    [2**70, 1.5, {"wide": [2**64 - 1, 2**64]}],
    DEEP,
    "x" * 100_000,
]


def fill(url):
    """Write everything."""
    with holdall.open_store(url) as store:
        for name in NAMES:
            store.put(name, name, {"name": name})
            store.append(name, name, [name, None, 2**80])
        for number, value in enumerate(VALUES):
            store.put("values", f"v{number:02}", value)
        store.append("values", "all", VALUES)
        store.put("expiring", "soon", "gone in an hour", ttl=3600)
        store.put("expiring", "never", "stays")
        store.append("logs", "cut", list(range(1200)))
        store.truncate("logs", "cut", 700)
        store.append("logs", "nothing left", [1, 2, 3])
        store.truncate("logs", "nothing left", 3)
        store.restore_log("logs", "nothing ever", 0, [])
        store.put_many("many", {f"k{number:05}": number for number in range(2500)})
