"""The proxy before a server: what passes, and every fault."""

from __future__ import annotations

import contextlib
import socket
import threading
import time

import pytest

from holdall_conformance.proxy import Proxy
from holdall_conformance.proxy_address import Address, address_in, redirected
from holdall_conformance.proxy_faults import (
    BLACK_HOLE,
    PASS,
    REFUSE,
    Moment,
    cut_reply,
    cut_request,
    delay_reply,
    drop_reply,
    duplicate_reply,
    hang,
)

PATIENCE = 20.0
QUIET = 0.1


class Echo:
    """A server that answers each line with "got " before it, and remembers all bytes that came."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.came = bytearray()
        self.threads = [threading.Thread(target=self.listen)]
        self.threads[0].start()

    def listen(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                self.threads.append(threading.Thread(target=self.serve, args=(connection,)))
                self.threads[-1].start()

    def serve(self, connection):
        with connection, contextlib.suppress(OSError):
            line = b""
            while data := connection.recv(65_536):
                self.came += data
                *lines, line = (line + data).split(b"\n")
                for each in lines:
                    connection.sendall(b"got " + each + b"\n")
            connection.sendall(b"bye " + line)

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for thread in self.threads:
            thread.join(PATIENCE)
            assert not thread.is_alive()

    def has(self, data):
        deadline = time.monotonic() + PATIENCE
        while data not in self.came and time.monotonic() < deadline:
            time.sleep(0.005)
        return data in self.came


@pytest.fixture
def echo():
    server = Echo()
    yield server
    server.close()


@pytest.fixture
def proxy(echo):
    with Proxy("localhost", echo.port) as opened:
        yield opened


def is_refused(proxy):
    """Return whether a new connection ends without an answer, already while connecting or after it."""
    try:
        with Client(proxy) as client:
            return client.ask(b"anybody?") == b""
    except ConnectionError:
        return True


class Client:
    def __init__(self, proxy):
        self.socket = socket.create_connection(("127.0.0.1", proxy.port), PATIENCE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def line(self):
        """Return the next line, less where the connection ends before."""
        found = b""
        while not found.endswith(b"\n") and (piece := self.socket.recv(1)):
            found += piece
        return found

    def ask(self, text):
        self.send(text + b"\n")
        return self.line()

    def is_cut_off(self):
        try:
            return self.line() == b""
        except ConnectionResetError:
            return True

    def stays_quiet(self):
        self.socket.settimeout(QUIET)
        try:
            return self.socket.recv(1) and False
        except TimeoutError:
            return True
        finally:
            self.socket.settimeout(PATIENCE)


@pytest.fixture
def client(proxy):
    with Client(proxy) as connected:
        yield connected


def test_it_passes_everything_and_counts_requests(proxy, client):
    assert [client.ask(b"one"), client.ask(b"two")] == [b"got one\n", b"got two\n"]
    with Client(proxy) as other:
        assert other.ask(b"three") == b"got three\n"
    assert proxy.requests == 3
    assert proxy.struck == 0


def test_much_passes_whole_in_both_directions(client, echo):
    sent = [f"{number}:".encode() + bytes([65 + number % 26]) * 99_991 for number in range(60)]

    def send():
        for each in sent:
            client.send(each + b"\n")

    thread = threading.Thread(target=send)
    thread.start()
    file = client.socket.makefile("rb")
    assert [file.readline() for _ in sent] == [b"got " + each + b"\n" for each in sent]
    thread.join(PATIENCE)
    file.close()
    assert bytes(echo.came) == b"".join(each + b"\n" for each in sent)


def test_the_end_of_one_direction_leaves_the_other_open(client):
    client.send(b"half")
    client.socket.shutdown(socket.SHUT_WR)
    assert client.line() == b"bye half"


def test_a_dropped_reply_closes_the_connection_after_the_server_has_done_its_work(proxy, client, echo):
    client.ask(b"before")
    proxy.strike(drop_reply(), at=1)
    assert client.ask(b"lost") == b""
    assert echo.has(b"lost\n")
    assert proxy.struck == 1


def test_the_fault_strikes_only_the_request_it_is_meant_for(proxy, client, echo):
    client.ask(b"before")
    proxy.strike(drop_reply(), at=3)
    assert [client.ask(b"one"), client.ask(b"two")] == [b"got one\n", b"got two\n"]
    assert proxy.struck == 0
    assert client.ask(b"three") == b""
    with Client(proxy) as other:
        assert other.ask(b"four") == b"got four\n"
    assert echo.has(b"three\n")


def test_a_fault_that_no_request_came_to_has_not_struck(proxy, client):
    proxy.strike(drop_reply(), at=2)
    client.ask(b"one")
    assert proxy.struck == 0
    proxy.heal()
    assert client.ask(b"two") == b"got two\n"


def test_a_hanging_reply_never_comes_and_the_connection_stays_open(proxy, client, echo):
    proxy.strike(hang())
    client.send(b"one\n")
    assert echo.has(b"one\n")
    assert client.stays_quiet()
    proxy.heal()
    client.send(b"two\n")
    assert echo.has(b"two\n")
    assert client.stays_quiet()
    with Client(proxy) as other:
        assert other.ask(b"three") == b"got three\n"


@pytest.mark.parametrize("after", [0, 1, 5])
def test_a_reply_is_cut_after_so_many_bytes(proxy, client, echo, after):
    proxy.strike(cut_reply(after))
    assert client.ask(b"word") == b"got word\n"[:after]
    assert echo.has(b"word\n")
    assert proxy.struck == 1


def test_a_reply_shorter_than_the_cut_passes(proxy, client):
    proxy.strike(cut_reply(9))
    assert client.ask(b"word") == b"got word\n"
    assert client.ask(b"next") == b"got next\n"
    assert proxy.struck == 0


@pytest.mark.parametrize("after", [0, 1, 4])
def test_a_request_is_cut_after_so_many_bytes(proxy, client, echo, after):
    client.ask(b"before")
    proxy.strike(cut_request(after))
    assert client.ask(b"word") == b""
    with Client(proxy) as other:
        other.ask(b"next")
    deadline = time.monotonic() + PATIENCE
    while len(echo.came) < 12 + after and time.monotonic() < deadline:
        time.sleep(0.005)
    assert sorted(echo.came) == sorted(b"before\n" + b"word\n"[:after] + b"next\n")
    assert proxy.struck == 1


def test_a_request_in_pieces_is_one_and_is_cut_within_the_right_piece(proxy, client, echo):
    proxy.strike(cut_request(5))
    for piece in (b"ab", b"cd"):
        client.send(piece)
        assert echo.has(piece)
    client.send(b"efgh\n")
    assert client.line() == b""
    assert echo.has(b"abcde")
    assert b"f" not in echo.came
    assert proxy.requests == 1


def test_a_delayed_reply_comes_later_and_whole(proxy, client):
    proxy.strike(delay_reply(0.3))
    began = time.monotonic()
    assert client.ask(b"slow") == b"got slow\n"
    assert time.monotonic() - began >= 0.3
    assert client.ask(b"next") == b"got next\n"


def test_replies_keep_their_order_behind_a_delayed_one(proxy, client):
    proxy.strike(delay_reply(0.2))
    client.send(b"one\n")
    while not proxy.struck:
        time.sleep(0.005)
    client.send(b"two\n")
    assert [client.line(), client.line()] == [b"got one\n", b"got two\n"]


def test_a_duplicated_reply_comes_twice(proxy, client):
    proxy.strike(duplicate_reply())
    assert [client.ask(b"word"), client.line()] == [b"got word\n"] * 2
    assert client.ask(b"next") == b"got next\n"
    assert client.stays_quiet()


def test_new_connections_are_refused_and_old_requests_are_lost_until_it_heals(proxy, client, echo):
    client.ask(b"before")
    proxy.always(REFUSE)
    assert is_refused(proxy)
    with pytest.raises(ConnectionResetError):
        client.ask(b"lost")
    assert proxy.struck == 2
    proxy.heal()
    with Client(proxy) as other:
        assert other.ask(b"after") == b"got after\n"
    assert b"lost" not in echo.came


def test_a_black_hole_takes_everything_and_gives_nothing(proxy, client, echo):
    client.ask(b"before")
    proxy.always(BLACK_HOLE)
    with Client(proxy) as other:
        other.send(b"new\n")
        client.send(b"old\n")
        assert other.stays_quiet()
        assert client.stays_quiet()
    proxy.heal()
    with Client(proxy) as other:
        assert other.ask(b"after") == b"got after\n"
    assert bytes(echo.came) == b"before\nafter\n"


def test_an_outage_begins_at_a_request_and_lasts_until_it_heals(proxy, client):
    proxy.strike(drop_reply(), at=2, then=REFUSE)
    assert client.ask(b"one") == b"got one\n"
    assert client.ask(b"two") == b""
    for _ in range(2):
        assert is_refused(proxy)
    proxy.heal()
    with Client(proxy) as other:
        assert other.ask(b"four") == b"got four\n"


def test_a_plan_is_asked_at_each_connection_and_request(proxy):
    moments = []

    def plan(moment):
        moments.append(moment)
        return drop_reply() if moment.connection == 2 else PASS

    proxy.follow(plan)
    with Client(proxy) as first, Client(proxy) as second:
        assert first.ask(b"a") == b"got a\n"
        assert second.ask(b"b") == b""
        assert first.ask(b"c") == b"got c\n"
    assert [each for each in moments if each.of_connection] == [Moment(1, 1, 1), Moment(2, 2, 1), Moment(1, 3, 2)]
    assert [each.connection for each in moments if not each.of_connection] == [1, 2]


def test_whoever_waits_goes_on_when_connections_are_closed(proxy, client):
    proxy.strike(hang())
    client.send(b"word\n")
    assert client.stays_quiet()
    assert proxy.heal() == 1
    proxy.disconnect()
    assert client.is_cut_off()
    with Client(proxy) as other:
        assert other.ask(b"next") == b"got next\n"
    assert proxy.heal() == 0


def test_closing_ends_thread_sockets_and_connections(echo):
    proxy = Proxy("127.0.0.1", echo.port)
    with Client(proxy) as client:
        client.ask(b"word")
        proxy.strike(hang())
        client.send(b"word\n")
        proxy.close()
        assert client.is_cut_off()
    assert not [thread for thread in threading.enumerate() if thread.name == f"proxy-{proxy.port}"]
    with pytest.raises(ConnectionRefusedError):
        Client(proxy)


def test_a_server_that_is_not_there_is_told_at_once():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(ConnectionRefusedError):
        Proxy("127.0.0.1", port)


def test_a_server_that_goes_away_takes_its_clients_with_it():
    listener = socket.create_server(("127.0.0.1", 0))
    with Proxy("127.0.0.1", listener.getsockname()[1]) as proxy:
        listener.close()
        assert is_refused(proxy)


def test_many_clients_at_once_each_get_their_own_replies(proxy):
    def talk(name):
        with Client(proxy) as client:
            results[name] = [client.ask(f"{name}-{number}".encode()) for number in range(50)]

    results = {}
    threads = [threading.Thread(target=talk, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert results == {name: [f"got {name}-{number}\n".encode() for number in range(50)] for name in range(8)}
    assert proxy.requests == 400


@pytest.mark.parametrize(
    "url, address, redirect",
    [
        ("postgresql://u:p%40w@db:5433/x?sslmode=off", ("db", 5433), "postgresql://u:p%40w@127.0.0.1:9/x?sslmode=off"),
        ("postgresql://db/x", ("db", 5432), "postgresql://127.0.0.1:9/x"),
        ("postgresql://u:a@b@[::1]:5/x", ("::1", 5), "postgresql://u:a@b@127.0.0.1:9/x"),
        ("MongoDB://h", ("h", 27017), "MongoDB://127.0.0.1:9"),
        ("third://h:1234/x", ("h", 1234), "third://127.0.0.1:9/x"),
        (
            "s3://bucket/a%20b?region=x&endpoint_url=http://h:8333&k=1",
            ("h", 8333),
            "s3://bucket/a%20b?region=x&endpoint_url=http://127.0.0.1:9&k=1",
        ),
        (
            "dynamodb://T?endpoint_url=https%3A%2F%2Fh%2Fbase",
            ("h", 443),
            "dynamodb://T?endpoint_url=https://127.0.0.1:9/base",
        ),
    ],
)
def test_the_server_in_a_url_is_found_and_replaced(url, address, redirect):
    assert address_in(url) == address
    assert redirected(url, Address("127.0.0.1", 9)) == redirect
    assert address_in(redirect) == ("127.0.0.1", 9)


@pytest.mark.parametrize(
    "url",
    [
        "memory://name",
        "sqlite:///x.db",
        "file:///x",
        "s3://bucket",
        "dynamodb://Table?region=x",
        "postgresql:///x",
        "postgresql://%2Fvar%2Frun/x",
        "mongodb://a:1,b:2/x",
        "mongodb+srv://h/x",
        "module:function",
        "name",
        "",
    ],
)
def test_a_url_that_names_no_single_server_has_none(url):
    assert address_in(url) is None
    assert Proxy.before(url) is None
    with pytest.raises(ValueError, match="no single server"):
        redirected(url, Address("127.0.0.1", 9))


def test_a_proxy_before_a_url_is_in_the_url_that_it_gives(echo):
    with Proxy.before(f"third://u@localhost:{echo.port}/x?a=1") as proxy:
        assert proxy.url(f"third://u@localhost:{echo.port}/x?a=1") == f"third://u@127.0.0.1:{proxy.port}/x?a=1"
        with Client(proxy) as client:
            assert client.ask(b"word") == b"got word\n"


def test_faults_say_what_they_are():
    assert [str(each) for each in (cut_reply(1), delay_reply(0.5), drop_reply(), REFUSE)] == [
        "cut reply after 1 bytes",
        "delay reply by 0.5 s",
        "drop reply",
        "refuse",
    ]
