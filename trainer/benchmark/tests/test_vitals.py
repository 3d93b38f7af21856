"""What counts as contagion: each thing is done to this very process, and must be seen."""

import dataclasses
import os
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

from benchmark.processes import descendants, zygotes
from benchmark.vitals import MIB, OWN_DISK_SHRINK_MAX, SHARED_DISK_SHRINK_MAX, Watch, shrink_max


class Zygotes(unittest.TestCase):
    def test_what_a_daemon_keeps_is_not_what_a_run_has_left(self) -> None:
        known = {2: 1, 3: 2, 4: 3, 5: 4, 6: 5, 7: 6, 12: 1, 13: 12}
        words = {
            2: [b"paddock-launch", b"guard", b"z-0-1", b""],
            12: [b"paddock-launch", b"guard", b"r-0-1", b""],
        }
        kept = zygotes(set(known), known, lambda pid: words.get(pid, []))
        self.assertEqual(kept, {2, 3, 4, 5})  # 6 and 7 are a fork, 12 and 13 a cold run


class VitalsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        # Of a process that has no others below it, so that only this test's own are counted.
        self.watch = Watch(self.folder, os.getpid())

    def kinds(self, harm):
        before = self.watch.begin()
        harm()
        return {event.what for event in self.watch.contagion(before, self.watch.look())}

    def test_a_step_that_leaves_nothing_is_none(self):
        self.assertEqual(self.kinds(lambda: None), set())

    def test_sees_a_descriptor_that_was_left_open(self):
        left = []
        self.assertEqual(
            self.kinds(lambda: left.append(os.open("/", os.O_RDONLY))), {"descriptors"}
        )
        os.close(left[0])

    def test_sees_a_thread(self):
        done = threading.Event()
        thread = threading.Thread(target=done.wait)
        self.assertIn("threads", self.kinds(thread.start))
        done.set()
        thread.join()

    def test_sees_a_child_and_a_grandchild(self):
        program = "import subprocess; subprocess.run(['sleep', '60'])"
        started = []

        def harm():
            started.append(
                subprocess.Popen(
                    [sys.executable, "-c", program], start_new_session=True, close_fds=True
                )
            )
            while len(descendants(os.getpid())) < 2:
                pass

        self.assertEqual(self.kinds(harm), {"children", "processes"})
        os.killpg(started[0].pid, 9)
        started[0].wait()

    def test_sees_memory_that_was_taken(self):
        kept = []
        self.assertEqual(self.kinds(lambda: kept.append(b"x" * (80 * MIB))), {"rss_bytes"})

    def test_sees_a_peak_that_is_over(self):
        self.assertIn("peak_bytes", self.kinds(lambda: b"x" * (400 * MIB)))

    def test_sees_the_canary_changed_and_gone_once(self):
        path = self.folder / "canary"
        self.assertEqual(self.kinds(lambda: path.write_bytes(b"sing")), {"canary"})
        self.assertEqual(self.kinds(path.unlink), {"canary"})
        self.assertEqual(self.kinds(lambda: None), set())

    def test_sees_a_disk_that_was_filled_once_per_disk(self):
        before = self.watch.begin()
        for loss, expected in ((OWN_DISK_SHRINK_MAX, 0), (SHARED_DISK_SHRINK_MAX + 1, 1)):
            after = dataclasses.replace(
                before,
                free_root_bytes=before.free_root_bytes - loss - 1,
            )
            self.assertEqual(len(self.watch.contagion(before, after)), expected, loss)

    def test_a_small_disk_may_lose_less_than_one_that_others_use(self):
        self.assertEqual(shrink_max(64 * MIB), OWN_DISK_SHRINK_MAX)
        self.assertEqual(shrink_max(1 << 40), SHARED_DISK_SHRINK_MAX)

    def test_waits_for_a_daemons_processes_to_be_as_many_as_they_were(self):
        self.watch.begin()
        process = subprocess.Popen(["sleep", "0.4"])
        threading.Thread(target=process.wait).start()
        self.assertEqual(self.watch.settled().processes, 0)


if __name__ == "__main__":
    unittest.main()
