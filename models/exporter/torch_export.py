"""Exports networks of torchvision, networks.py and yolo.py to ONNX. Needs torch and torchvision."""

import dataclasses
import io
from collections.abc import Callable

import networks
import onnx
import torch
import torch.overrides
import torchvision.models as tv
import yolo


@dataclasses.dataclass
class Network:
    """What torch.onnx.export needs."""

    module: torch.nn.Module
    inputs: tuple
    input_names: list
    output_names: list
    dynamic_axes: dict = None


def image_network(make, size=224, **options):
    def build():
        torch.manual_seed(0)
        module = make(weights=None, **options).eval()
        return Network(module, (torch.randn(1, 3, size, size),), ["input"], ["output"])

    return build


def bert():
    torch.manual_seed(0)
    ids = torch.randint(0, 30522, (1, 128))
    mask = torch.ones(1, 128, dtype=torch.int64)
    mask[:, 120:] = 0
    return Network(
        networks.Bert().eval(),
        (ids, mask, torch.zeros(1, 128, dtype=torch.int64)),
        ["input_ids", "attention_mask", "token_type_ids"],
        ["last_hidden_state", "pooler_output"],
    )


def gpt2():
    torch.manual_seed(0)
    return Network(
        networks.Gpt2().eval(), (torch.randint(0, 50257, (1, 256)),), ["input_ids"], ["logits"]
    )


def whisper_encoder(layers, hidden, heads):
    def build():
        torch.manual_seed(0)
        module = networks.WhisperEncoder(layers, hidden, heads).eval()
        return Network(module, (torch.randn(1, 80, 3000),), ["mel"], ["output"])

    return build


def yolo11n():
    torch.manual_seed(0)
    return Network(yolo.Yolo11n().eval(), (torch.randn(1, 3, 640, 640),), ["input"], ["output"])


def llama(layers, hidden, heads, kv_heads, ffn, length, past):
    """`length` new tokens behind `past` cached ones; past 0 is prefill."""

    def build():
        torch.manual_seed(0)
        module = networks.Llama(layers, hidden, heads, kv_heads, ffn, decode=past > 0).eval()
        inputs = [torch.randn(1, length, hidden), torch.arange(past, past + length)[None]]
        names, outputs = ["hidden_states", "position_ids"], ["output"]
        for i in range(layers):
            if past:
                shape = (1, kv_heads, past, hidden // heads)
                inputs += [torch.randn(*shape), torch.randn(*shape)]
                names += [f"past_key_{i}", f"past_value_{i}"]
            outputs += [f"present_key_{i}", f"present_value_{i}"]
        return Network(module, tuple(inputs), names, outputs)

    return build


def dynamic(build, axes):
    """The same network with symbolic dims: {tensor: {axis: symbol}}."""

    def build_dynamic():
        network = build()
        network.dynamic_axes = axes
        return network

    return build_dynamic


def llama_axes(layers):
    axes = {name: {0: "batch"} for name in ("hidden_states", "position_ids", "output")}
    for i in range(layers):
        for kind in ("key", "value"):
            axes[f"past_{kind}_{i}"] = {0: "batch", 2: "past"}
            axes[f"present_{kind}_{i}"] = {0: "batch", 2: "total"}
    return axes


_BATCH = {"input": {0: "batch"}, "output": {0: "batch"}}
_TEXT = {0: "batch", 1: "sequence"}
_PLAIN = {"aux_logits": False, "transform_input": False, "init_weights": False}

NETWORKS: dict[str, Callable[[], Network]] = {
    **{
        name: image_network(getattr(tv, name))
        for name in (
            "alexnet",
            "resnet18",
            "resnet50",
            "mobilenet_v2",
            "mobilenet_v3_large",
            "vgg16",
            "squeezenet1_1",
            "densenet121",
            "efficientnet_b0",
            "shufflenet_v2_x1_0",
            "vit_b_16",
            "swin_t",
            "convnext_tiny",
            "regnet_y_400mf",
            "mnasnet1_0",
        )
    },
    "googlenet": image_network(tv.googlenet, **_PLAIN),
    "inception_v3": image_network(tv.inception_v3, size=299, **_PLAIN),
    "bert_base": bert,
    "gpt2_small": gpt2,
    "whisper_tiny_encoder": whisper_encoder(4, 384, 6),
    "whisper_base_encoder": whisper_encoder(6, 512, 8),
    "yolo11n": yolo11n,
    "llama3_8b_layer_prefill512": llama(1, 4096, 32, 8, 14336, 512, 0),
    "llama3_8b_layer_decode1024": llama(1, 4096, 32, 8, 14336, 1, 1024),
    "llama_tiny2_prefill64": llama(2, 256, 8, 2, 704, 64, 0),
    "llama_tiny2_decode128": llama(2, 256, 8, 2, 704, 1, 128),
    "mobilenet_v2_dynbatch": dynamic(image_network(tv.mobilenet_v2), _BATCH),
    "resnet50_dynbatch": dynamic(image_network(tv.resnet50), _BATCH),
    "bert_base_dyn": dynamic(
        bert,
        {
            "input_ids": _TEXT,
            "attention_mask": _TEXT,
            "token_type_ids": _TEXT,
            "last_hidden_state": _TEXT,
            "pooler_output": {0: "batch"},
        },
    ),
    "gpt2_small_dyn": dynamic(gpt2, {"input_ids": _TEXT, "logits": _TEXT}),
    "llama_tiny2_decode_dyn": dynamic(llama(2, 256, 8, 2, 704, 1, 128), llama_axes(2)),
}


def make_values_distinct(module):
    """Gives every parameter and statistic its own random values.

    The exporter merges initializers with identical bytes (all-ones scales, zero biases, copied
    layers), and the parameter count of the file would depend on how they were initialised.
    """
    generator = torch.Generator().manual_seed(7)

    def normal(shape, scale):
        return torch.randn(shape, generator=generator) * scale

    def near_one(shape):
        return torch.rand(shape, generator=generator) * 0.5 + 0.75

    with torch.no_grad():
        for name, parameter in module.named_parameters():
            parameter.requires_grad_(False)
            if name.endswith("layer_scale") or (parameter.dim() <= 1 and name.endswith("weight")):
                parameter.copy_(near_one(parameter.shape))
            elif parameter.dim() <= 1:
                parameter.copy_(normal(parameter.shape, 0.05))
            elif isinstance(module, networks.Bert) or not bool(parameter.any()):
                parameter.copy_(normal(parameter.shape, 0.02))
        for name, buffer in module.named_buffers():
            if name.endswith("running_mean"):
                buffer.copy_(normal(buffer.shape, 0.05))
            elif name.endswith("running_var"):
                buffer.copy_(near_one(buffer.shape))


def export(name, opset, variant):
    """The ModelProto of a network, weights included. `variant`: folded, bn or nofold."""
    network = NETWORKS[name]()
    make_values_distinct(network.module)
    options = {}
    if variant != "folded":
        options["do_constant_folding"] = False
    if variant == "bn":
        options["training"] = torch.onnx.TrainingMode.PRESERVE
    real = torch.overrides.has_torch_function
    # Attention layers take their fused path, which doesn't export, unless one of their many
    # arguments overrides torch functions; this says so for calls of that size.
    torch.overrides.has_torch_function = lambda args: len(args) >= 5 or real(args)
    file = io.BytesIO()
    try:
        with torch.no_grad():
            torch.onnx.export(
                network.module,
                network.inputs,
                file,
                opset_version=opset,
                input_names=network.input_names,
                output_names=network.output_names,
                dynamic_axes=network.dynamic_axes,
                **options,
            )
    finally:
        torch.overrides.has_torch_function = real
    return onnx.load_model_from_string(file.getvalue())
