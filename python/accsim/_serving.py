"""Latencies of a decoder's layers as LLMServingSim reads them."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ._core import LatencyModel, Machine, Model, cost
from ._errors import Error
from ._protobuf import message

MachineLike = Machine | str | os.PathLike[str] | dict[str, Any]
Nanoseconds = Callable[[int], float]

_NEEDED = (
    "hidden_size",
    "intermediate_size",
    "num_attention_heads",
    "vocab_size",
)
_EXPERTS = ("num_local_experts", "num_experts", "n_routed_experts")
_FLOAT, _INT64 = 1, 7  # TensorProto.DataType


def _onnx(nodes: Sequence[tuple[Any, ...]], inputs: Mapping[str, Any], output: str) -> bytes:
    """An ONNX file of a few nodes, (operator, inputs, output, attributes); inputs are shapes by
    name, those whose name ends in ids of int64. The numbers are those of onnx.proto's fields."""

    def value(name: str, shape: Sequence[int] | None = None) -> bytes:
        if shape is None:
            return message((1, name))
        dims = message(*((1, message((1, dim))) for dim in shape))
        kind = _INT64 if name.endswith("ids") else _FLOAT
        return message((1, name), (2, message((1, message((1, kind), (2, dims))))))

    def node(operator: str, reads: Sequence[str], writes: str, **attributes: int) -> bytes:
        return message(
            *((1, name) for name in reads),
            (2, writes),
            (3, writes),
            (4, operator),
            *((5, message((1, name), (3, number), (20, 2))) for name, number in attributes.items()),
        )

    graph = message(
        *((1, node(*each[:3], **(each[3] if len(each) > 3 else {}))) for each in nodes),
        (2, "layer"),
        *((11, value(name, shape)) for name, shape in inputs.items()),
        (12, value(output)),
    )
    return message((1, 10), (7, graph), (8, message((1, ""), (2, 24))))


class _Decoder:
    """A decoder's sizes on one of tp processors, and what its layers take there."""

    def __init__(self, config: Mapping[str, Any], tp: int, hw: Machine, **options: Any) -> None:
        heads: int = config["num_attention_heads"]
        groups: int = config.get("num_key_value_heads") or heads
        self.hidden: int = config["hidden_size"]
        self.head: int = config.get("head_dim") or self.hidden // heads
        self.all_words: int = config["vocab_size"]
        sizes = {
            "num_attention_heads": heads,
            "intermediate_size": config["intermediate_size"],
            "vocab_size": self.all_words,
        }
        if groups > tp:  # fewer: processors have copies
            sizes["num_key_value_heads"] = groups
        uneven = {name: size for name, size in sizes.items() if size % tp}
        if uneven:
            raise Error(
                [f"{name}: {size} isn't a multiple of {tp}" for name, size in uneven.items()]
            )
        self.heads, self.kv_heads = heads // tp, max(1, groups // tp)
        self.inner, self.words = config["intermediate_size"] // tp, self.all_words // tp
        self.normed_heads = config.get("model_type") == "qwen3"
        self._hw, self._options = hw, options
        self._single = LatencyModel(hw, **options)

    def _product(self, k: int, n: int) -> Nanoseconds:
        return lambda rows: self._single.gemm(rows, k, n).nanoseconds

    def _nodes(self, nodes: Any, inputs: Callable[[int], Any], output: str) -> Nanoseconds:
        def take(rows: int) -> float:
            model = Model.load(_onnx(nodes, inputs(rows), output))
            return float(1e9 * cost(model, self._hw, **self._options).total.seconds)

        return take

    def _norm(self) -> Nanoseconds:
        """What the layer before gave is added, then the sum normalised."""
        nodes = [
            ("Add", ["x", "residual"], "sum"),
            ("RMSNormalization", ["sum", "scale"], "y"),
        ]
        width = self.hidden
        return self._nodes(
            nodes,
            lambda n: {"x": (n, width), "residual": (n, width), "scale": (width,)},
            "y",
        )

    def dense(self) -> dict[str, Nanoseconds]:
        """Nanoseconds of a layer by tokens."""
        hidden, head, inner = self.hidden, self.head, self.inner
        rotated = self.heads + self.kv_heads
        layers = {
            "embedding": self._nodes(
                [("Gather", ["table", "ids"], "y")],
                lambda n: {"table": (self.words, hidden), "ids": (n,)},
                "y",
            ),
            "layernorm": self._norm(),
            "qkv_proj": self._product(hidden, (self.heads + 2 * self.kv_heads) * head),
            "rotary_emb": self._nodes(
                [("RotaryEmbedding", ["x", "cos", "sin"], "y")],
                lambda n: {
                    "x": (1, rotated, n, head),
                    "cos": (1, n, head // 2),
                    "sin": (1, n, head // 2),
                },
                "y",
            ),
            "o_proj": self._product(self.heads * head, hidden),
            "gate_up_proj": self._product(hidden, 2 * inner),
            "act_fn": self._nodes(
                [("Swish", ["gate"], "s"), ("Mul", ["s", "up"], "y")],
                lambda n: {"gate": (n, inner), "up": (n, inner)},
                "y",
            ),
            "down_proj": self._product(inner, hidden),
            "final_layernorm": self._norm(),
        }
        if self.normed_heads:
            layers["qk_norm"] = self._nodes(
                [("RMSNormalization", ["x", "scale"], "y")],
                lambda n: {"x": (n * rotated, head), "scale": (head,)},
                "y",
            )
        return layers

    def per_sequence(self) -> dict[str, Nanoseconds]:
        """Nanoseconds of a layer by sequences, whose last tokens it sees."""
        return {
            "lm_head": self._product(self.hidden, self.words),
            "sampler": self._nodes(
                [("ArgMax", ["logits"], "y", {"axis": -1})],
                lambda n: {"logits": (n, self.all_words)},
                "y",
            ),
        }

    def attention(self, chunk: int, before: int, decodes: int, kv: int) -> float:
        """Nanoseconds of a prefill's chunk, `before` keys there already, and of sequences that
        decode a token with kv keys before it each."""
        prefill = self._sequence(chunk, before + chunk) if chunk else 0
        return prefill + (decodes * self._sequence(1, kv + 1) if decodes else 0)

    def _sequence(self, queries: int, keys: int) -> float:
        found = self._single.attention(self.heads, queries, keys, self.head, kv_heads=self.kv_heads)
        return found.nanoseconds


def _doubling(first: int, last: int) -> list[int]:
    out = [first]
    while 2 * out[-1] <= last:
        out.append(2 * out[-1])
    return out


def _dense_steps(last: int) -> list[int]:
    """LLMServingSim's own: every count to 16, every fourth to 64, every sixteenth from there."""
    steps = [*range(1, 17), *range(20, 65, 4), *range(80, last + 1, 16)]
    return [step for step in steps if step <= last]


def _write(path: str, head: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> None:
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*head, "time_us"])
        for *keys, nanoseconds in rows:
            writer.writerow([*keys, f"{nanoseconds / 1e3:.9g}"])


def _checked(config: Mapping[str, Any] | str | os.PathLike[str]) -> dict[str, Any]:
    if isinstance(config, Mapping):
        sizes = dict(config)
    else:
        with open(config, encoding="utf-8") as file:
            sizes = json.load(file)
    causes = [f"config: has no {name}" for name in _NEEDED if not sizes.get(name)]
    for name in _EXPERTS:
        if sizes.get(name):
            causes.append(f"config: {name}: only dense decoders can be written")
    if causes:
        raise Error(causes)
    return sizes


def write_llmservingsim(
    folder: str | os.PathLike[str],
    config: Mapping[str, Any] | str | os.PathLike[str],
    hw: MachineLike,
    *,
    tp: Sequence[int] = (1,),
    tokens: Sequence[int] | None = None,
    sequences: Sequence[int] | None = None,
    max_tokens: int = 2048,
    max_sequences: int = 256,
    max_kv: int = 16384,
    dataflow: str | None = None,
    mapping: str | list[str] | None = None,
    objective: str = "cycles",
    slack: str = "1%",
    effort: str = "search",
) -> None:
    """Writes a decoder's latencies on a machine as LLMServingSim reads them.

    folder: where the simulator looks for the model on this hardware,
    profiler/perf/HARDWARE/MODEL/VARIANT. It gets meta.yaml and, a degree of tensor parallelism in
    tp, tpN/dense.csv (layer, tokens, time_us), tpN/per_sequence.csv (layer, sequences, time_us) and
    tpN/attention.csv (prefill_chunk, kv_prefill, n_decode, kv_decode, time_us), in microseconds.

    config: a Hugging Face config (a dict or config.json's path) of a dense decoder whose layers are
    those of Llama (or Qwen3, with its qk_norm). Products and attention are LatencyModel's; norms
    (with the residual's sum), rotation, activation, embedding and the sampler (the largest logit)
    are costed as networks of these operators. Collectives are the simulator's. Sequences run one
    after another; a chunk's attention is the whole rectangle of its queries and keys.

    tokens and sequences: the counts for which layers are costed, in between the simulator
    interpolates; attention's axes double up to max_tokens, max_sequences and max_kv. Other options
    as cost() has them.
    """
    decoder = _checked(config)
    machine = Machine.load(hw)
    options = {
        "dataflow": dataflow,
        "mapping": mapping,
        "objective": objective,
        "slack": slack,
        "effort": effort,
    }
    parts = {degree: _Decoder(decoder, degree, machine, **options) for degree in tp}
    token_counts = _dense_steps(max_tokens) if tokens is None else list(tokens)
    sequence_counts = _dense_steps(max_sequences) if sequences is None else list(sequences)
    if not token_counts or not sequence_counts:
        raise Error("tokens and sequences: name at least one count each")
    histories = [0, *_doubling(16, max_kv)]
    prefills = [(chunk, before) for chunk in _doubling(16, max_tokens) for before in histories]
    decodes = [(n, kv) for n in _doubling(1, max_sequences) for kv in histories[1:]]
    batches = [
        *((0, 0, n, kv) for n, kv in decodes),
        *((*prefill, n, kv) for prefill in prefills for n, kv in [(0, 0), *decodes]),
    ]
    for degree, part in parts.items():
        place = os.path.join(os.fspath(folder), f"tp{degree}")
        os.makedirs(place, exist_ok=True)
        for name, axis, layers, counts in (
            ("dense", "tokens", part.dense(), token_counts),
            ("per_sequence", "sequences", part.per_sequence(), sequence_counts),
        ):
            rows = [(layer, n, take(n)) for layer, take in sorted(layers.items()) for n in counts]
            _write(os.path.join(place, f"{name}.csv"), ["layer", axis], rows)
        _write(
            os.path.join(place, "attention.csv"),
            ["prefill_chunk", "kv_prefill", "n_decode", "kv_decode"],
            [(*batch, part.attention(*batch)) for batch in batches],
        )
    meta = {
        "hardware": machine.name,
        "architecture": decoder.get("model_type", "llama"),
        "tp_degrees": list(tp),
        "engine_effective": {
            "max_num_batched_tokens": max(token_counts),
            "max_num_seqs": max(sequence_counts),
        },
        "skew_fit": {"enabled": False},
    }
    with open(os.path.join(os.fspath(folder), "meta.yaml"), "w", encoding="utf-8") as file:
        json.dump(meta, file, indent=1)  # JSON is YAML
        file.write("\n")
