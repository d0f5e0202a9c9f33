"""What is stored today is found tomorrow: encodings that a release must not change without a migration."""

from __future__ import annotations

from holdall.derived import layout
from holdall.derived.envelope import Envelope, decode_envelope
from holdall.derived.leases import LeaseState
from holdall.derived.log_state import LogState, decode_state

WRITE = "00112233445566778899aabbccddeeff"


def test_keys():
    assert layout.named(layout.RECORD, "a\x00b", "k\x00é") == b"ra\x00\xffb\x00\x01k\x00\xc3\xa9"
    assert layout.named(layout.LOG, "s", "log") == b"ls\x00\x01log"
    assert layout.chunk_key(WRITE, 258) == b"c" + bytes.fromhex(WRITE) + b"\x00\x00\x00\x00\x00\x00\x01\x02"
    assert layout.batch_key(WRITE, "id") == b"b" + bytes.fromhex(WRITE) + b"id"
    assert (layout.META, layout.LEASE, layout.FLAG) == (b"m", b"k", b"f")


def test_records():
    envelope = Envelope(WRITE, WRITE[::-1], 1.5, 7, b'{"a":1}')
    stored = bytes.fromhex("0103" + WRITE[::-1] + WRITE[:16] + "3ff8000000000000" + "0000000000000007") + b'{"a":1}'
    assert envelope.encode() == stored
    assert decode_envelope(stored) == envelope._replace(write=WRITE[:16])


def test_logs():
    state = LogState(mark=3).grown(WRITE, [b"1", b'"two"'], "batch", "digest")
    stored = (
        b'["00112233445566778899aabbccddeeff",0,2,3,1,'
        b'[["00112233445566778899aabbccddeeff",1,0,0,"batch","digest",2]],[],"nonce"]\n1\n"two"'
    )
    assert state.encode("nonce") == stored
    assert decode_state(stored) == (state, "nonce")


def test_leases():
    state = LeaseState("nonce", "owner", 4, 60.0, 100.5, "boot", 2, "write")
    assert state.encode() == b'["nonce","owner",4,60.0,100.5,"boot",2,"write"]'
