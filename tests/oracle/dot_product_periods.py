"""The dot-product template in closed form, after the section "In closed form" of
docs/dot-product.md.

Work grows with kernel groups and with what differs between stripes, not with blocks, outputs or
bytes. dot_product.py steps the same rules one by one; dot_product_test.py compares the two.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from dot_product import Engine, Layer, Times, Work, allowed, work


@dataclass
class Stream:
    """Reads of weights or of features: `count` of them, not before `begin`."""

    begin: int
    count: int


class Reads:
    """Section "In closed form": when the j-th entry is asked for.

    Until the first group's entries are free, two streams share the port (`at`). After that only
    weights are read, a run of them for every group that is freed (`freed`).
    """

    def __init__(
        self, layer: Layer, job: Work, engine: Engine, begun: tuple[int, int], features_turn: bool
    ) -> None:
        self.engine, self.layer, self.total = engine, layer, job.weight_entries[-1]
        self.there = layer.has_weights
        self.weights = Stream(begun[0], 0 if self.there else self.allowed(0))
        self.features = Stream(begun[1], job.feature_entries)
        self.early, self.late = self.weights, self.features
        if self.features.begin < self.weights.begin or not self.weights.count:
            self.early, self.late = self.features, self.weights
        interval = engine.request_interval
        between = max(0, self.late.begin - self.early.begin)
        self.alone = min(self.early.count, -(-between // interval))
        self.both = max(self.late.begin, self.early.begin + self.alone * interval)
        self.late_first = self.alone > 0 or (self.early is self.weights) == features_turn
        self.asked = self.weights.count
        self.runs: list[tuple[int, int]] = []  # entries asked before it, cycle of its first
        self.next = max(self.at(s, s.count) for s in (self.early, self.late) if s.count) + interval

    def allowed(self, freed: int) -> int:
        """Entries that may have been asked for when so many are free."""
        return allowed(self.layer, self.engine, freed, self.total)

    def at(self, stream: Stream, j: int) -> int:
        """The cycle of a stream's j-th read, from 1, where the two share the port."""
        interval = self.engine.request_interval
        if stream is self.early:
            if j <= self.alone:
                return stream.begin + (j - 1) * interval
            nth, other, behind = j - self.alone, self.late.count, self.late_first
        else:
            nth, other, behind = j, self.early.count - self.alone, not self.late_first
        return self.both + (nth - 1 + min(other, nth - 1 + behind)) * interval

    def weight(self, j: int) -> int:
        """The cycle of the j-th entry of weights; groups before its own are freed."""
        if j <= self.weights.count:
            return self.at(self.weights, j)
        before, begin = next(run for run in reversed(self.runs) if run[0] < j)
        return begin + (j - before - 1) * self.engine.request_interval

    def freed(self, entries: int, cycle: int) -> None:
        """So many entries are free from a cycle on: a run of reads that waited for them."""
        most = self.allowed(entries)
        if self.there or most <= self.asked:
            return
        begin = max(cycle, self.next)
        self.runs.append((self.asked, begin))
        self.next = begin + (most - self.asked) * self.engine.request_interval
        self.asked = most

    def fill(self, times: Times) -> bool:
        """The events of the reads; whether features are in turn afterwards."""
        times.first_read = min(s.begin for s in (self.weights, self.features) if s.count)
        times.last_feature_read = self.at(self.features, self.features.count)
        if not self.there:
            times.last_weight_read = self.weight(self.total)
        times.last_read = max(times.last_feature_read, times.last_weight_read)
        return times.last_weight_read > times.last_feature_read


class Stripes:
    """Section "In closed form": issues of last blocks, and when atoms are handed out."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.issued = self.lasts = 0  # of the block before, and how long it lasts
        self.load = 0  # when the last block began to be loaded
        self.atoms: deque[tuple[int, int]] = deque()  # of stripes: first atom's cycle, outputs

    def place(self, length: int) -> int:
        """The cycle in which so many places are free."""
        back = self.engine.places - length  # atoms that may still have theirs
        for first, outputs in reversed(self.atoms):
            if back < outputs:
                last = first + (outputs - 1 - back) * self.engine.atom_cycles
                return last + self.engine.atom_to_place
            back -= outputs
        return 0

    def last_atom(self) -> int:
        first, outputs = self.atoms[-1]
        return first + (outputs - 1) * self.engine.atom_cycles

    def stripe(self, length: int, blocks: int, load_cycles: int, weights: int) -> int:
        """One stripe, whose weights are there from a cycle on; its first atom's cycle."""
        engine = self.engine
        lasts = max(engine.block_cycles, length)
        step = max(load_cycles, lasts)
        load = max(self.issued, weights)
        issue = max(load + load_cycles, self.issued + self.lasts)
        self.load = load if blocks == 1 else issue + (blocks - 2) * step
        self.issued = max(issue + (blocks - 1) * step, self.place(length))
        self.lasts = lasts
        first = self.issued + engine.issue_to_atom
        if self.atoms:
            first = max(first, self.last_atom() + engine.atom_cycles)
        self.atoms.append((first, length))
        while sum(n for _, n in self.atoms) - self.atoms[0][1] >= engine.places:
            self.atoms.popleft()
        return first

    def state(self) -> tuple:
        """All that the next stripe depends on, relative to the last issue."""
        return self.lasts, *((first - self.issued, n) for first, n in self.atoms)

    def shift(self, cycles: int) -> None:
        self.issued += cycles
        self.load += cycles
        self.atoms = deque((first + cycles, n) for first, n in self.atoms)


def runs(stripes: tuple[int, ...]) -> list[tuple[int, int]]:
    """(outputs, stripes in a row that have so many)."""
    found: list[tuple[int, int]] = []
    for length in stripes:
        if found and found[-1][0] == length:
            found[-1] = (length, found[-1][1] + 1)
        else:
            found.append((length, 1))
    return found


def group(pipe: Stripes, job_runs: list, blocks: int, load_cycles: int, weights: int) -> int:
    """A kernel group; its first atom's cycle. Stripes that repeat their state are skipped."""
    first_atom, waiting = None, weights
    for length, number in job_runs:
        while number:
            state, issued, waited = pipe.state(), pipe.issued, waiting > pipe.issued
            atom = pipe.stripe(length, blocks, load_cycles, waiting)
            first_atom = atom if first_atom is None else first_atom
            waiting = 0
            number -= 1
            if number and not waited and pipe.state() == state:
                pipe.shift(number * (pipe.issued - issued))
                number = 0
    return first_atom


def cost(layers: Sequence[Layer], engine: Engine) -> list[Times]:
    """What `simulate` of dot_product.py says, in closed form."""
    begun, turn = (engine.weight_start, engine.feature_start), False
    pipe, all_times = Stripes(engine), []
    for layer in layers:
        job, times = work(layer, engine), Times()
        reads, cut = Reads(layer, job, engine, begun, turn), runs(job.stripes)
        features = reads.at(reads.features, job.feature_entries)
        ready = features + engine.read_latency + engine.feature_latency
        for kernels, entries in zip(job.group_kernels, job.weight_entries):
            if not layer.has_weights:
                ready = max(ready, reads.weight(entries) + engine.read_latency)
            load_cycles = max(engine.load_cycles, kernels * engine.kernel_cycles)
            atom = group(pipe, cut, job.blocks, load_cycles, ready)
            if times.first_write is None:
                times.first_write = atom + engine.atom_to_write
            if not layer.keeps_weights:
                reads.freed(entries, pipe.load + engine.load_to_entries)
        times.last_write = pipe.last_atom() + engine.atom_to_write
        turn = reads.fill(times)
        begun = (pipe.issued + pipe.lasts + engine.layer_to_reads,) * 2
        all_times.append(times)
    return all_times
