"""What decides the size of a decoder: read from a config.json, and counted.

A config is one as it is published beside the weights of a language model (Hugging Face). What its
architecture means beyond the numbers (which norm, which activation, what has a bias) stands in
FAMILIES by its model_type; decoders.json has the configs of some models by name.
"""

import dataclasses
import json
import math
import pathlib

NAMED = pathlib.Path(__file__).resolve().parent / "decoders.json"

ACTIVATIONS = {
    "silu": "silu",
    "swish": "silu",
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_fast": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
}

# Two names of the same number, ours (the one that most configs have) first.
ALIASES = {
    "num_hidden_layers": ("n_layer",),
    "hidden_size": ("n_embd",),
    "num_attention_heads": ("n_head",),
    "intermediate_size": ("n_inner", "ffn_hidden_size"),
    "max_position_embeddings": ("n_positions",),
    "num_local_experts": ("num_experts",),
    "hidden_act": ("activation_function", "hidden_activation", "activation"),
    "rms_norm_eps": ("layer_norm_epsilon", "layer_norm_eps"),
    "sliding_window_pattern": ("_sliding_window_pattern",),
}

_CLASSIC = {"norm": "layer", "gated": False}
_ALL_BIASES = {"qkv_bias": True, "out_bias": True, "mlp_bias": True}
_GEMMA_3 = {
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "head_dim": 256,
    "vocab_size": 262208,
    "rope_theta": 1e6,
    "rope_local_base_freq": 1e4,
    "sliding_window_pattern": 6,
    "hidden_act": "gelu_pytorch_tanh",
    "tie_word_embeddings": True,
}

# By model_type: the values that a config may leave out, and what the architecture is.
FAMILIES = {
    "llama": ({}, {}),
    "mistral": ({}, {}),
    "mixtral": ({"num_experts_per_tok": 2}, {}),
    "qwen2": ({}, {"qkv_bias": True}),
    "qwen3": ({}, {"qk_norm": True}),
    "qwen3_moe": ({}, {"qk_norm": True}),
    "gemma3_text": (_GEMMA_3, {"qk_norm": True, "norms_after": True, "scaled_embedding": True}),
    "phi": (
        {"hidden_act": "gelu_new", "partial_rotary_factor": 0.5},
        {**_CLASSIC, **_ALL_BIASES, "parallel": True, "head_bias": True},
    ),
    "phi3": ({}, {"fused": True}),
    "gpt2": (
        {"hidden_act": "gelu_new", "tie_word_embeddings": True, "vocab_size": 50257},
        {**_CLASSIC, **_ALL_BIASES, "positions": "learned", "fused": True},
    ),
    "falcon": (
        {"hidden_act": "gelu", "tie_word_embeddings": True},
        {**_CLASSIC, "parallel": True, "fused": True},
    ),
    "mamba": (
        {"state_size": 16, "expand": 2, "conv_kernel": 4, "tie_word_embeddings": True},
        {"positions": "none"},
    ),
}


@dataclasses.dataclass(frozen=True)
class Geometry:
    """Numbers are elements; the defaults are those of a Llama."""

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    ffn: int
    vocab: int
    head_dim: int = 0  # 0: hidden / heads
    tied: bool = False
    activation: str = "silu"
    gated: bool = True
    norm: str = "rms"
    epsilon: float = 1e-5
    norms_after: bool = False
    parallel: bool = False  # attention and feed-forward side by side, behind one norm
    qk_norm: bool = False
    fused: bool = False  # one product for queries, keys and values, one for gate and up
    qkv_bias: bool = False
    out_bias: bool = False
    mlp_bias: bool = False
    head_bias: bool = False
    scaled_embedding: bool = False
    positions: str = "rotary"
    rotary_share: float = 1.0
    theta: float = 1e4
    local_theta: float = 0  # of layers with a window; 0: theta
    max_positions: int = 0
    windows: tuple = ()  # of each layer: how many positions it sees, 0 for all; (): all see all
    experts: int = 0
    experts_per_token: int = 0
    state: int = 0  # of Mamba: numbers a channel remembers; 0: the mixer is attention
    inner: int = 0
    conv: int = 0
    dt_rank: int = 0

    def __post_init__(self):
        numbers = (self.layers, self.hidden, self.vocab)
        if not self.state:
            numbers += (self.heads, self.kv_heads, self.ffn)
        if min(numbers) < 1:
            raise ValueError("every number must be at least 1")
        if self.state:
            return
        if not self.head_dim and self.hidden % self.heads or self.heads % self.kv_heads:
            raise ValueError("heads must divide hidden, and kv_heads must divide heads")
        if self.positions == "rotary" and self.rotary % 2:
            raise ValueError("rotary positions need an even head size (hidden / heads)")
        if self.experts and not 0 < self.experts_per_token <= self.experts:
            raise ValueError("a token goes to at least one expert and to no more than there are")

    @property
    def head(self):
        return self.head_dim or self.hidden // self.heads

    @property
    def queries(self):
        return self.heads * self.head

    @property
    def keys(self):
        return self.kv_heads * self.head

    @property
    def rotary(self):
        """Elements of a head that turn with the position."""
        return int(self.head * self.rotary_share)

    def window(self, layer):
        return self.windows[layer] if self.windows else 0

    @classmethod
    def parse(cls, text):
        """From "layers,hidden,heads,kv_heads,ffn,vocab"; ValueError says what is wrong."""
        try:
            numbers = [int(part) for part in text.split(",")]
        except ValueError:
            numbers = []
        if len(numbers) != 6:
            raise ValueError(f"'{text}' isn't layers,hidden,heads,kv_heads,ffn,vocab")
        return cls(*numbers)

    def cut(self, layers):
        """The same with only the first `layers` layers."""
        if not 1 <= layers <= self.layers:
            raise ValueError(f"{layers} layers of {self.layers}")
        return dataclasses.replace(self, layers=layers, windows=self.windows[:layers])

    def attention_products(self):
        """(rows, columns, has a bias) of the products with weights of a layer's attention."""
        return [
            (self.hidden, self.queries, self.qkv_bias),
            (self.hidden, self.keys, self.qkv_bias),
            (self.hidden, self.keys, self.qkv_bias),
            (self.queries, self.hidden, self.out_bias),
        ]

    def mlp_products(self):
        """The same of the feed-forward, or of one expert."""
        up = (self.hidden, self.ffn, self.mlp_bias)
        return [up] * (2 if self.gated else 1) + [(self.ffn, self.hidden, self.mlp_bias)]

    def mamba_products(self):
        return [
            (self.hidden, 2 * self.inner, False),
            (self.inner, self.dt_rank + 2 * self.state, False),
            (self.dt_rank, self.inner, True),
            (self.inner, self.hidden, False),
        ]

    def layer_products(self):
        """The products of a layer that every token goes through."""
        if self.state:
            return self.mamba_products()
        router = [(self.hidden, self.experts, False)]
        return self.attention_products() + (router if self.experts else self.mlp_products())

    def _norms(self):
        """Elements of the weights of a layer's norms."""
        width = self.hidden * (2 if self.norm == "layer" else 1)
        if self.state or self.parallel:
            return width
        return width * (4 if self.norms_after else 2) + (2 * self.head if self.qk_norm else 0)

    def params(self):
        """Elements of all weights; a tied output projection counts once."""
        products = self.layer_products() + self.experts * self.mlp_products()
        layer = sum(rows * cols + cols * bias for rows, cols, bias in products) + self._norms()
        if self.state:  # kernel and bias of the convolution; decay of the states; the way around
            layer += self.inner * (self.conv + 1) + self.inner * self.state + self.inner
        last = self.hidden * (2 if self.norm == "layer" else 1)
        head = self.vocab * ((0 if self.tied else self.hidden) + self.head_bias)
        positions = self.max_positions * self.hidden if self.positions == "learned" else 0
        return self.vocab * self.hidden + positions + self.layers * layer + last + head

    def scales(self, group):
        """Scales beside integer weights: one for `group` rows of a column (0: all of them)."""
        products = self.layer_products() + self.experts * self.mlp_products()
        count = sum(cols * (math.ceil(rows / group) if group else 1) for rows, cols, _ in products)
        head = 0 if self.tied else self.vocab * (math.ceil(self.hidden / group) if group else 1)
        return self.layers * count + head

    def routed(self, tokens):
        """Rows that all experts get together: every token as often as it has experts."""
        return tokens * self.experts_per_token

    def macs(self, sequence, past=0, batch=1, past_window=None, routed=None):
        """Multiply-accumulates of products and convolutions of one step. Attention is over the full
        matrix; layers with a window have past_window (default: past) positions in their cache;
        experts compute `routed` rows (default: as many as are routed)."""
        tokens = batch * sequence
        routed = self.routed(tokens) if routed is None else routed
        past_window = past if past_window is None else past_window
        layer = tokens * sum(rows * cols for rows, cols, _ in self.layer_products())
        if self.experts:
            layer += routed * sum(rows * cols for rows, cols, _ in self.mlp_products())
        if self.state:
            layer += tokens * self.inner * self.conv
        total = self.layers * layer + tokens * self.hidden * self.vocab
        if not self.state:
            for number in range(self.layers):
                cached = past_window if self.window(number) else past
                total += 2 * tokens * self.queries * (cached + sequence)
        return total


def _value(config, key, default=None):
    for name in (key, *ALIASES.get(key, ())):
        if config.get(name) is not None:
            return config[name]
    return default


def _windows(config, layers):
    """Of each layer, how many positions it sees, 0 for all."""
    window = config.get("sliding_window")
    if not window or config.get("use_sliding_window") is False:
        return ()
    kinds, pattern = config.get("layer_types"), _value(config, "sliding_window_pattern")
    if kinds:
        return tuple(window if kind == "sliding_attention" else 0 for kind in kinds)
    if pattern:
        return tuple(0 if (layer + 1) % pattern == 0 else window for layer in range(layers))
    return (window,) * layers


def _mamba(config, hidden):
    rank = config.get("time_step_rank", "auto")
    return {
        "state": config["state_size"],
        "inner": config.get("intermediate_size") or config["expand"] * hidden,
        "conv": config["conv_kernel"],
        "dt_rank": math.ceil(hidden / 16) if rank == "auto" else rank,
    }


def _biases(config):
    """Biases that a config switches on: of all of attention, of the feed-forward, of all."""
    both = bool(config.get("bias"))
    attention = both or bool(config.get("attention_bias"))
    found = {"qkv_bias": attention, "out_bias": attention}
    found["mlp_bias"] = both or bool(config.get("mlp_bias"))
    return {name: True for name, has in found.items() if has}


def _refuse(config):
    """What the families here leave out."""
    if config.get("mlp_only_layers") or config.get("decoder_sparse_step", 1) != 1:
        raise ValueError("layers without experts beside layers with experts aren't built")
    if config.get("alibi") or config.get("new_decoder_architecture"):
        raise ValueError("Falcon's ALiBi and its newer block aren't built")
    if _value(config, "hidden_act", "silu") not in ACTIVATIONS:
        raise ValueError(f"unknown activation '{_value(config, 'hidden_act')}'")


def _attention(config, layers, hidden):
    heads = _value(config, "num_attention_heads")
    experts = _value(config, "num_local_experts", 0)
    ffn = config.get("moe_intermediate_size") if experts else None
    return {
        "heads": heads,
        "kv_heads": 1 if config.get("multi_query") else config.get("num_key_value_heads") or heads,
        "ffn": ffn or _value(config, "intermediate_size", 4 * hidden),
        "head_dim": config.get("head_dim") or 0,
        "rotary_share": config.get("partial_rotary_factor") or 1.0,
        "theta": config.get("rope_theta") or 1e4,
        "local_theta": config.get("rope_local_base_freq") or 0,
        "max_positions": _value(config, "max_position_embeddings", 0),
        "windows": _windows(config, layers),
        "experts": experts,
        "experts_per_token": config.get("num_experts_per_tok", 0) if experts else 0,
        **_biases(config),
    }


def from_config(config):
    """The geometry that a published config.json describes; ValueError says what is wrong."""
    config = config.get("text_config", config)
    family = FAMILIES.get(config.get("model_type"))
    if family is None:
        known = ", ".join(sorted(FAMILIES))
        raise ValueError(f"model_type '{config.get('model_type')}' isn't one of {known}")
    defaults, traits = family
    given = {key: value for key, value in config.items() if value is not None}
    for key in defaults:  # a default gives way to the value under any of its names
        if _value(given, key) is not None:
            given[key] = _value(given, key)
    config = {**defaults, **given}
    _refuse(config)
    for key in ("num_hidden_layers", "hidden_size", "vocab_size"):
        if _value(config, key) is None:
            raise ValueError(f"the config has no {key}")
    layers, hidden = _value(config, "num_hidden_layers"), _value(config, "hidden_size")
    mamba = config["model_type"] == "mamba"
    if not mamba and _value(config, "num_attention_heads") is None:
        raise ValueError("the config has no num_attention_heads")
    mixer = _mamba(config, hidden) if mamba else _attention(config, layers, hidden)
    fields = {
        **{"layers": layers, "hidden": hidden, "heads": 0, "kv_heads": 0, "ffn": 0},
        "vocab": config["vocab_size"],
        "tied": bool(config.get("tie_word_embeddings", False)),
        "activation": ACTIVATIONS[_value(config, "hidden_act", "silu")],
        "epsilon": _value(config, "rms_norm_eps", 1e-5),
    }
    return Geometry(**{**fields, **mixer, **traits})


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
            config = json.loads(path.read_text())
        except OSError as error:
            raise ValueError(f"{text}: {error.strerror}") from None
        stem = path.parent.resolve().name if path.stem == "config" else path.stem
        return stem, from_config(config)
    if "," not in text:
        raise ValueError(f"'{text}' is neither a .json nor one of {', '.join(sorted(configs))}")
    return "decoder_" + text.replace(",", "_"), Geometry.parse(text)
