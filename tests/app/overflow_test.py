#!/usr/bin/python3
"""Sums beyond 64 bits are input errors that name what was summed, in every command that sums.

Usage: overflow_test.py ACCSIM [unittest arguments].
"""

import pathlib
import subprocess
import tempfile
import unittest

from program import ACCSIM, ROOT, patience
from wire import graph, model, node, value

SMALL = ROOT / "configs" / "8x8.yaml"


def products(count, size):
    """A model of `count` products of size x size matrices: count * size^3 MACs."""
    square = [size, size]
    return model(
        graph(
            [node("MatMul", ["a", "b"], [f"y{i}"]) for i in range(count)],
            [value("a", square), value("b", square)],
            [value(f"y{count - 1}", square)],
        ),
        opset=13,
    )


class OverflowTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)

    def model(self, count, size=100_000):
        path = self.dir / f"{count}.onnx"
        path.write_bytes(products(count, size))
        return path

    def machine(self, name, **changes):
        out = SMALL.read_text()
        for key, new in changes.items():
            lines = out.splitlines()
            at = [i for i, line in enumerate(lines) if line.strip().startswith(f"{key}:")]
            self.assertTrue(at, key)
            for i in at:
                lines[i] = lines[i].split(key)[0] + f"{key}: {new}"
            out = "\n".join(lines) + "\n"
        path = self.dir / name
        path.write_text(out)
        return path

    def spec(self, model, hw, **more):
        path = self.dir / f"spec{len(list(self.dir.iterdir()))}.yaml"
        path.write_text(
            f"base: {hw}\nmodels: [{{file: {model}, weight: {more.pop('weight', 1)}}}]\n"
            "axes: {lanes: {field: vector.lanes.pool, values: [8, 16]}}\n"
            + "".join(f"{key}: {value}\n" for key, value in more.items())
        )
        return path

    def run_accsim(self, *args):
        return subprocess.run(
            [str(ACCSIM), *map(str, args)],
            capture_output=True,
            text=True,
            cwd=self.dir,
            timeout=patience(),
            check=False,
        )

    def refused(self, *args, names):
        before = sorted(self.dir.glob("*.json")) + sorted(self.dir.glob("*.csv"))
        done = self.run_accsim(*args)
        self.assertEqual((done.returncode, done.stdout), (2, ""), f"{args}\n{done.stderr[-2000:]}")
        for name in names:
            self.assertIn(name, done.stderr)
        self.assertEqual(sorted(self.dir.glob("*.json")) + sorted(self.dir.glob("*.csv")), before)

    def test_macs_beyond_64_bits(self):
        model = self.model(10_000)  # 10^19 MACs; 2^63 is 9.2 * 10^18
        cost = ("--hw", SMALL, model)
        for args in (
            cost,
            (*cost, "--json", "x.json"),
            (*cost, "--csv", "x.csv"),
            (*cost, "-q"),
            (*cost, "--effort", "rule"),
            (*cost, "--all"),
            (*cost, "--dump-program", "*"),
            ("verify", *cost),
            ("verify", *cost, "--layers", "--max-cycles", 100),
        ):
            with self.subTest(args=args):
                self.refused(*args, names=["MACs", "64 bits", str(model)])
        for more in (
            (),
            ("--json", "x.json"),
            ("--csv", "x.csv"),
            ("--macs", "all"),
            ("--reorder",),
        ):
            with self.subTest(inspect=more):
                self.refused("inspect", model, *more, names=["MACs", "bits", str(model)])
        for strategy in ("grid", "pareto", "random\nseed: 1\ncount: 2"):
            for effort in ("rule", "search"):
                for layers in ("false", "true"):
                    with self.subTest(strategy=strategy, effort=effort, layers=layers):
                        spec = self.spec(
                            model, SMALL, strategy=strategy, effort=effort, layers=layers
                        )
                        self.refused("sweep", spec, names=["MACs", "64 bits"])
        self.refused(
            "sweep", "submit", spec.name, "--nodes", 2, "--dry-run", names=["MACs", "64 bits"]
        )

    def test_commands_that_sum_nothing_go_on(self):
        model = self.model(10_000)
        done = self.run_accsim("shapes", model)
        self.assertEqual((done.returncode, done.stdout.count("100000x100000")), (0, 10_000))
        self.refused("run", model, names=["'a'"])  # its inputs alone are 40 GB each

    def test_cycles_beyond_64_bits(self):
        # 9 * 10^18 MACs are counted, the cycles of a DRAM of a thousandth byte a cycle are not:
        # three matrices of 10^10 bytes a product, a thousand cycles a byte at least.
        model = self.model(9_000)
        slow = self.machine("slow.yaml", read_bytes_per_cycle=0.001, write_bytes_per_cycle=0.001)
        self.refused("--hw", slow, model, "--effort", "rule", names=["cycles", "64 bits"])
        self.refused("sweep", self.spec(model, slow, effort="rule"), names=["cycles", "64 bits"])
        self.refused("verify", "--hw", slow, model, "--effort", "rule", names=["cycles", "64 bits"])

    def test_weighted_sums_beyond_64_bits(self):
        model = self.model(5)
        spec = self.spec(model, SMALL, effort="rule", weight=1_000_000)
        self.refused("sweep", spec, names=["cycles", "64 bits", "weights"])

    def test_one_product_beyond_64_bits(self):
        most = 1 << 20
        self.refused("verify", "--hw", SMALL, "--gemm", f"{most}x{most}x{most}", names=["2^50"])
        self.refused(
            "verify",
            "--hw",
            SMALL,
            "--conv",
            ",".join([str(most)] * 4 + ["1024", "3", "3", "1", "1", "1", "1"]),
            names=["2^50"],
        )


if __name__ == "__main__":
    unittest.main()
