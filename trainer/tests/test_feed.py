"""The feed through both clients, from a peer that goes away, repeats itself and prunes."""

import asyncio
import contextlib
import itertools
import unittest

from paddock import (
    AsyncClient,
    Client,
    FeedDamaged,
    FeedGroup,
    FeedPruned,
    FeedVerdict,
    ForgedVerdict,
    RequestRefused,
    Unavailable,
)
from peer import KEY, Peer, events, raw, status, verdict

REQUEST = {
    "items": [
        {
            "id": "a",
            "code": "right",
            "language": "python",
            "nonce": "n",
            "tests": {"kind": "assert", "source": "assert f()"},
        }
    ]
}


def entry(seq, **changes):
    told = verdict(REQUEST, 0, **changes)
    for key in ("cases", "detail", "queue_ms", "run_ms", "stdout_tail", "stderr_tail"):
        del told[key]
    isolation, receipt = told.pop("isolation"), told.pop("receipt")
    return {
        "seq": seq,
        "at": "2026-01-01T00:00:00.000Z",
        "kind": "verdict",
        "tenant": "t",
        "request_id": "r",
        **told,
        **isolation,
        **receipt,
    }


def group(seq):
    return {
        "seq": seq,
        "kind": "group",
        "request_id": "r",
        "group": "g",
        "ids": ["a", "b"],
        "rewards": [1.0, None],
        "advantages": [0.0, None],
    }


class Sync:
    def read(self, peer, *arguments, count=None, key=None, timeout=3.0, **options):
        with Client(peer.socket, timeout=timeout, key=key) as client:
            feed = client.feed(*arguments, **options)
            entries = list(itertools.islice(feed, count))
            feed.close()
            return entries


class Async:
    def read(self, peer, *arguments, count=None, key=None, timeout=3.0, **options):
        async def collect():
            entries = []
            async with AsyncClient(peer.socket, timeout=timeout, key=key) as client:
                async with contextlib.aclosing(client.feed(*arguments, **options)) as feed:
                    async for each in feed:
                        entries.append(each)
                        if len(entries) == count:
                            break
            return entries

        return asyncio.run(collect())


class Behaviour:
    def peer(self, *script):
        peer = Peer(*script)
        self.addCleanup(peer.stop)
        return peer

    def test_verdicts_and_groups_come_in_order(self):
        damaged = {"seq": 8, "kind": "damaged", "detail": "no JSON"}
        peer = self.peer(
            events(entry(3), None, group(5), {"seq": 6, "kind": "new"}, damaged, entry(9))
        )
        read = self.read(peer, follow=False)
        self.assertEqual([each.seq for each in read], [3, 5, 8, 9])
        self.assertEqual(read[2], FeedDamaged(8, "no JSON"))
        self.assertEqual(
            (read[0].verdict.profile, read[0].verdict.runs), ("STRICT", ("r-1", "r-2"))
        )
        self.assertIsInstance(read[0], FeedVerdict)
        self.assertEqual((read[0].request_id, read[0].verdict.reward), ("r", 1.0))
        self.assertIsInstance(read[1], FeedGroup)
        self.assertEqual(read[1].group.rewards, (1.0, None))
        self.assertEqual(read[1].group.advantages, (0.0, None))

    def test_the_request_names_where_it_goes_on(self):
        peer = self.peer(events())
        self.read(peer, 7, follow=False, advantages="rloo")
        self.assertEqual(peer.requests[0].target, "/v1/feed?after=7&advantages=rloo")

    def test_a_reader_goes_on_where_it_was_cut_without_loss_or_repeat(self):
        peer = self.peer(
            events(entry(1), entry(2), is_whole=False),
            raw(b""),
            status(503, "draining"),
            events(entry(2), entry(3), is_whole=False),
            events(None, entry(4)),
            events(entry(5)),
        )
        read = self.read(peer, count=5)
        self.assertEqual([each.seq for each in read], [1, 2, 3, 4, 5])
        self.assertEqual(
            [request.target for request in peer.requests],
            [f"/v1/feed?after={after}&follow=true" for after in (0, 2, 2, 2, 3, 4)],
        )

    def test_half_a_line_at_a_cut_is_read_again(self):
        def half(answer, _):
            answer.begin()
            answer.event(entry(1))
            answer.chunk(b'{"seq": 2, "kind": "verd')
            from peer import CLOSE

            return CLOSE

        read = self.read(self.peer(half, events(entry(2))), count=2)
        self.assertEqual([each.seq for each in read], [1, 2])

    def test_what_was_pruned_is_said_with_the_oldest(self):
        def pruned(answer, _):
            return answer.whole(410, {"error": {"code": "pruned", "message": "m", "oldest": 40}})

        with self.assertRaises(FeedPruned) as caught:
            self.read(self.peer(pruned), 7)
        self.assertEqual((caught.exception.after, caught.exception.oldest), (7, 40))

    def test_a_reader_that_is_overtaken_by_pruning_is_told(self):
        last = {"error": {"code": "pruned", "message": "m", "oldest": 40}}
        with self.assertRaises(FeedPruned) as caught:
            self.read(self.peer(events(entry(8), last)), 7)
        self.assertEqual((caught.exception.after, caught.exception.oldest), (8, 40))

    def test_a_reader_that_may_not_read_any_more_is_told(self):
        last = {"error": {"code": "forbidden", "message": "m"}}
        for script in (status(403, "forbidden"), events(entry(8), last)):
            with self.assertRaises(RequestRefused):
                self.read(self.peer(script), 7)

    def test_a_daemon_that_stays_away_is_unavailable_after_the_timeout(self):
        peer = self.peer(*[raw(b"")] * 100)
        with self.assertRaisesRegex(Unavailable, "after 7"):
            self.read(peer, 7, timeout=0.5)

    def test_garbage_is_no_entry(self):
        for wrong in (
            {"kind": "verdict"},
            {"seq": "1", "kind": "verdict"},
            {"seq": 1, "kind": "verdict"},
            {"seq": 1, "kind": "group", "group": 3},
            [1],
        ):
            with self.subTest(wrong), self.assertRaises(Unavailable):
                self.read(self.peer(*[events(wrong)] * 5))

    def test_with_a_key_an_entry_is_authentic_or_forged_or_of_another_key(self):
        peer = self.peer(events(entry(1), entry(2, key=None), entry(3, key=bytes(32))))
        read = self.read(peer, follow=False, key=KEY)
        self.assertEqual([each.is_authentic for each in read], [True, False, False])
        self.assertFalse(self.read(self.peer(events(entry(1))), follow=False)[0].is_authentic)
        with self.assertRaises(ForgedVerdict):
            self.read(self.peer(events(entry(1, mac_changes={"reward": 0.5}))), key=KEY)


class SyncFeedTest(Sync, Behaviour, unittest.TestCase):
    pass


class AsyncFeedTest(Async, Behaviour, unittest.TestCase):
    pass


if __name__ == "__main__":
    unittest.main()
