"""Steps of the exporter's language models, and configs of small ones, one for each kind of
architecture, that run in a moment. models/exporter has to be on the path."""

import config

BASE = {
    "num_hidden_layers": 2,
    "hidden_size": 32,
    "vocab_size": 50,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 48,
}
EXPERTS = {
    "n_routed_experts": 8,
    "num_experts_per_tok": 2,
    "n_shared_experts": 1,
    "moe_intermediate_size": 24,
    "first_k_dense_replace": 1,
}
TINY = {
    "qwen3": {"head_dim": 12},
    "gemma3_text": {
        "head_dim": 16,
        "sliding_window": 4,
        "layer_types": ["sliding_attention", "full_attention"],
    },
    "mamba": {"intermediate_size": 64},
    "granite": {
        "attention_multiplier": 0.1,
        "embedding_multiplier": 3.0,
        "residual_multiplier": 0.5,
        "logits_scaling": 2.0,
        "tie_word_embeddings": True,
    },
    "olmo2": {},
    "smollm3": {"no_rope_layers": [1, 0]},
    "gpt_oss": {
        "head_dim": 8,
        "num_local_experts": 4,
        "num_experts_per_tok": 2,
        "sliding_window": 4,
    },
    "glm4_moe": {**EXPERTS, "head_dim": 16, "attention_bias": True, "use_qk_norm": True},
    "deepseek_v3": {
        **EXPERTS,
        "num_key_value_heads": 4,
        "q_lora_rank": 24,
        "kv_lora_rank": 16,
        "qk_nope_head_dim": 8,
        "qk_rope_head_dim": 4,
        "v_head_dim": 12,
        "n_group": 4,
        "topk_group": 2,
    },
    "llama4_text": {
        "head_dim": 8,
        "intermediate_size_mlp": 40,
        "num_local_experts": 4,
        "interleave_moe_layer_step": 2,
        "no_rope_layers": [1, 0],
        "attention_chunk_size": 4,
        "floor_scale": 2,
    },
    "lfm2": {"full_attn_idxs": [1], "block_multiple_of": 16},
    "qwen3_next": {
        "head_dim": 16,
        "layer_types": ["linear_attention", "full_attention"],
        "linear_num_key_heads": 2,
        "linear_num_value_heads": 4,
        "linear_key_head_dim": 8,
        "linear_value_head_dim": 6,
        "num_experts": 8,
        "num_experts_per_tok": 2,
        "moe_intermediate_size": 24,
        "shared_expert_intermediate_size": 16,
    },
    "mamba2": {"num_heads": 8, "head_dim": 8, "state_size": 6, "n_groups": 2},
    "gemma3n_text": {
        "num_hidden_layers": 4,
        "head_dim": 16,
        "sliding_window": 4,
        "layer_types": ["sliding_attention", "full_attention"] * 2,
        "num_kv_shared_layers": 2,
        "activation_sparsity_pattern": [0.9, 0.9, 0.0, 0.0],
        "vocab_size_per_layer_input": 40,
        "hidden_size_per_layer_input": 12,
        "laurel_rank": 5,
    },
}


def tiny(kind):
    return {**BASE, "model_type": kind, **TINY[kind]}


def bindings(size, sequence, past, past_window, experts=None):
    """--bind of one step; `experts`: how many get tokens, default: all that can."""
    bound = {"sequence": sequence}
    cached = [layer for layer in range(size.layers) if size.plan[layer].mixer.cached]
    kinds = {bool(size.window(layer)) for layer in cached}
    if False in kinds:
        bound.update(past=past, total=past + sequence)
    if True in kinds:
        bound.update(past_window=past_window, total_window=past_window + sequence)
    if size.experts:
        rows = size.routed(sequence)
        bound["active_experts"] = experts or min(size.experts.count, rows)
        bound["tokens_per_expert"] = -(-rows // bound["active_experts"])
    return bound


def short(name):
    """The first layers of a model: as many as have all kinds that it has, two at least."""
    size = config.find(name)[1]
    kinds = [(layer.mixer, layer.feed, layer.source >= 0) for layer in size.plan]
    return size.cut(max(2, *(kinds.index(kind) + 1 for kind in kinds)))
