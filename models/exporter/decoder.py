"""The structure of a decoder-only language model of any size, without allocating its weights.

One step of decoding or prefill: `sequence` new tokens (symbolic) on top of `past` cached ones
(symbolic; `past_window` in layers that see a window only). geometry.py and sizes.py have the sizes.
The parts of layers are in a file each, which MIXERS names by what has their sizes.
"""

import altup
import sizes
from attention import attention, prelude
from delta import delta
from experts import experts
from feed_forward import feed_forward
from geometry import Geometry
from graph_builder import Builder
from latent import latent
from mamba import mamba
from mamba2 import mamba2
from norm import norm
from onnx import TensorProto
from short_convolution import short_convolution

__all__ = ["Geometry", "build_decoder"]

# Of each kind of mixer: its name in paths, and what builds it.
MIXERS = {
    sizes.Attention: ("attn", attention),
    sizes.Latent: ("attn", latent),
    sizes.ShortConvolution: ("conv", short_convolution),
    sizes.Delta: ("delta", delta),
    sizes.Mamba: ("mixer", mamba),
    sizes.Mamba2: ("mixer", mamba2),
}
SCANS = ("steps", "chunks")
FEEDS = {sizes.Dense: feed_forward, sizes.Experts: experts}


def branch(b, x, name, label, part, after):
    """What `part` makes of x, between the norms that the model has."""
    y = x if b.g.norms == "after" else norm(b, x, f"{name}/{label}_norm")
    made = part(y)
    if b.g.norms != "before":
        made = norm(b, made, f"{name}/{after}_norm")
    return b.scaled(made, f"{name}/{label}_scaled", b.g.residual_scale)


def block(b, x, layer):
    g, name, own = b.g, f"layers.{layer}", b.g.plan[layer]
    path, mixer = MIXERS[type(own.mixer)]

    def mix(y):
        return mixer(b, y, f"{name}/{path}", layer)

    def feed(y):
        return FEEDS[type(own.feed)](b, y, f"{name}/mlp", own.feed)

    if g.altup:
        return altup.block(b, x, layer, mix, feed)
    if g.parallel:
        y = norm(b, x, f"{name}/input_norm")
        both = b.op("Add", [mix(y), feed(y)], f"{name}/parallel")
        return b.op("Add", [x, both], f"{name}/residual")
    mixed = branch(b, x, name, "input", mix, "attn_after")
    x = b.op("Add", [x, mixed], f"{name}/attn_residual")
    if not own.feed:
        return x
    fed = branch(b, x, name, "post", feed, "mlp_after")
    return b.op("Add", [x, fed], f"{name}/mlp_residual")


def embed(b):
    g = b.g
    table = b.weight("embed_tokens.weight", g.vocab, g.hidden)
    x = b.op("Gather", [table, "input_ids"], "embed_tokens")
    x = b.scaled(x, "embed_tokens/scaled", g.embedding_scale)
    if g.learned_positions:
        table = b.weight("embed_positions.weight", g.learned_positions, g.hidden)
        positions = b.op("Gather", [table, "position_ids"], "embed_positions")
        x = b.op("Add", [x, positions], "embed_tokens/positioned")
    return x


def head(b, x, name):
    """The output projection; a tied one is the embedding's table, a float as that is."""
    g = b.g
    if not g.tied:
        return b.linear(x, name, g.hidden, g.vocab, g.head_bias)
    turned = b.op("Transpose", ["embed_tokens.weight"], "lm_head.weight", perm=[1, 0])
    return b.op("MatMul", [x, turned], name)


def logits(b, x):
    g, steps = b.g, []
    if g.logits_divisor != 1:
        steps.append(("Div", g.logits_divisor))
    if g.logits_cap:
        steps += [("Div", g.logits_cap), ("Tanh", None), ("Mul", g.logits_cap)]
    x = head(b, x, "logits/product" if steps else "logits")
    for place, (kind, factor) in enumerate(steps):
        inputs = [x] if factor is None else [x, b.number(f"factor_{factor:.9g}", factor)]
        last = place == len(steps) - 1
        x = b.op(kind, inputs, "logits" if last else f"logits/step.{place}")
    b.output("logits", ["batch", "sequence", g.vocab])


def build_decoder(geometry, weights=None, form="uniform", scan="steps"):
    """The ModelProto of a decoder; a few kilobytes a layer, whatever its size. `weights` is a
    WeightFormat, default: float16; `form` one of experts.FORMS, `scan` of SCANS."""
    b = Builder(geometry, weights, form, scan)
    b.input("input_ids", TensorProto.INT64, ["batch", "sequence"])
    if any(layer.mixer.cached for layer in geometry.plan):
        b.input("position_ids", TensorProto.INT64, ["batch", "sequence"])
        prelude(b)
    x = embed(b)
    x = altup.start(b, x) if geometry.altup else x
    for layer in range(geometry.layers):
        x = block(b, x, layer)
    x = altup.finish(b, x) if geometry.altup else x
    logits(b, norm(b, x, "norm"))
    return b.model()
