"""Run: report, verdict, findings, comparison, prediction, page; errors; what a notebook shows."""
import gc
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest
import unittest.mock

import numpy

import rankscope
from rankscope import _library
import support
from support import DEMO, PROGRAM, ROOT, run_of


def printed(*words):
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def closed(pointer, freed):
    handle = _library.Handle(pointer, freed.append)
    handle.close()
    return handle


def pythons():
    """This Python and others that are installed; from 3.12 on, no thread starts while the interpreter ends."""
    versions = pathlib.Path(os.environ.get("PYENV_ROOT", pathlib.Path.home() / ".pyenv"), "versions").glob("3.1[2-9]*/bin/python3")
    return [sys.executable, *sorted(map(str, versions)), *filter(None, (shutil.which(f"python3.{minor}") for minor in (12, 13, 14)
                                                                       if not any(pathlib.Path.home().glob(".pyenv"))))]


class Runs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.demo = rankscope.open(DEMO)

    def test_the_report_is_that_of_the_command_line(self):
        self.assertEqual(self.demo.report(), json.loads(printed("report", DEMO, "--json", "-")[1]))
        self.assertEqual(self.demo.report(steps=(3, 8), ranks=[1, 2]),
                         json.loads(printed("report", DEMO, "--json", "-", "--steps", "3:8", "--ranks", "1,2")[1]))
        self.assertEqual(self.demo.report(instances=True), json.loads(printed("report", DEMO, "--instances", "--json", "-")[1]))
        self.assertEqual(self.demo.text(), printed("report", DEMO)[1])
        self.assertEqual(self.demo.text(full=True), printed("report", DEMO, "--full")[1])

    def test_findings_and_slow_ranks_have_types(self):
        report = self.demo.report()
        self.assertEqual([finding.id for finding in self.demo.findings()], [finding["id"] for finding in report["findings"]])
        (slow,) = self.demo.slow_ranks()
        self.assertEqual((slow.rank, slow.kind), (2, "compute"))
        self.assertAlmostEqual(slow.slowdown, report["stragglers"][0]["slowdown"], places=4)
        self.assertIn("Rank 2", str(self.demo.verdict()))

    def test_a_prediction_is_that_of_the_command_line(self):
        answer = self.demo.whatif("rank:2")
        self.assertEqual(answer, json.loads(printed("whatif", DEMO, "--fix", "rank:2", "--json", "-")[1]))
        self.assertEqual(str(answer), printed("whatif", DEMO, "--fix", "rank:2")[1])
        with self.assertRaises(rankscope.UsageError) as caught:
            self.demo.whatif("rank:99")
        self.assertIn("99", str(caught.exception))
        with self.assertRaisesRegex(rankscope.UsageError, "changes are strings such as 'rank:2', but 2 was given"):
            self.demo.whatif(2)

    def test_a_comparison_is_that_of_the_command_line(self):
        answer = self.demo.compare(self.demo)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "c.json")
            printed("compare", DEMO, DEMO, "--json", path)
            expected = json.loads(path.read_text())
        self.assertEqual(answer["step_time"], expected["step_time"])
        self.assertEqual(answer["step_time"]["verdict"], "unchanged")

    def test_runs_of_different_jobs_are_compared_only_if_they_may_differ(self):
        inputs = [ROOT / "tests/golden" / name / "input.txt" for name in ("clean_2_ranks", "slow_4_ranks")]
        with rankscope.open(inputs[0]) as two, rankscope.open(inputs[1]) as four:
            refused, allowed = two.compare(four), two.compare(four, allow_different=True)
        self.assertIn("not of the same job: world size 2 against 4", refused["step_time"]["why"])
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "c.json")
            printed("compare", *inputs, "--allow-different", "--json", path)
            self.assertEqual(allowed["step_time"], json.loads(path.read_text())["step_time"])
        self.assertNotIn("same job", allowed["step_time"]["why"])

    def test_the_page_is_written(self):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder, "page.html")
            self.assertIsNone(self.demo.html(page), "a notebook must not show the text of the page")
            self.assertEqual(self.demo.html(), page.read_text())
            self.assertIn("<html", page.read_text())
            with self.assertRaises(rankscope.CannotWriteError) as caught:
                self.demo.html(pathlib.Path(folder, "absent", "page.html"))
            self.assertIn("absent", str(caught.exception))

    def test_a_notebook_shows_verdict_and_bars(self):
        page = self.demo._repr_html_()
        self.assertIn("Rank 2", page)
        for rank in range(4):
            self.assertIn(f"rank {rank}<", page)
        self.assertLess(len(page), 20_000)
        empty = run_of("@process - pid=3\n- op 0 10 <b>\n")
        self.assertNotIn("<b>", empty._repr_html_())

    def test_a_doubt_that_is_a_sentence_of_the_verdict_is_shown_once(self):
        verdict = rankscope.Verdict(("Rank 1 is slow.", "Cannot tell more."), ("Cannot tell more.", "Cannot tell why."), True)
        self.assertEqual(str(verdict), "Rank 1 is slow.\nCannot tell more.\nCannot tell why.")

    def test_errors_have_the_sentence_and_the_status_of_the_command_line(self):
        with tempfile.TemporaryDirectory() as folder:
            for path, kind in ((pathlib.Path(folder), rankscope.UnreadableError), (pathlib.Path(folder, "absent"), rankscope.UnreadableError)):
                with self.assertRaises(kind) as caught:
                    rankscope.open(path)
                status, _, said = printed("report", path)
                self.assertEqual(f"rankscope: {caught.exception}\n", said)
                self.assertEqual(caught.exception.status, status)
        for wrong in (lambda: rankscope.open(), lambda: rankscope.open(""), lambda: rankscope.open(DEMO, rank_map="x")):
            self.assertRaises(rankscope.UsageError, wrong)
        with self.assertRaises(rankscope.UsageError):
            self.demo.export("nothing", "out")

    def test_what_was_read_is_never_written(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder, "copy.rankscope")
            shutil.copytree(DEMO, copy)
            before = (copy / "manifest.json").read_bytes()
            run = rankscope.open(copy)
            for out in (copy, copy / "manifest.json", *copy.glob("segments/*")):
                for write in (lambda out: run.export("chrome", out), run.html, run.to_parquet):
                    self.assertRaises(rankscope.UsageError, write, out)
            trace = pathlib.Path(folder, "rank_1.json")  # of somebody
            trace.write_text('{"schemaVersion":1,"traceEvents":[{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":1}]}')
            content = trace.read_bytes()
            for write in (lambda out: run.export("chrome", out), run.html, run.to_parquet):
                self.assertRaises(rankscope.UsageError, write, trace)
            self.assertEqual(trace.read_bytes(), content)
            self.assertEqual((copy / "manifest.json").read_bytes(), before)

    def test_arguments_of_numpy_are_taken_and_others_refused(self):
        index = numpy.int64(3)
        steps = self.demo.table("rank_steps", ranks=numpy.array([1, 2]), steps=index, columns=["rank", "step"]).to_pydict()
        self.assertEqual(steps, {"rank": [1, 2], "step": [3, 3]})
        self.assertEqual(len(self.demo.table("steps", steps=(index, numpy.int32(4)))), 2)
        for wrong, words in ((lambda: self.demo.report(peak_tflops=float("nan")), "peak_tflops must be finite"),
                             (lambda: self.demo.table("steps", steps=1.5), "steps must be"), (lambda: self.demo.table("steps", steps="9" * 5000), "steps must be"),
                             (lambda: self.demo.table("spans", ranks=[1.5]), "ranks must be"), (lambda: self.demo.table("spans", ranks=2.5), "ranks must be"),
                             (lambda: self.demo.table("steps", steps=(0.5, 1)), "steps must be"), (lambda: rankscope.open(b"a\xff"), "is not UTF-8"),
                             (lambda: rankscope.open("a\udcff"), "is not UTF-8")):
            with self.assertRaises(rankscope.UsageError) as caught:
                wrong()
            self.assertIn(words, str(caught.exception))

    def test_a_closed_run_says_so(self):
        with rankscope.open(DEMO) as run:
            table = run.table("steps")
        self.assertRaises(rankscope.UsageError, run.report)
        self.assertIn("closed", repr(run))
        self.assertGreater(len(table), 0)
        run.close()

    def test_secrets_are_hidden(self):
        secret = "0 op 0 10 \"login --password=hunter2222\"\n"
        self.assertNotIn("hunter2222", run_of(secret).table("spans").to_pydict()["name"][0])

    def test_several_threads_may_use_one_run(self):
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(self.demo.table("ranks").to_pydict())) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(answers), 4)
        self.assertTrue(all(answer == answers[0] for answer in answers))

    def test_long_work_can_be_interrupted(self):
        program = ("import os, signal, threading, time, types\n"
                   "from rankscope._progress import watch\n"
                   "task = types.SimpleNamespace(stop=0, done=0.0)\n"
                   "def work():\n"
                   "    os.kill(os.getpid(), signal.SIGINT)\n"
                   "    while not task.stop:\n"
                   "        time.sleep(0.01)\n"
                   "try:\n"
                   "    watch(work, 'reading', task)\n"
                   "except KeyboardInterrupt:\n"
                   "    print('interrupted', task.stop, threading.active_count())\n")
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=110)
        self.assertEqual(done.stdout, "interrupted 1 1\n", done.stderr)

    def test_a_run_that_is_closed_while_it_is_used_is_freed_later(self):
        freed = []
        handle = _library.Handle(7, freed.append)
        with handle as pointer:
            with handle:
                handle.close()
            self.assertEqual((pointer, freed), (7, []))
        self.assertEqual(freed, [7])
        handle.close()
        del handle
        self.assertEqual(freed, [7])
        with self.assertRaises(rankscope.UsageError):
            with _library.Handle(8, freed.append) as _, closed(9, freed):
                pass
        gc.collect()
        self.assertEqual(sorted(freed), [7, 8, 9])

    def test_a_result_that_comes_after_the_interruption_is_freed(self):
        program = ("import os, signal, threading\n"
                   "from rankscope._library import Handle\n"
                   "from rankscope._progress import watch\n"
                   "freed, go = [], threading.Event()\n"
                   "def work():\n"
                   "    os.kill(os.getpid(), signal.SIGINT)\n"
                   "    go.wait()\n"
                   "    return Handle(7, freed.append)\n"
                   "try:\n"
                   "    watch(work, 'reading')\n"
                   "except KeyboardInterrupt:\n"
                   "    pass\n"
                   "go.set()\n"
                   "[thread.join() for thread in threading.enumerate() if thread.name == 'rankscope']\n"
                   "print(freed)\n")
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=110)
        self.assertEqual(done.stdout, "[7]\n", done.stderr)

    def test_a_run_can_be_closed_after_an_interruption(self):
        program = ("import signal, sys, rankscope\n"
                   "for i in range(30):\n"
                   "    run = rankscope.open(sys.argv[1])\n"
                   "    try:\n"
                   "        signal.signal(signal.SIGALRM, signal.default_int_handler)\n"
                   "        signal.setitimer(signal.ITIMER_REAL, 0.0005 * (i + 1))\n"
                   "        run.report()\n"
                   "        run.whatif('rank:2')\n"
                   "        signal.pause()\n"
                   "    except KeyboardInterrupt:\n"
                   "        run.close()\n"
                   "        del run\n"
                   "print('alive')\n")
        done = subprocess.run([sys.executable, "-c", program, DEMO], capture_output=True, text=True, timeout=110)
        self.assertEqual((done.returncode, done.stdout), (0, "alive\n"), done.stderr)

    def test_work_is_done_where_no_thread_can_be_started(self):
        def refused(thread):
            raise RuntimeError("can't create new thread at interpreter shutdown")
        with unittest.mock.patch.object(threading.Thread, "start", refused):
            self.assertIn("Rank 2", str(self.demo.verdict()))

    def test_the_end_of_a_program_can_report(self):
        program = ("import atexit, sys, rankscope\n"
                   "run = rankscope.open(sys.argv[1])\n"
                   "atexit.register(lambda: print(run.verdict().sentences[0]))\n")
        for python in pythons():
            with self.subTest(python=python):
                done = subprocess.run([python, "-B", "-c", program, DEMO], capture_output=True, text=True, timeout=110)
                self.assertIn("Rank 2 is slow", done.stdout, done.stderr)

    def test_a_library_of_another_version_is_refused(self):
        done = subprocess.run([sys.executable, "-c", "import rankscope; rankscope.open('x')"], capture_output=True, text=True,
                              env={**os.environ, "RANKSCOPE_LIBRARY": os.environ.get("RANKSCOPE_INJECT_LIB", "/lib/x86_64-linux-gnu/libm.so.6")})
        self.assertIn("a different version of rankscope", done.stderr)

    def test_the_version_is_that_of_the_program(self):
        self.assertEqual(f"rankscope {rankscope.__version__}\n", printed("--version")[1])


if __name__ == "__main__":
    support.main()
