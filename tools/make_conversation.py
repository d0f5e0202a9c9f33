"""Writes the sample conversation of `holdall demo`: the log of an agent that works for a travel and logistics desk.

`python tools/make_conversation.py` rewrites core/holdall/cli/demo_data/conversation.jsonl; with `--check` it only says
whether the file is what it would write. Seeded, so the same on every machine.

The log is coherent: tool results answer tool calls, approvals and reports refer to what came before, shipments and
bookings keep their numbers over the whole story. On purpose it also holds what storage tends to spoil: integers above
2**64, floats that print differently from library to library, -0.0, empty strings and containers, NUL, U+2028, joined
emoji, combining marks, right-to-left text and deeply nested results.
"""

import argparse
import base64
import json
import random
import struct
import sys
import uuid
import zlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

ENTRIES = 1_200
SEED = 20_260_302
TARGET = Path(__file__).parents[1] / "core" / "holdall" / "cli" / "demo_data" / "conversation.jsonl"

PEOPLE = (
    ("Ines Duarte", "Lisbon"),
    ("Kenji Mori", "大阪"),
    ("Amal Haddad", "عمّان"),
    ("Priya Nair", "कोच्चि"),
    ("Nikos Pavlou", "Θεσσαλονίκη"),
    ("Zoë Brandt", "Zürich"),
    ("Łukasz Wójcik", "Gdańsk"),
    ("Oksana Бондар", "Одеса"),
    ("Min-ji Seo", "부산"),
    ("Tâm Nguyễn", "Đà Nẵng"),
)
PORTS = (
    ("PTSIN", "Sines", 37.9541, -8.8783),
    ("JPOSA", "大阪港", 34.6413, 135.4123),
    ("JOAQJ", "العقبة", 29.5167, 35.0078),
    ("INCOK", "कोच्चि", 9.9658, 76.2421),
    ("GRSKG", "Θεσσαλονίκη", 40.6336, 22.9323),
    ("PLGDN", "Gdańsk", 54.4047, 18.6647),
    ("KRPUS", "부산", 35.1028, 129.0403),
    ("NLRTM", "Rotterdam", 51.9497, 4.1453),
    ("VNDAD", "Đà Nẵng", 16.0833, 108.2167),
    ("CLVAP", "Valparaíso", -33.0333, -71.6333),
)
CARGO = (
    ("cork flooring", 14_200.5, 18.25),
    ("ceramic insulators", 8_940.0, 11.0),
    ("refrigerated vaccines", 612.75, 3.125),
    ("olive oil in drums", 21_300.0, 24.4),
    ("piano frames", 5_105.2, 40.1),
    ("spare turbine blades", 3_377.333, 6.0625),
    ("roasted coffee", 17_999.9, 29.7),
    ("museum crates (two, fragile)", 1_260.0, 9.81),
)
AIRPORTS = ("LIS", "KIX", "AMM", "COK", "SKG", "ZRH", "GDN", "PUS", "DAD", "SCL", "AMS", "FRA")
HOTELS = ("Pensão Aurora", "旅館 花月", "فندق الواحة", "Hotel Ξενία", "Gasthof Bären", "Maison Œillet", "호텔 바다")
GREETINGS = (
    "Morning!",
    "Hi again,",
    "お疲れさまです。",
    "صباح الخير،",
    "नमस्ते,",
    "Καλημέρα σας,",
    "Dzień dobry,",
    "Доброго дня,",
    "안녕하세요,",
    "Olá, tudo bem?",
    "Quick one:",
    "",
)
THANKS = (
    "Perfect, thank you 🙏",
    "Great. That saves my afternoon.",
    "助かりました。ありがとうございます 🙇‍♀️",
    "شكرًا جزيلًا، هذا ما كنت أحتاجه.",
    "बहुत धन्यवाद! 🙏🏽",
    "Ευχαριστώ πολύ, το βλέπω τώρα.",
    "Dzięki, działa.",
    "Дякую, передам команді.",
    "고맙습니다 👍🏻",
    "ok",
    "Obrigada! 👩🏽‍✈️✈️",
    "Noted, closing this one on my side.",
    "Cảm ơn nhiều nhé!",
)
OPENERS = (
    "Let me look.",
    "I will check that now.",
    "One moment, I am pulling the record.",
    "Checking before I promise anything.",
    "I have an idea where it is; let me confirm.",
    "On it.",
    "Two things to verify first.",
)

Json = dict[str, Any]


def png(width: int, height: int, rgb: tuple[int, int, int], stripe: int) -> str:
    """A real PNG with a diagonal stripe, in base64."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = bytearray()
    for y in range(height):
        rows.append(0)
        for x in range(width):
            rows += bytes((255, 255, 255) if (x + y) % stripe == 0 else rgb)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    # One stored block, written by hand: the compressed bytes of one zlib are not those of another.
    block = struct.pack("<BHH", 1, len(rows), len(rows) ^ 0xFFFF) + rows
    body = b"\x78\x01" + block + struct.pack(">I", zlib.adler32(rows))
    parts = (b"\x89PNG\r\n\x1a\n", chunk(b"IHDR", header), chunk(b"IDAT", body), chunk(b"IEND", b""))
    return base64.b64encode(b"".join(parts)).decode()


def text(value: str) -> Json:
    """A text block."""
    return {"type": "text", "text": value}


class Desk:
    """The state of the story, and the log as far as it is told."""

    def __init__(self) -> None:
        self.random = random.Random(SEED)
        self.log: list[Json] = []
        self.now = datetime(2026, 3, 2, 9, 14, 7, tzinfo=UTC)
        self.calls = 0
        self.cases = 4_100
        self.context = 2_400
        self.compacted_at = 0
        self.person, self.city = PEOPLE[0]

    # ------------------------------------------------------------------------------------------------- writing entries

    def pick(self, options: Any) -> Any:
        """One of several."""
        return options[self.random.randrange(len(options))]

    def uuid(self) -> str:
        """A random UUID of this story."""
        return str(uuid.UUID(int=self.random.getrandbits(128), version=4))

    def wait(self, low: int, high: int) -> None:
        """Lets time pass."""
        self.now += timedelta(seconds=self.random.randint(low, high))

    def add(self, kind: str, **fields: Any) -> None:
        """One entry."""
        self.log.append({"type": kind, "at": self.now.strftime("%Y-%m-%dT%H:%M:%SZ"), **fields})

    def user(self, value: str, *blocks: Json, **marks: str) -> None:
        """A message of the person at the desk."""
        self.wait(20, 900)
        self.context += len(value) // 4 + 8
        self.add("message", message={"role": "user", "content": [text(value), *blocks]}, **marks)

    def assistant(self, value: str, *calls: tuple[str, Json], thinking: str = "") -> list[Json]:
        """A message of the agent; returns its tool calls."""
        self.wait(2, 40)
        made: list[Json] = []
        for name, arguments in calls:
            self.calls += 1
            suffix = self.random.getrandbits(32)
            made.append(
                {"type": "tool_call", "id": f"call_{self.calls:04d}_{suffix:08x}", "name": name, "arguments": arguments}
            )
        content: list[Json] = [{"type": "thinking", "thinking": thinking}] if thinking else []
        content += [text(value)] if value else []
        output = 12 + len(value) // 4 + 30 * len(made)
        self.context += output
        usage = {
            "input": self.context,
            "output": output,
            "cache_read": self.context * 4 // 5,
            "cache_write": self.random.randrange(900),
            "cost": {"input": self.context * 3e-06, "output": output * 1.5e-05, "currency": "USD"},
        }
        self.add(
            "message",
            message={
                "role": "assistant",
                "content": content + made,
                "usage": usage,
                "stop_reason": "tool_use" if made else "stop",
            },
        )
        return made

    def result(self, call: Json, value: Any, *blocks: Json, error: bool = False) -> None:
        """The result of a tool call."""
        self.wait(1, 25)
        shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        self.context += len(shown) // 4
        message: Json = {
            "role": "tool",
            "content": [text(shown), *blocks],
            "tool_call_id": call["id"],
            "tool_name": call["name"],
            "tool_error": error,
        }
        if not isinstance(value, str):
            message["ui"] = value  # what a program shows; the text is what the model reads
        self.add("message", message=message)

    def approval(self, call: Json, question: str, note: str, *, approved: bool) -> None:
        """A tool call that a person must allow."""
        self.add("approval_request", call=call, question=question)
        self.wait(30, 1_500)
        self.add("approval_decision", call_id=call["id"], approved=approved, **({"note": note} if note else {}))

    def steer(self, value: str) -> Json:
        """A remark made while the agent works; it stays queued until `fold`."""
        self.wait(3, 30)
        self.add("steer", id=self.uuid(), message={"role": "user", "content": [text(value)]})
        return self.log[-1]

    def fold(self, queued: Json) -> None:
        """Moves a queued steer or report into the conversation, as the loop does at a turn boundary."""
        self.wait(1, 10)
        marker = "steer_id" if queued["type"] == "steer" else "report_id"
        self.add("message", message=queued["message"], **{marker: queued["id"]})

    def compact(self) -> None:
        """Replaces all that is told so far by a summary, between two tasks."""
        self.wait(5, 60)
        kept = len(self.log) - 12
        while self.log[kept].get("message", {}).get("role") != "user":
            kept -= 1
        told = len(self.log) - self.compacted_at
        self.add(
            "compaction",
            summary=f"{told} entries up to case TL-{self.cases}. Last with {self.person} ({self.city}). Open: "
            + self.pick(("nothing", "one customs query", "two refunds that wait for the airline", "berth at Sines"))
            + ".",
            kept_from=kept,
            tokens_before=self.context,
        )
        self.compacted_at = len(self.log)
        self.context = 3_000 + self.random.randrange(800)

    # ---------------------------------------------------------------------------------------------------- small facts

    def spread(self, middle: float, width: float) -> float:
        """A measured value. Not `gauss`: its logarithms differ in the last bit from one C library to another."""
        return middle + width * (self.random.random() + self.random.random() + self.random.random() - 1.5) * 2

    def case(self) -> str:
        """A new case number."""
        self.cases += self.random.randint(1, 3)
        return f"TL-{self.cases}"

    def container(self) -> str:
        """A container number with its ISO 6346 check digit."""
        body = self.pick(("HOLU", "MSKU", "TGHU", "CAIU")) + f"{self.random.randrange(10**6):06d}"
        values = dict(zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ", (n for n in range(10, 39) if n % 11), strict=True))
        total = sum((values[c] if c.isalpha() else int(c)) << i for i, c in enumerate(body))
        return f"{body}{total % 11 % 10}"

    def money(self, low: int, high: int) -> float:
        """An amount with cents."""
        return round(self.random.uniform(low, high), 2)

    def day(self, ahead: int) -> str:
        """A date some days ahead."""
        return (self.now + timedelta(days=ahead)).strftime("%Y-%m-%d")

    def hail(self) -> str:
        """A greeting with its space, or nothing."""
        greeting: str = self.pick(GREETINGS)
        return f"{greeting} " if greeting else ""

    def sign_off(self) -> None:
        """The person's last word, in most cases."""
        if self.random.random() < 0.7:
            self.user(self.pick(THANKS))


# ------------------------------------------------------------------------------------------------------------ episodes


def track_container(desk: Desk) -> None:
    """Where is my box?"""
    box, case = desk.container(), desk.case()
    (code, port, lat, lon), (to_code, to_port, *_) = desk.random.sample(PORTS, 2)
    goods, weight, volume = desk.pick(CARGO)
    desk.user(
        desk.pick(
            (
                f"{desk.hail()}where is container {box}? It was due in {to_port} yesterday and the consignee is calling.",
                f"{desk.hail()}{case}: {goods}, {box}. Has it left {port} yet?",
                f"{desk.hail()}the tracking page for {box} shows nothing since {port}. Can you find out more?",
            )
        )
    )
    (call,) = desk.assistant(desk.pick(OPENERS), ("track_container", {"number": box, "events": 5, "case": case}))
    events = [
        {
            "code": step,
            "at": f"{desk.day(-n)}T{desk.random.randrange(24):02d}:{desk.random.randrange(60):02d}:00Z",
            "place": {"unlocode": code, "name": port, "position": [lat + n / 64, lon - n / 128]},
            "vessel": desk.pick(({"imo": 9_461_867, "name": "MV Santa Iria"}, None)),
            "remarks": desk.pick(("", "", "seal intact", "held by port police 4 h\u2028released", "濡れ注意")),
        }
        for n, step in enumerate(desk.random.sample(("GTIN", "LOAD", "DISC", "TSHP", "HOLD", "VDEP"), 3))
    ]
    serial = desk.random.getrandbits(80) | 1 << 79
    desk.result(
        call,
        {
            "number": box,
            "device": {"serial": serial, "battery": round(desk.random.random(), 3), "drift": -0.0, "faults": []},
            "cargo": {"goods": goods, "weight_kg": weight, "volume_m3": volume, "un_numbers": [], "extra": {}},
            "events": events,
            "eta": {"port": to_code, "date": desk.day(3), "confidence": desk.random.random()},
        },
    )
    if desk.random.random() < 0.4:
        (call,) = desk.assistant("", ("port_status", {"unlocode": to_code, "detail": True}))
        desk.result(
            call,
            {
                "unlocode": to_code,
                "name": to_port,
                "berths": {"free": desk.random.randrange(4), "total": 12, "queue": [desk.random.randrange(9)] * 2},
                "wind_ms": desk.spread(9, 3),
                "closed": None,
            },
        )
    desk.assistant(
        desk.pick(
            (
                (
                    f"{box} is at {port} ({code}), last event {events[0]['code']}. It should reach {to_port} on "
                    f"{desk.day(3)}. I put the new date into {case} and told the consignee."
                ),
                (
                    f"Found it: transhipped at {port}, {weight:g} kg of {goods}, seal intact. New ETA for {to_port}: "
                    f"**{desk.day(3)}**. The tracker's serial is {serial}; quote it if the carrier asks."
                ),
                (
                    f"It has not moved since {events[-1]['at']}. The terminal at {port} had a queue; nothing is wrong "
                    "with the papers. I will look again in the evening."
                ),
            )
        )
    )
    desk.sign_off()


def book_flight(desk: Desk) -> None:
    """A flight, with an approval above the limit."""
    start, end = desk.random.sample(AIRPORTS, 2)
    case, when = desk.case(), desk.day(desk.random.randint(4, 30))
    guest, home = desk.pick(PEOPLE)
    wish = desk.pick(("aisle, no overnight layover", "window please", "with a wheelchair to the gate", "kosher meal"))
    desk.user(f"{desk.hail()}please get {guest} ({home}) from {start} to {end} on {when}: {wish}.")
    (search,) = desk.assistant(
        desk.pick(OPENERS),
        ("search_flights", {"from": start, "to": end, "date": when, "cabin": "economy", "max_stops": 1, "via": []}),
        thinking=desk.pick(("", f"{start}-{end} has few direct flights; allow one stop, but not at night.", "")),
    )
    offers: list[Json] = [
        {
            "id": f"OF{desk.random.randrange(16**6):06X}",
            "carrier": desk.pick(("TP", "NH", "RJ", "LX", "LO", "KE")),
            "legs": [
                {"from": start, "to": end, "minutes": desk.random.randint(70, 900), "co2_kg": desk.money(60, 700)}
            ],
            "price": {"amount": desk.money(120, 1_900), "currency": desk.pick(("EUR", "CHF", "JPY")), "tax": None},
        }
        for _ in range(desk.random.randint(1, 3))
    ]
    desk.result(search, {"query": {"from": start, "to": end}, "offers": offers, "warnings": [], "cursor": ""})
    best = min(offers, key=lambda offer: offer["price"]["amount"])
    amount, currency = best["price"]["amount"], best["price"]["currency"]
    ticket = {"offer": best["id"], "passenger": {"name": guest, "frequent_flyer": None, "wishes": [wish]}, "case": case}
    (book,) = desk.assistant(f"{best['id']} fits: {amount} {currency}, {wish}. Booking it.", ("book_flight", ticket))
    approved = True
    if amount > 600:
        approved = desk.random.random() < 0.75
        note = desk.pick(("fine, client pays", "ok but next time earlier", "yes 👍")) if approved else "over the limit"
        desk.approval(book, f"{amount} {currency} is above 600. Book?", note, approved=approved)
    if approved:
        locator = "".join(desk.pick("ABCDEFGHJKLMNPQRSTUVWXYZ23456789") for _ in range(6))
        desk.result(book, {"locator": locator, "ticket": 10**12 + desk.random.randrange(10**12), "seats": {"1": "14C"}})
        desk.assistant(f"Booked for {guest}: {start}-{end} on {when}, locator **{locator}**. The receipt is in {case}.")
    else:
        desk.result(book, "The booking was not approved: over the limit.", error=True)
        desk.assistant(f"I did not book {best['id']}. Shall I look for {desk.day(31)} instead? It tends to be cheaper.")
        desk.user(desk.pick(("Yes, but leave it until Monday.", "No, they will take the train.", "Ask me tomorrow.")))
        desk.assistant(f"Understood. {case} is parked with your remark.")
    desk.sign_off()


def customs_papers(desk: Desk) -> None:
    """A scanned paper, read and filed."""
    case, box = desk.case(), desk.container()
    goods, weight, _ = desk.pick(CARGO)
    rgb = (desk.random.randrange(256), desk.random.randrange(256), desk.random.randrange(256))
    size = desk.random.randint(6, 12)
    scan = {"type": "image", "mime_type": "image/png", "data": png(size, size, rgb, desk.random.randint(2, 5))}
    desk.user(f"{desk.hail()}customs sent this stamp for {box} ({goods}). Which field do they object to?", scan)
    (read,) = desk.assistant(
        desk.pick(
            (
                "Reading the stamp.",
                f"Reading the stamp on {box}.",
                "The picture is small; reading it in three languages.",
            )
        ),
        ("read_image", {"image": -1, "languages": ["pt", "ja", "ar"]}),
    )
    desk.result(
        read,
        {
            "blocks": [
                {
                    "text": desk.pick(("CAMPO 33 – código", "第３３欄　要訂正", "الخانة ٣٣: الرمز", "πεδίο 33")),
                    "box": [desk.random.randrange(size) for _ in range(4)],
                    "confidence": desk.random.random(),
                },
                {"text": "", "box": [], "confidence": 0.0},
            ],
            "raw": "FIELD\x0033\tCODE\r\n" + "e\u0301tat: a\u030a\u0323 " + desk.pick(("\u2028", "\u2029", "\ufeff")),
        },
    )
    code = f"{desk.random.randrange(10**10):010d}"
    first, second = desk.assistant(
        f"Field 33 of {case}, the commodity code. Looking up the right one for {goods}.",
        ("tariff_lookup", {"goods": goods, "origin": None, "limit": 2}),
        ("open_declaration", {"case": case, "version": "latest"}),
    )
    desk.result(
        first, [{"code": code, "duty": 0.037, "notes": []}, {"code": "0000000000", "duty": 1e-7, "notes": [""]}]
    )
    tree: Any = {"field": 33, "value": code[:8]}
    for level in range(desk.random.randint(3, 14)):
        tree = {"section": level, "items": [tree], "ok": level % 2 == 0} if level % 2 else [tree]
    desk.result(
        second, {"case": case, "weight_kg": weight, "mrn": 26 * 10**20 + desk.random.getrandbits(64), "tree": tree}
    )
    (save,) = desk.assistant("", ("amend_declaration", {"case": case, "set": {"33": code}, "unset": [], "comment": ""}))
    desk.approval(save, f"Amend field 33 to {code}?", desk.pick(("go", "確認しました", "موافق")), approved=True)
    revision = desk.random.randint(2, 5)
    desk.result(save, {"accepted": True, "revision": revision, "fee": {"EUR": 0.0}})
    desk.assistant(
        f"They object to **field 33**. I amended it to `{code}` and sent it as revision {revision}; {case} is up to date."
    )
    desk.sign_off()


def write_script(desk: Desk) -> None:
    """A little code, with quotes and backslashes."""
    case = desk.case()
    folder = desk.pick(("manifests", "berths 2026", "Ünterlagen", "帳票"))
    ask, code = desk.pick(
        (
            (
                "a shell line that lists the manifests without a weight",
                f"```bash\ngrep -L '\"weight_kg\":' \"$HOME/{folder}\"/*.json | sed 's/\\.json$//' | tr '\\n' '\\0'\n```",
            ),
            (
                "a regex for the booking numbers in the old mails",
                '```python\nimport re\n\nBOOKING = re.compile(r"\\bTL-(\\d{4})\\b(?!\\\\)")\nassert BOOKING.search("re: \\"TL-4711\\"")\n```',
            ),
            (
                "the SQL for late boxes per port",
                (
                    "```sql\nSELECT port, count(*) AS late\nFROM boxes\nWHERE eta < now() - interval '1 day' AND note NOT LIKE '%\\_%' "
                    "ESCAPE '\\'\nGROUP BY port; -- \"late\" as agreed\n```"
                ),
            ),
            (
                "a PowerShell line for the scanner share",
                f"```powershell\nGet-ChildItem '\\\\desk\\scans\\{folder}' | Where-Object {{ $_.Name -match '^\\d+\\.tif$' }}\n```",
            ),
        )
    )
    desk.user(f'{desk.hail()}can you write me {ask}? The folder is "{folder}".')
    (run,) = desk.assistant(
        f"{desk.pick(('Here is a first version', 'Try this', 'This should do'))}:\n\n{code}\n\nI run it on the export of {desk.day(-1)}.",
        ("run_code", {"source": code.split("\n", 1)[1].rsplit("\n", 1)[0], "cwd": f"/srv/desk/{folder}", "env": {}}),
    )
    failed = desk.random.random() < 0.35
    if failed:
        desk.result(
            run,
            f'Traceback (most recent call last):\n  File "<stdin>", line {desk.random.randint(1, 9)}\n'
            f"FileNotFoundError: [Errno 2] No such file or directory: '/srv/desk/{folder}/\\udc80?'",
            error=True,
        )
        (run,) = desk.assistant(
            "A bad file name there. Skipping it.", ("run_code", {"source": "!-1", "on_error": "skip", "tries": 1})
        )
    lines = desk.random.randint(0, 60)
    desk.result(run, {"exit": 0, "stdout": "\n".join(f"TL-{4000 + n * 7}" for n in range(min(lines, 4))), "stderr": ""})
    desk.assistant(
        f"Works: {lines} hits{' (one bad file name skipped)' if failed else ''}. Saved as `{case.lower()}.txt`."
    )
    desk.sign_off()


def delegate(desk: Desk) -> None:
    """A research job for a sub-agent."""
    case, child = desk.case(), desk.uuid()
    name = desk.pick(("Finch", "Corgi", "Otter", "Heron", "ネコ"))
    (_, start, *_), (_, end, *_) = desk.random.sample(PORTS, 2)
    goods, *_ = desk.pick(CARGO)
    desk.user(f"{desk.hail()}compare three ways to get {goods} from {start} to {end}, door to door. Take your time.")
    (call,) = desk.assistant(
        f"That is worth a separate look; {name} will do it while we go on.",
        (
            "start_subagent",
            {"name": name, "task": f"Compare sea, rail and air for {goods}: {start} → {end}", "depth": 1},
        ),
    )
    desk.add("subagent", name=name, session_id=child)
    desk.result(call, {"session_id": child, "started": True})
    desk.assistant(f"{name} has started on {case}. I will report when it is done.")
    if desk.random.random() < 0.5:
        desk.user(
            desk.pick(("Meanwhile: is the desk open on Friday?", "And what is a CMR again?", "¿Y los aranceles?"))
        )
        desk.assistant(
            desk.pick(
                (
                    "Yes, from 08:00 to 14:00; the port of Sines is closed that day.",
                    "The consignment note of road transport (*Convention relative au contrat de transport …*).",
                    "Los aranceles van aparte: entre 0 % y 6,5 % según el código.",
                )
            )
        )
    desk.wait(300, 3_000)
    costs = [desk.money(900, 9_000) for _ in range(3)]
    status = desk.pick(("done", "done", "done", "failed"))
    report = (
        f"sea {costs[0]} EUR / 31 d, rail {costs[1]} EUR / 19 d, air {costs[2]} EUR / 3 d"
        if status == "done"
        else "no quotation for rail: the operator's API answered 503"
    )
    label = {"role": "user", "content": [text(f"[{name} {'finished' if status == 'done' else 'failed'}] {report}")]}
    fields = {"name": name, "session_id": child, "status": status, "report": report}
    desk.add("subagent_report", id=desk.uuid(), **fields, message=label)
    desk.fold(desk.log[-1])
    table = "| way | EUR | days |\n|---|---:|---:|\n" + "\n".join(
        f"| {way} | {cost:.2f} | {days} |"
        for way, cost, days in zip(("sea", "rail", "air"), costs, (31, 19, 3), strict=True)
    )
    desk.assistant(
        f"{name} is back:\n\n{table}\n\nUnless it is urgent I would take the cheapest."
        if status == "done"
        else f"{name} could not get a price for rail. Sea is {costs[0]} EUR, air {costs[2]} EUR. Try rail again tomorrow?"
    )
    desk.sign_off()


def hotel(desk: Desk) -> None:
    """A room, with a change of mind half-way."""
    house, case = desk.pick(HOTELS), desk.case()
    guest, home = desk.pick(PEOPLE)
    nights = desk.random.randint(1, 6)
    desk.user(
        f"{desk.hail()}{guest} needs {nights} night(s) at {house} from {desk.day(6)}, near the harbour if they are full."
    )
    (call,) = desk.assistant(
        desk.pick(OPENERS), ("find_room", {"house": house, "nights": nights, "arrival": desk.day(6), "guests": 1})
    )
    queued = None
    if desk.random.random() < 0.8:
        queued = desk.steer(
            desk.pick(
                ("Sorry, make it two guests 👨‍👩‍👧", "non-smoking!", "朝食付きでお願いします", "budget is 140 a night")
            )
        )
    full = desk.random.random() < 0.3
    desk.result(
        call,
        {
            "house": house,
            "rooms": []
            if full
            else [
                {"kind": "double", "rate": desk.money(70, 190), "refundable": desk.random.random() < 0.5, "notes": None}
            ],
            "alternatives": [{"house": desk.pick(HOTELS), "distance_km": desk.random.random() * 3}] if full else [],
            "contact": {"mail": "", "phones": {}},
        },
    )
    if queued:
        desk.fold(queued)
    where = "the alternative by the harbour" if full else house
    (book,) = desk.assistant(
        f"{house} is full; taking {where}." if full else "", ("book_room", {"case": case, "house": where, "for": guest})
    )
    desk.result(book, {"confirmed": True, "reference": f"R-{desk.random.randrange(10**5):05d}", "from": home})
    desk.assistant(
        desk.pick(
            (
                f"{guest} sleeps at {where}, {nights} night(s) from {desk.day(6)}. Free cancellation until {desk.day(4)}.",
                f"Done ✅ {where}, reference in {case}. I asked for a quiet room.",
                f"予約しました: {where}, {nights}泊。 The confirmation is in {case}.",
            )
        )
    )
    desk.sign_off()


def cold_chain(desk: Desk) -> None:
    """Temperatures of a refrigerated box."""
    box, case = desk.container(), desk.case()
    desk.user(f"{desk.hail()}an alarm came in for reefer {box}. Was it above 8 °C at any time?")
    (call,) = desk.assistant(desk.pick(OPENERS), ("read_sensors", {"box": box, "hours": 6, "channels": ["t1", "t2"]}))
    series = [desk.spread(4.5, 1.4) for _ in range(desk.random.randint(6, 14))]
    desk.result(
        call,
        {
            "box": box,
            "since_ns": int(desk.now.timestamp()) * 10**9 + desk.random.randrange(10**9),
            "uptime_ticks": 2**64 + desk.random.getrandbits(66),
            "t1": series,
            "t2": [round(t + 0.1, 1) for t in series],
            "gaps": [[], [None, 3e300, 5e-324]] if desk.random.random() < 0.3 else [],
            "calibration": {"offset": -0.0, "gain": 1.0, "by": ""},
        },
    )
    top = max(series)
    verdict = "Yes" if top > 8 else "No"
    if desk.random.random() < 0.4:
        size = desk.random.randint(8, 14)
        (plot,) = desk.assistant(
            f"{verdict}. Drawing the curve.", ("plot", {"series": "t1", "size": [size, 8], "grid": None})
        )
        picture = {"type": "image", "mime_type": "image/png", "data": png(size, 8, (10, 60, 120), 3)}
        desk.result(plot, "plotted", picture)
    desk.assistant(
        f"{verdict}: the highest reading of {len(series)} was {top!r} °C. "
        + ("I opened a claim in " if top > 8 else "The alarm was a lost packet; noted in ")
        + f"{case}."
    )
    desk.sign_off()


def invoice(desk: Desk) -> None:
    """An invoice that does not add up."""
    case = desk.case()
    lines = [desk.money(15, 2_400) for _ in range(desk.random.randint(2, 5))]
    off = desk.pick((0.0, 0.01, 12.5, -3.2))
    claimed = round(sum(lines) + off, 2)
    carrier = desk.pick(("Ægir Lines", "海運丸", "شركة النخيل", "Μεταφορές Αιγαίου", "समुद्र लॉजिस्टिक्स", 'S&P "Express"'))
    desk.user(f"{desk.hail()}{carrier} bills {claimed} EUR for {case}. Does that match what was agreed?")
    (call,) = desk.assistant("", ("get_invoice", {"case": case, "carrier": carrier, "include": ["lines", "vat"]}))
    desk.result(
        call,
        {
            "carrier": carrier,
            "lines": [
                {"no": n, "net": net, "vat": net * 0.23, "text": desk.pick(("THC", "BAF", "Lotse", ""))}
                for n, net in enumerate(lines, 1)
            ],
            "claimed": claimed,
            "iban_check": desk.random.getrandbits(100),
            "paid": None,
        },
    )
    if off:
        (pay,) = desk.assistant(
            f"The lines add up to {round(sum(lines), 2)}, not {claimed}. I would object.",
            ("send_mail", {"to": "billing@carrier.example", "subject": f"{case}: {off:+.2f} EUR", "attachments": []}),
        )
        approved = desk.random.random() < 0.8
        desk.approval(pay, "Send the objection?", "" if approved else "I will phone them", approved=approved)
        desk.result(pay, {"sent": True, "id": desk.uuid()} if approved else "not sent: refused", error=not approved)
        desk.assistant(
            "Objection sent; payment is on hold." if approved else "Left to you, then. Payment stays on hold."
        )
    else:
        desk.assistant(f"It matches to the cent: {len(lines)} lines, {claimed} EUR net. I released it for payment.")
    desk.sign_off()


def small_talk(desk: Desk) -> None:
    """A question that needs no tool."""
    question, answer = desk.pick(
        (
            (
                "What does FCA mean in the contract?",
                "*Free carrier*: the seller hands over at the named place, cleared for export.",
            ),
            ("How do I write Thessaloniki in the manifest?", "`GRSKG`, and Θεσσαλονίκη in the free text."),
            ("Can you say it in Hindi for the driver?", "ज़रूर: «कृपया गेट नंबर चार पर सुबह छह बजे पहुँचें।»"),
            ("ما الفرق بين النولون والتأمين؟", "النولون هو أجرة الشحن، والتأمين يغطي البضاعة نفسها."),
            ("Was heißt „Freistellung“ hier?", "The order that lets the terminal hand out the box (*release order*)."),
            (
                "この荷物の送り状を英語にしてください。",
                "Consignor: 森貿易株式会社. Goods: ceramic insulators, 24 boxes. Keep dry. ☔️",
            ),
            ("Which time zone is the port in?", "UTC+9, no summer time. All times I give you are UTC unless I say so."),
            (
                "Is 👩‍🚀 a joke in the passenger list?",
                "No: somebody pasted it into the *occupation* field. I left it as it is.",
            ),
            ("Τι ώρα ανοίγει το τελωνείο;", "Στις οκτώ· την Κυριακή είναι κλειστό."),
        )
    )
    desk.user(f"{desk.hail()}{question}")
    desk.assistant(answer)


def handover(desk: Desk, left: int) -> None:
    """The last task: fills the log up to its length."""
    points = (
        f"waits for {desk.person}",
        "customs has not answered; ask on Monday",
        "返金待ち",
        "carrier promised a new ETA, unconfirmed",
        "closed, only the receipt is missing",
        "",
    )
    notes = left - 2 if left % 2 == 0 else left - 3
    desk.user("Last thing for today: write the handover, one note for each open case.")
    if left % 2:
        desk.user("In English, please, and short.")
    for n in range(notes // 2):
        (call,) = desk.assistant(
            "", ("write_note", {"case": f"TL-{desk.cases - n}", "text": desk.pick(points), "tags": []})
        )
        desk.result(call, {"note": n + 1, "stored": True})
    desk.assistant(f"The handover is written, {notes // 2} notes. Until tomorrow, e boa viagem! ⛴️🧳")


EPISODES: tuple[tuple[Callable[[Desk], None], int], ...] = (
    (track_container, 6),
    (book_flight, 6),
    (customs_papers, 4),
    (write_script, 4),
    (delegate, 4),
    (hotel, 5),
    (cold_chain, 4),
    (invoice, 5),
    (small_talk, 3),
)


def conversation() -> list[Json]:
    """The whole log."""
    desk = Desk()
    tasks, weights = zip(*EPISODES, strict=True)
    last: Callable[[Desk], None] | None = None
    longest = 24
    while len(desk.log) < ENTRIES - longest:
        desk.person, desk.city = desk.pick(PEOPLE)
        task = desk.random.choices(tasks, weights)[0]
        if task is last:
            continue
        last = task
        desk.wait(60, 1_800)
        if not 8 <= desk.now.hour < 17:  # the desk is closed; the next session starts on the next working day
            days = 1 if desk.now.hour >= 17 else 0
            desk.now = (desk.now + timedelta(days=days)).replace(hour=8, minute=desk.random.randrange(60))
            while desk.now.weekday() > 4:
                desk.now += timedelta(days=1)
        task(desk)
        if desk.context > 9_000:
            desk.compact()
    handover(desk, ENTRIES - len(desk.log))
    return desk.log


def render() -> bytes:
    """The file."""
    lines = [json.dumps(entry, ensure_ascii=False, separators=(",", ":"), allow_nan=False) for entry in conversation()]
    # JSON allows these two as they are, but str.splitlines() and many editors break lines at them.
    whole = "\n".join(lines).replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return (whole + "\n").encode()


def main() -> int:
    """Writes or checks the file; returns the exit status."""
    parser = argparse.ArgumentParser(description="Write the sample conversation of `holdall demo`.")
    parser.add_argument("--check", action="store_true", help="only say whether the file is up to date")
    if parser.parse_args().check:
        same = TARGET.is_file() and TARGET.read_bytes() == render()
        print(f"{TARGET.name} is {'up to date' if same else 'not what this program writes'}")
        return 0 if same else 1
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_bytes(render())
    print(f"{TARGET.name}: {TARGET.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
