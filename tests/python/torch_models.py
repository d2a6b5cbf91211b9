"""Networks of the tests with PyTorch, as their papers and libraries have them."""

import torch
from torch import nn


class Block(nn.Module):
    """A basic block of ResNet-18."""

    def __init__(self, inner, outer, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inner, outer, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outer)
        self.conv2 = nn.Conv2d(outer, outer, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outer)
        self.downsample = None
        if stride != 1 or inner != outer:
            self.downsample = nn.Sequential(
                nn.Conv2d(inner, outer, 1, stride, bias=False), nn.BatchNorm2d(outer)
            )

    def forward(self, x):
        kept = x if self.downsample is None else self.downsample(x)
        x = torch.relu(self.bn1(self.conv1(x)))
        return torch.relu(self.bn2(self.conv2(x)) + kept)


class ResNet18(nn.Module):
    """As torchvision has it."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU()
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        widths = [64, 64, 128, 256, 512]
        for i in range(1, 5):
            first = Block(widths[i - 1], widths[i], 1 if i == 1 else 2)
            setattr(self, f"layer{i}", nn.Sequential(first, Block(widths[i], widths[i], 1)))
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(512, 1000)

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(torch.flatten(self.avgpool(x), 1))


class Layer(nn.Module):
    """A decoder layer of Llama: grouped queries, SwiGLU, RMSNorm."""

    def __init__(self, width, heads, kv_heads, hidden):
        super().__init__()
        self.heads, self.kv_heads, self.size = heads, kv_heads, width // heads
        self.norm1, self.norm2 = Norm(width), Norm(width)
        self.q_proj = nn.Linear(width, width, bias=False)
        self.k_proj = nn.Linear(width, kv_heads * self.size, bias=False)
        self.v_proj = nn.Linear(width, kv_heads * self.size, bias=False)
        self.o_proj = nn.Linear(width, width, bias=False)
        self.gate_proj = nn.Linear(width, hidden, bias=False)
        self.up_proj = nn.Linear(width, hidden, bias=False)
        self.down_proj = nn.Linear(hidden, width, bias=False)

    def forward(self, x):
        n = x.shape[1]
        h = self.norm1(x)
        q = self.q_proj(h).view(1, n, self.kv_heads, self.heads // self.kv_heads, self.size)
        k = self.k_proj(h).view(1, n, self.kv_heads, 1, self.size).permute(0, 2, 3, 4, 1)
        v = self.v_proj(h).view(1, n, self.kv_heads, 1, self.size).permute(0, 2, 3, 1, 4)
        scores = torch.softmax(torch.matmul(q.permute(0, 2, 3, 1, 4), k) / self.size**0.5, -1)
        a = torch.matmul(scores, v).permute(0, 3, 1, 2, 4).reshape(1, n, -1)
        x = x + self.o_proj(a)
        h = self.norm2(x)
        gate = self.gate_proj(h)
        return x + self.down_proj(gate * torch.sigmoid(gate) * self.up_proj(h))


class Norm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.weight


class Llama(nn.Module):
    def __init__(self, layers, width, heads, kv_heads, hidden, words):
        super().__init__()
        self.embed_tokens = nn.Embedding(words, width)
        self.layers = nn.ModuleList([Layer(width, heads, kv_heads, hidden) for _ in range(layers)])
        self.norm = Norm(width)
        self.lm_head = nn.Linear(width, words, bias=False)

    def forward(self, tokens):
        x = self.embed_tokens(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.lm_head(self.norm(x))


class Encoder(nn.Module):
    """PyTorch's own encoder layers, which export attention of their own."""

    def __init__(self, layers, width, heads, hidden, words, classes):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        layer = nn.TransformerEncoderLayer(
            width, heads, hidden, activation="gelu", batch_first=True
        )
        self.layers = nn.TransformerEncoder(layer, layers)
        self.head = nn.Linear(width, classes)

    def forward(self, tokens):
        return self.head(self.layers(self.embed(tokens)).mean(1))


class Twice(nn.Module):
    """What makes it hard to say which tensor a module gave: activations in place, modules and
    containers that are called twice, modules that give what they read, a tuple."""

    def __init__(self):
        super().__init__()
        self.same = nn.Identity()
        self.conv = nn.Conv2d(3, 8, 3, padding=1, bias=False)
        self.bn = nn.BatchNorm2d(8)
        self.relu = nn.ReLU(inplace=True)
        self.body = nn.Sequential(nn.Conv2d(8, 8, 3, padding=1), nn.ReLU(inplace=True))
        self.drop = nn.Dropout()
        self.head = Split(8)

    def forward(self, x):
        x = self.relu(self.bn(self.conv(self.same(x))))
        y = self.body(self.body(x))
        low, high = self.head(self.drop(self.relu(y.add_(x))))
        return low.mean((2, 3)), high


class Split(nn.Module):
    """Gives two tensors."""

    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, 2 * channels, 1)

    def forward(self, x):
        return torch.chunk(self.conv(x), 2, 1)
