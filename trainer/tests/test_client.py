"""Both clients against a peer that breaks RFC 0010's HTTP in every way that a network can."""

import asyncio
import contextlib
import gc
import os
import threading
import time
import unittest
import warnings
from unittest import mock

from paddock import (
    AssertTests,
    AsyncClient,
    CallTests,
    Client,
    ForgedVerdict,
    Item,
    RequestRefused,
    StdioTests,
    Unavailable,
)
from peer import CLOSE, KEY, Peer, changed, cut, honest, raw, status, verdict

TESTS = AssertTests("assert f()")


def items(*codes):
    return [Item(f"i{n}", code, TESTS) for n, code in enumerate(codes)]


class Sync:
    """The tests below through Client."""

    def make(self, peer, **arguments):
        client = Client(peer.socket, **{"timeout": 5.0, **arguments})
        self.addCleanup(client.close)
        return client

    def make_url(self, url, token):
        client = Client(url=url, token=token, timeout=5.0)
        self.addCleanup(client.close)
        return client

    def verify(self, client, asked, **options):
        return client.verify(asked, **options)

    def stream(self, client, asked, **options):
        return list(client.stream(asked, **options))

    def health(self, client):
        return client.health()

    def settle(self):
        pass


class Async:
    """And through AsyncClient: one event loop for each test."""

    def setUp(self):
        self.loop = asyncio.new_event_loop()
        self.addCleanup(self._close_loop)

    def _close_loop(self):
        self.loop.run_until_complete(self.loop.shutdown_asyncgens())
        self.loop.run_until_complete(asyncio.sleep(0))
        self.loop.close()

    def make(self, peer, **arguments):
        client = AsyncClient(peer.socket, **{"timeout": 5.0, **arguments})
        self.addCleanup(client.close)
        return client

    def make_url(self, url, token):
        client = AsyncClient(url=url, token=token, timeout=5.0)
        self.addCleanup(client.close)
        return client

    def verify(self, client, asked, **options):
        return self.loop.run_until_complete(client.verify(asked, **options))

    def stream(self, client, asked, **options):
        async def collect():
            return [verdict async for verdict in client.stream(asked, **options)]

        return self.loop.run_until_complete(collect())

    def health(self, client):
        return self.loop.run_until_complete(client.health())

    def settle(self):
        self.loop.run_until_complete(asyncio.sleep(0))


class Behaviour:
    def peer(self, *script, **arguments):
        peer = Peer(*script, **arguments)
        self.addCleanup(peer.stop)
        return peer

    # What is asked and answered

    def test_verdicts_come_in_the_order_of_the_items(self):
        peer = self.peer(honest(order=[2, 0, 1]))
        told = self.verify(self.make(peer, key=KEY), items("right", "wrong", "absent"))
        self.assertEqual(
            [(v.id, v.verdict, v.reward) for v in told],
            [("i0", "pass", 1.0), ("i1", "fail", 0.0), ("i2", "invalid", None)],
        )
        self.assertEqual((told[0].runs, told[0].profile), (("r-1", "r-2"), "STRICT"))

    def test_a_stream_has_each_verdict_when_it_comes(self):
        peer = self.peer(honest(order=[2, 0, 1]))
        told = self.stream(self.make(peer, key=KEY), items("right", "wrong", "absent"))
        self.assertEqual([v.id for v in told], ["i2", "i0", "i1"])

    def test_the_request_is_that_of_the_rfc(self):
        peer = self.peer()
        asked = [
            Item(
                "a",
                "right",
                CallTests.of("f", ((1, 2.0), (3,))),
                group="g",
                limits={"wall_seconds": 5},
            ),
            Item("b", "right\ud800", StdioTests.of(("", "é"))),
        ]
        self.verify(
            self.make(peer, key=KEY),
            asked,
            request_id="r-1",
            profile="SEALED",
            scoring="all",
            stop="first_fail",
            deadline_ms=1000,
            cache=True,
            allow_degraded=False,
            warm=False,
        )
        request = peer.requests[0]
        self.assertEqual((request.method, request.target), ("POST", "/v1/verify"))
        body = request.json
        nonces = [item.pop("nonce") for item in body["items"]]
        self.assertEqual(len(set(nonces)), 2)
        self.assertEqual(
            body,
            {
                "request_id": "r-1",
                "profile": "SEALED",
                "scoring": "all",
                "stop": "first_fail",
                "deadline_ms": 1000,
                "cache": True,
                "allow_degraded": False,
                "warm": False,
                "stream": True,
                "items": [
                    {
                        "id": "a",
                        "code": "right",
                        "language": "python",
                        "group": "g",
                        "limits": {"wall_seconds": 5},
                        "tests": {
                            "kind": "call",
                            "entry_point": "f",
                            "cases": [{"args": [1, 2.0], "expected": {"$tuple": [3]}}],
                        },
                    },
                    {
                        "id": "b",
                        "code": {"b64": "cmlnaHTtoIA="},
                        "language": "python",
                        "tests": {"kind": "stdio", "cases": [{"stdin": "", "stdout": "é"}]},
                    },
                ],
            },
        )

    def test_a_verdict_says_why_its_runs_were_cold(self):
        why = "judge: no zygote is ready"
        peer = self.peer(changed(0, cold_because=why))
        first, second = self.verify(self.make(peer), items("right", "right"))
        self.assertEqual((first.cold_because, second.cold_because), (why, ""))

    def test_a_verdict_says_whether_a_judge_had_to_run(self):
        peer = self.peer(changed(0, by_known_answers=True))
        first, second = self.verify(self.make(peer), items("right", "right"))
        self.assertEqual((first.by_known_answers, second.by_known_answers), (True, False))

    def test_what_is_not_asked_for_is_the_daemons_default(self):
        peer = self.peer()
        self.verify(self.make(peer), items("right"), profile=None)
        self.assertEqual(sorted(peer.requests[0].json), ["items", "request_id", "stream"])
        self.assertNotIn("nonce", peer.requests[0].json["items"][0])

    def test_a_mistake_of_the_callers_is_found_before_anything_is_sent(self):
        peer = self.peer()
        client = self.make(peer, key=KEY)
        for wrong, options, error in [
            ([], {}, ValueError),
            (items("a") * 2, {}, ValueError),
            ([Item("a", "", {"x": object()})], {}, TypeError),
            ([Item("a", "", TESTS, nonce="mine")], {}, ValueError),
            (items("a"), {"request_id": "a b"}, ValueError),
            (items("a"), {"profil": "STRICT"}, TypeError),
            (items("a"), {"timeout": 0}, ValueError),
        ]:
            with self.subTest(options), self.assertRaises(error):
                self.verify(client, wrong, **options)
        self.assertEqual(peer.requests, [])
        self.assertEqual(client._guard.open_nonces, 0)

    def test_connections_are_used_again(self):
        peer = self.peer()
        client = self.make(peer)
        for _ in range(5):
            self.verify(client, items("right"))
        self.assertEqual((len(peer.requests), peer.connections), (5, 1))

    def test_one_that_the_daemon_has_closed_meanwhile_is_not(self):
        peer = self.peer()
        client = self.make(peer)
        self.verify(client, items("right"))
        peer.drop_connections()
        time.sleep(0.05)
        with mock.patch("paddock.retry.Backoff.next_wait_s", side_effect=AssertionError("a wait")):
            self.assertEqual(self.verify(client, items("right"))[0].reward, 1.0)

    def test_over_tcp_the_token_and_the_host_are_sent(self):
        peer = self.peer(tcp=True)
        client = self.make_url(peer.url, "s3cret")
        self.assertEqual(self.verify(client, items("right"))[0].reward, 1.0)
        headers = peer.requests[0].headers
        self.assertEqual(headers["authorization"], "Bearer s3cret")
        self.assertEqual(f"http://{headers['host']}", peer.url)

    def test_health_is_what_the_daemon_says(self):
        self.assertEqual(self.health(self.make(self.peer()))["status"], "ok")

    # Faults

    def test_without_a_daemon_it_is_unavailable_after_the_timeout(self):
        peer = self.peer()
        peer.stop()
        client = self.make(peer, timeout=0.5)
        began = time.monotonic()
        with self.assertRaises(Unavailable) as caught:
            self.verify(client, items("right"), request_id="r")
        self.assertGreater(time.monotonic() - began, 0.2)
        self.assertLess(time.monotonic() - began, 4.0)
        self.assertEqual((caught.exception.request_id, caught.exception.received), ("r", ()))
        with self.assertRaises(Unavailable):
            self.health(client)

    def test_a_daemon_that_comes_back_is_asked_again_with_the_same_request(self):
        peer = self.peer(cut(0), raw(b""), status(503, "draining"), cut(0))
        told = self.verify(self.make(peer, key=KEY), items("right", "wrong"))
        self.assertEqual([v.reward for v in told], [1.0, 0.0])
        self.assertEqual(len(peer.requests), 5)
        self.assertEqual(len({request.body for request in peer.requests}), 1)

    def test_what_was_received_before_a_cut_is_kept_and_handed_out_once(self):
        peer = self.peer(cut(2), cut(1), honest())
        told = self.stream(self.make(peer, key=KEY), items("right", "wrong", "right"))
        self.assertEqual([v.id for v in told], ["i0", "i1", "i2"])
        self.assertEqual(len(peer.requests), 3)

    def test_what_was_received_is_in_the_error_when_no_more_comes(self):
        peer = self.peer(*[cut(2)] * 50)
        with self.assertRaises(Unavailable) as caught:
            self.verify(self.make(peer, key=KEY, timeout=0.7), items("right", "wrong", "right"))
        self.assertEqual([v.id for v in caught.exception.received], ["i0", "i1"])
        self.assertIn("2 of 3 items", str(caught.exception))

    def test_an_answer_that_ends_early_but_cleanly_is_a_fault_too(self):
        def short(answer, request):
            answer.begin()
            answer.event({"event": "verdict", **verdict(request.json, 0)})
            return answer.end()

        peer = self.peer(short, honest())
        told = self.verify(self.make(peer, key=KEY), items("right", "wrong"))
        self.assertEqual([v.reward for v in told], [1.0, 0.0])

    def test_retry_after_is_waited_for(self):
        peer = self.peer(status(429, "too_busy", retry_after=1))
        began = time.monotonic()
        self.assertEqual(self.verify(self.make(peer), items("right"))[0].reward, 1.0)
        self.assertGreaterEqual(time.monotonic() - began, 1.0)

    def test_a_wait_longer_than_the_timeout_is_not_begun(self):
        peer = self.peer(status(503, "draining", retry_after=60))
        began = time.monotonic()
        with self.assertRaisesRegex(Unavailable, "draining"):
            self.verify(self.make(peer), items("right"))
        self.assertLess(time.monotonic() - began, 4.0)

    def test_a_refusal_is_raised_at_once_with_its_code(self):
        for code, error in [
            (400, "invalid_request"),
            (401, "unauthorized"),
            (403, "forbidden"),
            (404, "unknown_profile"),
            (413, "too_large"),
            (501, "sandbox_not_available"),
        ]:
            with self.subTest(code):
                peer = self.peer(status(code, error, message="why"))
                with self.assertRaises(RequestRefused) as caught:
                    self.verify(self.make(peer), items("right"))
                self.assertEqual((caught.exception.status, caught.exception.code), (code, error))
                self.assertIn("why", str(caught.exception))
                self.assertEqual(len(peer.requests), 1)

    def test_garbage_is_no_verdict_and_is_not_asked_for_for_ever(self):
        chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        ok = b"HTTP/1.1 200 OK\r\n"
        event = b'{"event": "verdict"}\n'
        table = [
            b"SSH-2.0-x\r\n\r\n",
            b"HTTP/1.1 abc\r\n\r\n",
            chunked + b"2\r\n{]\r\n0\r\n\r\n",
            chunked + b"3\r\n[1]\r\n0\r\n\r\n",
            ok + b"Content-Length: 5\r\n\r\n<htm>",
            chunked + b"%x\r\n" % len(event) + event + b"\r\n0\r\n\r\n",
            ok + b"Content-Length: 24\r\n\r\n" + b"[" * 24,
            ok + b"Content-Length: 999999999999\r\n\r\n",
        ]
        for data in table:
            with self.subTest(data):
                peer = self.peer(*[raw(data)] * 10)
                with self.assertRaises(Unavailable):
                    self.verify(self.make(peer, timeout=10.0), items("right"))
                self.assertEqual(len(peer.requests), 3)

    def test_garbage_that_may_be_a_cut_is_asked_for_until_the_timeout(self):
        chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        for data in (b"\x00\x01\x02", b"HTTP/1.1", chunked + b"zz\r\n", chunked + b"5\r\n{}"):
            with self.subTest(data):
                peer = self.peer(*[raw(data)] * 100)
                with self.assertRaises(Unavailable):
                    self.verify(self.make(peer, timeout=0.8), items("right"))

    def test_a_verdict_of_the_wrong_shape_is_no_verdict(self):
        for change in [
            {"reward": 2.0},
            {"reward": -0.1},
            {"reward": None},
            {"reward": "1"},
            {"reward": True},
            {"verdict": "maybe"},
            {"verdict": "invalid"},
            {"cases": 1},
            {"cause": None},
            {"isolation": []},
            {"passed": -1},
            {"cases": [1]},
        ]:
            with self.subTest(change):
                peer = self.peer(changed(mac_changes=change), honest())
                self.assertEqual(self.verify(self.make(peer), items("right"))[0].reward, 1.0)
                self.assertEqual(len(peer.requests), 2)

    def test_a_body_that_trickles_ends_at_the_timeout(self):
        def slow(answer, _):
            answer.begin()
            try:
                for _ in range(100):
                    answer.chunk(b" ")
                    time.sleep(0.05)
            except OSError:
                pass
            return CLOSE

        peer = self.peer(*[slow] * 10)
        began = time.monotonic()
        with self.assertRaisesRegex(Unavailable, "timed out"):
            self.verify(self.make(peer, timeout=0.6), items("right"))
        self.assertLess(time.monotonic() - began, 4.0)

    def test_a_peer_that_says_nothing_ends_at_the_timeout(self):
        def silent(answer, _):
            time.sleep(3)
            return CLOSE

        began = time.monotonic()
        with self.assertRaisesRegex(Unavailable, "timed out"):
            self.verify(self.make(self.peer(silent), timeout=0.4), items("right"))
        self.assertLess(time.monotonic() - began, 4.0)

    def test_a_slow_answer_within_the_timeout_is_an_answer(self):
        def slow(answer, request):
            answer.begin()
            for index in range(3):
                time.sleep(0.1)
                line = b'{"event": "verdict", ' + _json(verdict(request.json, index))[1:] + b"\n"
                for at in range(0, len(line), 100):
                    answer.chunk(line[at : at + 100])
            answer.end()

        told = self.verify(self.make(self.peer(slow), key=KEY), items("right", "wrong", "right"))
        self.assertEqual([v.reward for v in told], [1.0, 0.0, 1.0])

    def test_a_large_batch_goes_there_and_back(self):
        asked = items(*["right " + "x" * 3000] * 3000)
        told = self.verify(self.make(self.peer(), key=KEY, timeout=60.0), asked)
        self.assertEqual(sum(v.reward for v in told), 3000)

    def test_a_refusal_before_the_body_was_read_is_heard(self):
        class Impatient(Peer):
            def _serve(self, connection):
                connection.recv(100)
                data = _json({"error": {"code": "too_large", "message": "m"}})
                connection.sendall(
                    b"HTTP/1.1 413 X\r\nContent-Length: %d\r\n\r\n" % len(data) + data
                )
                connection.close()

        peer = Impatient()
        self.addCleanup(peer.stop)
        with self.assertRaises((RequestRefused, Unavailable)):
            self.verify(self.make(peer, timeout=1.0), items("x" * 20_000_000))

    # Forgeries

    def test_with_a_key_what_does_not_hold_is_a_forgery(self):
        other_key = bytes(32)
        table = [
            ("no MAC", {"key": None}),
            ("its key is", {"key": other_key}),
            ("MAC is wrong", {"mac_changes": {"mac": "0" * 64}}),
            ("MAC is wrong", {"mac_changes": {"reward": 0.5}}),
            ("MAC is wrong", {"mac_changes": {"verdict": "fail"}}),
            ("other code", {"code_hash": "0" * 64}),
            ("other tests", {"tests_hash": "0" * 64}),
            ("nonce is not", {"nonce": "ff" * 16}),
            ("nonce is not", {"nonce": None}),
            ("nonce is not", {"nonce": ""}),
            ("integrity is in_process", {"integrity": "in_process"}),
            ("no item of this request", {"id": "other"}),
        ]
        for why, changes in table:
            with self.subTest(why):
                client = self.make(self.peer(changed(index=1, **changes)), key=KEY)
                with self.assertRaisesRegex(ForgedVerdict, why):
                    self.verify(client, items("wrong", "right"))
                self.assertEqual(client._guard.open_nonces, 0)

    def test_what_has_no_number_needs_no_mac(self):
        client = self.make(
            self.peer(
                changed(
                    key=None,
                    verdict="invalid",
                    reward=None,
                    nonce=None,
                    cause="internal",
                    code_hash="",
                )
            ),
            key=KEY,
        )
        told = self.verify(client, items("right", "right"))
        self.assertEqual([(v.cause, v.reward) for v in told], [("internal", None), ("passed", 1.0)])
        self.assertEqual(client._guard.open_nonces, 0)

    def test_a_verdict_that_was_given_before_is_a_forgery(self):
        kept = {}

        def keep(answer, request):
            kept.update(verdict(request.json, 0))
            return honest()(answer, request)

        def replay(answer, request):
            answer.begin()
            answer.event({"event": "verdict", **kept})
            return answer.end()

        client = self.make(self.peer(keep, replay), key=KEY)
        self.verify(client, items("right"))
        with self.assertRaisesRegex(ForgedVerdict, "nonce"):
            self.verify(client, items("right"))

    def test_one_items_verdict_is_not_anothers(self):
        def swapped(answer, request):
            answer.begin()
            good = verdict(request.json, 0)
            answer.event({"event": "verdict", **good})
            answer.event({"event": "verdict", **good, "id": "i1"})
            return answer.end()

        with self.assertRaisesRegex(ForgedVerdict, "MAC is wrong"):
            self.verify(self.make(self.peer(swapped), key=KEY), items("right", "wrong"))

    def test_a_verdict_that_comes_twice_is_a_forgery(self):
        def twice(answer, request):
            answer.begin()
            for _ in range(2):
                answer.event({"event": "verdict", **verdict(request.json, 0)})
            return answer.end()

        with self.assertRaisesRegex(ForgedVerdict, "twice"):
            self.verify(self.make(self.peer(twice), key=KEY), items("right", "wrong"))

    def test_who_asks_again_under_the_same_request_id_knows_its_nonces(self):
        recorded = {}

        def from_the_ledger(answer, request):
            body = request.json
            answer.begin()
            for index, item in enumerate(body["items"]):
                answer.event(
                    recorded.setdefault(item["id"], {"event": "verdict", **verdict(body, index)})
                )
            answer.event({"event": "end", "items": len(body["items"])})
            return answer.end()

        peer = self.peer(*[from_the_ledger] * 3)
        for _ in range(2):  # the second one is another process, as far as it knows
            told = self.verify(
                self.make(peer, key=KEY), items("right", "wrong"), request_id="step-1"
            )
            self.assertEqual([v.reward for v in told], [1.0, 0.0])
        with self.assertRaises(ForgedVerdict):
            self.verify(self.make(peer, key=KEY), items("right", "wrong"), request_id="step-2")

    def test_without_a_key_nothing_is_checked(self):
        peer = self.peer(changed(key=None, code_hash="0" * 64))
        self.assertEqual(self.verify(self.make(peer), items("right"))[0].reward, 1.0)

    def test_no_descriptor_stays_open(self):
        def count():
            return len(os.listdir("/proc/self/fd"))

        peer = self.peer(*[cut(1), raw(b"xx"), status(503)] * 5)
        client = self.make(peer, timeout=0.2)
        before = count()
        for _ in range(6):
            with contextlib.suppress(Unavailable):
                self.verify(client, items("right", "wrong"))
        self.verify(client, items("right"), timeout=9.0)
        client.close()
        self.health(client)
        client.close()
        for _ in range(100):  # the peer closes its ends in threads of its own
            self.settle()
            if count() <= before:
                break
            time.sleep(0.02)
        self.assertLessEqual(count(), before)

    def test_no_nonce_stays_open(self):
        client = self.make(self.peer(honest(), *[cut(1)] * 30), key=KEY, timeout=0.5)
        self.verify(client, items("right", "wrong"))
        with self.assertRaises(Unavailable):
            self.verify(client, items("right", "wrong"))
        self.assertEqual(client._guard.open_nonces, 0)


def _json(value):
    import json

    return json.dumps(value).encode()


class SyncTest(Sync, Behaviour, unittest.TestCase):
    def test_threads_share_a_client(self):
        peer = self.peer()
        client = self.make(peer, key=KEY)
        wrong = []

        def ask(number):
            for _ in range(20):
                code = "right" if number % 2 else "wrong"
                if client.verify(items(code))[0].reward != number % 2:
                    wrong.append(number)

        threads = [threading.Thread(target=ask, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])
        self.assertLessEqual(peer.connections, 16)

    def test_a_forked_child_has_connections_of_its_own(self):
        peer = self.peer()
        client = self.make(peer, key=KEY)
        client.verify(items("right"))
        child = os.fork()
        if child == 0:
            code = 1
            try:
                code = 0 if client.verify(items("wrong"))[0].reward == 0.0 else 2
            finally:
                os._exit(code)
        self.assertEqual(client.verify(items("right"))[0].reward, 1.0)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        self.assertEqual(peer.connections, 2)

    def test_closing_a_stream_closes_its_connection(self):
        gone = threading.Event()

        def endless(answer, request):
            answer.begin()
            answer.event({"event": "verdict", **verdict(request.json, 0)})
            try:
                while True:
                    answer.chunk(b"\n")
                    time.sleep(0.01)
            except OSError:
                gone.set()
            return CLOSE

        client = self.make(self.peer(endless))
        stream = client.stream(items("right", "wrong"))
        next(stream)
        stream.close()
        self.assertTrue(gone.wait(2.0))

    def test_a_socket_that_may_not_be_opened_is_not_waited_for(self):
        if os.geteuid() == 0:
            child = os.fork()
            if child != 0:
                self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
                return
        code = 1
        peer = Peer()
        os.chmod(peer.socket, 0o600)
        if os.geteuid() != 0:
            os.chmod(peer.socket, 0)
        try:
            if os.geteuid() == 0:
                os.setuid(65534)
            began = time.monotonic()
            try:
                Client(peer.socket, timeout=5.0).verify(items("right"))
            except Unavailable as error:
                quick = time.monotonic() - began < 1.0
                code = 0 if quick and "Permission denied" in str(error) else 3
        finally:
            if os.getpid() != PARENT:
                os._exit(code)
            peer.stop()
        self.assertEqual(code, 0)


PARENT = os.getpid()


class AsyncTest(Async, Behaviour, unittest.TestCase):
    def test_one_event_loop_after_another_uses_a_client(self):
        peer = self.peer()
        client = self.make(peer, key=KEY)
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", ResourceWarning
            )  # of the loop that has left a connection
            for _ in range(3):
                told = asyncio.run(client.verify(items("right")))
                self.assertEqual(told[0].reward, 1.0)
                gc.collect()

    def test_many_at_once_share_a_bounded_number_of_connections(self):
        peer = self.peer()
        client = self.make(peer, key=KEY, timeout=30.0)

        async def all_of_them():
            return await asyncio.gather(*(client.verify(items("right")) for _ in range(300)))

        told = self.loop.run_until_complete(all_of_them())
        self.assertEqual(sum(each[0].reward for each in told), 300)
        self.assertLessEqual(peer.connections, 300)

    def test_who_waits_for_a_connection_can_be_cancelled_or_time_out_and_takes_none_along(self):
        release = threading.Event()

        def held(answer, request):
            release.wait(5.0)
            return honest()(answer, request)

        async def run(client):
            first = asyncio.ensure_future(client.verify(items("right")))
            await asyncio.sleep(0.1)
            second = asyncio.ensure_future(client.verify(items("right")))
            await asyncio.sleep(0.1)
            second.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await second
            with self.assertRaisesRegex(Unavailable, "timed out"):
                await client.verify(items("right"), timeout=0.2)
            release.set()
            await first
            return await client.verify(items("right"))

        with mock.patch("paddock._async_http.CONNECTIONS_MAX", 1):
            peer = self.peer(held)
            self.assertEqual(self.loop.run_until_complete(run(self.make(peer)))[0].reward, 1.0)
            self.assertEqual((len(peer.requests), peer.connections), (2, 1))

    def test_cancelling_closes_the_connection_at_once(self):
        def before_the_head(answer, _):
            pass

        def within_the_body(answer, request):
            answer.begin()
            answer.event({"event": "verdict", **verdict(request.json, 0)})

        for begin in (before_the_head, within_the_body):
            with self.subTest(begin.__name__):
                asked, gone = threading.Event(), threading.Event()

                def endless(answer, request, begin=begin, asked=asked, gone=gone):
                    begin(answer, request)
                    asked.set()
                    if answer.is_left_within(3.0):
                        gone.set()
                    return CLOSE

                client = self.make(self.peer(endless))

                async def cancelled(client=client, asked=asked):
                    task = asyncio.ensure_future(client.verify(items("right", "wrong")))
                    while not asked.is_set():
                        await asyncio.sleep(0.01)
                    await asyncio.sleep(0.05)
                    task.cancel()
                    try:
                        await task
                    except asyncio.CancelledError as error:
                        return error  # held: its traceback holds what a collector would else close

                kept = self.loop.run_until_complete(cancelled())
                self.settle()
                self.assertTrue(gone.wait(2.0))
                self.assertIsInstance(kept, asyncio.CancelledError)


if __name__ == "__main__":
    unittest.main()
