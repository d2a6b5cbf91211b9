"""What decides the size of a decoder: its layers and what they share, and what it counts.

sizes.py has the parts of layers, config.py reads a published config.json.
"""

import dataclasses
import math

from sizes import AltUp, Attention, Dense, Experts, Latent, Part, work


@dataclasses.dataclass(frozen=True)
class Layer:
    """A mixer of tokens, and a feed-forward behind it in most models. `source`: the layer whose
    keys and values it reads; -1: its own."""

    mixer: Part
    feed: Part = None
    source: int = -1


@dataclasses.dataclass(frozen=True)
class Geometry:
    """Numbers are elements; the defaults are those of a Llama."""

    plan: tuple  # of Layers
    hidden: int
    vocab: int
    tied: bool = False
    activation: str = "silu"
    norm: str = "rms"
    epsilon: float = 1e-5
    norms: str = "before"  # a part, after it, or both
    parallel: bool = False  # attention and feed-forward side by side, behind one norm
    head_bias: bool = False
    embedding_scale: float = 1.0
    residual_scale: float = 1.0  # of what a part adds
    logits_divisor: float = 1.0
    logits_cap: float = 0  # logits stay within it, by a hyperbolic tangent; 0: free
    learned_positions: int = 0
    altup: AltUp = None

    def __post_init__(self):
        if min(self.layers, self.hidden, self.vocab) < 1:
            raise ValueError("every number must be at least 1")

    @property
    def layers(self):
        return len(self.plan)

    @property
    def experts(self):
        """Of the first layer that has them, whose numbers all such layers have; or None."""
        return next((x.feed for x in self.plan if isinstance(x.feed, Experts)), None)

    def window(self, layer):
        """How many positions a layer sees; 0: all, or it keeps none."""
        return self.plan[layer].mixer.window if self.plan[layer].mixer.cached else 0

    @property
    def windows(self):
        return tuple(self.window(layer) for layer in range(self.layers))

    @classmethod
    def parse(cls, text):
        """From "layers,hidden,heads,kv_heads,ffn,vocab"; ValueError says what is wrong."""
        try:
            numbers = [int(part) for part in text.split(",")]
        except ValueError:
            numbers = []
        if len(numbers) != 6:
            raise ValueError(f"'{text}' isn't layers,hidden,heads,kv_heads,ffn,vocab")
        layers, hidden, heads, kv_heads, ffn, vocab = numbers
        if min(numbers) < 1 or hidden % heads:
            raise ValueError("every number must be at least 1, and heads must divide hidden")
        head = hidden // heads
        mixer = Attention(hidden, heads, kv_heads, head, rotary=head, scale=head**-0.5)
        return cls((Layer(mixer, Dense(hidden, ffn)),) * layers, hidden, vocab)

    def cut(self, layers):
        """The same with only the first `layers` layers."""
        if not 1 <= layers <= self.layers:
            raise ValueError(f"{layers} layers of {self.layers}")
        return dataclasses.replace(self, plan=self.plan[:layers])

    def absorbed(self):
        """The same with latent attention that makes nothing of its cache."""

        def change(layer):
            if not isinstance(layer.mixer, Latent):
                return layer
            return dataclasses.replace(layer, mixer=dataclasses.replace(layer.mixer, absorbed=True))

        return dataclasses.replace(self, plan=tuple(map(change, self.plan)))

    def parts(self):
        """All parts of all layers."""
        found = [part for layer in self.plan for part in (layer.mixer, layer.feed) if part]
        return found + [self.altup] * (self.layers if self.altup else 0)

    def _norms(self):
        """Elements of the weights of all norms over the hidden size."""
        width = self.hidden * (2 if self.norm == "layer" else 1)
        each = 2 if self.norms == "both" else 1
        count = sum(1 if self.parallel or not x.feed else 2 for x in self.plan)
        return width * (each * count + 1)

    def _model_products(self):
        """Those outside of layers, without the output projection."""
        return self.altup.model_products(self.layers) if self.altup else []

    def params(self):
        """Elements of all weights; a tied output projection counts once."""
        count = sum(part.params() for part in self.parts()) + self._norms()
        count += self.vocab * self.hidden + self.learned_positions * self.hidden
        count += self.vocab * ((0 if self.tied else self.hidden) + self.head_bias)
        if self.altup:
            count += work(self._model_products()) + self.altup.model_others(self.layers)
        return count

    def scales(self, group):
        """Scales beside integer weights: one for `group` rows of a column (0: all of them)."""

        def count(products):
            return sum(
                cols * (math.ceil(rows / group) if group else 1) for rows, cols, _ in products
            )

        total = sum(count(part.products()) for part in self.parts())
        experts = [part for part in self.parts() if isinstance(part, Experts)]
        total += sum(part.count * count(part.expert_products()) for part in experts)
        head = [] if self.tied else [(self.hidden, self.vocab, False)]
        return total + count(self._model_products() + head)

    def routed(self, tokens):
        """Rows that all experts of a layer get together: every token as often as it has experts."""
        return tokens * self.experts.per_token if self.experts else 0

    def macs(self, sequence, past=0, batch=1, past_window=None, routed=None, chunk=0):
        """Multiply-accumulates of products and convolutions of one step. Attention is over the full
        matrix; layers with a window have past_window (default: past) positions in their cache;
        experts compute `routed` rows (default: as many as are routed); scans are in chunks of
        `chunk` tokens (0: in steps)."""
        tokens = batch * sequence
        routed = self.routed(tokens) if routed is None else routed
        past_window = past if past_window is None else past_window
        total = tokens * (work(self._model_products()) + self.hidden * self.vocab)
        for number, layer in enumerate(self.plan):
            cached = past_window if self.window(number) else past
            form = (chunk,) if layer.mixer.chunks else ()
            total += layer.mixer.macs(batch, sequence, cached, *form)
            for part in filter(None, (layer.feed, self.altup)):
                total += part.macs(batch, sequence, 0)
            if isinstance(layer.feed, Experts):
                total += layer.feed.expert_macs(routed)
        return total
