"""An event simulation of the dot-product template, written from docs/dot-product.md alone.

It shares no code with hw/timing. Reads, blocks, atoms and their events are stepped one by one: a
reader, a sequencer and a writer run side by side and meet at nothing but what the page names
(entries, kernel groups, places). dot_product_periods.py has the same rules in closed form.
Section names in the docstrings are those of the page.
"""

import heapq
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import count

from dot_product_work import (
    Engine,
    Layer,
    Times,
    allowed,
    blocks,
    check_sequence,
    same_division,
    work,
)


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
        self.weights_begin: int | None = None  # cycles from which they may be asked for
        self.features_begin: int | None = None


class Core:
    """One machine and layers in overlapped sequence."""

    def __init__(self, engine: Engine, layers: Sequence[Layer]) -> None:
        self.engine, self.layers = engine, layers
        self.works = [work(layer, engine) for layer in layers]
        self.agenda = Agenda()
        self.buffers = [Buffer() for _ in layers]
        self.buffers[0].weights_begin = engine.weight_start
        self.buffers[0].features_begin = engine.feature_start
        self.changed, self.came = Signal(), Signal()  # what may be asked for, what has come
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
                    yield self.wait(m)
                    continue
                yield self.agenda.now + self.engine.request_interval
            self.layer_read(m)

    def wait(self, m: int) -> int | Signal:
        """Nothing may be asked for now: the next cycle in which it may, if one is known."""
        begins = self.buffers[m].weights_begin, self.buffers[m].features_begin
        later = [cycle for cycle in begins if cycle is not None and cycle > self.agenda.now]
        return min(later) if later else self.changed

    def layer_read(self, m: int) -> None:
        """Section "Layers in sequence": weights of a layer of the same division go on."""
        if m + 1 < len(self.layers) and same_division(self.layers[m], self.layers[m + 1]):
            begin = self.times[m].last_read + self.engine.read_latency + self.engine.weight_start
            self.buffers[m + 1].weights_begin = begin

    def left(self, m: int) -> tuple[int, int]:
        """Entries of weights and features that are still to be asked for."""
        buffer, job = self.buffers[m], self.works[m]
        weights = 0 if self.layers[m].has_weights else job.weight_entries[-1]
        return weights - buffer.weights_asked, job.feature_entries - buffer.features_asked

    def wants(self, m: int) -> tuple[bool, bool]:
        weights_left, features_left = self.left(m)
        buffer, now = self.buffers[m], self.agenda.now
        total, freed = buffer.weights_asked + weights_left, buffer.weights_freed
        if m > 0:  # what the layer before still holds
            freed += self.buffers[m - 1].weights_freed - self.works[m - 1].weight_entries[-1]
        more = buffer.weights_asked < allowed(self.layers[m], self.engine, freed, total)
        weights, features = (
            begin is not None and now >= begin
            for begin in (buffer.weights_begin, buffer.features_begin)
        )
        return weights and weights_left > 0 and more, features and features_left > 0

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
        self.agenda.fire(self.came)

    def ask_features(self, m: int) -> None:
        buffer, now = self.buffers[m], self.asked(m)
        self.times[m].last_feature_read = now
        buffer.features_asked += 1
        if buffer.features_asked == self.works[m].feature_entries:
            there = now + self.engine.read_latency + self.engine.feature_latency
            self.agenda.at(there, lambda: self.features(m))

    def features(self, m: int) -> None:
        self.buffers[m].features_come = self.works[m].feature_entries
        self.agenda.fire(self.came)

    # Blocks.

    def sequencer(self) -> Iterator:
        """Section "Blocks"."""
        engine, issued, lasts = self.engine, 0, 0
        for m, job in enumerate(self.works):
            for block in blocks(job):
                while block.begins_group and not self.there(m, block.group):
                    yield self.came
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
        self.agenda.fire(self.changed)

    def stripe_issued(self, length: int, issued: int) -> None:
        self.places -= length
        self.atoms.extend(issued + self.engine.issue_to_atom + i for i in range(length))
        self.agenda.fire(self.atom)

    def layer_issued(self, m: int, end: int) -> None:
        if m + 1 < len(self.layers):
            self.agenda.at(end + self.engine.layer_to_reads, lambda: self.next_layer(m + 1))

    def next_layer(self, m: int) -> None:
        buffer = self.buffers[m]
        buffer.features_begin = self.agenda.now
        if buffer.weights_begin is None:
            buffer.weights_begin = self.agenda.now
        self.agenda.fire(self.changed)

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
    """Section "Layers in sequence", overlapped."""
    check_sequence(layers)
    return Core(engine, layers).run()
