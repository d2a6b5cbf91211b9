"""The sizes of a layer's parts, and what each counts: a class for every kind of mixer and of
feed-forward. Another kind is a class here and a builder in a file of its own, which decoder.py
names.

`products()` are the (rows, columns, has a bias) of its products with weights that every token goes
through, stored in the format of the weights; `others()` the elements of all other weights.
`macs(batch, sequence, past)` are multiply-accumulates of a step behind `past` cached positions.
"""

import dataclasses


def elements(products):
    """Of the weights and biases of products."""
    return sum(rows * cols + cols * bias for rows, cols, bias in products)


def work(products):
    """Multiply-accumulates of a token."""
    return sum(rows * cols for rows, cols, _ in products)


class Part:
    """What all parts have."""

    cached = False  # keeps keys and values of all positions, or of a window of them
    alone = False  # a layer has no feed-forward behind it
    chunks = False  # has a form in chunks, whose macs() take the length of one; 0: in steps

    def others(self):
        return 0

    def params(self):
        return elements(self.products()) + self.others()

    def macs(self, batch, sequence, past):
        return batch * sequence * work(self.products())


@dataclasses.dataclass(frozen=True)
class Attention(Part):
    """Heads with keys and values of `head` elements."""

    hidden: int
    heads: int
    kv_heads: int
    head: int
    window: int = 0  # positions that it sees; 0: all
    rotary: int = 0  # elements of a head that turn with the position
    theta: float = 1e4
    scale: float = 1.0  # of the scores
    qk_norm: str = ""  # of queries and keys: heads, width (before they are heads), unit
    value_norm: bool = False  # of values, without weights
    fused: bool = False  # one product for queries, keys and values
    qkv_bias: bool = False
    out_bias: bool = False
    sinks: bool = False  # a learned score of each head that takes weight and gives nothing
    gated: bool = False  # a product more for a gate of what comes out
    temper: tuple = ()  # (floor, slope) of a scale of queries that grows with the position
    borrowed: bool = False  # keys and values are those of an earlier layer

    cached = True

    def __post_init__(self):
        if min(self.heads, self.kv_heads, self.head) < 1:
            raise ValueError("every number must be at least 1")
        if self.heads % self.kv_heads:
            raise ValueError("kv_heads must divide heads")
        if self.rotary % 2 or self.rotary > self.head:
            raise ValueError("rotary positions need an even number of elements of a head")

    @property
    def queries(self):
        return self.heads * self.head

    @property
    def keys(self):
        return self.kv_heads * self.head

    def products(self):
        queries = (self.hidden, self.queries * (2 if self.gated else 1), self.qkv_bias)
        keys = (self.hidden, self.keys, self.qkv_bias)
        own = [queries] if self.borrowed else [queries, keys, keys]
        return [*own, (self.queries, self.hidden, self.out_bias)]

    def others(self):
        query, key = {
            "heads": (self.head, self.head),
            "width": (self.queries, self.keys),
        }.get(self.qk_norm, (0, 0))
        return query + key * (not self.borrowed) + self.heads * self.sinks

    def macs(self, batch, sequence, past):
        scores = batch * sequence * (past + sequence) * self.queries
        return super().macs(batch, sequence, past) + 2 * scores


@dataclasses.dataclass(frozen=True)
class Latent(Part):
    """Multi-head latent attention: `rank` elements of all heads' keys and values are cached, and
    `turning` of a key that all heads share. `plain` elements of a head's key and `value` of its
    value come from the former. `absorbed`: queries go to the latent space instead, and nothing is
    made of the cache."""

    hidden: int
    heads: int
    query_rank: int  # 0: queries have one product
    rank: int
    plain: int
    turning: int
    value: int
    theta: float = 1e4
    scale: float = 1.0
    bias: bool = False
    absorbed: bool = False

    cached = True
    window = 0
    sinks = False

    @property
    def rotary(self):
        return self.turning

    @property
    def head(self):
        return self.plain + self.turning

    def expansion(self):
        """(rows, columns, has a bias) of keys and values from what is cached."""
        return (self.rank, self.heads * (self.plain + self.value), False)

    def token_products(self):
        """Those of new tokens, cached ones or not."""
        width = self.heads * self.head
        low = (self.hidden, self.query_rank, self.bias), (self.query_rank, width, False)
        queries = low if self.query_rank else ((self.hidden, width, False),)
        latent = (self.hidden, self.rank + self.turning, self.bias)
        return [*queries, latent, (self.heads * self.value, self.hidden, self.bias)]

    def products(self):
        return [*self.token_products(), self.expansion()]

    def others(self):
        return self.query_rank + self.rank

    def macs(self, batch, sequence, past):
        tokens, total = batch * sequence, past + sequence
        count = tokens * work(self.token_products())
        if self.absorbed:
            count += tokens * work([self.expansion()])
            return count + tokens * total * self.heads * (2 * self.rank + self.turning)
        count += batch * total * work([self.expansion()])
        return count + tokens * total * self.heads * (self.head + self.value)


@dataclasses.dataclass(frozen=True)
class ShortConvolution(Part):
    """Two gates around a causal convolution of each channel."""

    hidden: int
    kernel: int
    bias: bool = False

    def products(self):
        return [(self.hidden, 3 * self.hidden, self.bias), (self.hidden, self.hidden, self.bias)]

    def others(self):
        return self.hidden * (self.kernel + self.bias)

    def macs(self, batch, sequence, past):
        return super().macs(batch, sequence, past) + batch * sequence * self.hidden * self.kernel


@dataclasses.dataclass(frozen=True)
class Mamba(Part):
    """A scan of `inner` channels with `state` numbers each; `rank` of the step's product."""

    hidden: int
    inner: int
    state: int
    kernel: int
    rank: int

    alone = True

    def products(self):
        return [
            (self.hidden, 2 * self.inner, False),
            (self.inner, self.rank + 2 * self.state, False),
            (self.rank, self.inner, True),
            (self.inner, self.hidden, False),
        ]

    def others(self):
        """Kernel and bias of the convolution; decay of the states; the way around."""
        return self.inner * (self.kernel + 1) + self.inner * self.state + self.inner

    def macs(self, batch, sequence, past):
        return super().macs(batch, sequence, past) + batch * sequence * self.inner * self.kernel


@dataclasses.dataclass(frozen=True)
class Mamba2(Part):
    """A scan of heads, each a matrix of `head` x `state`; `groups` of heads see the same inputs and
    outputs of the state."""

    hidden: int
    heads: int
    head: int
    state: int
    groups: int
    kernel: int
    bias: bool = False
    conv_bias: bool = True

    alone = True
    chunks = True

    def __post_init__(self):
        if self.heads % self.groups:
            raise ValueError("groups must divide the heads of the scan")

    @property
    def inner(self):
        return self.heads * self.head

    @property
    def channels(self):
        """Of the convolution."""
        return self.inner + 2 * self.groups * self.state

    def products(self):
        wide = self.inner + self.channels + self.heads
        return [(self.hidden, wide, self.bias), (self.inner, self.hidden, self.bias)]

    def others(self):
        """Kernel of the convolution; step, decay and way around of each head; the norm."""
        return self.channels * (self.kernel + self.conv_bias) + 3 * self.heads + self.inner

    def macs(self, batch, sequence, past, chunk=0):
        """The sum over a head's states is a product. In chunks: scores of groups, their products
        with values, what a chunk adds to the state and sees of it."""
        scan = self.inner * self.state
        if chunk:
            scan = chunk * (self.groups * self.state + self.inner) + 2 * scan
        scan += self.channels * self.kernel
        return super().macs(batch, sequence, past) + batch * sequence * scan


@dataclasses.dataclass(frozen=True)
class Delta(Part):
    """A gated delta rule: `heads` matrices of `key` x `value`, `key_heads` of queries and keys."""

    hidden: int
    heads: int
    key_heads: int
    key: int
    value: int
    kernel: int

    chunks = True

    def __post_init__(self):
        if self.heads % self.key_heads:
            raise ValueError("key heads must divide value heads")

    @property
    def inner(self):
        return self.heads * self.value

    @property
    def channels(self):
        """Of the convolution: queries, keys and values."""
        return 2 * self.key_heads * self.key + self.inner

    def products(self):
        wide = self.channels + self.inner
        return [
            (self.hidden, wide, False),
            (self.hidden, 2 * self.heads, False),
            (self.inner, self.hidden, False),
        ]

    def others(self):
        """Kernel of the convolution; step and decay of each head; the norm of a head."""
        return self.channels * self.kernel + 2 * self.heads + self.value

    def macs(self, batch, sequence, past, chunk=0):
        """In chunks: keys and queries by keys, ten products that solve the system, what it makes of
        keys and values, scores by values, and three products with the state."""
        scan = self.channels * self.kernel
        if chunk:
            square = 3 * self.key + 2 * self.value + 10 * chunk
            scan += self.heads * (chunk * square + 3 * self.key * self.value)
        return super().macs(batch, sequence, past) + batch * sequence * scan


@dataclasses.dataclass(frozen=True)
class Dense(Part):
    """A feed-forward of `ffn` elements. `sparsity`: the share of them that a gate leaves out."""

    hidden: int
    ffn: int
    gated: bool = True
    fused: bool = False  # one product for gate and up
    bias: bool = False
    sparsity: float = 0.0

    def __post_init__(self):
        if self.ffn < 1:
            raise ValueError("every number must be at least 1")

    def products(self):
        up = (self.hidden, self.ffn, self.bias)
        return [up] * (2 if self.gated else 1) + [(self.ffn, self.hidden, self.bias)]


@dataclasses.dataclass(frozen=True)
class Experts(Part):
    """`count` feed-forwards, `per_token` of which a token goes through; `shared` is one that all go
    through. `score` says how a router's scores become shares (experts.py)."""

    hidden: int
    count: int
    per_token: int
    ffn: int
    score: str = "softmax"
    normal: bool = True  # shares sum to one
    scale: float = 1.0  # of all shares
    on_input: bool = False  # shares scale what goes into experts, not what comes out
    correction: bool = False  # a learned number is added to each score to choose, not to share
    groups: int = 1  # of experts, of which `best_groups` are chosen first
    best_groups: int = 1
    bias: bool = False  # of router and experts
    clamp: tuple = ()  # (limit, slope of the gate's sigmoid) of a clamped gate
    shared: Dense = None
    shared_gate: bool = False

    def __post_init__(self):
        if not 0 < self.per_token <= self.count or self.ffn < 1:
            raise ValueError("a token goes to at least one expert and to no more than there are")
        if self.count % self.groups or not 0 < self.best_groups <= self.groups:
            raise ValueError("groups of experts must divide them, and some must be chosen")

    def products(self):
        router = [(self.hidden, self.count, self.bias)]
        shared = self.shared.products() if self.shared else []
        return router + shared + [(self.hidden, 1, False)] * self.shared_gate

    def expert_products(self):
        """Of one expert."""
        up = (self.hidden, self.ffn, self.bias)
        return [up, up, (self.ffn, self.hidden, self.bias)]

    def others(self):
        return self.count * self.correction

    def params(self):
        return super().params() + self.count * elements(self.expert_products())

    def expert_macs(self, rows):
        """Of `rows` rows that all experts compute together."""
        return rows * work(self.expert_products())


@dataclasses.dataclass(frozen=True)
class AltUp(Part):
    """Alternating updates: `streams` hidden states, of which a layer computes one and predicts the
    others; a low-rank residual (`laurel`) beside attention; `extra` elements of a second embedding
    of `extra_vocab` tokens in every layer."""

    hidden: int
    streams: int
    active: int
    laurel: int
    extra: int
    extra_vocab: int
    corrected_scale: bool = True

    def products(self):
        """Of a layer."""
        laurel = [(self.hidden, self.laurel, False), (self.laurel, self.hidden, False)]
        return [*laurel, (self.hidden, self.extra, False), (self.extra, self.hidden, False)]

    def router(self):
        return self.hidden * self.streams

    def others(self):
        """The router, coefficients of prediction and correction; the scale of the corrected stream;
        norms of router, laurel and extra."""
        norms = (3 + self.corrected_scale) * self.hidden
        return self.router() + self.streams**3 + self.streams**2 + norms

    def macs(self, batch, sequence, past):
        """The router is asked twice; a prediction mixes streams by a matrix of each token."""
        mixed = 2 * self.router() + self.streams**3 + self.streams**2
        mixed += self.hidden * self.streams**2
        return super().macs(batch, sequence, past) + batch * sequence * mixed

    def model_products(self, layers):
        """Of the whole model: streams from the embedding and back, and what layers get."""
        ways = [(self.hidden, self.hidden, False)] * (2 * (self.streams - 1))
        return [*ways, (self.hidden, layers * self.extra, False)]

    def model_others(self, layers):
        return self.extra_vocab * layers * self.extra + self.extra
