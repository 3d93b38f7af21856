"""The figures are drawn: with all that a sweep can have, and with little."""

import contextlib
import io
import tempfile
import unittest
from pathlib import Path

import made_up
from benchmark.plot import STYLES, plot
from benchmark.results import read

FIGURES = {"p3_survival.png", "quality_parity.png", "step_time_stall.png", "utilisation.png"}


def is_picture(path):
    return path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n" and path.stat().st_size > 5000


class Figures(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def drawn(self):
        with contextlib.redirect_stdout(io.StringIO()):
            plot(self.folder, self.folder / "figures")
        made = list((self.folder / "figures").iterdir())
        self.assertTrue(all(is_picture(path) for path in made))
        return {path.name for path in made}

    def test_are_four(self):
        made_up.usual(self.folder)
        self.assertEqual(self.drawn(), FIGURES)

    def test_are_five_with_a_forgery_study(self):
        made_up.sweep(
            self.folder,
            [
                made_up.trial(self.folder, "forgeable", 0, 0.0, forging=0.05, held_out=0.2),
                made_up.trial(self.folder, "paddock", 0, 0.0, forging=0.05),
            ],
        )
        self.assertEqual(self.drawn(), FIGURES | {"forgery.png"})

    def test_are_drawn_of_one_trial_that_did_no_step(self):
        made_up.sweep(self.folder, [made_up.trial(self.folder, "in_loop", 0, 0.1, done=0)])
        self.assertEqual(self.drawn(), FIGURES)

    def test_show_backends_that_can_be_told_apart_without_colour(self):
        made_up.usual(self.folder)

        def grey(color):
            red, green, blue = (int(color[i : i + 2], 16) for i in (1, 3, 5))
            return 0.299 * red + 0.587 * green + 0.114 * blue

        one, other = (STYLES[backend] for backend in read(self.folder).backends())
        self.assertGreater(abs(grey(one["color"]) - grey(other["color"])), 80)
        for mark in ("hatch", "line", "marker"):
            self.assertNotEqual(one[mark], other[mark])


if __name__ == "__main__":
    unittest.main()
