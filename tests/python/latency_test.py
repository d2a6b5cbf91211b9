"""Do single shapes cost what networks of them cost?"""

import os
import pathlib
import tempfile
import time
import unittest

import accsim
from support import main, program


class LatencyTest(unittest.TestCase):
    def test_is_a_product_the_network_of_one(self):
        model = accsim.LatencyModel("64x64")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "g.onnx"
            for batch, m, k, n in ((1, 64, 96, 32), (3, 100, 64, 200), (8, 1, 128, 512)):
                size = f"{m}x{k}x{n}"
                words = ("gemm", size, "--batch", batch, "--op", "MatMul", "-o", path)
                code, _, errors = program(*words)
                self.assertEqual(code, 0, errors)
                total = accsim.cost(path, "64x64").total
                found = model.gemm(m, k, n, batch, weights=False)
                self.assertEqual(found.cycles, total.cycles)
                self.assertEqual(found.read_bytes, total.dram_read_bytes)
                self.assertEqual(found.write_bytes, total.dram_write_bytes)
                self.assertEqual(found.energy_pj, total.energy_pj)
                self.assertEqual(found.macs, batch * m * k * n)
                self.assertEqual(model.gemm(m, k, n, batch, weights=False), found)

    def test_does_attention_count_its_macs(self):
        model = accsim.LatencyModel("64x64")
        found = model.attention(32, 16, 128, 64, kv_heads=8)
        self.assertEqual(found.macs, 2 * 32 * 16 * 128 * 64)
        # Shared keys are read once.
        self.assertLess(found.read_bytes, model.attention(32, 16, 128, 64).read_bytes)

    def test_are_options_taken_and_wrong_sizes_refused(self):
        search, rule = accsim.LatencyModel("64x64"), accsim.LatencyModel("64x64", effort="rule")
        self.assertLessEqual(search.gemm(100, 300, 77).cycles, rule.gemm(100, 300, 77).cycles)
        for wrong in (lambda: search.gemm(0, 1, 1), lambda: search.gemm(1, 1, 2**40)):
            with self.assertRaisesRegex(accsim.Error, "sizes are 1"):
                wrong()
        with self.assertRaisesRegex(accsim.Error, "kv_heads 2 must divide"):
            search.attention(5, 1, 1, 1, kv_heads=2)
        self.assertEqual(len(search), 1)

    def test_how_many_known_shapes_a_second(self):
        model = accsim.LatencyModel("64x64", effort="rule")
        shapes = [(m, 128, 256) for m in range(1, 101)]
        for shape in shapes:
            model.gemm(*shape)
        start = time.perf_counter()
        for _ in range(100):
            for shape in shapes:
                model.gemm(*shape)
        rate = 10_000 / (time.perf_counter() - start)
        print(f"known shapes a second: {rate:.0f}, at least 10000 wanted")
        if os.environ.get("TIME_LIMITS") == "1":
            self.assertGreater(rate, 10_000)


if __name__ == "__main__":
    main()
