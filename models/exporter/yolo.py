"""YOLO11n in plain PyTorch: the published geometry of the detector, boxes and scores decoded."""

import torch
import torch.nn as nn


def conv(inputs, outputs, kernel=1, stride=1, groups=1, silu=True):
    """Convolution, BatchNorm and SiLU."""
    layers = [
        nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs),
    ]
    return nn.Sequential(*layers, *([nn.SiLU()] if silu else []))


class Bottleneck(nn.Module):
    def __init__(self, channels, share=0.5):
        super().__init__()
        hidden = int(channels * share)
        self.body = nn.Sequential(conv(channels, hidden, 3), conv(hidden, channels, 3))

    def forward(self, x):
        return x + self.body(x)


class C3k(nn.Module):
    """Two bottlenecks beside a convolution."""

    def __init__(self, channels):
        super().__init__()
        hidden = channels // 2
        self.a, self.b = conv(channels, hidden), conv(channels, hidden)
        self.body = nn.Sequential(Bottleneck(hidden, 1.0), Bottleneck(hidden, 1.0))
        self.out = conv(2 * hidden, channels)

    def forward(self, x):
        return self.out(torch.cat((self.body(self.a(x)), self.b(x)), 1))


class C3k2(nn.Module):
    """Halves of the channels, and what a block makes of the second, side by side."""

    def __init__(self, inputs, outputs, deep, share=0.5):
        super().__init__()
        hidden = int(outputs * share)
        self.first = conv(inputs, 2 * hidden)
        self.body = C3k(hidden) if deep else Bottleneck(hidden)
        self.out = conv(3 * hidden, outputs)

    def forward(self, x):
        a, b = self.first(x).chunk(2, 1)
        return self.out(torch.cat((a, b, self.body(b)), 1))


class PooledPyramid(nn.Module):
    """SPPF: pooling over 5, 9 and 13 pixels, one behind the other."""

    def __init__(self, channels):
        super().__init__()
        self.first, self.out = conv(channels, channels // 2), conv(2 * channels, channels)
        self.pool = nn.MaxPool2d(5, 1, 2)

    def forward(self, x):
        maps = [self.first(x)]
        for _ in range(3):
            maps.append(self.pool(maps[-1]))
        return self.out(torch.cat(maps, 1))


class Attention(nn.Module):
    """C2PSA: attention over all pixels on half of the channels, keys of half the size of values."""

    def __init__(self, channels):
        super().__init__()
        half = channels // 2
        self.heads, self.key, self.value = half // 64, 32, 64
        self.first, self.out = conv(channels, channels), conv(channels, channels)
        self.qkv = conv(half, self.heads * (2 * self.key + self.value), silu=False)
        self.positions = conv(half, half, 3, groups=half, silu=False)
        self.project = conv(half, half, silu=False)
        self.wide, self.narrow = conv(half, 2 * half), conv(2 * half, half, silu=False)

    def attend(self, x):
        batch, channels, height, width = x.shape
        parts = self.qkv(x).view(batch, self.heads, -1, height * width)
        q, k, v = parts.split([self.key, self.key, self.value], 2)
        weights = ((q.transpose(-2, -1) @ k) * self.key**-0.5).softmax(-1)
        mixed = (v @ weights.transpose(-2, -1)).view(x.shape)
        return self.project(mixed + self.positions(v.reshape(x.shape)))

    def forward(self, x):
        a, b = self.first(x).chunk(2, 1)
        b = b + self.attend(b)
        b = b + self.narrow(self.wide(b))
        return self.out(torch.cat((a, b), 1))


class Yolo11n(nn.Module):
    """640 x 640 pixels, 80 classes: 2,624,064 parameters, and 16 constants of the boxes' sums."""

    BINS = 16  # of a distribution over distances to an edge of the box

    def __init__(self, classes=80, size=640):
        super().__init__()
        self.classes = classes
        self.stem = nn.Sequential(
            conv(3, 16, 3, 2), conv(16, 32, 3, 2), C3k2(32, 64, False, 0.25), conv(64, 64, 3, 2)
        )
        self.p3 = C3k2(64, 128, False, 0.25)
        self.p4 = nn.Sequential(conv(128, 128, 3, 2), C3k2(128, 128, True))
        self.p5 = nn.Sequential(
            conv(128, 256, 3, 2), C3k2(256, 256, True), PooledPyramid(256), Attention(256)
        )
        self.up = nn.Upsample(scale_factor=2)
        self.up4, self.up3 = C3k2(384, 128, False), C3k2(256, 64, False)
        self.shrink3, self.down4 = conv(64, 64, 3, 2), C3k2(192, 128, False)
        self.shrink4, self.down5 = conv(128, 128, 3, 2), C3k2(384, 256, True)
        widths, hidden = (64, 128, 256), max(80, classes)
        self.boxes = nn.ModuleList(
            nn.Sequential(conv(w, 64, 3), conv(64, 64, 3), nn.Conv2d(64, 4 * self.BINS, 1))
            for w in widths
        )
        self.scores = nn.ModuleList(
            nn.Sequential(
                conv(w, w, 3, groups=w),
                conv(w, hidden),
                conv(hidden, hidden, 3, groups=hidden),
                conv(hidden, hidden),
                nn.Conv2d(hidden, classes, 1),
            )
            for w in widths
        )
        self.register_buffer("bins", torch.arange(float(self.BINS)).view(1, self.BINS, 1, 1))
        centres, strides = [], []
        for stride in (8, 16, 32):
            side = torch.arange(size // stride) + 0.5
            y, x = torch.meshgrid(side, side, indexing="ij")
            centres.append(torch.stack((x, y)).flatten(1))
            strides.append(torch.full((1, side.numel() ** 2), float(stride)))
        self.register_buffer("centres", torch.cat(centres, 1)[None])
        self.register_buffer("strides", torch.cat(strides, 1))

    def features(self, x):
        p3 = self.p3(self.stem(x))
        p4 = self.p4(p3)
        p5 = self.p5(p4)
        n4 = self.up4(torch.cat((self.up(p5), p4), 1))
        n3 = self.up3(torch.cat((self.up(n4), p3), 1))
        n4 = self.down4(torch.cat((self.shrink3(n3), n4), 1))
        return n3, n4, self.down5(torch.cat((self.shrink4(n4), p5), 1))

    def forward(self, x):
        heads = zip(self.boxes, self.scores, self.features(x), strict=True)
        maps = [torch.cat((box(f), score(f)), 1).flatten(2) for box, score, f in heads]
        boxes, scores = torch.cat(maps, 2).split([4 * self.BINS, self.classes], 1)
        sides = boxes.view(boxes.shape[0], 4, self.BINS, -1).transpose(2, 1).softmax(1)
        low, high = (sides * self.bins).sum(1).chunk(2, 1)
        first, last = self.centres - low, self.centres + high
        corners = torch.cat(((first + last) / 2, last - first), 1) * self.strides
        return torch.cat((corners, scores.sigmoid()), 1)
