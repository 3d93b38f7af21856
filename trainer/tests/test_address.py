"""Where a client finds its daemon."""

import os
import unittest
from unittest import mock

from paddock.address import address


def default(uid, **variables):
    with mock.patch.dict(os.environ, {"HOME": "/home/u", **variables}, clear=True):
        with mock.patch("os.geteuid", return_value=uid):
            return address().socket


class AddressTest(unittest.TestCase):
    def test_the_default_is_where_paddockd_puts_its_socket(self):
        table = [
            (0, {}, "/run/paddock/trainer.sock"),
            (0, {"XDG_RUNTIME_DIR": "/run/user/0"}, "/run/paddock/trainer.sock"),
            (1000, {"XDG_RUNTIME_DIR": "/run/user/1000"}, "/run/user/1000/paddock/trainer.sock"),
            (1000, {"XDG_STATE_HOME": "/s"}, "/s/paddock/run/trainer.sock"),
            (1000, {}, "/home/u/.local/state/paddock/run/trainer.sock"),
            (
                1000,
                {"XDG_RUNTIME_DIR": "not/absolute"},
                "/home/u/.local/state/paddock/run/trainer.sock",
            ),
            (1000, {"PADDOCK_TRAINER_SOCKET": "/p"}, "/p"),
        ]
        for uid, variables, path in table:
            with self.subTest(variables, uid=uid):
                self.assertEqual(default(uid, **variables), path)

    def test_a_url_has_a_host_and_a_port(self):
        there = address(url="http://127.0.0.1:8231/", token="t")
        self.assertEqual((there.host, there.port), ("127.0.0.1", 8231))
        self.assertEqual(there.headers()["Authorization"], "Bearer t")
        self.assertEqual(there.headers()["Host"], "127.0.0.1:8231")
        self.assertEqual(address(url="http://[::1]:80").headers()["Host"], "[::1]:80")

    def test_a_token_is_in_no_log(self):
        self.assertNotIn("s3cret", repr(address(url="http://127.0.0.1:1", token="s3cret")))

    def test_what_is_no_address_is_refused(self):
        for arguments in [
            {"url": "https://127.0.0.1:1"},
            {"url": "http://127.0.0.1"},
            {"url": "127.0.0.1:1"},
            {"url": "http://127.0.0.1:1/x"},
            {"url": "http://elsewhere.example:80"},
            {"url": "http://u@127.0.0.1:1"},
            {"url": "http://127.0.0.1:1?q"},
            {"url": "http://127.0.0.1:99999"},
            {"url": "http://127.0.0.1:1", "token": "a\r\nX: y"},
            {"url": "http://127.0.0.1:1", "token": "é"},
            {"socket": "/s", "url": "http://127.0.0.1:1"},
            {"socket": "/s", "token": "t"},
            {"socket": "/" + "x" * 107},
        ]:
            with self.subTest(arguments), self.assertRaises(ValueError):
                address(**arguments)


if __name__ == "__main__":
    unittest.main()
