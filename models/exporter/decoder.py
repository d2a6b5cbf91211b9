"""The structure of a decoder-only transformer of any size, built without allocating its weights.

Pre-norm blocks with RMSNorm, rotary positions, grouped-query attention with a key/value cache and a
gated feed-forward, the geometry of today's 7- to 70-billion-parameter models. One step of decoding
or prefill: `sequence` new tokens (symbolic) on top of `past` cached ones (symbolic).
"""

import dataclasses

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from onnx_slim import make_absent

OPSET = 17


@dataclasses.dataclass
class Geometry:
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    ffn: int
    vocab: int

    @property
    def head(self):
        return self.hidden // self.heads

    @classmethod
    def parse(cls, text):
        """From "layers,hidden,heads,kv_heads,ffn,vocab"; ValueError says what is wrong."""
        try:
            geometry = cls(*(int(part) for part in text.split(",")))
        except (TypeError, ValueError):
            raise ValueError(f"'{text}' isn't layers,hidden,heads,kv_heads,ffn,vocab") from None
        if min(dataclasses.astuple(geometry)) < 1:
            raise ValueError("every number must be at least 1")
        if geometry.hidden % geometry.heads or geometry.heads % geometry.kv_heads:
            raise ValueError("heads must divide hidden, and kv_heads must divide heads")
        if geometry.head % 2:
            raise ValueError("rotary positions need an even head size (hidden / heads)")
        return geometry

    def params(self):
        """Elements of all weights: embedding, blocks, last norm, untied output projection."""
        kv = self.kv_heads * self.head
        block = (
            2 * self.hidden * self.hidden
            + 2 * self.hidden * kv
            + 3 * self.hidden * self.ffn
            + 2 * self.hidden
        )
        return 2 * self.vocab * self.hidden + self.layers * block + self.hidden

    def macs(self, sequence, past):
        """Multiply-accumulates of one step, batch 1; attention over the full matrix."""
        kv = self.kv_heads * self.head
        weights = 2 * self.hidden * self.hidden + 2 * self.hidden * kv + 3 * self.hidden * self.ffn
        attention = 2 * self.hidden * (past + sequence)
        return sequence * (self.layers * (weights + attention) + self.hidden * self.vocab)


class Builder:
    """Collects nodes and initializers; weights are external and absent."""

    def __init__(self, geometry):
        self.g = geometry
        self.nodes, self.initializers, self.inputs, self.outputs = [], [], [], []
        self.offset = 0

    def op(self, kind, inputs, name, **attributes):
        self.nodes.append(helper.make_node(kind, inputs, [name], name=f"/{name}", **attributes))
        return name

    def weight(self, name, *dims):
        tensor = TensorProto(name=name, data_type=TensorProto.FLOAT16, dims=dims)
        self.offset += make_absent(tensor, self.offset)
        self.initializers.append(tensor)
        return name

    def constant(self, name, values, dtype):
        """A node, because a float initializer would count as a parameter."""
        return self.op(
            "Constant", [], name, value=numpy_helper.from_array(np.array(values, dtype), name)
        )

    def norm(self, x, name):
        square = self.op("Mul", [x, x], f"{name}/square")
        mean = self.op("ReduceMean", [square], f"{name}/mean", axes=[-1], keepdims=1)
        safe = self.op("Add", [mean, "epsilon"], f"{name}/safe")
        root = self.op("Sqrt", [safe], f"{name}/root")
        unit = self.op("Div", [x, root], f"{name}/unit")
        return self.op("Mul", [unit, self.weight(f"{name}.weight", self.g.hidden)], f"{name}/out")

    def linear(self, x, name, rows, cols):
        return self.op("MatMul", [x, self.weight(f"{name}.weight", rows, cols)], name)

    def split_heads(self, x, name, shape):
        heads = self.op("Reshape", [x, shape], f"{name}/split")
        return self.op("Transpose", [heads], f"{name}/heads", perm=[0, 2, 1, 3])

    def rotary(self, x, name):
        low = self.op("Slice", [x, "zero", "half", "last_axis"], f"{name}/low")
        high = self.op("Slice", [x, "half", "end", "last_axis"], f"{name}/high")
        minus = self.op("Neg", [high], f"{name}/minus")
        turned = self.op("Concat", [minus, low], f"{name}/turned", axis=-1)
        straight = self.op("Mul", [x, "cos"], f"{name}/cos")
        across = self.op("Mul", [turned, "sin"], f"{name}/sin")
        return self.op("Add", [straight, across], f"{name}/rotary")

    def repeat_kv(self, x, name):
        """[batch, kv_heads, total, head] -> [batch, heads, total, head]."""
        if self.g.heads == self.g.kv_heads:
            return x
        wide = self.op("Unsqueeze", [x, "axis_2"], f"{name}/unsqueeze")
        wide = self.op("Expand", [wide, "group_shape"], f"{name}/expand")
        return self.op("Reshape", [wide, "heads_shape"], f"{name}/repeat")

    def cached(self, new, kind, layer):
        """Appends to the cache of past keys or values."""
        past, present = f"past_{kind}_{layer}", f"present_{kind}_{layer}"
        dims = [self.g.kv_heads, self.g.head]
        for values, name, length in ((self.inputs, past, "past"), (self.outputs, present, "total")):
            values.append(
                helper.make_tensor_value_info(
                    name, TensorProto.FLOAT16, ["batch", dims[0], length, dims[1]]
                )
            )
        self.nodes.append(
            helper.make_node(
                "Concat", [past, new], [present], name=f"/layers.{layer}/{present}", axis=2
            )
        )
        return present

    def attention(self, x, name, layer):
        g = self.g
        q = self.linear(x, f"{name}/q_proj", g.hidden, g.hidden)
        k = self.linear(x, f"{name}/k_proj", g.hidden, g.kv_heads * g.head)
        v = self.linear(x, f"{name}/v_proj", g.hidden, g.kv_heads * g.head)
        q = self.rotary(self.split_heads(q, f"{name}/q", "q_shape"), f"{name}/q")
        k = self.rotary(self.split_heads(k, f"{name}/k", "kv_shape"), f"{name}/k")
        v = self.split_heads(v, f"{name}/v", "kv_shape")
        k = self.repeat_kv(self.cached(k, "key", layer), f"{name}/k")
        v = self.repeat_kv(self.cached(v, "value", layer), f"{name}/v")
        k = self.op("Transpose", [k], f"{name}/k_t", perm=[0, 1, 3, 2])
        scores = self.op("MatMul", [q, k], f"{name}/scores")
        scores = self.op("Mul", [scores, "scale"], f"{name}/scaled")
        scores = self.op("Add", [scores, "attention_mask"], f"{name}/masked")
        weights = self.op("Softmax", [scores], f"{name}/softmax", axis=-1)
        mixed = self.op("MatMul", [weights, v], f"{name}/mixed")
        mixed = self.op("Transpose", [mixed], f"{name}/mixed_t", perm=[0, 2, 1, 3])
        mixed = self.op("Reshape", [mixed, "hidden_shape"], f"{name}/joined")
        return self.linear(mixed, f"{name}/o_proj", g.hidden, g.hidden)

    def feed_forward(self, x, name):
        g = self.g
        gate = self.linear(x, f"{name}/gate_proj", g.hidden, g.ffn)
        sigmoid = self.op("Sigmoid", [gate], f"{name}/sigmoid")
        silu = self.op("Mul", [gate, sigmoid], f"{name}/silu")
        up = self.linear(x, f"{name}/up_proj", g.hidden, g.ffn)
        gated = self.op("Mul", [silu, up], f"{name}/gated")
        return self.linear(gated, f"{name}/down_proj", g.ffn, g.hidden)

    def block(self, x, layer):
        name = f"layers.{layer}"
        attended = self.attention(self.norm(x, f"{name}/input_norm"), f"{name}/attn", layer)
        x = self.op("Add", [x, attended], f"{name}/attn_residual")
        fed = self.feed_forward(self.norm(x, f"{name}/post_norm"), f"{name}/mlp")
        return self.op("Add", [x, fed], f"{name}/mlp_residual")

    def prelude(self):
        """Constants, and the shapes and tables that all blocks share."""
        g, half = self.g, np.float16
        self.constant("epsilon", [1e-5], half)
        self.constant("scale", [g.head**-0.5], half)
        for name, number in (
            ("zero", 0),
            ("half", g.head // 2),
            ("end", g.head),
            ("last_axis", -1),
            ("axis_1", 1),
            ("axis_2", 2),
        ):
            self.constant(name, [number], np.int64)
        # Reshape's 0 keeps a dim and -1 is computed, so these serve any batch and length.
        self.constant("q_shape", [0, 0, g.heads, g.head], np.int64)
        self.constant("kv_shape", [0, 0, g.kv_heads, g.head], np.int64)
        self.constant("heads_shape", [0, g.heads, -1, g.head], np.int64)
        self.constant("hidden_shape", [0, 0, g.hidden], np.int64)
        self.constant("group_shape", [1, 1, g.heads // g.kv_heads, 1, 1], np.int64)
        self.constant("frequencies", 1e4 ** -(np.arange(0, g.head, 2) / g.head), np.float32)
        position = self.op("Cast", ["position_ids"], "position", to=TensorProto.FLOAT)
        position = self.op("Unsqueeze", [position, "last_axis"], "position_column")
        angle = self.op("Mul", [position, "frequencies"], "angle_half")
        angle = self.op("Concat", [angle, angle], "angle_row", axis=-1)
        angle = self.op("Unsqueeze", [angle, "axis_1"], "angle")
        for function in ("Cos", "Sin"):
            table = self.op(function, [angle], f"{function.lower()}_float")
            self.op("Cast", [table], function.lower(), to=TensorProto.FLOAT16)

    def build(self):
        g = self.g
        info = helper.make_tensor_value_info
        self.inputs += [
            info("input_ids", TensorProto.INT64, ["batch", "sequence"]),
            info("position_ids", TensorProto.INT64, ["batch", "sequence"]),
            info("attention_mask", TensorProto.FLOAT16, ["batch", 1, "sequence", "total"]),
        ]
        self.prelude()
        x = self.op(
            "Gather",
            [self.weight("embed_tokens.weight", g.vocab, g.hidden), "input_ids"],
            "embed_tokens",
        )
        for layer in range(g.layers):
            x = self.block(x, layer)
        self.linear(self.norm(x, "norm"), "logits", g.hidden, g.vocab)
        self.outputs.insert(0, info("logits", TensorProto.FLOAT16, ["batch", "sequence", g.vocab]))
        graph = helper.make_graph(
            self.nodes,
            f"decoder_{g.layers}x{g.hidden}",
            self.inputs,
            self.outputs,
            self.initializers,
        )
        return helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", OPSET)],
            producer_name="accsim models/exporter",
            ir_version=8,
        )


def build_decoder(geometry):
    """The ModelProto of a decoder; a few kilobytes a layer, whatever its size."""
    return Builder(geometry).build()
