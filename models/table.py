#!/usr/bin/python3
"""Prints the tables of models/README.md: of files from what accsim says of each, of language models
from their geometries.

Usage: table.py ACCSIM [--check | --update]; --check compares with the README instead and exits 1 if
one differs, --update writes them into it."""

import json
import pathlib
import subprocess
import sys

MODELS = pathlib.Path(__file__).resolve().parent
CONFIG = MODELS.parent / "configs" / "64x64.yaml"
README = MODELS / "README.md"
sys.dont_write_bytecode = True
sys.path.insert(0, str(MODELS / "exporter"))

import config  # noqa: E402
import sizes  # noqa: E402


def origin(path):
    if path.parent.name == "onnx-light":
        return "ONNX light models"
    plain = ("bert", "gpt2", "llama")
    return "PyTorch, exporter/networks.py" if path.name.startswith(plain) else "torchvision"


def row(accsim, path):
    done = subprocess.run(
        [accsim, "--hw", str(CONFIG), str(path), "--bind", "*=1", "--json", "-"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        sys.exit(done.stderr)
    report = json.loads(done.stdout)
    model, totals = report["model"], report["totals"]
    return (
        f"| {path.relative_to(MODELS)} | {origin(path)} | {model['opset']} | {model['nodes']:,} "
        f"| {totals['params']:,} | {totals['macs']:,} | {', '.join(model['bindings'])} |"
    )


def table(accsim):
    files = sorted(MODELS.glob("*.onnx")) + sorted(MODELS.glob("onnx-light/*.onnx"))
    return "\n".join(
        [
            "| file | origin | opset | nodes | parameters | MACs | symbolic dims (as 1) |",
            "|---|---|---|---|---|---|---|",
            *(row(accsim, f) for f in files),
        ]
    )


OTHER_MIXERS = {
    sizes.Latent: "keys and values from {0.rank} + {0.turning} elements",
    sizes.ShortConvolution: "convolution of {0.kernel}",
    sizes.Delta: "delta rule of {0.heads} x {0.key} x {0.value}",
    sizes.Mamba: "scan of {0.inner:,} x {0.state} states",
    sizes.Mamba2: "scan of {0.heads} x {0.head} x {0.state} states",
}


def attention_words(size, heads):
    """What attention has that a Llama's hasn't."""
    one, windows = heads[0], [window for window in size.windows if window]
    turning = next((mixer for mixer in heads if mixer.rotary), one)
    still, borrowed = (sum(map(of, heads)) for of in (lambda x: not x.rotary, lambda x: x.borrowed))
    return {
        f"window {max(windows, default=0):,} in {len(windows)} layers": windows,
        "one product for Q, K, V": one.fused,
        "norms of queries and keys": one.qk_norm,
        "sinks": one.sinks,
        "a gate of attention": one.gated,
        f"{turning.rotary / turning.head:.0%} of a head turns": 0 < turning.rotary < turning.head,
        f"no positions in {still} layers": still and not size.learned_positions,
        f"others' keys and values in {borrowed} layers": borrowed,
    }


def mixer_words(size):
    mixers = [layer.mixer for layer in size.plan]
    heads = [mixer for mixer in mixers if isinstance(mixer, sizes.Attention)]
    found = attention_words(size, heads) if heads else {}
    for kind, word in OTHER_MIXERS.items():
        some = [mixer for mixer in mixers if isinstance(mixer, kind)]
        where = f" in {len(some)} layers" if len(some) < len(mixers) else ""
        if some:
            found[word.format(some[0]) + where] = True
    return [word for word, has in found.items() if has]


def words(size):
    """What a model has that a Llama hasn't."""
    experts, feeds = size.experts, [layer.feed for layer in size.plan if layer.feed]
    dense = next((feed for feed in feeds if isinstance(feed, sizes.Dense)), None)
    first = [f"{experts.per_token} of {experts.count} experts"] if experts else []
    found = {
        "a shared expert": experts and experts.shared,
        f"{sum(isinstance(x, sizes.Dense) for x in feeds)} layers without experts": experts
        and dense,
        "LayerNorm": size.norm == "layer",
        f"norms {'after' if size.norms == 'after' else 'before and after'} both parts": (
            size.norms != "before"
        ),
        "parallel parts": size.parallel,
        "biases": dense and dense.bias,
        "learned positions": size.learned_positions,
        {"silu": "SiLU", "gelu": "GELU", "gelu_tanh": "GELU by tanh"}[size.activation]: (
            size.activation != "silu"
        ),
        "no gate": dense and not dense.gated,
        f"{size.altup and size.altup.streams} streams": size.altup,
        "tied": size.tied,
    }
    last = [word for word, has in found.items() if has]
    return ", ".join(first + mixer_words(size) + last)


def heads_word(mixers):
    """Heads (key/value heads) x size."""
    for mixer in mixers:
        if isinstance(mixer, sizes.Attention):
            return f"{mixer.heads} ({mixer.kv_heads}) x {mixer.head}"
        if isinstance(mixer, sizes.Latent):
            return f"{mixer.heads} x {mixer.head}"
    return ""


def decoder_row(name):
    size = config.find(name)[1]
    window = max(size.windows)
    past = min(4095, size.learned_positions - 1) if size.learned_positions else 4095
    near = min(past, window - 1) if window else past
    later = size.absorbed().macs(1, past, past_window=near)
    feeds = {layer.feed.ffn for layer in size.plan if layer.feed}
    ffn = ", ".join(f"{width:,}" for width in sorted(feeds))
    return (
        f"| {name} | {size.layers} | {size.hidden:,} "
        f"| {heads_word([layer.mixer for layer in size.plan])} | {ffn} | {size.vocab:,} "
        f"| {words(size)} | {size.params():,} | {size.macs(1):,} | {later:,} |"
    )


def decoder_table(_):
    return "\n".join(
        [
            "| name | layers | hidden | heads (KV) x size | feed-forward | vocabulary | has "
            "| parameters | MACs of a first token | behind 4,095 |",
            "|---|---|---|---|---|---|---|---|---|---|",
            *map(decoder_row, sorted(config.named())),
        ]
    )


TABLES = {"table": table, "decoders": decoder_table}


def marks(name):
    return f"<!-- {name}:begin (models/table.py; a test compares) -->", f"<!-- {name}:end -->"


def put(text, name, wanted):
    """The README's text with another table in place of one."""
    begin, end = marks(name)
    before, rest = text.split(begin)
    return f"{before}{begin}\n{wanted}\n{end}{rest.split(end)[1]}"


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    made = {name: make(sys.argv[1]) for name, make in TABLES.items()}
    stated = README.read_text()
    wanted = stated
    for name, text in made.items():
        wanted = put(wanted, name, text)
    if "--update" in sys.argv:
        README.write_text(wanted)
    elif "--check" not in sys.argv:
        print("\n\n".join(made.values()))
    elif stated != wanted:
        print(f"models/README.md has other tables than:\n{made}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
