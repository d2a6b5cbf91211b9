"""Exports one network in all variants of mixed.py: mixed_one.py NAME FOLDER. Writes
FOLDER/NAME.EXPORTER.VARIANT.onnx without weights, and FOLDER/NAME.json: of each variant the
seconds that it took, or why it isn't there."""

import dataclasses
import json
import pathlib
import sys
import time

import casts
import networks
import one
import onnx
import torch
from onnxruntime.transformers import float16

EXPORTERS = ("new", "ts")  # PyTorch's new exporter, and the one through TorchScript
PLAIN = "float32"
AUTOCAST = {"autocast_bf16": torch.bfloat16, "autocast_fp16": torch.float16}
VARIANTS = (*AUTOCAST, "half", "converted")

# ---- networks ------------------------------------------------------------------------------------

CHOSEN = (
    "hf_llama hf_qwen3 hf_gemma3 hf_phi3 hf_mamba hf_deberta_v2 timm_mobilenetv4_small",
    "timm_mixer_s32 tv_mobilenet_v3_large timm_repvit_m0_9 timm_ghostnetv2_100",
    "timm_convnextv2_atto timm_fastvit_t8 hf_t5_encoder hf_gpt2 hf_whisper_encoder",
    "hf_segformer diffusers_vae_decoder diffusers_dit hf_dinov2_small",
)

_SMALL, _GROUPED = networks._SMALL, networks._GROUPED
_HEADS = {k: v for k, v in _SMALL.items() if k != "intermediate_size"}
_OPT = {"ffn_dim": 1024, "word_embed_proj_dim": 256, **_HEADS}
_GPTJ = {"vocab_size": 1000, "n_embd": 256, "n_layer": 2, "n_head": 8, "rotary_dim": 16}
_BLOOM = {"vocab_size": 1000, "hidden_size": 256, "n_layer": 2, "n_head": 8}
_VIT = {"hidden_size": 192, "num_hidden_layers": 2, "num_attention_heads": 6}


def decoder(name, opset=18, **sizes):
    model = networks.hugging(
        f"{name}ForCausalLM", f"{name}Config", "logits", networks._NO_CACHE, **sizes
    )
    return networks.Network(model, networks.words(64), opset)


def encoder(name, opset=18):
    model = networks.hugging(f"{name}Model", f"{name}Config", "last_hidden_state", **_SMALL)
    return networks.Network(model, networks.words(64), opset)


def vision(name, opset=18, **sizes):
    return networks.Network(networks.timm_model(name, **sizes), networks.image(), opset)


def vit():
    model = networks.hugging(
        "ViTModel", "ViTConfig", "last_hidden_state", intermediate_size=768, **_VIT
    )
    return networks.Network(model, networks.image(), 18)


# Small ones, each with another kind of block. Before opset 17 norms are written as what they
# compute.
MORE = {
    "hf_gptj": decoder("GPTJ", **_GPTJ),
    "hf_bloom": decoder("Bloom", **_BLOOM),
    "hf_opt": decoder("OPT", **_OPT),
    "hf_gpt_neox": decoder("GPTNeoX", **_SMALL),
    "hf_falcon": decoder("Falcon", **_HEADS),
    "hf_qwen2": decoder("Qwen2", **_GROUPED),
    "hf_mistral": decoder("Mistral", **_GROUPED),
    "hf_stablelm": decoder("StableLm", **_GROUPED),
    "hf_bert_small": encoder("Bert"),
    "hf_roberta": encoder("Roberta"),
    "hf_electra": encoder("Electra"),
    "hf_vit": vit(),
    "timm_vit_tiny": vision("vit_tiny_patch16_224", depth=2),
    "timm_resnet18": vision("resnet18"),
    "hf_bert_op14": encoder("Bert", 14),
    "hf_opt_op14": decoder("OPT", 14, **_OPT),
    "hf_gptj_op14": decoder("GPTJ", 14, **_GPTJ),
    "hf_bloom_op14": decoder("Bloom", 14, **_BLOOM),
    "timm_vit_op14": vision("vit_tiny_patch16_224", 14, depth=2),
    "timm_convnext_op14": vision("convnext_atto", 14),
}
NAMES = [*MORE, *" ".join(CHOSEN).split()]


def network_of(name, exporter):
    """With sizes that are fixed: the exporter through TorchScript has no others."""
    network = MORE.get(name) or networks.NETWORKS[name]
    return dataclasses.replace(network, dynamic_shapes=None, dynamo=exporter == "new")


# ---- exports -------------------------------------------------------------------------------------


class Autocast(torch.nn.Module):
    """A module under torch.autocast."""

    def __init__(self, module, dtype):
        super().__init__()
        self.module, self.dtype = module, dtype

    def forward(self, *inputs):
        # A cache would keep casts of weights from one trace to the next.
        with torch.autocast("cpu", dtype=self.dtype, cache_enabled=False):
            return self.module(*inputs)


def difference(x, n=1, dim=-1, prepend=None, append=None):
    """torch.diff by slices, which the exporter through TorchScript doesn't know."""
    x = torch.cat([t for t in (prepend, x, append) if t is not None], dim)
    length = x.shape[dim] - 1
    return x.narrow(dim, 1, length) - x.narrow(dim, 0, length)


def as_half(x):
    return x.half() if x.is_floating_point() else x


def write(network, variant, path):
    """Exports a variant; the weights are in the file, or in PATH.data."""
    torch.manual_seed(0)
    module, inputs = network.build().eval().requires_grad_(False), network.inputs()
    if variant == "half":
        module, inputs = module.half(), tuple(as_half(x) for x in inputs)
    elif variant in AUTOCAST:
        module = Autocast(module, AUTOCAST[variant]).eval()
    one.export(network, module, inputs, path)
    if network.dynamo and casts.has_mixed_convolutions(path):
        write_unoptimised(network, module, inputs, path)


def write_unoptimised(network, module, inputs, path):
    """Where the exporter's optimiser wrote no valid file."""
    pathlib.Path(f"{path}.data").unlink(missing_ok=True)
    options = {"opset_version": network.opset, "dynamo": True, "optimize": False}
    with torch.no_grad():
        torch.onnx.export(module, inputs, **options).save(path, external_data=True)


class Exports:
    """The files of a network by one exporter."""

    def __init__(self, name, exporter, folder):
        self.name, self.start = name, str(folder / f"{name}.{exporter}")
        self.network = network_of(name, exporter)
        self.plain = None  # the float32 model with its weights

    def make(self, variant):
        """Writes one. Gives the seconds that it took, or why there is none."""
        path = f"{self.start}.{variant}.onnx"
        start = time.monotonic()
        try:
            if variant == "converted":
                self.convert(path)
            else:
                write(self.network, variant, path)
            self.finish(variant, path)
        except Exception as e:  # of any of the packages: it is told
            pathlib.Path(path).unlink(missing_ok=True)
            return f"{self.name}: {type(e).__name__}: {first_line(e)}"
        finally:
            pathlib.Path(f"{path}.data").unlink(missing_ok=True)
        return round(time.monotonic() - start, 1)

    def convert(self, path):
        """The float32 model in float16, but for its inputs and outputs."""
        if self.plain is None:
            raise ValueError("no float32 file to convert")
        model = float16.convert_float_to_float16(self.plain, keep_io_types=True)
        drop_repeated(model.graph)
        onnx.save(model, path)

    def finish(self, variant, path):
        """Drops the weights from a file."""
        if variant == PLAIN:
            self.plain = onnx.load(path)
        model = onnx.load(path, load_external_data=False)
        one.drop_weights(model)
        onnx.save(model, path)


def drop_repeated(graph):
    """Leaves one of equal casts, which the converter writes where two nodes read a constant."""
    written = set()
    for node in list(graph.node):
        if written & set(node.output):
            graph.node.remove(node)
        written |= set(node.output) - {""}


def first_line(error):
    lines = [line for line in str(error).splitlines() if line.strip()]
    return lines[0][:200] if lines else ""


def main():
    name, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    torch.backends.mha.set_fastpath_enabled(False)
    torch.set_num_threads(1)
    found = {}
    for exporter in EXPORTERS:
        if exporter == "ts":
            torch.diff = difference
        exports = Exports(name, exporter, folder)
        for variant in (PLAIN, *VARIANTS):
            found[f"{exporter} {variant}"] = exports.make(variant)
    (folder / f"{name}.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
