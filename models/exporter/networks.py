"""Transformers in plain PyTorch, with the published geometries of networks whose own code has many
dependencies. Attention is written out as products, so that every product is a node of the graph."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class Bert(nn.Module):
    """BERT-base with pooler: 109,482,240 parameters."""

    def __init__(self, layers=12, hidden=768, heads=12, ffn=3072, vocab=30522, positions=512):
        super().__init__()
        self.word = nn.Embedding(vocab, hidden)
        self.pos = nn.Embedding(positions, hidden)
        self.typ = nn.Embedding(2, hidden)
        self.ln = nn.LayerNorm(hidden, eps=1e-12)
        # A lambda instead of "gelu" keeps the layer off its fused path, which doesn't export.
        layer = nn.TransformerEncoderLayer(
            hidden,
            heads,
            ffn,
            activation=lambda x: F.gelu(x),
            batch_first=False,
            layer_norm_eps=1e-12,
        )
        self.enc = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.pool = nn.Linear(hidden, hidden)
        self.register_buffer("position_ids", torch.arange(positions).unsqueeze(0))

    def forward(self, input_ids, attention_mask, token_type_ids):
        length = input_ids.shape[1]
        x = (
            self.word(input_ids)
            + self.pos(self.position_ids[:, :length])
            + self.typ(token_type_ids)
        )
        x = self.ln(x).transpose(0, 1)
        y = self.enc(x, src_key_padding_mask=(attention_mask == 0)).transpose(0, 1)
        return y, torch.tanh(self.pool(y[:, 0]))


class GptBlock(nn.Module):
    def __init__(self, hidden, heads, context):
        super().__init__()
        self.heads = heads
        self.ln1 = nn.LayerNorm(hidden)
        self.qkv = nn.Linear(hidden, 3 * hidden)
        self.proj = nn.Linear(hidden, hidden)
        self.ln2 = nn.LayerNorm(hidden)
        self.fc = nn.Linear(hidden, 4 * hidden)
        self.fc2 = nn.Linear(4 * hidden, hidden)
        mask = torch.tril(torch.ones(context, context, dtype=torch.bool))
        self.register_buffer("mask", mask.view(1, 1, context, context), persistent=False)

    def forward(self, x):
        batch, length, hidden = x.shape
        head = hidden // self.heads
        q, k, v = (
            part.view(batch, length, self.heads, head).transpose(1, 2)
            for part in self.qkv(self.ln1(x)).split(hidden, dim=2)
        )
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(head)
        low = torch.tensor(-1e4, device=scores.device)
        scores = torch.where(self.mask[:, :, :length, :length], scores, low)
        y = torch.matmul(torch.softmax(scores, -1), v)
        x = x + self.proj(y.transpose(1, 2).contiguous().view(batch, length, hidden))
        z = self.fc(self.ln2(x))
        # GPT-2's own approximation of GELU.
        z = (
            0.5
            * z
            * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (z + 0.044715 * torch.pow(z, 3.0))))
        )
        return x + self.fc2(z)


class Gpt2(nn.Module):
    """GPT-2 small: 124,439,808 parameters with the head tied to the embedding."""

    def __init__(self, layers=12, hidden=768, heads=12, vocab=50257, context=1024):
        super().__init__()
        self.wte = nn.Embedding(vocab, hidden)
        self.wpe = nn.Embedding(context, hidden)
        self.blocks = nn.ModuleList([GptBlock(hidden, heads, context) for _ in range(layers)])
        self.lnf = nn.LayerNorm(hidden)
        self.head = nn.Linear(hidden, vocab, bias=False)
        self.head.weight = self.wte.weight

    def forward(self, input_ids):
        positions = torch.arange(input_ids.shape[1], device=input_ids.device)
        x = self.wte(input_ids) + self.wpe(positions)
        for block in self.blocks:
            x = block(x)
        return self.head(self.lnf(x))


class RmsNorm(nn.Module):
    def __init__(self, hidden, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden))
        self.eps = eps

    def forward(self, x):
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps))


def rotate_half(x):
    half = x.shape[-1] // 2
    return torch.cat((-x[..., half:], x[..., :half]), dim=-1)


class LlamaBlock(nn.Module):
    def __init__(self, hidden, heads, kv_heads, ffn, theta):
        super().__init__()
        self.heads, self.kv_heads, self.head = heads, kv_heads, hidden // heads
        self.n1 = RmsNorm(hidden)
        self.q = nn.Linear(hidden, heads * self.head, bias=False)
        self.k = nn.Linear(hidden, kv_heads * self.head, bias=False)
        self.v = nn.Linear(hidden, kv_heads * self.head, bias=False)
        self.o = nn.Linear(heads * self.head, hidden, bias=False)
        self.n2 = RmsNorm(hidden)
        self.gate = nn.Linear(hidden, ffn, bias=False)
        self.up = nn.Linear(hidden, ffn, bias=False)
        self.down = nn.Linear(ffn, hidden, bias=False)
        exponents = torch.arange(0, self.head, 2).float() / self.head
        self.register_buffer("inv_freq", 1.0 / (theta**exponents), persistent=False)

    def repeat_kv(self, x, batch, length):
        group = self.heads // self.kv_heads
        wide = x[:, :, None].expand(batch, self.kv_heads, group, length, self.head)
        return wide.reshape(batch, self.heads, length, self.head)

    def forward(self, x, positions, past=None):
        batch, length, _ = x.shape

        def split(y, heads):
            return y.view(batch, length, heads, self.head).transpose(1, 2)

        y = self.n1(x)
        q = split(self.q(y), self.heads)
        k = split(self.k(y), self.kv_heads)
        v = split(self.v(y), self.kv_heads)
        angle = positions[:, :, None].float() * self.inv_freq[None, None, :]
        angle = torch.cat((angle, angle), -1)
        cos, sin = angle.cos()[:, None], angle.sin()[:, None]
        q = q * cos + rotate_half(q) * sin
        k = k * cos + rotate_half(k) * sin
        if past is not None:
            k, v = torch.cat((past[0], k), 2), torch.cat((past[1], v), 2)
        total = k.shape[2]
        all_k, all_v = self.repeat_kv(k, batch, total), self.repeat_kv(v, batch, total)
        scores = torch.matmul(q, all_k.transpose(2, 3)) / math.sqrt(self.head)
        if past is None:
            scores = scores + torch.triu(torch.full((length, length), -10000.0, device=x.device), 1)
        mixed = torch.matmul(torch.softmax(scores, -1), all_v)
        mixed = mixed.transpose(1, 2).reshape(batch, length, self.heads * self.head)
        x = x + self.o(mixed)
        y = self.n2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y)), k, v


class Llama(nn.Module):
    """LLaMA-3-8B layers by default: 218,112,000 parameters a layer. No embedding, no head."""

    def __init__(
        self, layers=1, hidden=4096, heads=32, kv_heads=8, ffn=14336, theta=500000.0, decode=False
    ):
        super().__init__()
        self.decode = decode
        self.layers = nn.ModuleList(
            [LlamaBlock(hidden, heads, kv_heads, ffn, theta) for _ in range(layers)]
        )
        self.norm = RmsNorm(hidden)

    def forward(self, x, positions, *past):
        caches = []
        for i, layer in enumerate(self.layers):
            own = (past[2 * i], past[2 * i + 1]) if self.decode else None
            x, k, v = layer(x, positions, own)
            caches += [k, v]
        return (self.norm(x), *caches)


class WhisperBlock(nn.Module):
    def __init__(self, hidden, heads):
        super().__init__()
        self.heads = heads
        self.n1, self.n2 = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.q, self.v = nn.Linear(hidden, hidden), nn.Linear(hidden, hidden)
        self.k = nn.Linear(hidden, hidden, bias=False)
        self.o = nn.Linear(hidden, hidden)
        self.wide, self.narrow = nn.Linear(hidden, 4 * hidden), nn.Linear(4 * hidden, hidden)

    def attend(self, x):
        batch, length, hidden = x.shape
        scale = (hidden // self.heads) ** -0.25

        def split(y):
            return y.view(batch, length, self.heads, -1).transpose(1, 2)

        scores = (split(self.q(x)) * scale) @ (split(self.k(x)) * scale).transpose(2, 3)
        mixed = torch.softmax(scores, -1) @ split(self.v(x))
        return self.o(mixed.transpose(1, 2).flatten(2))

    def forward(self, x):
        x = x + self.attend(self.n1(x))
        return x + self.narrow(F.gelu(self.wide(self.n2(x))))


class WhisperEncoder(nn.Module):
    """Encoder of Whisper tiny by default, over 30 s of sound: 7,632,384 parameters, and 576,000
    constants of positions."""

    def __init__(self, layers=4, hidden=384, heads=6, length=1500):
        super().__init__()
        self.c1 = nn.Conv1d(80, hidden, 3, padding=1)
        self.c2 = nn.Conv1d(hidden, hidden, 3, stride=2, padding=1)
        self.register_buffer("positions", torch.randn(length, hidden))
        self.blocks = nn.ModuleList([WhisperBlock(hidden, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm(hidden)

    def forward(self, x):
        x = F.gelu(self.c2(F.gelu(self.c1(x)))).transpose(1, 2) + self.positions
        for block in self.blocks:
            x = block(x)
        return self.norm(x)
