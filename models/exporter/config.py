"""Reads the geometry of a decoder from its config.json, as it is published beside the weights of a
language model (Hugging Face).

What an architecture means beyond the numbers (which norm, which activation, what has a bias) stands
in families.json by its model_type: `defaults` of what a config may leave out, `kinds` of mixers by
the names that layers have in `layer_types`, and fields of the parts of sizes.py (`mixer`, `feed`,
`experts`, and of the mixers whose heads turn) and of the geometry (`model`). decoders.json has the
configs of some models by name.
"""

import json
import math
import pathlib

import sizes
from geometry import Geometry, Layer

HERE = pathlib.Path(__file__).resolve().parent
NAMED = HERE / "decoders.json"
FAMILIES = json.loads((HERE / "families.json").read_text())

ACTIVATIONS = {
    "silu": "silu",
    "swish": "silu",
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_fast": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
}

# Names of the same number, ours (the one that most configs have) first.
ALIASES = {
    "num_hidden_layers": ("n_layer",),
    "hidden_size": ("n_embd",),
    "num_attention_heads": ("n_head",),
    "intermediate_size": ("n_inner", "ffn_hidden_size", "block_ff_dim"),
    "max_position_embeddings": ("n_positions",),
    "num_local_experts": ("num_experts", "n_routed_experts"),
    "hidden_act": ("activation_function", "hidden_activation", "activation"),
    "rms_norm_eps": ("layer_norm_epsilon", "layer_norm_eps", "norm_eps"),
    "sliding_window_pattern": ("_sliding_window_pattern",),
    "tie_word_embeddings": ("tie_embedding",),
    "rope_theta": ("theta",),
}

# Which number says how many positions a kind of layer sees.
WINDOWS = {"sliding_attention": "sliding_window", "chunked_attention": "attention_chunk_size"}


class Config(dict):
    """A config's values, and its family's for what it leaves out; null is a value."""

    def __init__(self, values):
        name = values.get("model_type")
        self.family = FAMILIES.get(name, FAMILIES.get(f"{name}_text"))
        if self.family is None:
            raise ValueError(f"model_type '{name}' isn't one of {', '.join(sorted(FAMILIES))}")
        super().__init__(values)
        for key, value in self.family.get("defaults", {}).items():
            if not any(name in values for name in (key, *ALIASES.get(key, ()))):
                self[key] = value
        for key in ("num_hidden_layers", "hidden_size", "vocab_size"):
            if self.value(key) is None:
                raise ValueError(f"the config has no {key}")
        self.layers, self.hidden = self.value("num_hidden_layers"), self.value("hidden_size")

    def value(self, key, default=None):
        """Under any of its names; None is no value."""
        for name in (key, *ALIASES.get(key, ())):
            if self.get(name) is not None:
                return self[name]
        return default

    def traits(self, part):
        return self.family.get(part, {})

    def rope(self, kind, key):
        """A number of the rotary positions of a kind of layers, from either form of configs."""
        rope = self.get("rope_parameters") or {}
        rope = rope.get(kind, rope) or {}
        if key in rope:
            return rope[key]
        local = kind == "sliding_attention" and key == "rope_theta"
        return (local and self.get("rope_local_base_freq")) or self.value(key)


def kinds(config):
    """The kind of each layer, by the names that `layer_types` has."""
    layers = range(config.layers)
    if config.get("layer_types"):
        return list(config["layer_types"])
    if config.get("full_attn_idxs") is not None:
        full = set(config["full_attn_idxs"])
        return ["full_attention" if layer in full else "conv" for layer in layers]
    if interval := config.get("full_attention_interval"):
        return ["full_attention" if (n + 1) % interval == 0 else "linear_attention" for n in layers]
    if config.get("attention_chunk_size"):
        return ["chunked_attention" if turns(config, n) else "full_attention" for n in layers]
    if not config.get("sliding_window") or config.get("use_sliding_window") is False:
        return ["full_attention"] * config.layers
    pattern, first = config.value("sliding_window_pattern"), config.get("max_window_layers", 0)
    full = [(n + 1) % pattern == 0 if pattern else n < first for n in layers]
    return ["full_attention" if whole else "sliding_attention" for whole in full]


def turns(config, layer):
    """Whether a layer has rotary positions."""
    if config.get("no_rope_layers"):
        return bool(config["no_rope_layers"][layer])
    interval = config.get("no_rope_layer_interval")
    return not interval or (layer + 1) % interval != 0


def biases(config):
    """Biases that a config switches on: of all of attention, of the feed-forward, of all."""
    both = bool(config.get("bias"))
    attention = both or bool(config.get("attention_bias"))
    mixer = {"qkv_bias": True, "out_bias": True} if attention else {}
    feed = {"bias": True} if both or config.get("mlp_bias") else {}
    return mixer, feed


def heads(config):
    count = config.value("num_attention_heads")
    if count is None:
        raise ValueError("the config has no num_attention_heads")
    return count, config.get("head_dim") or config.hidden // count


def attention(config, kind, layer):
    count, head = heads(config)
    turning = turns(config, layer) and config.traits("positions") != "learned"
    scale = config.get("attention_multiplier") or (
        (config.get("query_pre_attn_scalar") or head) ** -0.5
    )
    fields = {**biases(config)[0], **config.traits("mixer")}
    if turning:
        share = config.rope(kind, "partial_rotary_factor") or 1.0
        fields["rotary"] = 2 * math.ceil(int(head * share) / 2)  # they turn in pairs
        fields["theta"] = config.rope(kind, "rope_theta") or 1e4
        fields |= config.traits("turning mixer")
    elif config.get("attn_temperature_tuning"):
        fields["temper"] = (config["floor_scale"], config["attn_scale"])
    if config.get("use_qk_norm") is False:
        fields["qk_norm"] = ""
    return sizes.Attention(
        hidden=config.hidden,
        heads=count,
        kv_heads=1 if config.get("multi_query") else config.get("num_key_value_heads") or count,
        head=head,
        window=(kind in WINDOWS and config.get(WINDOWS[kind])) or 0,
        scale=scale,
        borrowed=layer >= config.layers - config.get("num_kv_shared_layers", 0),
        **fields,
    )


def latent(config, kind, _):
    plain, turning = config["qk_nope_head_dim"], config["qk_rope_head_dim"]
    return sizes.Latent(
        hidden=config.hidden,
        heads=config["num_attention_heads"],
        query_rank=config["q_lora_rank"] or 0,
        rank=config["kv_lora_rank"],
        plain=plain,
        turning=turning,
        value=config["v_head_dim"],
        theta=config.rope(kind, "rope_theta") or 1e4,
        scale=(plain + turning) ** -0.5,
        bias=bool(config.get("attention_bias")),
    )


def convolution(config, *_):
    return sizes.ShortConvolution(
        config.hidden, config["conv_L_cache"], bool(config.get("conv_bias"))
    )


def delta(config, *_):
    return sizes.Delta(
        hidden=config.hidden,
        heads=config["linear_num_value_heads"],
        key_heads=config["linear_num_key_heads"],
        key=config["linear_key_head_dim"],
        value=config["linear_value_head_dim"],
        kernel=config["linear_conv_kernel_dim"],
    )


def mamba(config, *_):
    rank = config.get("time_step_rank", "auto")
    return sizes.Mamba(
        hidden=config.hidden,
        inner=config.get("intermediate_size") or config["expand"] * config.hidden,
        state=config["state_size"],
        kernel=config["conv_kernel"],
        rank=math.ceil(config.hidden / 16) if rank == "auto" else rank,
    )


def mamba2(config, *_):
    return sizes.Mamba2(
        hidden=config.hidden,
        heads=config["num_heads"],
        head=config["head_dim"],
        state=config["state_size"],
        groups=config["n_groups"],
        kernel=config["conv_kernel"],
        bias=bool(config.get("use_bias")),
        conv_bias=bool(config["use_conv_bias"]),
    )


MIXERS = {
    "attention": attention,
    "latent": latent,
    "convolution": convolution,
    "delta": delta,
    "mamba": mamba,
    "mamba2": mamba2,
}
KINDS = {
    "full_attention": "attention",
    "sliding_attention": "attention",
    "chunked_attention": "attention",
    "conv": "convolution",
}


def has_experts(config, layer):
    if not config.value("num_local_experts"):
        return False
    if config.get("mlp_layer_types"):
        return config["mlp_layer_types"][layer] == "sparse"
    if config.get("moe_layers") is not None:
        return layer in config["moe_layers"]
    if layer < config.get("first_k_dense_replace", 0) or layer in (
        config.get("mlp_only_layers") or []
    ):
        return False
    step = config.get("decoder_sparse_step") or config.get("interleave_moe_layer_step") or 1
    return (layer + 1) % step == 0


def width(config, layer):
    """Of the feed-forward of a layer without experts."""
    ffn = config.get("intermediate_size_mlp") or config.value("intermediate_size")
    ffn = 4 * config.hidden if ffn is None else ffn
    if isinstance(ffn, list):
        ffn = ffn[layer]
    if config.get("block_auto_adjust_ff_dim"):
        ffn = int((config.get("block_ffn_dim_multiplier") or 1) * int(2 * ffn / 3))
        unit = config["block_multiple_of"]
        ffn = unit * math.ceil(ffn / unit)
    return ffn


def sparsity(config, layer):
    """The share of a gate's elements that a layer leaves out."""
    given = config.get("activation_sparsity_pattern")
    if isinstance(given, list):
        return given[layer]
    count, share = config.get("sparse_layers", (0, 0.0))
    return given if given is not None else share * (layer < count < config.layers)


def dense(config, layer):
    fields = {**biases(config)[1], **config.traits("feed")}
    return sizes.Dense(
        config.hidden, width(config, layer), sparsity=sparsity(config, layer), **fields
    )


def experts(config):
    ffn = config.get("moe_intermediate_size") or config.value("intermediate_size")
    shared = config.get("shared_expert_intermediate_size")
    shared = shared or (config.get("n_shared_experts") or 0) * ffn
    clamp = (config["swiglu_limit"], config["swiglu_alpha"]) if "swiglu_limit" in config else ()
    return sizes.Experts(
        hidden=config.hidden,
        count=config.value("num_local_experts"),
        per_token=config.get("num_experts_per_tok", 0),
        ffn=ffn,
        scale=config.get("routed_scaling_factor") or 1.0,
        groups=config.get("n_group") or 1,
        best_groups=config.get("topk_group") or 1,
        clamp=clamp,
        shared=sizes.Dense(config.hidden, shared) if shared else None,
        **{"normal": config.get("norm_topk_prob", True), **config.traits("experts")},
    )


def plan(config):
    """The layers."""
    names, made = kinds(config), []
    if len(names) != config.layers:
        raise ValueError(f"layer_types has {len(names)} layers, of {config.layers}")
    for number, kind in enumerate(names):
        word = {**KINDS, **config.traits("kinds")}.get(kind)
        if word is None:
            raise ValueError(f"layers of the kind '{kind}' aren't built")
        mixer = MIXERS[word](config, kind, number)
        feed = None if mixer.alone else dense(config, number)
        if feed and has_experts(config, number):
            feed = experts(config)
        made.append(Layer(mixer, feed, source(config, names, number)))
    return tuple(made)


def source(config, names, layer):
    """The layer whose keys and values one reads: the last of its kind that makes some; -1: none."""
    first = config.layers - config.get("num_kv_shared_layers", 0)
    if layer < first:
        return -1
    found = [n for n in range(first) if names[n] == names[layer]]
    if not found:
        raise ValueError(f"no layer has keys and values for layer {layer}")
    return found[-1]


def altup(config):
    if "altup_num_inputs" not in config:
        return None
    return sizes.AltUp(
        hidden=config.hidden,
        streams=config["altup_num_inputs"],
        active=config.get("altup_active_idx", 0),
        laurel=config["laurel_rank"],
        extra=config["hidden_size_per_layer_input"],
        extra_vocab=config["vocab_size_per_layer_input"],
        corrected_scale=config.get("altup_correct_scale", True),
    )


def refuse(config):
    """What the families here leave out."""
    if config.get("alibi") or config.get("new_decoder_architecture"):
        raise ValueError("Falcon's ALiBi and its newer block aren't built")
    if config.value("hidden_act", "silu") not in ACTIVATIONS:
        raise ValueError(f"unknown activation '{config.value('hidden_act')}'")


def from_config(values):
    """The geometry that a published config.json describes; ValueError says what is wrong."""
    text = values.get("text_config", values)
    if "tie_word_embeddings" in values:
        text = {"tie_word_embeddings": values["tie_word_embeddings"], **text}
    config = Config(text)
    refuse(config)
    learned = config.traits("positions") == "learned"
    scale = config.get("embedding_multiplier") or 1.0
    fields = {
        "tied": bool(config.value("tie_word_embeddings", False)),
        "activation": ACTIVATIONS[config.value("hidden_act", "silu")],
        "epsilon": config.value("rms_norm_eps", 1e-5),
        "embedding_scale": config.hidden**0.5 if scale == "sqrt" else scale,
        "residual_scale": config.get("residual_multiplier") or 1.0,
        "logits_divisor": config.get("logits_scaling") or 1.0,
        "logits_cap": config.get("final_logit_softcapping") or 0,
        "learned_positions": config.value("max_position_embeddings", 0) if learned else 0,
        "altup": altup(config),
        **config.traits("model"),
    }
    return Geometry(plan(config), config.hidden, config["vocab_size"], **fields)


def named():
    """The configs of decoders.json by name."""
    return json.loads(NAMED.read_text())


def find(text):
    """(a name for files, geometry) of a name, a config.json or six numbers."""
    configs = named()
    if text in configs:
        return text, from_config(configs[text])
    path = pathlib.Path(text)
    if path.suffix == ".json":
        try:
            values = json.loads(path.read_text())
        except OSError as error:
            raise ValueError(f"{text}: {error.strerror}") from None
        stem = path.parent.resolve().name if path.stem == "config" else path.stem
        return stem, from_config(values)
    if "," not in text:
        raise ValueError(f"'{text}' is neither a .json nor one of {', '.join(sorted(configs))}")
    return "decoder_" + text.replace(",", "_"), Geometry.parse(text)
