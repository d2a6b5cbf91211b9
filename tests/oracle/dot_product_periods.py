"""The dot-product template in closed form, after the section "In closed form" of
docs/dot-product.md.

Work grows with kernel groups and with what differs between stripes, not with blocks, outputs or
bytes. dot_product.py steps the same rules one by one; dot_product_test.py compares the two.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from dot_product_work import (
    Engine,
    Layer,
    Times,
    Work,
    allowed,
    check_sequence,
    same_division,
    work,
)


@dataclass
class Stream:
    """Reads of weights or of features: `count` of them, not before `begin`."""

    begin: int
    count: int


class Reads:
    """Section "In closed form": when the j-th entry is asked for.

    Weights that come while the layer before is computed go first (`early_runs`). Until the first
    group's entries are free, two streams share the port (`at`). After that only weights are read, a
    run of them for every group that is freed (`freed`).
    """

    def __init__(self, layer: Layer, job: Work, engine: Engine) -> None:
        self.engine, self.layer, self.total = engine, layer, job.weight_entries[-1]
        self.there = layer.has_weights
        self.early_runs: list[tuple[int, int]] = []  # entries asked before it, cycle of its first
        self.runs: list[tuple[int, int]] = []
        self.prefetched = 0
        self.next = 0  # the port is free from this cycle on
        self.frees: list[tuple[int, int]] = []  # entries, cycle
        self.features = Stream(0, job.feature_entries)

    def prefetch(self, before: "Reads", weights_begin: int, features_begin: int) -> None:
        """Weights that are asked for while the layer before holds the features' entries."""
        if self.there:
            return
        if before.frees[-1][1] > features_begin:
            raise NotImplementedError("features of the next layer come before entries of weights")
        interval, self.next = self.engine.request_interval, max(weights_begin, before.next)
        for entries, cycle in [(0, self.next), *before.frees]:
            begin = max(cycle, self.next)
            more = self.allowed(entries - before.total) - self.prefetched
            if more > 0 and begin < features_begin:
                more = min(more, -(-(features_begin - begin) // interval))
                self.early_runs.append((self.prefetched, begin))
                self.prefetched += more
                self.next = begin + more * interval

    def share(self, weights_begin: int, features_begin: int, features_turn: bool) -> None:
        """The two streams of the port."""
        interval, turn = self.engine.request_interval, features_turn or self.prefetched > 0
        self.asked = 0 if self.there else self.allowed(0)
        self.weights = Stream(max(weights_begin, self.next), self.asked - self.prefetched)
        if self.there:
            self.weights.count = 0
        self.features.begin = max(features_begin, self.next if self.prefetched else 0)
        self.early, self.late = self.weights, self.features
        if self.features.begin < self.weights.begin or not self.weights.count:
            self.early, self.late = self.features, self.weights
        between = max(0, self.late.begin - self.early.begin)
        self.alone = min(self.early.count, -(-between // interval))
        self.both = max(self.late.begin, self.early.begin + self.alone * interval)
        self.late_first = self.alone > 0 or (self.early is self.weights) == turn
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
        shared = j - self.prefetched
        if 0 < shared <= self.weights.count:
            return self.at(self.weights, shared)
        runs = self.runs if shared > 0 else self.early_runs
        before, begin = next(run for run in reversed(runs) if run[0] < j)
        return begin + (j - before - 1) * self.engine.request_interval

    def freed(self, entries: int, cycle: int) -> None:
        """So many entries are free from a cycle on: a run of reads that waited for them."""
        self.frees.append((entries, cycle))
        most = self.allowed(entries)
        if self.there or most <= self.asked:
            return
        begin = max(cycle, self.next)
        self.runs.append((self.asked, begin))
        self.next = begin + (most - self.asked) * self.engine.request_interval
        self.asked = most

    def fill(self, times: Times) -> bool:
        """The events of the reads; whether features are in turn afterwards."""
        times.first_read = self.at(self.features, 1)
        times.last_feature_read = self.at(self.features, self.features.count)
        if not self.there:
            times.first_read = min(times.first_read, self.weight(1))
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


def layer_cost(reads: Reads, job: Work, pipe: Stripes) -> Times:
    """One layer whose reads share the port from known cycles on."""
    engine, layer, times, cut = reads.engine, reads.layer, Times(), runs(job.stripes)
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
    return times


def cost(layers: Sequence[Layer], engine: Engine) -> list[Times]:
    """What `simulate` of dot_product.py says, in closed form."""
    check_sequence(layers)
    weights_begin, features_begin = engine.weight_start, engine.feature_start
    pipe, all_times, turn, before = Stripes(engine), [], False, None
    jobs = [work(layer, engine) for layer in layers]
    for layer, job in zip(layers, jobs):
        reads = Reads(layer, job, engine)
        if before is not None:
            features_begin = pipe.issued + pipe.lasts + engine.layer_to_reads
            weights_begin = features_begin
            if same_division(before.layer, layer):
                weights_begin = all_times[-1].last_read + engine.read_latency + engine.weight_start
            reads.prefetch(before, weights_begin, features_begin)
        reads.share(weights_begin, features_begin, turn)
        times = layer_cost(reads, job, pipe)
        turn = reads.fill(times)
        all_times.append(times)
        before = reads
    return all_times
