"""The structure of a decoder-only language model of any size, without allocating its weights.

One step of decoding or prefill: `sequence` new tokens (symbolic) on top of `past` cached ones
(symbolic; `past_window` in layers that see a window only). geometry.py has the sizes; the parts are
in attention.py, feed_forward.py, experts.py, mamba.py and norm.py.
"""

import experts
import mamba
from attention import attention, prelude
from feed_forward import feed_forward
from geometry import Geometry
from graph_builder import Builder
from norm import norm
from onnx import TensorProto

__all__ = ["Geometry", "build_decoder"]


def branch(b, x, name, label, part, after):
    """x and what `part` makes of its norm; `after`: of that another norm."""
    made = part(norm(b, x, f"{name}/{label}_norm"))
    if after:
        made = norm(b, made, f"{name}/{after}_norm")
    return made


def block(b, x, layer):
    g, name = b.g, f"layers.{layer}"

    def mix(y):
        return attention(b, y, f"{name}/attn", layer)

    def feed(y):
        return (experts.experts if g.experts else feed_forward)(b, y, f"{name}/mlp")

    if g.state:
        mixed = mamba.mixer(b, norm(b, x, f"{name}/norm"), f"{name}/mixer", layer)
        return b.op("Add", [x, mixed], f"{name}/residual")
    if g.parallel:
        y = norm(b, x, f"{name}/input_norm")
        both = b.op("Add", [mix(y), feed(y)], f"{name}/parallel")
        return b.op("Add", [x, both], f"{name}/residual")
    after = ("attn_after", "mlp_after") if g.norms_after else ("", "")
    attended = branch(b, x, name, "input", mix, after[0])
    x = b.op("Add", [x, attended], f"{name}/attn_residual")
    fed = branch(b, x, name, "post", feed, after[1])
    return b.op("Add", [x, fed], f"{name}/mlp_residual")


def embed(b):
    g = b.g
    table = b.weight("embed_tokens.weight", g.vocab, g.hidden)
    x = b.op("Gather", [table, "input_ids"], "embed_tokens")
    if g.scaled_embedding:
        x = b.op("Mul", [x, b.number("embedding_scale", g.hidden**0.5)], "embed_tokens/scaled")
    if g.positions == "learned":
        table = b.weight("embed_positions.weight", g.max_positions, g.hidden)
        positions = b.op("Gather", [table, "position_ids"], "embed_positions")
        x = b.op("Add", [x, positions], "embed_tokens/positioned")
    return x


def head(b, x):
    """The output projection; a tied one is the embedding's table, a float as that is."""
    g = b.g
    if not g.tied:
        return b.linear(x, "logits", g.hidden, g.vocab, g.head_bias)
    turned = b.op("Transpose", ["embed_tokens.weight"], "lm_head.weight", perm=[1, 0])
    return b.op("MatMul", [x, turned], "logits")


def build_decoder(geometry, weights=None, form="uniform"):
    """The ModelProto of a decoder; a few kilobytes a layer, whatever its size. `weights` is a
    WeightFormat, default: float16; `form` one of experts.FORMS."""
    b = Builder(geometry, weights, form)
    b.input("input_ids", TensorProto.INT64, ["batch", "sequence"])
    if not geometry.state:
        b.input("position_ids", TensorProto.INT64, ["batch", "sequence"])
        prelude(b)
    x = embed(b)
    for layer in range(geometry.layers):
        x = block(b, x, layer)
    head(b, norm(b, x, "norm"))
    b.output("logits", ["batch", "sequence", geometry.vocab])
    return b.model()
