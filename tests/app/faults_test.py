#!/usr/bin/python3
"""The n-th allocation, thread or write of a command fails, for many n: a result or an exit code
with its reason, no part of a file, no lost row.

Usage: faults_test.py ACCSIM FAULTS.so [unittest arguments]. FAULTS.so is made of
tests/app/faults/faults.cpp, which says what the variables mean.
"""

import errno
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest

if len(sys.argv) < 3:
    sys.exit(__doc__)
FAULTS = pathlib.Path(sys.argv.pop(2)).resolve()

from program import ACCSIM, ROOT  # noqa: E402
from wire import graph, model, node, small_network, tensor, value  # noqa: E402

SMALL = ROOT / "configs" / "8x8.yaml"
# Of the allocations, of which a command has tens of thousands.
SAMPLES = int(os.environ.get("SAMPLES", "12"))
MOMENTS = int(os.environ.get("MOMENTS", "4"))  # of each signal in each command; at night 34
REASON = r"^accsim: (internal )?error: "


class FaultsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)
        (self.dir / "net.onnx").write_bytes(small_network())
        (self.dir / "sweep.yaml").write_text(
            f"base: {SMALL}\nmodels: [{{file: {self.dir}/net.onnx}}]\neffort: rule\n"
            "axes:\n  act: {field: buffers.activation.kib, values: [16, 32, 64]}\n"
        )

    # Commands with the files that they write.
    COMMANDS = {
        "cost": (["--hw", SMALL, "net.onnx", "--json", "r.json", "--csv", "r.csv"], 2),
        "html": (["--hw", SMALL, "net.onnx", "-q", "--html", "r.html", "--trace", "t.json"], 2),
        "inspect": (["inspect", "net.onnx", "--json", "i.json"], 1),
        "shapes": (["shapes", "net.onnx", "--json", "s.json"], 1),
        "tile": (["tile", "net.onnx", "-o", "tiled.onnx", "--tile", "8x8x8"], 1),
        "cut": (["cut", "net.onnx", "--until", "relu", "-o", "part.onnx"], 1),
        "run": (
            ["run", "net.onnx", "--weights", "random:1", "--output", "out", "--dump", "all"],
            11,
        ),
        "raw": (
            ["run", "net.onnx", "--weights", "random:1", "--output", "out", "--dump", "all"]
            + ["--raw"],
            6 * 3 + 2 + 2,  # model, input, output of each node; two have weights; y, the manifest
        ),
        "annotate": (["--hw", SMALL, "net.onnx", "-q", "--annotate", "a.onnx"], 1),
        "sweep": (["sweep", "sweep.yaml", "--store", "s.sqlite", "--threads", 2], 1),
        "help": (["--help"], 0),
    }

    def command(self, words, env=None, timeout=120):
        return subprocess.run(
            [str(ACCSIM), *map(str, words)],
            capture_output=True,
            text=True,
            check=False,
            cwd=self.dir,
            timeout=timeout,
            env={**os.environ, **(env or {}), "LD_PRELOAD": str(FAULTS)},
        )

    def files(self):
        """What was written, but for stores, which are looked at otherwise."""
        return {
            str(p.relative_to(self.dir)): p.read_bytes()
            for p in sorted(self.dir.rglob("*"))
            if p.is_file()
            and p.name not in ("net.onnx", "sweep.yaml", "log")
            and not p.name.startswith("s.sqlite")
        }

    def clear(self):
        for p in sorted(self.dir.rglob("*"), reverse=True):
            if p.name in ("net.onnx", "sweep.yaml"):
                continue
            if p.is_dir():
                p.rmdir()
            else:
                p.unlink()

    def rows(self):
        """All that a store holds, after the sweep has gone on where it was stopped."""
        again = self.command(self.COMMANDS["sweep"][0])
        self.assertEqual(again.returncode, 0, again.stderr)
        return self.command(["sweep", "show", "s.sqlite", "--dump"]).stdout

    def good(self, name):
        """Calls of each kind, and what a command writes when nothing fails."""
        words, count = self.COMMANDS[name]
        self.clear()
        done = self.command(words, {"FAULTS_LOG": "log"})
        self.assertEqual((done.returncode, done.stderr.count("error")), (0, 0), done.stderr)
        calls = [int(n) for n in (self.dir / "log").read_text().split()]
        written = self.files()
        if name != "sweep":
            self.assertEqual(len(written), count, list(written))
        return calls, written, self.rows() if name == "sweep" else None

    def faulty(self, name, wanted, rows, env, codes):
        """A run with a fault: exit code, reason, files whole or not there."""
        self.clear()
        done = self.command(self.COMMANDS[name][0], env)
        said = f"{name} {env}: exit {done.returncode}\n{done.stderr[-1500:]}"
        self.assertIn(done.returncode, (0, *codes), said)
        if done.returncode != 0:
            self.assertRegex(done.stderr, REASON, said)
        for path, data in self.files().items():
            self.assertEqual(data, wanted.get(path), f"{said}\n{path} is not whole")
        if done.returncode == 0 and name != "sweep":
            self.assertEqual(list(self.files()), list(wanted), said)
        if name == "sweep":
            self.assertEqual(self.rows(), rows, said)
        return done

    def test_allocations(self):
        for name in self.COMMANDS:
            calls, wanted, rows = self.good(name)
            most = calls[0]
            self.assertGreater(most, 500)
            draw = random.Random(name)
            failed = 0
            for n in sorted({1, 2, 3, most, *(draw.randint(1, most) for _ in range(SAMPLES))}):
                for later in ("", "+"):
                    with self.subTest(command=name, allocation=f"{n}{later}"):
                        env = {"FAULTS_ALLOCATION": f"{n}{later}"}
                        done = self.faulty(name, wanted, rows, env, (3,))
                        failed += done.returncode == 3
            self.assertGreater(failed, SAMPLES // 2, name)

    def test_writes(self):
        for name in self.COMMANDS:
            calls, wanted, rows = self.good(name)
            for n in range(1, calls[2] + 2):
                for error in (errno.ENOSPC, errno.EIO, errno.EPIPE):
                    for later in ("", "+"):
                        with self.subTest(command=name, write=f"{n}{later}", error=error):
                            env = {"FAULTS_WRITE": f"{n}{later}", "FAULTS_ERRNO": str(error)}
                            done = self.faulty(name, wanted, rows, env, (2, 3))
                            if n > calls[2]:
                                self.assertEqual(done.returncode, 0)

    def test_threads(self):
        words = ["--threads", 8]
        for name in ("run", "sweep"):
            command, count = self.COMMANDS[name]
            self.COMMANDS = {**self.COMMANDS, name: ([*command[:2], *words, *command[2:]], count)}
            if name == "sweep":
                self.COMMANDS[name] = ([*command[:-2], *words], count)
            calls, wanted, rows = self.good(name)
            self.assertGreater(calls[1], 3)
            for n in range(1, calls[1] + 2):
                for later in ("", "+"):
                    with self.subTest(command=name, thread=f"{n}{later}"):
                        env = {"FAULTS_THREAD": f"{n}{later}"}
                        self.faulty(name, wanted, rows, env, (3,))

    def test_old_files_stay_when_new_ones_fail(self):
        old = self.dir / "r.json"
        for n in (1, 2):
            old.write_text("old")
            env = {"FAULTS_WRITE": str(n)}
            done = self.command(["--hw", SMALL, "net.onnx", "-q", "--json", "r.json"], env)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertEqual(old.read_text(), "old")
            self.assertEqual(
                sorted(p.name for p in self.dir.iterdir()), ["net.onnx", "r.json", "sweep.yaml"]
            )

    def test_a_model_that_shrinks_while_it_is_read(self):
        big = graph(
            [node("MatMul", ["x", "w"], ["y"])],
            [value("x", [1, 1000])],
            [value("y")],
            [tensor("w", [1000, 1000], list(range(1_000_000)), dtype=7)],
        )
        path = self.dir / "shrinks.onnx"
        for words in (
            ["--hw", SMALL, path],
            ["inspect", path],
            ["shapes", path],
            ["run", path],
            ["tile", path, "-o", "tiled.onnx"],
            ["--hw", SMALL, path, "--annotate", "a.onnx", "-q"],
        ):
            with self.subTest(words=words):
                self.clear()
                path.write_bytes(model(big))
                done = self.command(words, {"FAULTS_SHRINK": "shrinks.onnx"})
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertRegex(done.stderr, "^accsim: error: .*cut short")
                left = {p.name for p in self.dir.iterdir()}
                self.assertEqual(left, {"net.onnx", "sweep.yaml", "shrinks.onnx"})

    def test_nobody_reads_the_output(self):
        """A pipe without a reader: killed by SIGPIPE, as is usual, or where that is ignored, an
        error; no part of a file and no lost row either way."""
        for name in self.COMMANDS:
            _, wanted, rows = self.good(name)
            for ignored in (False, True):
                self.clear()
                reader, writer = os.pipe()
                os.close(reader)
                with self.subTest(command=name, ignored=ignored):
                    done = subprocess.run(
                        [str(ACCSIM), *map(str, self.COMMANDS[name][0])],
                        stdout=writer,
                        stderr=subprocess.PIPE,
                        text=True,
                        check=False,
                        cwd=self.dir,
                        timeout=60,
                        restore_signals=not ignored,
                    )
                    if done.returncode == 2:
                        self.assertRegex(done.stderr, REASON)
                    self.assertIn(done.returncode, (0, 2) if ignored else (0, -signal.SIGPIPE))
                    for path, data in self.files().items():
                        self.assertEqual(data, wanted.get(path), path)
                    if name == "sweep":
                        self.assertEqual(self.rows(), rows)
                os.close(writer)

    def test_signals_in_a_write(self):
        """Just before each write: no part of a file, and no temporary file, stays."""
        kinds = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL)
        for name in self.COMMANDS:
            calls, wanted, rows = self.good(name)
            if name != "help":
                self.assertGreater(calls[2], 1, name)
            for kind in kinds:
                for n in range(1, calls[2] + 1):
                    self.clear()
                    env = {"FAULTS_WRITE": str(n), "FAULTS_SIGNAL": str(int(kind))}
                    done = self.command(self.COMMANDS[name][0], env)
                    with self.subTest(command=name, signal=kind, write=n):
                        # A sweep ends by itself when it is asked to.
                        self.assertIn(done.returncode, (0, 1, -kind) if rows else (-kind,))
                        for path, data in self.files().items():
                            self.assertEqual(data, wanted.get(path), path)
                        if rows is not None:
                            self.assertEqual(self.rows(), rows)

    def test_signals(self):
        """Signals at random moments: no part of a file, no lost row."""
        draw = random.Random(5)
        for name in self.COMMANDS:
            _, wanted, rows = self.good(name)
            for kind in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL):
                for _ in range(MOMENTS):
                    self.clear()
                    running = subprocess.Popen(
                        [str(ACCSIM), *map(str, self.COMMANDS[name][0])],
                        stdout=subprocess.DEVNULL,
                        stderr=subprocess.DEVNULL,
                        cwd=self.dir,
                    )
                    time.sleep(draw.uniform(0, 0.08))
                    running.send_signal(kind)
                    code = running.wait(timeout=60)
                    with self.subTest(command=name, signal=kind):
                        self.assertIn(code, (0, 1, -kind))
                        for path, data in self.files().items():
                            if path.endswith(".tmp") and kind == signal.SIGKILL:
                                continue  # nobody can remove it any more
                            self.assertEqual(data, wanted.get(path), path)
                        if name == "sweep":
                            self.assertEqual(self.rows(), rows)


if __name__ == "__main__":
    unittest.main()
