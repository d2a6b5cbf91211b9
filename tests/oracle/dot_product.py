"""An event simulation of the dot-product template, written from docs/dot-product.md alone.

It shares no code with hw/timing. Reads, blocks, atoms and their events are stepped one by one: a
reader, a sequencer and a writer run side by side and meet at nothing but what the page names
(entries, kernel groups, places). dot_product_periods.py has the same rules in closed form.
Section names in the docstrings are those of the page.
"""

import heapq
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count


def up(a: int, b: int) -> int:
    return -(-a // b)


@dataclass(frozen=True)
class Engine:
    """Section "Fields". The values are those of NVDLA's nv_small on the bench of the tables."""

    atom_channels: int = 8
    atom_kernels: int = 8
    element_bytes: int = 1
    stripe: int = 16
    short_stripe: int = 8
    block_cycles: int = 8
    kernel_cycles: int = 1
    load_cycles: int = 2
    entry_bytes: int = 8
    bank_entries: int = 512
    spare_entries: int = 8
    burst_entries: int = 8
    weight_align: int = 128
    request_interval: int = 2
    read_latency: int = 32
    places: int = 16
    atom_cycles: int = 9
    weight_start: int = 28
    feature_start: int = 36
    feature_latency: int = 7
    issue_to_atom: int = 36
    atom_to_place: int = 11
    atom_to_write: int = 39
    load_to_entries: int = 49
    layer_to_reads: int = 45


@dataclass(frozen=True)
class Layer:
    """Section "Layer". Sizes in elements, banks as the layer divides them."""

    width: int
    height: int
    channels: int
    kernels: int
    kernel_width: int
    kernel_height: int
    out_width: int
    out_height: int
    feature_banks: int
    weight_banks: int
    keeps_weights: bool = False
    has_weights: bool = False


@dataclass
class Times:
    """Cycles from time zero, of the first layer where several run in sequence."""

    first_read: int | None = None
    last_read: int = 0
    last_weight_read: int = 0
    last_feature_read: int = 0
    first_write: int | None = None
    last_write: int = 0


@dataclass(frozen=True)
class Work:
    """Section "What a layer is cut into"."""

    blocks: int  # of a stripe: channel blocks x rows x columns
    stripes: tuple[int, ...]  # outputs of each
    group_kernels: tuple[int, ...]
    feature_entries: int
    weight_entries: tuple[int, ...]  # that must have come for group g, from the layer's first


def stripes(outputs: int, engine: Engine) -> tuple[int, ...]:
    """Section "What a layer is cut into", the rule of stripes."""
    cut, left = [], outputs
    while left > 0:
        if left >= 2 * engine.stripe:
            length = engine.stripe
        else:
            length = left if left <= engine.stripe else engine.short_stripe
        cut.append(length)
        left -= length
    return tuple(cut)


def work(layer: Layer, engine: Engine) -> Work:
    """Section "What a layer is cut into", with the checks of "What a layer must satisfy"."""
    deep = up(layer.channels, engine.atom_channels)
    taps = layer.kernel_width * layer.kernel_height
    groups = up(layer.kernels, engine.atom_kernels)
    kernels = [engine.atom_kernels] * (groups - 1)
    kernels.append(layer.kernels - sum(kernels))
    kernel_bytes = layer.channels * taps * engine.element_bytes
    needed = [
        up((g + 1) * engine.atom_kernels * kernel_bytes, engine.entry_bytes) for g in range(groups)
    ]
    padded = up(layer.kernels * kernel_bytes, engine.weight_align) * engine.weight_align
    needed[-1] = up(padded, engine.entry_bytes)
    atom = up(engine.atom_channels * engine.element_bytes, engine.entry_bytes)
    features = deep * layer.width * layer.height * atom
    if features > layer.feature_banks * engine.bank_entries:
        raise ValueError(f"{features} entries of features don't fit: {layer}")
    before = [0] * groups if layer.keeps_weights else [0, *needed]
    for freed, entries in zip(before, needed):
        if entries > allowed(layer, engine, freed, needed[-1]):
            raise ValueError(f"the weights of a kernel group don't fit: {layer}")
    cut = stripes(layer.out_width * layer.out_height, engine)
    if max(cut) > engine.places:
        raise ValueError(f"a stripe has more outputs than the accumulator places: {engine}")
    return Work(deep * taps, cut, tuple(kernels), features, tuple(needed))


@dataclass(frozen=True)
class Block:
    """A block in its place: the first of its group, the last of its stripe or group."""

    group: int
    kernels: int
    outputs: int
    begins_group: bool
    ends_stripe: bool
    ends_group: bool


def blocks(job: Work) -> Iterator[Block]:
    """Section "What a layer is cut into", the order."""
    for group, kernels in enumerate(job.group_kernels):
        for s, outputs in enumerate(job.stripes):
            last = s == len(job.stripes) - 1
            for b in range(job.blocks):
                ends = b == job.blocks - 1
                yield Block(group, kernels, outputs, s == b == 0, ends, ends and last)


def allowed(layer: Layer, engine: Engine, freed: int, total: int) -> int:
    """Section "Reads": entries of weights that may have been asked for, in whole bursts."""
    room = freed + layer.weight_banks * engine.bank_entries + engine.spare_entries
    burst = engine.burst_entries
    return total if room >= total else room // burst * burst


class Signal:
    """What processes wait for."""

    def __init__(self) -> None:
        self.waiting: list[Iterator] = []


class Agenda:
    """Events in time order. Of one cycle, actions come before processes."""

    def __init__(self) -> None:
        self.now = 0
        self.events: list[tuple] = []
        self.order = count()

    def at(self, cycle: int, action: Callable[[], None]) -> None:
        heapq.heappush(self.events, (cycle, 0, next(self.order), action))

    def start(self, process: Iterator, cycle: int = 0) -> None:
        heapq.heappush(self.events, (cycle, 1, next(self.order), process))

    def fire(self, signal: Signal) -> None:
        for process in signal.waiting:
            self.start(process, self.now)
        signal.waiting = []

    def step(self, process: Iterator) -> None:
        """A process yields the cycle it goes on in, or the signal that it waits for."""
        wait = next(process, None)
        if isinstance(wait, Signal):
            wait.waiting.append(process)
        elif wait is not None:
            self.start(process, max(wait, self.now))

    def run(self) -> None:
        while self.events:
            self.now, kind, _, event = heapq.heappop(self.events)
            if kind == 0:
                event()
            else:
                self.step(event)


class Buffer:
    """Section "Reads": what has been asked for, has come and is free, of the layer in turn."""

    def __init__(self) -> None:
        self.weights_asked = self.features_asked = 0
        self.weights_freed = 0
        self.weights_come = self.features_come = 0
        self.changed, self.came = Signal(), Signal()


class Core:
    """One machine and layers in overlapped sequence."""

    def __init__(self, engine: Engine, layers: Sequence[Layer]) -> None:
        self.engine, self.layers = engine, layers
        self.works = [work(layer, engine) for layer in layers]
        self.agenda = Agenda()
        self.buffers = [Buffer() for _ in layers]
        self.begun: list[tuple[int, int] | None] = [None] * len(layers)  # weights, features
        self.begun[0] = (engine.weight_start, engine.feature_start)
        self.begin = Signal()
        self.atoms: deque[int] = deque()  # the cycle in which each is there
        self.atom, self.place = Signal(), Signal()
        self.places, self.written = engine.places, 0
        self.times = [Times() for _ in layers]
        self.owed = [len(w.group_kernels) * sum(w.stripes) for w in self.works]

    def run(self) -> list[Times]:
        for process in (self.reader(), self.sequencer(), self.writer()):
            self.agenda.start(process)
        self.agenda.run()
        if any(self.owed):
            raise RuntimeError("the engine waits for ever")
        return self.times

    # Reads.

    def reader(self) -> Iterator:
        """Section "Reads": a request per interval, in turns while both want it."""
        features_turn = False
        for m, layer in enumerate(self.layers):
            while self.begun[m] is None:
                yield self.begin
            if layer.has_weights:
                self.buffers[m].weights_come = self.works[m].weight_entries[-1]
            while self.left(m) != (0, 0):
                weights, features = self.wants(m)
                if weights and (not features or not features_turn):
                    self.ask_weights(m)
                    features_turn = True
                elif features:
                    self.ask_features(m)
                    features_turn = False
                else:
                    later = [t for t in self.begun[m] if t > self.agenda.now]
                    yield min(later) if later else self.buffers[m].changed
                    continue
                yield self.agenda.now + self.engine.request_interval

    def left(self, m: int) -> tuple[int, int]:
        """Entries of weights and features that are still to be asked for."""
        buffer, job = self.buffers[m], self.works[m]
        weights = 0 if self.layers[m].has_weights else job.weight_entries[-1]
        return weights - buffer.weights_asked, job.feature_entries - buffer.features_asked

    def wants(self, m: int) -> tuple[bool, bool]:
        weights_left, features_left = self.left(m)
        buffer, now = self.buffers[m], self.agenda.now
        total = buffer.weights_asked + weights_left
        most = allowed(self.layers[m], self.engine, buffer.weights_freed, total)
        weights = weights_left > 0 and now >= self.begun[m][0] and buffer.weights_asked < most
        return weights, features_left > 0 and now >= self.begun[m][1]

    def asked(self, m: int) -> int:
        now = self.agenda.now
        if self.times[m].first_read is None:
            self.times[m].first_read = now
        self.times[m].last_read = now
        return now

    def ask_weights(self, m: int) -> None:
        buffer, now = self.buffers[m], self.asked(m)
        self.times[m].last_weight_read = now
        buffer.weights_asked += 1
        if buffer.weights_asked in self.works[m].weight_entries:
            asked = buffer.weights_asked
            self.agenda.at(now + self.engine.read_latency, lambda: self.weights(m, asked))

    def weights(self, m: int, entries: int) -> None:
        self.buffers[m].weights_come = entries
        self.agenda.fire(self.buffers[m].came)

    def ask_features(self, m: int) -> None:
        buffer, now = self.buffers[m], self.asked(m)
        self.times[m].last_feature_read = now
        buffer.features_asked += 1
        if buffer.features_asked == self.works[m].feature_entries:
            there = now + self.engine.read_latency + self.engine.feature_latency
            self.agenda.at(there, lambda: self.features(m))

    def features(self, m: int) -> None:
        self.buffers[m].features_come = self.works[m].feature_entries
        self.agenda.fire(self.buffers[m].came)

    # Blocks.

    def sequencer(self) -> Iterator:
        """Section "Blocks"."""
        engine, issued, lasts = self.engine, 0, 0
        for m, job in enumerate(self.works):
            for block in blocks(job):
                while block.begins_group and not self.there(m, block.group):
                    yield self.buffers[m].came
                load = self.agenda.now  # the issue of the block before, or later
                if block.ends_group:
                    self.group_loaded(m, block.group, load)
                loaded = load + max(engine.load_cycles, block.kernels * engine.kernel_cycles)
                yield max(loaded, issued + lasts)
                while block.ends_stripe and self.places < block.outputs:
                    yield self.place
                issued, lasts = self.agenda.now, max(engine.block_cycles, block.outputs)
                if block.ends_stripe:
                    self.stripe_issued(block.outputs, issued)
            self.layer_issued(m, issued + lasts)

    def there(self, m: int, group: int) -> bool:
        """A group's weights and the layer's features."""
        buffer, job = self.buffers[m], self.works[m]
        if buffer.features_come < job.feature_entries:
            return False
        return buffer.weights_come >= job.weight_entries[group]

    def group_loaded(self, m: int, g: int, load: int) -> None:
        """Its last block is being loaded: the entries are free some time later."""
        if not self.layers[m].keeps_weights:
            self.agenda.at(load + self.engine.load_to_entries, lambda: self.free(m, g))

    def free(self, m: int, g: int) -> None:
        self.buffers[m].weights_freed = self.works[m].weight_entries[g]
        self.agenda.fire(self.buffers[m].changed)

    def stripe_issued(self, length: int, issued: int) -> None:
        self.places -= length
        self.atoms.extend(issued + self.engine.issue_to_atom + i for i in range(length))
        self.agenda.fire(self.atom)

    def layer_issued(self, m: int, end: int) -> None:
        if m + 1 < len(self.layers):
            self.agenda.at(end + self.engine.layer_to_reads, lambda: self.next_layer(m + 1))

    def next_layer(self, m: int) -> None:
        self.begun[m] = (self.agenda.now, self.agenda.now)
        self.agenda.fire(self.begin)

    # Outputs.

    def writer(self) -> Iterator:
        """Section "Outputs"."""
        ready = 0
        for m in range(len(self.layers)):
            while self.owed[m]:
                while not self.atoms:
                    yield self.atom
                ready = max(ready, self.atoms.popleft())
                yield ready
                self.agenda.at(ready + self.engine.atom_to_place, self.free_place)
                self.write(m, ready + self.engine.atom_to_write)
                ready += self.engine.atom_cycles

    def write(self, m: int, cycle: int) -> None:
        if self.times[m].first_write is None:
            self.times[m].first_write = cycle
        self.times[m].last_write = cycle
        self.owed[m] -= 1

    def free_place(self) -> None:
        self.places += 1
        self.agenda.fire(self.place)


def simulate(layers: Sequence[Layer], engine: Engine) -> list[Times]:
    """Section "Layers in sequence", overlapped: every layer has the first's division of banks."""
    return Core(engine, layers).run()
