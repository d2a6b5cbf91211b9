"""PyTorch modules: costed under their modules' paths, with or without weights, and computed as
PyTorch computes them. Run it on a Python with torch and numpy, the package on PYTHONPATH; exit
code 77 without torch."""

import json
import pathlib
import sys
import tempfile
import unittest

try:
    import torch
except ImportError:
    print("skipped: no torch (Debian: python3-torch)")
    sys.exit(77)

import accsim
import accsim._tensors
from support import MODELS, main, program
from torch import nn
from torch_models import Encoder, Llama, ResNet18, Twice


class TorchTest(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)

    def test_is_resnet_18_what_its_onnx_file_costs(self):
        report = accsim.cost_torch(ResNet18(), torch.randn(1, 3, 224, 224), "64x64")
        file = accsim.cost(MODELS / "resnet18_bn_op13.onnx", "64x64")
        self.assertEqual(report.total.macs, file.total.macs)
        self.assertEqual(report.total.cycles, file.total.cycles)
        names = report.layers["name"]
        self.assertEqual(len(set(names)), len(names))
        modules = dict(ResNet18().named_modules())
        convs = [n for n, op in zip(names, report.layers["op_type"]) if op in ("Conv", "Gemm")]
        self.assertEqual(
            set(convs),
            {p for p, m in modules.items() if isinstance(m, (nn.Conv2d, nn.Linear))},
        )

    def test_is_training_mode_left_as_it_was(self):
        module = ResNet18().train()
        accsim.cost_torch(module, torch.randn(1, 3, 64, 64), "16x16")
        self.assertTrue(module.training)

    def test_does_a_torchscript_file_cost_the_same(self):
        module = ResNet18().eval()
        x = torch.randn(1, 3, 96, 96)
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/net.pt"
            torch.jit.save(torch.jit.trace(module, x), path)
            report = accsim.cost_torch(path, x, "64x64")
            onnx = f"{folder}/net.onnx"
            accsim._export.export_file(path, ["1x3x96x96"], onnx)
            self.assertEqual(accsim.cost(onnx, "64x64").total.macs, report.total.macs)
            for wrong in ("1x3x", "1x3:int65", ""):
                with self.assertRaisesRegex(accsim._export.ExportError, "is no shape"):
                    accsim._export.export_file(path, [wrong], onnx)
        self.assertEqual(report.total.cycles, accsim.cost_torch(module, x, "64x64").total.cycles)
        with self.assertRaisesRegex(accsim.Error, "TorchScript"):
            accsim.cost_torch(str(MODELS / "resnet18_op13.onnx"), x, "64x64")

    @unittest.skipUnless(hasattr(getattr(torch, "export", None), "unflatten"), "needs torch 2.2")
    def test_are_saved_tensors_read(self):
        wide = torch.arange(24, dtype=torch.float32).reshape(2, 3, 4)
        held = {
            "plain": wide,
            "turned": wide.transpose(0, 2),
            "list": [torch.tensor(3), (torch.tensor([True, False]),)],
            "half": wide.bfloat16(),
            "sparse": torch.eye(3).to_sparse(),
            "word": "no tensor",
        }
        with tempfile.TemporaryDirectory() as folder:
            path, out = f"{folder}/tensors.pt", pathlib.Path(folder) / "out"
            out.mkdir()
            torch.save(held, path)
            accsim._tensors.write(path, str(out))
            entries = (out / "list").read_text().split("\0")[:-1]
            self.assertEqual(
                entries,
                [
                    "float32 2,3,4 plain",
                    "float32 4,3,2 turned",
                    "int64  list.0",
                    "bool 2 list.1.0",
                    "bfloat16 2,3,4 half",
                    "float32 3,3 sparse",
                ],
            )
            raw = [(out / str(i)).read_bytes() for i in range(len(entries))]
            self.assertEqual(raw[1], wide.permute(2, 1, 0).contiguous().numpy().tobytes())
            self.assertEqual(raw[2:4], [(3).to_bytes(8, "little"), b"\1\0"])
            self.assertEqual(raw[4], wide.bfloat16().view(torch.int16).numpy().tobytes())
            self.assertEqual(raw[5], torch.eye(3).numpy().tobytes())
            for wrong, said in (
                ({"a": 1}, "holds no tensors"),
                (torch.zeros(2, dtype=torch.complex64), "isn't compared"),
                (nn.Linear(2, 2), "finds no tensors"),
            ):
                torch.save(wrong, path)
                with self.assertRaisesRegex(accsim._tensors.TensorsError, said):
                    accsim._tensors.write(path, str(out))

    def test_does_an_exported_program_cost_the_same(self):
        module, x = ResNet18().eval(), torch.randn(1, 3, 64, 64)
        exported = torch.export.export(module, (x,))
        report = accsim.cost_torch(exported, None, "64x64")
        expected = accsim.cost_torch(module, x, "64x64")
        self.assertEqual(report.total.macs, expected.total.macs)
        self.assertEqual(report.total.params, expected.total.params)
        self.assertEqual(report.total.cycles, expected.total.cycles)
        self.assertIn("layer4.1.conv2", report.layers["name"])
        with tempfile.TemporaryDirectory() as folder:
            torch.export.save(exported, f"{folder}/net.pt2")
            file = accsim.cost_torch(f"{folder}/net.pt2", x, "64x64")
            self.assertEqual(file.model, f"{folder}/net.pt2")
            self.assertEqual(file.total.cycles, report.total.cycles)

    @unittest.skipIf(hasattr(torch, "export"), "this torch has torch.export")
    def test_is_it_said_that_programs_need_a_newer_torch(self):
        with self.assertRaisesRegex(accsim.Error, "net.pt2: torch.export's files need torch 2.2"):
            accsim.cost_torch("net.pt2", None, "64x64")
        with self.assertRaisesRegex(accsim.Error, "dict is neither .* which torch .* lacks"):
            accsim.cost_torch({}, None, "64x64")

    def test_what_is_no_module(self):
        with self.assertRaisesRegex(accsim.Error, "int is neither an nn.Module"):
            accsim.cost_torch(1, torch.randn(1), "64x64")
        with self.assertRaisesRegex(accsim.Error, "only programs of torch.export bring their own"):
            accsim.cost_torch(ResNet18(), None, "64x64")

    def test_does_the_program_take_a_torchscript_file(self):
        module, x = ResNet18().eval(), torch.randn(1, 3, 64, 64)
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/net.pt"
            torch.jit.save(torch.jit.trace(module, x), path)
            words = ("--hw", "64x64", path, "--python", sys.executable, "--json", "-")
            code, text, errors = program(*words, "--example", "1x3x64x64")
            self.assertEqual((code, errors), (0, []))
            report = json.loads(text)
            expected = accsim.cost_torch(module, x, "64x64").total
            self.assertEqual(report["totals"]["macs"], expected.macs)
            self.assertEqual(report["totals"]["cycles"], expected.cycles)
            code, text, errors = program(*words, "--example", "1x4x64x64")
            self.assertEqual((code, text), (2, ""))
            self.assertIn(f"{path}: torch.onnx: can't export the module", errors[0])
            with open(path, "wb") as file:
                file.write(b"no TorchScript")
            code, text, errors = program(*words, "--example", "1x3x64x64")
            self.assertEqual((code, text), (2, ""))
            self.assertIn(f"{path}: torch can't read it as TorchScript", errors[0])

    def test_does_a_module_without_weights_cost_the_same(self):
        config = (2, 64, 4, 2, 128, 500)
        tokens = torch.zeros(1, 16, dtype=torch.long)
        report = accsim.cost_torch(Llama(*config), tokens, "64x64")
        bare = accsim.cost_torch(Llama(*config).to("meta"), tokens.to("meta"), "64x64")
        self.assertEqual(bare.total.cycles, report.total.cycles)
        self.assertEqual(bare.total.params, report.total.params)
        self.assertIn("layers.1.down_proj", " ".join(report.layers["name"]))

    def test_does_llama_3_70b_cost_from_its_config(self):
        with torch.no_grad():
            torch.set_default_dtype(torch.float16)
            self.addCleanup(torch.set_default_dtype, torch.float32)
            module = bare_llama(80, 8192, 64, 8, 28672, 128256)
        tokens = torch.zeros(1, 32, dtype=torch.long, device="meta")
        report = accsim.cost_torch(module, tokens, "128x128")
        products = 80 * (2 * 8192**2 + 2 * 8192 * 1024 + 3 * 8192 * 28672) + 8192 * 128256
        attention = 80 * 2 * 64 * 32 * 32 * 128
        self.assertEqual(report.total.macs, 32 * products + attention)
        self.assertGreater(report.total.params, 70e9)

    def test_does_golden_agree_with_torch(self):
        x = torch.randn(1, 3, 64, 64)
        rows = accsim.golden(ResNet18(), x, hw="16x16")
        self.assertTrue(rows.passed, rows)
        layers = {row["layer"]: row for row in rows}
        self.assertIn("layer4.1.conv2", layers)
        self.assertIn("fc", layers)
        self.assertEqual(set(layers), {name for name, _ in ResNet18().named_modules()})
        for row in rows:
            self.assertLess(row["float_error"], 1e-5, row)
        self.assertGreater(max(row.get("int8_error", 0) for row in rows), 0)
        self.assertLess(layers["relu"]["int8_error"], 0.02)
        self.assertLess(layers["fc"]["int8_error"], 0.02)

    def test_is_each_call_of_each_module_right(self):
        rows = accsim.golden(Twice(), torch.randn(1, 3, 8, 8), hw="16x16", tolerance=1e-5)
        self.assertTrue(rows.passed, rows)
        calls = [(row["layer"], row["call"], row["output"]) for row in rows]
        body = ["body.0", "body.1", "body"]
        self.assertEqual(
            calls,
            [(name, 1, 0) for name in ("same", "conv", "bn", "relu")]
            + [(name, call, 0) for call in (1, 2) for name in body]
            + [("relu", 2, 0), ("drop", 1, 0), ("head.conv", 1, 0)]
            + [("head", 1, 0), ("head", 1, 1), ("", 1, 0), ("", 1, 1)],
        )

    def test_is_the_network_a_row_where_nothing_within_is_called(self):
        x = torch.randn(1, 3, 32, 32)
        rows = accsim.golden(torch.jit.trace(ResNet18().eval(), x), x, int8=False)
        self.assertEqual([row["layer"] for row in rows], [""])
        self.assertTrue(rows.passed, rows)

    def test_are_the_tensors_of_a_tuple_rows(self):
        rows = accsim.golden(nn.LSTM(4, 8), torch.randn(5, 1, 4), int8=False)
        self.assertEqual([row["output"] for row in rows], [0, 1, 2])
        self.assertEqual([row["shape"] for row in rows], [(5, 1, 8), (1, 1, 8), (1, 1, 8)])
        self.assertTrue(rows.passed, rows)

    def test_has_a_script_the_parameters_that_it_has_in_pytorch(self):
        """Fresh ones: gains, shifts and statistics of equal numbers are tensors of their own. Tied
        ones are one."""
        tied = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8))
        tied[2].weight = tied[0].weight
        for module, shape in ((ResNet18(), (1, 3, 64, 64)), (tied, (1, 8))):
            with tempfile.TemporaryDirectory() as folder:
                script, onnx = f"{folder}/net.pt", f"{folder}/net.onnx"
                torch.jit.save(torch.jit.trace(module.eval(), torch.zeros(shape)), script)
                accsim._export.export_file(script, ["x".join(map(str, shape))], onnx)
                counted = accsim.inspect(onnx)
            self.assertEqual(counted.params, sum(p.numel() for p in module.parameters()))
            floats = [b.numel() for b in module.buffers() if b.is_floating_point()]
            self.assertEqual(counted.buffers, sum(floats))

    def test_does_bert_base_cost_what_its_layers_multiply(self):
        module = Encoder(12, 768, 12, 3072, 30522, 2).eval()
        report = accsim.cost_torch(module, torch.zeros(1, 128, dtype=torch.int64), "64x64")
        products = 4 * 768 * 768 + 2 * 768 * 3072
        macs = 12 * (128 * products + 2 * 128 * 128 * 768) + 768 * 2
        self.assertEqual(report.total.macs, macs)
        work = zip(report.layers["name"], report.layers["macs"])
        paths = {name.rpartition(".")[0] for name, n in work if n > 0}
        self.assertEqual({p for p in paths if p}, {f"layers.{i}" for i in range(12)})

    def test_is_golden_of_a_transformer_close(self):
        module = Llama(layers=1, width=64, heads=4, kv_heads=2, hidden=128, words=100)
        rows = accsim.golden(module, torch.arange(8)[None], hw="16x16")
        self.assertIn("lm_head", {row["layer"] for row in rows})
        self.assertIn("layers.0.norm1", {row["layer"] for row in rows})
        for row in rows:
            self.assertLess(row["float_error"], 1e-5, row)


def bare_llama(*config):
    """The module on the meta device from the beginning: 70e9 parameters take no memory."""
    made = torch.nn.Parameter.__new__

    def factory(function):
        def on_meta(*args, **kwargs):
            return function(*args, **{**kwargs, "device": "meta"})

        return on_meta

    names = ("empty", "ones", "zeros")
    saved = {name: getattr(torch, name) for name in names}
    try:
        for name in names:
            setattr(torch, name, factory(saved[name]))
        return Llama(*config)
    finally:
        for name in names:
            setattr(torch, name, saved[name])
        assert made is torch.nn.Parameter.__new__


if __name__ == "__main__":
    main()
