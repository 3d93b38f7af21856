"""MACs against Python's own hmac, and nonces that are good for one verdict."""

import dataclasses
import hashlib
import hmac
import threading
import unittest

from paddock.errors import ForgedVerdict, PaddockError
from paddock.items import AssertTests, Item
from paddock.mac import Checker, NonceBook, key_bytes, key_id, mac_holds, mac_of, nonce_for
from paddock.verdict import Verdict
from peer import KEY

ITEM = Item("a", "def f(): pass", AssertTests("assert f() is None"))


def verdict(nonce="n", **changes):
    made = Verdict(
        id="a",
        verdict="pass",
        reward=1.0,
        cause="passed",
        code_hash=ITEM.code_hash,
        tests_hash="t",
        policy_hash="p",
        nonce=nonce,
        key_id=key_id(KEY),
    )
    made = dataclasses.replace(made, **changes)
    return made if "mac" in changes else dataclasses.replace(made, mac=mac_of(made, KEY))


class MacTest(unittest.TestCase):
    def test_it_is_an_hmac_over_the_lines_of_the_rfc(self):
        for reward, written in [
            (1.0, "1"),
            (0.0, "0"),
            (1 / 3, "0.33333333333333331"),
            (0.1, "0.10000000000000001"),
            (1e-7, "9.9999999999999995e-08"),
        ]:
            said = verdict(reward=reward)
            lines = f"paddock-verdict-1\nn\na\n{ITEM.code_hash}\nt\np\nseparate\npass\n{written}\n"
            self.assertEqual(said.mac, hmac.new(KEY, lines.encode(), hashlib.sha256).hexdigest())
        said = verdict(reward=None, verdict="invalid")
        lines = f"paddock-verdict-1\nn\na\n{ITEM.code_hash}\nt\np\nseparate\ninvalid\nnull\n"
        self.assertEqual(said.mac, hmac.new(KEY, lines.encode(), hashlib.sha256).hexdigest())

    def test_every_field_that_it_is_about_changes_it(self):
        said = verdict()
        self.assertTrue(mac_holds(said, KEY))
        for change in [
            {"id": "b"},
            {"reward": 0.5},
            {"verdict": "fail"},
            {"nonce": "m"},
            {"code_hash": "c"},
            {"tests_hash": "u"},
            {"policy_hash": "q"},
            {"integrity": "in_process"},
            {"mac": None},
            {"mac": ""},
            {"mac": "\ud800"},
            {"mac": said.mac.upper()},
        ]:
            with self.subTest(change):
                self.assertFalse(mac_holds(dataclasses.replace(said, **change), KEY))
        self.assertFalse(mac_holds(said, bytes(32)))

    def test_a_key_is_64_hexadecimal_digits_or_its_bytes(self):
        self.assertEqual(key_bytes(KEY.hex() + "\n"), KEY)
        self.assertEqual(key_bytes(KEY), KEY)
        self.assertEqual(key_id(KEY), hashlib.sha256(KEY).hexdigest()[:16])
        for wrong in ["", "zz" * 32, "ab" * 31, b"short", "ab" * 33]:
            with self.subTest(wrong), self.assertRaises(ValueError):
                key_bytes(wrong)


class CheckerTest(unittest.TestCase):
    def setUp(self):
        self.book = NonceBook()
        self.checker = Checker(KEY, self.book)
        self.nonce = self.checker.open("r", "a")

    def test_an_honest_verdict_holds_once(self):
        said = verdict(self.nonce)
        self.checker.check(said, ITEM, self.nonce, "t")
        with self.assertRaisesRegex(ForgedVerdict, "used before"):
            self.checker.check(said, ITEM, self.nonce, "t")

    def test_what_does_not_hold_is_forged_and_leaves_the_nonce_open(self):
        table = [
            ("no MAC", verdict(self.nonce, mac=None)),
            ("MAC is wrong", verdict(self.nonce, mac="0" * 64)),
            ("MAC is wrong", dataclasses.replace(verdict(self.nonce), reward=0.5)),
            ("its key is", verdict(self.nonce, key_id="0" * 16)),
            ("is for 'b'", verdict(self.nonce, id="b")),
            ("not the one that was sent", verdict("other")),
            ("not the one that was sent", verdict("")),
            ("other code", verdict(self.nonce, code_hash="c")),
            ("other tests", verdict(self.nonce, tests_hash="u")),
            ("integrity is in_process", verdict(self.nonce, integrity="in_process")),
        ]
        for why, said in table:
            with self.subTest(why), self.assertRaisesRegex(ForgedVerdict, why):
                self.checker.check(said, ITEM, self.nonce, "t")
        self.checker.check(verdict(self.nonce), ITEM, self.nonce, "t")


class NonceTest(unittest.TestCase):
    def test_it_is_the_same_for_the_same_question_and_for_no_other(self):
        nonce = nonce_for(KEY, "r", "a")
        self.assertEqual(nonce, nonce_for(KEY, "r", "a"))
        others = {
            nonce_for(KEY, "r", "b"),
            nonce_for(KEY, "s", "a"),
            nonce_for(bytes(32), "r", "a"),
            nonce_for(KEY, "r", "a\na"),
        }
        self.assertEqual(len(others - {nonce}), 4)


class NonceBookTest(unittest.TestCase):
    def test_a_nonce_is_good_for_one_use(self):
        book = NonceBook()
        book.open("n")
        self.assertTrue(book.use("n"))
        self.assertFalse(book.use("n"))
        self.assertFalse(book.use("never opened"))

    def test_one_that_was_forgotten_is_no_longer_good(self):
        book = NonceBook()
        book.open("n")
        book.forget("n")
        self.assertFalse(book.use("n"))

    def test_one_cannot_be_open_twice(self):
        book = NonceBook()
        book.open("n")
        with self.assertRaisesRegex(PaddockError, "already"):
            book.open("n")
        book.use("n")
        book.open("n")

    def test_it_is_bounded(self):
        book = NonceBook(open_max=3)
        for nonce in "abc":
            book.open(nonce)
        with self.assertRaisesRegex(PaddockError, "outstanding"):
            book.open("d")
        book.use("a")
        book.open("d")

    def test_of_many_threads_one_alone_uses_a_nonce(self):
        book = NonceBook()
        nonces = [str(n) for n in range(2000)]
        for nonce in nonces:
            book.open(nonce)
        used = []
        threads = [
            threading.Thread(target=lambda: used.extend(filter(book.use, nonces))) for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(used), sorted(nonces))


if __name__ == "__main__":
    unittest.main()
