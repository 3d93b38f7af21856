"""Each hostile program does its harm to a trainer without a sandbox, and earns nothing through paddock."""

import collections
import json
import os
import subprocess
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor

from benchmark import children
from benchmark.backends.paddock import Paddock, connect
from benchmark.containment import contained, programs, require_contained
from benchmark.corpus import load
from benchmark.daemon import PrivateDaemon
from benchmark.ending import read_report
from benchmark.errors import BenchmarkError
from benchmark.samples import Sample

TIME_LIMIT = 1.0
# A victim that says nothing for so long has stalled: beyond its time limit, and a busy host.
STALL_SECONDS = 15.0


def effects(name):
    """What a victim of it was seen to suffer."""
    command = contained(
        programs().paddock, [sys.executable, "-m", "benchmark.victim", name, str(TIME_LIMIT)]
    )
    victim = children.start(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    stalled = False
    try:
        out, err = victim.communicate(timeout=STALL_SECONDS)
    except subprocess.TimeoutExpired:
        stalled = True
        victim.terminate()
        out, err = victim.communicate()
    finally:
        children.end(victim)
    lines = [json.loads(line) for line in out.splitlines()]
    kinds = [line["kind"] for line in lines]
    report = read_report(err.decode("utf-8", "replace"))
    if kinds[:1] != ["before"] or report is None or not report.everything_ended:
        raise AssertionError(f"{name}: the victim did not run: {err.decode('utf-8', 'replace')}")
    if stalled:
        return ["stall"]
    if kinds != ["before", "after"]:
        # What was to exhaust it may have had enough of its memory to end it.
        return ["crash", "exhaust"] if b"MemoryError" in err else ["crash"]
    return lines[1]["observed"]


class Unprotected(unittest.TestCase):
    def test_each_program_does_the_harm_that_the_corpus_says(self):
        corpus = load()
        # They wait more than they work: as many at a time as there are processors.
        with ThreadPoolExecutor(os.cpu_count()) as victims:
            suffered = [victims.submit(effects, hostile.id) for hostile in corpus]
        for hostile, victim in zip(corpus, suffered):
            with self.subTest(hostile.id):
                self.assertIn(hostile.effect, victim.result())

    def test_nothing_hostile_runs_outside_of_a_profile(self):
        with self.assertRaisesRegex(BenchmarkError, "must run under a profile"):
            require_contained()
        done = subprocess.run(
            [sys.executable, "-m", "benchmark.victim", "kill_parent", "1"], capture_output=True
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"must run under a profile", done.stderr)


class Protected(unittest.TestCase):
    def test_each_program_earns_nothing_of_each_task_and_has_a_number(self):
        with PrivateDaemon(programs().paddockd) as daemon:
            backend = Paddock(connect(daemon.socket), TIME_LIMIT)
            corpus = load()
            samples = [
                Sample(hostile.id, index % 8, index % 8, hostile.code, hostile.id)
                for index, hostile in enumerate(corpus)
            ]
            judged = backend.judge(f"hostile-{os.getpid()}", samples)
            again = backend.judge(
                f"hostile-{os.getpid()}-5",
                [Sample(s.id, (s.task_index + 5) % 8, 0, s.code, s.injected) for s in samples],
            )
            backend.close()
        for judgement in (judged, again):
            for sample, reward, cause in zip(samples, judgement.rewards, judgement.causes):
                if reward is None:
                    # A host that is busy gives no number, never one that is too high.
                    self.assertEqual(cause, "host_overloaded", sample.id)
                else:
                    self.assertEqual(reward, 0.0, (sample.id, cause))
            self.assertEqual(set(judgement.advantages), {None})
        counted = collections.Counter(reward is None for reward in judged.rewards)
        self.assertGreater(counted[False], len(samples) * 3 // 4, judged.causes)


if __name__ == "__main__":
    unittest.main()
