#!/usr/bin/python3
"""Are the exporter's language models of the size that is published, and does accsim cost them so?

Usage: decoders_test.py ACCSIM. Exit code 77 (skipped) without python3-onnx.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import onnx
    import onnx.shape_inference
except ImportError:
    print("skipped: python3-onnx isn't installed", file=sys.stderr)
    sys.exit(77)

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
EXPORTER = ROOT / "models" / "exporter"
sys.path[:0] = [str(EXPORTER), str(pathlib.Path(__file__).resolve().parent)]

import config  # noqa: E402
import decoder  # noqa: E402
import weights  # noqa: E402
from decoder_steps import bindings, short  # noqa: E402

ACCSIM = None  # set by main

# Parameters of the checkpoints as they are published; of Gemma 3, Gemma 3n and Llama 4 without the
# parts that see and hear, of DeepSeek-V3, GLM-4.5 and Qwen3-Next without the layer that predicts
# one token more, of Falcon without the copy of its embedding that the checkpoint has as output
# projection.
PUBLISHED = {
    "llama-3-8b": 8_030_261_248,
    "llama-3-70b": 70_553_706_496,
    "llama-3.2-1b": 1_235_814_400,
    "qwen3-8b": 8_190_735_360,
    "qwen3-30b-a3b": 30_532_122_624,
    "mistral-7b": 7_241_732_096,
    "mixtral-8x7b": 46_702_792_704,
    "gemma-3-4b": 3_880_263_168,
    "phi-2": 2_779_683_840,
    "phi-3-mini": 3_821_079_552,
    "gpt2": 124_439_808,
    "falcon-7b": 7_217_189_760 - 65_024 * 4_544,
    "mamba-130m": 129_135_360,
    "mamba-2.8b": 2_768_345_600,
    "deepseek-v3": 671_026_419_200,
    "gpt-oss-20b": 20_914_757_184,
    "gemma-3n-e4b": 6_835_235_568,
    "llama-4-scout": 107_769_861_120,
    "glm-4.5-air": 106_852_251_264,
    "granite-3.1-8b": 8_170_848_256,
    "lfm2-1.2b": 1_170_340_608,
    "mamba-codestral-7b": 7_285_403_648,
    "olmo-2-7b": 7_298_617_344,
    "qwen3-next-80b-a3b": 79_674_391_296,
    "smollm3-3b": 3_075_098_624,
}


class Decoders(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)

    def write(self, model, name="decoder.onnx"):
        path = self.dir / name
        path.write_bytes(model.SerializeToString())
        return path

    def report(self, path, bound, *args, machine="64x64"):
        binds = [word for name, value in bound.items() for word in ("--bind", f"{name}={value}")]
        machine = ROOT / "configs" / f"{machine}.yaml"
        command = [ACCSIM, "--hw", machine, path, "--quiet", "--json", "-", *binds, *args]
        done = subprocess.run(
            list(map(str, command)), capture_output=True, text=True, timeout=120, check=False
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""), path)
        report = json.loads(done.stdout)
        self.assertEqual((report["unsupported"], report["model"]["defaulted"]), ([], ["batch"]))
        return report

    def cost(self, size, path, sequence, past, past_window, experts=None):
        """The totals of a step, whose multiply-accumulates are those of the geometry."""
        bound = bindings(size, sequence, past, past_window, experts)
        totals = self.report(path, bound)["totals"]
        rows = bound.get("active_experts", 0) * bound.get("tokens_per_expert", 0)
        macs = size.macs(sequence, past, past_window=past_window, routed=rows)
        self.assertEqual(totals["macs"], macs, (path, bound))
        return totals

    def test_has_every_model_its_published_parameters(self):
        self.assertEqual(set(config.named()), set(PUBLISHED))
        for name, params in PUBLISHED.items():
            self.assertEqual(config.find(name)[1].params(), params, name)

    def test_does_accsim_cost_a_step_of_decoding_of_every_whole_model(self):
        for name, params in PUBLISHED.items():
            size = config.find(name)[1]
            path = self.write(decoder.build_decoder(size), f"{name}.onnx")
            self.assertLess(path.stat().st_size, 25_000 * (size.layers + 1))
            self.assertEqual(self.cost(size, path, 1, 511, 127)["params"], params, name)

    def test_does_a_narrow_memory_take_the_bytes_of_weights_and_cache_over_its_rate(self):
        """A token of one sequence reads each weight, a byte, once, of the embedding a row, and all
        keys and values."""
        name = "llama-3-8b"
        size = config.find(name)[1]
        path = self.write(decoder.build_decoder(size))
        weights_read = PUBLISHED[name] - (size.vocab - 1) * size.hidden
        for past in (1023, 16383):
            report = self.report(path, bindings(size, 1, past, past), machine="64x64-starved")
            totals, rate = report["totals"], report["hw"]["dram"]["read_bytes_per_cycle"]
            cache = size.layers * 2 * past * 8 * 128
            least = (weights_read + cache) / rate
            self.assertGreater(totals["cycles"], least)
            self.assertLess(totals["cycles"], 1.02 * least, past)
            self.assertEqual((totals["bound"], totals["lost_to"]), ("dram", "DRAM read"))

    def test_does_accsim_cost_a_prefill_of_every_model(self):
        for name in PUBLISHED:
            size = short(name)
            model = decoder.build_decoder(size)
            onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True)
            path = self.write(model, f"{name}.onnx")
            for sequence, past, past_window in ((16, 0, 0), (5, 40, 7)):
                totals = self.cost(size, path, sequence, past, past_window)
                self.assertEqual(totals["params"], size.params(), name)

    def test_are_scales_all_that_integer_weights_add(self):
        for name in PUBLISHED:
            size = short(name)
            for text, group in (("bfloat16", None), ("int8", 0), ("int4", 0), ("int4:32", 32)):
                form = weights.WeightFormat.parse(text)
                path = self.write(decoder.build_decoder(size, form), f"{name}.onnx")
                # Integer experts without tokens count as no parameters: all of them have some.
                totals = self.cost(size, path, 1, 63, 63, size.experts and size.experts.count)
                scales = 0 if group is None else size.scales(group)
                self.assertEqual(totals["params"], size.params() + scales, (name, text))

    def test_do_integers_of_four_bits_take_half_a_byte(self):
        size = decoder.Geometry.parse("1,64,4,2,96,50")
        form = weights.WeightFormat.parse("int4:32")
        found = {}
        for tensor in decoder.build_decoder(size, form).graph.initializer:
            length = next(int(e.value) for e in tensor.external_data if e.key == "length")
            found[tensor.data_type] = found.get(tensor.data_type, 0) + length
        products = 64 * 64 + 2 * 64 * 32 + 64 * 64 + 3 * 64 * 96 + 64 * 50
        floats = 50 * 64 + 3 * 64 + products // 32  # the embedding, norms, scales
        self.assertEqual(found, {22: products // 2, onnx.TensorProto.FLOAT16: 2 * floats})

    def test_are_only_the_weights_of_experts_with_tokens_read(self):
        size = short("mixtral-8x7b")
        path = self.write(decoder.build_decoder(size))
        expert = 3 * 4096 * 14336
        dense = size.params() - 32000 * 4096 - 2 * 8 * expert  # of the embedding one row is read
        for active in (1, 2, 8):
            read = self.cost(size, path, 1, 63, 0, active)["dram_read_bytes"]
            least = dense + 2 * active * expert  # a weight is a byte on this machine
            self.assertLessEqual(least - 100_000, read)  # norms stay on chip or are wider
            self.assertLess(read, 1.02 * least)

    def test_do_experts_cost_the_tokens_that_are_assumed(self):
        size = short("mixtral-8x7b")
        path = self.write(decoder.build_decoder(size, form="separate"))
        tokens, counts = 8, (9, 4, 2, 1, 0, 0, 0, 0)
        self.assertEqual(sum(counts), size.routed(tokens))
        bound = {"sequence": tokens, "past": 0, "total": tokens}
        words = []
        for layer in range(size.layers):
            for number, count in enumerate(counts):
                words += ["--assume", f"/layers.{layer}/mlp/experts.{number}/routed={count}"]
        totals = self.report(path, bound, *words)["totals"]
        self.assertEqual(totals["macs"], size.macs(tokens))
        self.assertEqual(totals["params"], size.params())

    def test_is_a_published_config_what_its_name_is(self):
        for name, published in config.named().items():
            path = self.dir / "config.json"
            path.write_text(json.dumps(published))
            self.assertEqual(config.find(str(path))[1], config.find(name)[1])

    def test_are_defaults_taken_for_what_a_config_leaves_out(self):
        text = {
            "model_type": "gemma3_text",
            "hidden_size": 2560,
            "intermediate_size": 10240,
            "num_hidden_layers": 34,
            "sliding_window": 1024,
        }
        size = config.from_config({"model_type": "gemma3", "text_config": text})
        self.assertEqual(size.params(), PUBLISHED["gemma-3-4b"])
        self.assertEqual([size.window(layer) for layer in range(7)], [1024] * 5 + [0, 1024])
        types = ["full_attention", "sliding_attention"] * 17
        size = config.from_config({**text, "layer_types": types})
        self.assertEqual([size.window(layer) for layer in range(3)], [0, 1024, 0])

    def test_are_configs_refused_that_nothing_here_builds(self):
        llama = config.named()["llama-3-8b"]
        for change in (
            {"model_type": "llama_9"},
            {"layer_types": ["full_attention"] * 31},
            {"layer_types": ["other_attention"] * 32},
            {"model_type": None},
            {"hidden_act": "relu6"},
            {"num_key_value_heads": 5},
            {"num_hidden_layers": 0},
            {"hidden_size": None},
            {"num_attention_heads": None},
            {"num_local_experts": 4, "num_experts_per_tok": 5},
        ):
            with self.assertRaises(ValueError, msg=change):
                config.from_config({**llama, **change})
        with self.assertRaises(ValueError):
            config.find("llama-9-9b")
        for text in ("int3", "int4:", "int4:x", "int8:1", "float16:32", ""):
            with self.assertRaises(ValueError, msg=text):
                weights.WeightFormat.parse(text)

    def test_does_the_command_write_what_it_names(self):
        command = [sys.executable, str(EXPORTER / "export.py"), "--out", str(self.dir)]
        options = ["--decoder", "gpt2", "--weights", "int4:64", "--layers", "1"]
        done = subprocess.run(
            command + options, capture_output=True, text=True, timeout=60, check=False
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        path = self.dir / "gpt2_1layers_int4g64_op22.onnx"
        self.cost(config.find("gpt2")[1].cut(1), path, 1, 63, 0)
        done = subprocess.run(
            [*command, "--decoder", "gpt2", "--layers", "13"],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        self.assertEqual(done.returncode, 2)
        self.assertIn("13 layers of 12", done.stderr)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    ACCSIM = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
