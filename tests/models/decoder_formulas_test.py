#!/usr/bin/python3
"""Are parameters and multiply-accumulates of the exporter's language models what the formulas here
make of the same config.json? The formulas know nothing of the exporter's own.

Usage: decoder_formulas_test.py ACCSIM. Exit code 77 (skipped) without python3-onnx.
"""

import dataclasses
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import onnx  # noqa: F401
except ImportError:
    print("skipped: python3-onnx isn't installed", file=sys.stderr)
    sys.exit(77)

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "models" / "exporter"), str(HERE)]

import config  # noqa: E402
import decoder  # noqa: E402
from decoder_steps import TINY, bindings, short, tiny  # noqa: E402

ACCSIM = None  # set by main


@dataclasses.dataclass
class Count:
    """Of a layer: `weights` that every token is multiplied by, `others` that it isn't; MACs of a
    token beside those of weights (`token`), of a token and a position that it may see (`pair`), of
    a position (`position`), and elements of an expert."""

    weights: int = 0
    others: int = 0
    token: int = 0
    pair: int = 0
    position: int = 0
    expert: int = 0
    window: bool = False

    def __add__(self, other):
        values = {f.name: getattr(self, f.name) + getattr(other, f.name) for f in FIELDS}
        return Count(**values, window=self.window or other.window)


FIELDS = [field for field in dataclasses.fields(Count) if field.name != "window"]


def heads(c):
    head = c.get("head_dim") or c["hidden_size"] // c["num_attention_heads"]
    return head, head * c["num_attention_heads"], head * c["num_key_value_heads"]


def attention(c, biases=0, others=0, gate=False, borrowed=False, window=False):
    """Queries, keys, values and the way back."""
    h, (_, q, k) = c["hidden_size"], heads(c)
    weights = h * q * (2 if gate else 1) + q * h + (0 if borrowed else 2 * h * k)
    return Count(weights, others=biases + others, pair=2 * q, window=window)


def dense(c, width, bias=0):
    return Count(3 * c["hidden_size"] * width, bias)


def routed(c, count, width, shared=0, others=0, bias=False):
    h = c["hidden_size"]
    expert = 3 * h * width
    extra = count * (2 * width + h + 1) if bias else 0
    return Count(h * count + 3 * h * shared, others + extra, expert=expert)


def granite(c, _):
    return attention(c) + dense(c, c["intermediate_size"]) + Count(others=2 * c["hidden_size"])


def olmo2(c, _):
    _, q, k = heads(c)
    return granite(c, _) + Count(others=q + k)


def gpt_oss(c, layer):
    head, q, k = heads(c)
    h = c["hidden_size"]
    sinks = c["num_attention_heads"]
    mixer = attention(c, q + 2 * k + h, sinks, window=layer % 2 == 0)
    feed = routed(c, c["num_local_experts"], c["intermediate_size"], bias=True)
    return mixer + feed + Count(others=2 * h)


def with_dense_first(c, layer):
    h = c["hidden_size"]
    if layer < c["first_k_dense_replace"]:
        return dense(c, c["intermediate_size"]) + Count(others=2 * h)
    count, width = c["n_routed_experts"], c["moe_intermediate_size"]
    shared = c["n_shared_experts"] * width
    return routed(c, count, width, shared, others=count) + Count(others=2 * h)


def glm4_moe(c, layer):
    head, q, k = heads(c)
    norms = 2 * head if c["use_qk_norm"] else 0
    return attention(c, q + 2 * k, norms) + with_dense_first(c, layer)


def deepseek_v3(c, layer):
    h, n = c["hidden_size"], c["num_attention_heads"]
    low, rank, turning = c["q_lora_rank"], c["kv_lora_rank"], c["qk_rope_head_dim"]
    head = c["qk_nope_head_dim"] + turning
    queries = h * low + low * n * head
    expand = rank * n * (c["qk_nope_head_dim"] + c["v_head_dim"])
    mixer = Count(
        queries + h * (rank + turning) + n * c["v_head_dim"] * h,
        others=expand + low + rank,
        pair=n * (head + c["v_head_dim"]),
        position=expand,
    )
    return mixer + with_dense_first(c, layer)


def llama4_text(c, layer):
    turns = c["no_rope_layers"][layer] if c.get("no_rope_layers") else (layer + 1) % 4 != 0
    mixer = attention(c, window=bool(turns)) + Count(others=2 * c["hidden_size"])
    if (layer + 1) % c["interleave_moe_layer_step"]:
        return mixer + dense(c, c["intermediate_size_mlp"])
    width = c["intermediate_size"]
    return mixer + routed(c, c["num_local_experts"], width, width)


def lfm2(c, layer):
    h, head = c["hidden_size"], heads(c)[0]
    asked, unit = c.get("block_ff_dim") or c["intermediate_size"], c["block_multiple_of"]
    width = unit * -(-int(2 * asked / 3) // unit)
    taps = c.get("conv_L_cache", 3)
    if layer in c["full_attn_idxs"]:
        mixer = attention(c, others=2 * head)
    else:
        mixer = Count(4 * h * h, h * taps, token=h * taps)
    return mixer + dense(c, width) + Count(others=2 * h)


def mamba2(c, _):
    h, heads_, state = c["hidden_size"], c["num_heads"], c["state_size"]
    inner, taps = heads_ * c["head_dim"], c.get("conv_kernel", 4)
    channels = inner + 2 * c["n_groups"] * state
    weights = h * (inner + channels + heads_) + inner * h
    others = channels * (taps + 1) + 3 * heads_ + inner + h
    return Count(weights, others, token=channels * taps + inner * state)


def qwen3_next(c, layer):
    h, head = c["hidden_size"], heads(c)[0]
    kinds = c.get("layer_types")
    full = kinds[layer] == "full_attention" if kinds else (layer + 1) % 4 == 0
    if full:
        mixer = attention(c, others=2 * head, gate=True)
    else:
        n, keys = c["linear_num_value_heads"], c["linear_num_key_heads"]
        inner = n * c["linear_value_head_dim"]
        channels = 2 * keys * c["linear_key_head_dim"] + inner
        weights = h * (channels + inner) + h * 2 * n + inner * h
        taps = 4 * channels
        mixer = Count(weights, taps + 2 * n + c["linear_value_head_dim"], token=taps)
    shared = c["shared_expert_intermediate_size"]
    feed = routed(c, c["num_experts"], c["moe_intermediate_size"], shared)
    return mixer + feed + Count(weights=h, others=2 * h)


def gemma3n_text(c, layer):
    h, head, n = c["hidden_size"], heads(c)[0], 4
    extra, low = c["hidden_size_per_layer_input"], c["laurel_rank"]
    kinds = c.get("layer_types")
    window = kinds[layer] == "sliding_attention" if kinds else (layer + 1) % 5 != 0
    borrowed = layer >= c["num_hidden_layers"] - c["num_kv_shared_layers"]
    norms = head * (1 if borrowed else 2)
    mixer = attention(c, others=norms, borrowed=borrowed, window=window)
    # The router is asked twice, and a prediction multiplies streams by n x n of the token.
    streams = Count(2 * h * low + 2 * h * extra, token=2 * h * n + n**3 + n**2 + h * n**2)
    streams.others = h * n + n**3 + n**2 + 4 * h
    return mixer + dense(c, c["intermediate_size"]) + streams + Count(others=4 * h)


FORMULAS = {
    "granite": granite,
    "smollm3": granite,
    "olmo2": olmo2,
    "gpt_oss": gpt_oss,
    "glm4_moe": glm4_moe,
    "deepseek_v3": deepseek_v3,
    "llama4_text": llama4_text,
    "lfm2": lfm2,
    "mamba2": mamba2,
    "qwen3_next": qwen3_next,
    "gemma3n_text": gemma3n_text,
}
TIED = ("smollm3", "lfm2", "gemma3n_text")  # where a config doesn't say


class Formula:
    """What a config says of a model of `layers` layers."""

    def __init__(self, values, layers):
        self.c, kind = values, values["model_type"]
        self.layers = [FORMULAS[kind](values, layer) for layer in range(layers)]
        self.tied = values.get("tie_word_embeddings", kind in TIED)
        self.outside, self.others = 0, 0
        if kind == "gemma3n_text":  # streams in and out, and embeddings of layers
            h, extra = values["hidden_size"], values["hidden_size_per_layer_input"]
            self.outside = 6 * h * h + h * layers * extra
            self.others = values["vocab_size_per_layer_input"] * layers * extra + extra

    def experts(self):
        names = ("num_local_experts", "num_experts", "n_routed_experts")
        return next((self.c[name] for name in names if name in self.c), 0)

    def params(self):
        h, vocab = self.c["hidden_size"], self.c["vocab_size"]
        found = sum(x.weights + x.others + self.experts() * x.expert for x in self.layers)
        return found + self.outside + self.others + h + vocab * h * (1 if self.tied else 2)

    def macs(self, sequence, past, past_window, rows):
        h, vocab = self.c["hidden_size"], self.c["vocab_size"]
        total = sequence * (h * vocab + self.outside)
        for x in self.layers:
            seen = sequence + (past_window if x.window else past)
            total += sequence * (x.weights + x.token + x.pair * seen)
            total += seen * x.position + rows * x.expert
        return total


class Formulas(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)

    def totals(self, path, bound, words=()):
        binds = [word for name, value in bound.items() for word in ("--bind", f"{name}={value}")]
        binds += words
        machine = ROOT / "configs" / "64x64.yaml"
        command = [ACCSIM, "--hw", machine, path, "--quiet", "--json", "-", *binds]
        done = subprocess.run(
            list(map(str, command)), capture_output=True, text=True, timeout=120, check=False
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""), path)
        report = json.loads(done.stdout)
        self.assertEqual(report["unsupported"], [])
        return report["totals"]

    def test_does_accsim_find_the_work_of_chunks(self):
        """Of a scan in chunks of 32 tokens, 64 of them, beside all else."""
        tokens, chunk = 64, 32
        for kind in ("mamba2", "qwen3_next"):
            c = tiny(kind)
            values = {**c, "layer_types": ["linear_attention"] * 2}
            size = config.from_config(values)
            if kind == "mamba2":
                inner = c["num_heads"] * c["head_dim"]
                pair = c["n_groups"] * c["state_size"] + inner
                state, steps = 2 * inner * c["state_size"], inner * c["state_size"]
            else:
                heads_, k = c["linear_num_value_heads"], c["linear_key_head_dim"]
                v = c["linear_value_head_dim"]
                pair = heads_ * (3 * k + 2 * v + 10 * chunk)
                state, steps = heads_ * 3 * k * v, 0
            path = self.dir / "decoder.onnx"
            found = []
            for scan, length in (("steps", {}), ("chunks", {"chunk": chunk})):
                path.write_bytes(decoder.build_decoder(size, scan=scan).SerializeToString())
                found.append(self.totals(path, bindings(size, tokens, 0, 0) | length))
            self.assertEqual(found[0]["params"], found[1]["params"])
            more = 2 * tokens * (chunk * pair + state - steps)
            self.assertEqual(found[1]["macs"] - found[0]["macs"], more, kind)

    def test_do_experts_of_every_kind_cost_the_tokens_that_are_assumed(self):
        for kind in set(TINY) & set(FORMULAS):
            values = {"tie_word_embeddings": kind in TIED, **tiny(kind)}
            size = config.from_config(values)
            if not size.experts:
                continue
            path = self.dir / "decoder.onnx"
            path.write_bytes(decoder.build_decoder(size, form="separate").SerializeToString())
            rows, words = size.routed(8), []
            for layer in range(size.layers):
                if isinstance(size.plan[layer].feed, type(size.experts)):
                    node = f"/layers.{layer}/mlp/experts"
                    words += ["--assume", f"{node}.0/routed={rows - 1}"]
                    words += ["--assume", f"{node}.1/routed=1"]
                    for idle in range(2, size.experts.count):
                        words += ["--assume", f"{node}.{idle}/routed=0"]
            bound = bindings(size, 8, 0, 0)
            bound = {name: n for name, n in bound.items() if "expert" not in name}
            totals = self.totals(path, bound, words)
            formula = Formula(values, size.layers)
            self.assertEqual(totals["macs"], formula.macs(8, 0, 0, rows), kind)
            self.assertEqual(totals["params"], formula.params(), kind)

    def compare(self, name, values, size):
        formula = Formula(values, size.layers)
        path = self.dir / "decoder.onnx"
        path.write_bytes(decoder.build_decoder(size).SerializeToString())
        for sequence, past, past_window in ((1, 511, 127), (16, 0, 0), (5, 40, 7)):
            bound = bindings(size, sequence, past, past_window)
            rows = bound.get("active_experts", 0) * bound.get("tokens_per_expert", 0)
            totals = self.totals(path, bound)
            self.assertEqual(totals["params"], formula.params(), name)
            macs = formula.macs(sequence, past, past_window, rows)
            self.assertEqual(totals["macs"], macs, (name, sequence, past))

    def test_are_parameters_of_published_configs_those_of_formulas(self):
        found = set()
        for name, values in config.named().items():
            if values["model_type"] in FORMULAS:
                size = config.find(name)[1]
                self.assertEqual(size.params(), Formula(values, size.layers).params(), name)
                found.add(values["model_type"])
        self.assertEqual(found, set(FORMULAS))

    def test_does_accsim_find_the_work_of_formulas_in_published_models(self):
        for name, values in config.named().items():
            if values["model_type"] in FORMULAS:
                self.compare(name, values, short(name))

    def test_does_accsim_find_the_work_of_formulas_in_small_models(self):
        for kind in set(TINY) & set(FORMULAS):
            values = {"tie_word_embeddings": kind in TIED, **tiny(kind)}
            self.compare(kind, values, config.from_config(values))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    ACCSIM = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
