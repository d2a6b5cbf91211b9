"""Do other simulators read what the package writes for them? Run it on .venv's Python, which has
onnx, yaml, protobuf and MLCommons' mlc-chakra, the package on PYTHONPATH."""

import bisect
import csv
import importlib
import importlib.metadata
import pathlib
import subprocess
import sys
import tempfile
import unittest

import accsim
import onnx
import yaml
from onnx import TensorProto, helper
from support import MODELS, main

# Llama-3.1-8B's config.json, what of it says sizes.
LLAMA = {
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
}
FAST = {"effort": "rule"}


class Profile:
    """What LLMServingSim knows of a model on a machine: its reading, written anew from
    serving/core/trace_generator.py of github.com/casys-kaist/LLMServingSim, commit
    007f472e8b4ff9b3fc6723b65923323f88df1f27.

    _load_perf_db() wants meta.yaml and a folder tpN for the degree it runs with.
    _read_category_csv() takes column time_us, in microseconds, as whole nanoseconds, at least 1.
    _build_1d_table() keys dense.csv by columns layer and tokens, per_sequence.csv by layer and
    sequences; _build_attention_table() keys attention.csv by prefill_chunk, kv_prefill, n_decode
    and kv_decode. Between the keys _lookup_1d() interpolates."""

    def __init__(self, folder, tp):
        self.meta = yaml.safe_load((folder / "meta.yaml").read_text())
        place = folder / f"tp{tp}"
        self.layers = {}
        for name, axis in (("dense", "tokens"), ("per_sequence", "sequences")):
            for row, nanoseconds in self.rows(place / f"{name}.csv"):
                self.layers.setdefault((name, row["layer"]), {})[int(row[axis])] = nanoseconds
        axes = ("prefill_chunk", "kv_prefill", "n_decode", "kv_decode")
        self.attention = {
            tuple(int(row[axis]) for axis in axes): nanoseconds
            for row, nanoseconds in self.rows(place / "attention.csv")
        }

    @staticmethod
    def rows(path):
        with open(path, newline="") as file:
            for row in csv.DictReader(file):
                yield row, max(1, round(float(row["time_us"]) * 1000))

    def lookup(self, category, layer, count):
        table = sorted(self.layers[category, layer].items())
        at = bisect.bisect_right([key for key, _ in table], count)
        (x0, y0), (x1, y1) = table[at - 1], table[min(at, len(table) - 1)]
        return int(y0 if x0 == x1 else y0 + (y1 - y0) * (count - x0) / (x1 - x0))


def network(nodes, inputs, output, opset=24):
    """Bytes of an ONNX network made by onnx itself; shapes by input name."""
    values = [
        helper.make_tensor_value_info(
            name, TensorProto.INT64 if name == "ids" else TensorProto.FLOAT, shape
        )
        for name, shape in inputs.items()
    ]
    out = helper.make_empty_tensor_value_info(output)
    graph = helper.make_graph(nodes, "layer", values, [out])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    model.ir_version = 10
    return model.SerializeToString()


class ServingTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name) / "bf16"
        accsim.write_llmservingsim(
            cls.folder,
            LLAMA,
            "64x64",
            tp=(1, 2),
            tokens=[1, 4, 64],
            sequences=[1, 8],
            max_tokens=32,
            max_sequences=4,
            max_kv=64,
            **FAST,
        )
        cls.one, cls.two = Profile(cls.folder, 1), Profile(cls.folder, 2)
        cls.single = accsim.LatencyModel("64x64", **FAST)

    def test_are_there_the_layers_that_it_walks(self):
        """The names of profiler/models/llama.yaml, same commit: one that lacks stops it."""
        dense = (
            "embedding layernorm qkv_proj rotary_emb o_proj gate_up_proj act_fn down_proj "
            "final_layernorm"
        )
        for profile in (self.one, self.two):
            self.assertEqual(
                set(profile.layers),
                {("dense", name) for name in dense.split()}
                | {("per_sequence", "lm_head"), ("per_sequence", "sampler")},
            )
            self.assertEqual(profile.meta["skew_fit"], {"enabled": False})
            limits = profile.meta["engine_effective"]
            self.assertEqual((limits["max_num_batched_tokens"], limits["max_num_seqs"]), (64, 8))

    def test_do_products_take_what_they_take_alone(self):
        # Columns of the weights: queries, keys and values; gate and up side by side.
        shapes = {
            ("dense", "qkv_proj"): ((4096, 6144), (4096, 3072)),
            ("dense", "o_proj"): ((4096, 4096), (2048, 4096)),
            ("dense", "gate_up_proj"): ((4096, 28672), (4096, 14336)),
            ("dense", "down_proj"): ((14336, 4096), (7168, 4096)),
            ("per_sequence", "lm_head"): ((4096, 128256), (4096, 64128)),
        }
        for (category, layer), sizes in shapes.items():
            for profile, (k, n) in zip((self.one, self.two), sizes):
                for rows in (1, 4, 64) if category == "dense" else (1, 8):
                    expected = self.single.gemm(rows, k, n).nanoseconds
                    self.assertEqual(profile.lookup(category, layer, rows), round(expected), layer)

    def test_do_the_other_layers_take_what_networks_of_them_take(self):
        node = helper.make_node
        add = node("Add", ["x", "r"], ["s"])
        norm = [add, node("RMSNormalization", ["s", "g"], ["y"])]
        rows = 4
        wide = (rows, 4096)
        for layer, nodes, inputs in (
            ("layernorm", norm, {"x": wide, "r": wide, "g": (4096,)}),
            ("final_layernorm", norm, {"x": wide, "r": wide, "g": (4096,)}),
            (
                "act_fn",
                [node("Swish", ["g"], ["s"]), node("Mul", ["s", "u"], ["y"])],
                {"g": (rows, 14336), "u": (rows, 14336)},
            ),
            (
                "rotary_emb",
                [node("RotaryEmbedding", ["x", "c", "s"], ["y"])],
                {"x": (1, 40, rows, 128), "c": (1, rows, 64), "s": (1, rows, 64)},
            ),
            (
                "embedding",
                [node("Gather", ["t", "ids"], ["y"])],
                {"t": (128256, 4096), "ids": (rows,)},
            ),
        ):
            report = accsim.cost(network(nodes, inputs, "y"), "64x64", **FAST)
            expected = max(1, round(1e9 * report.total.seconds))
            self.assertGreater(report.total.cycles, 0)
            self.assertEqual(self.one.lookup("dense", layer, rows), expected, layer)
        sampler = network([node("ArgMax", ["x"], ["y"], axis=-1)], {"x": (8, 128256)}, "y")
        expected = round(1e9 * accsim.cost(sampler, "64x64", **FAST).total.seconds)
        for profile in (self.one, self.two):
            self.assertEqual(profile.lookup("per_sequence", "sampler", 8), expected)

    def test_is_attention_that_of_its_sequences(self):
        single = self.single

        def prefill(chunk, before, heads=32):
            found = single.attention(heads, chunk, before + chunk, 128, kv_heads=heads // 4)
            return found.nanoseconds

        decode = single.attention(32, 1, 65, 128, kv_heads=8).nanoseconds
        for batch, expected in {
            (16, 0, 0, 0): prefill(16, 0),
            (32, 64, 0, 0): prefill(32, 64),
            (0, 0, 1, 64): decode,
            (0, 0, 4, 64): 4 * decode,
            (16, 32, 2, 64): prefill(16, 32) + 2 * decode,
        }.items():
            self.assertEqual(self.one.attention[batch], round(expected), batch)
        self.assertEqual(self.two.attention[16, 32, 0, 0], round(prefill(16, 32, 16)))
        chunks = {batch[0] for batch in self.one.attention}
        histories = {batch[1] for batch in self.one.attention}
        decodes = {batch[2:] for batch in self.one.attention}
        self.assertEqual(chunks, {0, 16, 32})
        self.assertEqual(histories, {0, 16, 32, 64})
        self.assertEqual(decodes, {(0, 0), *((n, kv) for n in (1, 2, 4) for kv in (16, 32, 64))})
        self.assertNotIn((0, 0, 0, 0), self.one.attention)

    def test_is_there_a_value_between_the_counts(self):
        low, high = (self.one.lookup("dense", "qkv_proj", n) for n in (4, 64))
        self.assertEqual(self.one.lookup("dense", "qkv_proj", 34), int((low + high) / 2))

    def test_is_qwen_s_norm_of_heads_there(self):
        with tempfile.TemporaryDirectory() as folder:
            place = pathlib.Path(folder)
            config = {**LLAMA, "model_type": "qwen3", "head_dim": 64}
            accsim.write_llmservingsim(
                place, config, "64x64", tokens=[2], sequences=[1], max_tokens=16,
                max_sequences=1, max_kv=16, **FAST,
            )  # fmt: skip
            nodes = [helper.make_node("RMSNormalization", ["x", "g"], ["y"])]
            alone = network(nodes, {"x": (2 * 40, 64), "g": (64,)}, "y")
            expected = round(1e9 * accsim.cost(alone, "64x64", **FAST).total.seconds)
            profile = Profile(place, 1)
            self.assertEqual(profile.lookup("dense", "qk_norm", 2), expected)
            queries = round(self.single.gemm(2, 4096, 48 * 64).nanoseconds)
            self.assertEqual(profile.lookup("dense", "qkv_proj", 2), queries)

    def test_what_is_refused(self):
        def refused(pattern, config, **options):
            with tempfile.TemporaryDirectory() as folder:
                with self.assertRaisesRegex(accsim.Error, pattern):
                    accsim.write_llmservingsim(f"{folder}/x", config, "64x64", **options)
                self.assertEqual(list(pathlib.Path(folder).iterdir()), [])

        refused("only dense decoders", {**LLAMA, "num_local_experts": 8})
        refused("has no hidden_size\nconfig: has no vocab_size", {
            name: size for name, size in LLAMA.items() if name not in ("hidden_size", "vocab_size")
        })  # fmt: skip
        refused("num_attention_heads: 32 isn't a multiple of 3", LLAMA, tp=[3])
        refused("at least one count", LLAMA, tokens=[])

    def test_are_the_networks_good_onnx(self):
        made = accsim._serving._onnx(
            [("ArgMax", ["logits"], "y", {"axis": -1})], {"logits": (8, 100)}, "y"
        )
        model = onnx.load_from_string(made)
        self.assertEqual(model.graph.node[0].attribute[0].i, -1)
        self.assertEqual(model.graph.input[0].type.tensor_type.shape.dim[1].dim_value, 100)
        self.assertEqual(model.SerializeToString(), made)


class ChakraTest(unittest.TestCase):
    """Read by MLCommons' own schema, et_def.proto of the package mlc-chakra, as protoc compiles it
    here, and by its reader of messages."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        (schema,) = (
            file.locate()
            for file in importlib.metadata.files("mlc-chakra")
            if file.name == "et_def.proto"
        )
        done = subprocess.run(
            ["protoc", f"-I{schema.parent}", f"--python_out={folder.name}", str(schema)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        sys.path.insert(0, folder.name)
        cls.addClassCleanup(sys.path.remove, folder.name)
        cls.schema = importlib.import_module("et_def_pb2")
        cls.reader = importlib.import_module("chakra.src.third_party.utils.protolib")
        cls.report = accsim.cost(MODELS / "resnet18_bn_op13.onnx", "64x64")
        cls.path = cls.folder / "net.0.et"
        cls.count = accsim.write_chakra(cls.report, cls.path)

    def read(self):
        """The file's messages; not a byte of them is unknown to the schema or written otherwise."""
        again = b""
        out = []
        with self.reader.openFileRd(str(self.path)) as file:
            kind = self.schema.GlobalMetadata
            while self.reader.decodeMessage(file, message := kind()):
                self.assertEqual(len(message.UnknownFields()), 0)
                data = message.SerializeToString(deterministic=True)
                self.assertLess(len(data), 1 << 14)
                size = [len(data)] if len(data) < 128 else [len(data) & 127 | 128, len(data) >> 7]
                again += bytes(size) + data
                out.append(message)
                kind = self.schema.Node
        self.assertEqual(again, self.path.read_bytes())
        return out[0], out[1:]

    def test_is_every_layer_that_takes_time_a_node(self):
        metadata, nodes = self.read()
        self.assertEqual(metadata.version, "1.0.0")
        table = self.report.layers
        timed = [i for i, cycles in enumerate(table["cycles"]) if cycles > 0]
        self.assertEqual(self.count, len(timed))
        self.assertEqual([node.name for node in nodes], [table["name"][i] for i in timed])
        for place, (node, i) in enumerate(zip(nodes, timed)):
            self.assertEqual(node.type, self.schema.COMP_NODE)
            self.assertEqual(node.id, place)
            self.assertEqual(list(node.data_deps), [place - 1] if place else [])
            values = {a.name: getattr(a, a.WhichOneof("value")) for a in node.attr}
            kinds = {a.name: a.WhichOneof("value") for a in node.attr}
            # As et_feeder_node.cpp of github.com/mlcommons/chakra reads them (commit
            # 02da5d056f2f9c2a994d1887ffba6ad4c7c99695): by these names, from these members.
            self.assertEqual(
                (kinds["is_cpu_op"], kinds["num_ops"], kinds["tensor_size"]),
                ("bool_val", "int64_val", "uint64_val"),
            )
            self.assertEqual(
                values,
                {
                    "is_cpu_op": False,
                    "num_ops": 2 * table["macs"][i],
                    "tensor_size": table["dram_read_bytes"][i] + table["dram_write_bytes"][i],
                    "cycles": table["cycles"][i],
                    "op_type": table["op_type"][i],
                },
            )
        self.assertEqual(sum(values_of(nodes, "num_ops")), 2 * self.report.total.macs)
        self.assertEqual(sum(values_of(nodes, "cycles")), self.report.total.cycles)

    def test_do_durations_add_up_to_the_networks_time(self):
        _, nodes = self.read()
        micros = 1e6 * self.report.total.seconds
        self.assertGreater(micros, 100)
        self.assertEqual(sum(node.duration_micros for node in nodes), round(micros))
        ends = 0
        for node in nodes:
            self.assertEqual(node.start_time_micros, ends)
            ends += node.duration_micros
            exact = micros * values_of([node], "cycles")[0] / self.report.total.cycles
            self.assertLess(abs(node.duration_micros - exact), 1)

    def test_has_a_network_that_only_looks_no_nodes(self):
        shape = helper.make_tensor("shape", TensorProto.INT64, [1], [16])
        nodes = [
            helper.make_node("Constant", [], ["to"], value=shape),
            helper.make_node("Reshape", ["x", "to"], ["y"]),
        ]
        report = accsim.cost(network(nodes, {"x": (4, 4)}, "y"), "64x64")
        path = self.folder / "nothing.0.et"
        self.assertEqual(accsim.write_chakra(report, path), 0)
        self.assertEqual(path.read_bytes(), b"\x07\x0a\x051.0.0")


def values_of(nodes, name):
    return [
        getattr(a, a.WhichOneof("value")) for node in nodes for a in node.attr if a.name == name
    ]


if __name__ == "__main__":
    main()
