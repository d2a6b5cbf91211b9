#!/usr/bin/python3
"""More threads than the system gives: the same results with fewer, or exit code 3 and a reason.

Usage: limits_test.py ACCSIM [unittest arguments].

Address space is limited, because a limit of processes doesn't hold for root: every thread takes
8 MB of it for its stack.
"""

import pathlib
import re
import resource
import shutil
import subprocess
import tempfile
import unittest

from program import ACCSIM, ROOT

MODEL = ROOT / "models" / "squeezenet1_1_op13.onnx"
SMALL = ROOT / "configs" / "8x8.yaml"
MANY = 64
MB = 1 << 20


def limited(megabytes):
    def set_limit():
        resource.setrlimit(resource.RLIMIT_AS, (megabytes * MB, megabytes * MB))

    return set_limit


def run(*args, megabytes=None, cwd=None):
    """Hangs are TimeoutExpired, which fails the test."""
    return subprocess.run(
        [str(ACCSIM), *map(str, args)],
        capture_output=True,
        text=True,
        cwd=cwd,
        timeout=200,
        check=False,
        preexec_fn=limited(megabytes) if megabytes else None,
    )


class LimitsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)

    def steps(self, few, many, limits, same):
        """Runs `many` under every limit (MB). The largest must do; below, both happen."""
        codes = []
        alone = few()
        self.assertEqual(alone.returncode, 0, alone.stderr)
        for megabytes in limits:
            with self.subTest(megabytes=megabytes):
                done = many(megabytes)
                codes.append(done.returncode)
                self.assertIn(done.returncode, (0, 3), f"{megabytes} MB: {done.stderr}")
                if done.returncode == 3:
                    self.assertRegex(done.stderr, r"^accsim: error: .*(memory|thread|resource)")
                else:
                    self.assertEqual(same(done), same(alone))
        # The stacks of all threads alone don't fit below any of the limits.
        self.assertLess(max(limits), MANY * 8)
        self.assertEqual(codes[-1], 0)

    def test_run(self):
        def outputs(done):
            return re.sub(r"peak memory.*", "", done.stdout)

        self.steps(
            lambda: run("run", MODEL, "--weights", "random:1"),
            lambda mb: run("run", MODEL, "--weights", "random:1", "--threads", MANY, megabytes=mb),
            # Close together where the first thread's stack may be what can't grow.
            (30, *range(40, 56), 60, 75, 90, 105, 120, 150, 200, 300),
            outputs,
        )

    def test_sweep(self):
        for strategy in ("grid", "pareto"):
            spec = self.dir / f"{strategy}.yaml"
            spec.write_text(
                f"base: {SMALL}\nmodels: [{{file: {MODEL}}}]\neffort: rule\nstrategy: {strategy}\n"
                "axes:\n  act: {field: buffers.activation.kib, values: [16, 32, 64]}\n"
                "  lanes: {field: vector.lanes.pool, powers_of_two: [8, 256]}\n"
            )
            stores = iter(range(100))

            def sweep(*args, spec=spec, stores=stores, **kwargs):
                self.store = self.dir / f"{spec.stem}{next(stores)}.sqlite"
                return run("sweep", spec, "--store", self.store, *args, **kwargs)

            def points(_):
                return run("sweep", "show", self.store, "--csv", "-").stdout

            self.assertEqual(sweep("--threads", 1).returncode, 0)
            wanted = points(None)
            codes = []
            for megabytes in (30, 45, 60, 90, 130, 200, 300, 450):
                with self.subTest(strategy=strategy, megabytes=megabytes):
                    done = sweep("--threads", MANY, megabytes=megabytes)
                    codes.append(done.returncode)
                    self.assertIn(done.returncode, (0, 3), done.stderr)
                    if done.returncode == 0:
                        self.assertEqual(points(done), wanted)
                    else:
                        self.assertRegex(done.stderr, r"^accsim: error: .*(memory|thread|resource)")
                        # and the same command goes on where it was stopped
                        again = run("sweep", spec, "--store", self.store, "--threads", 2)
                        self.assertEqual(again.returncode, 0, again.stderr)
                        self.assertEqual(points(again), wanted)
            self.assertEqual(codes[-1], 0)

    @unittest.skipUnless(shutil.which("verilator"), "there is no verilator")
    def test_verify(self):
        # All threads start, however few programs there are.
        def verify(jobs, **kwargs):
            return run(
                "verify",
                "--hw",
                SMALL,
                "--random",
                12,
                "--jobs",
                jobs,
                "--json",
                self.dir / "report.json",
                **kwargs,
            )

        def rows(_):
            return re.findall(
                r'"(?:name|rtl_cycles|passed)": [^,\n]*', (self.dir / "report.json").read_text()
            )

        self.assertEqual(verify(1).returncode, 0)
        wanted = rows(None)
        # Starting the tools that name the core takes some memory, too.
        for megabytes in (200, 300, 360, 400, 450, 2000):
            with self.subTest(megabytes=megabytes):
                done = verify(MANY, megabytes=megabytes)
                self.assertIn(done.returncode, (0, 3), done.stdout[-500:] + done.stderr)
                if done.returncode == 0:
                    self.assertEqual(rows(done), wanted)
        self.assertEqual(done.returncode, 0, done.stdout[-500:] + done.stderr)


if __name__ == "__main__":
    unittest.main()
