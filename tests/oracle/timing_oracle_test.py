#!/usr/bin/python3
"""The timing model against timing_simulator.py, an event simulation written from rtl/README.md.

Usage: timing_oracle_test.py PRINT_TIMINGS [unittest arguments]. `PRINT_TIMINGS COUNT SEED
MOST_COMMANDS` prints random programs, one JSON object a line, with what the model says of each: the
cycle in which every command's result is visible, and the program's last. The simulator must say the
same; and it must not when one of its rules is changed, or random programs wouldn't show that rule.
"""

import functools
import json
import pathlib
import sys
import unittest
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from itertools import chain

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "app"))
from program import run
from timing_simulator import (
    HELD,
    QUEUE_OF,
    QUEUES,
    Contract,
    Deadlock,
    Json,
    Simulator,
    Token,
    rings,
    split,
    unroll,
)

COUNT, SEED, MOST_COMMANDS = 1200, 1, 2000
COMMANDS = {*QUEUE_OF, "table"}
FAULTY = 200  # programs in which a changed rule must show


@functools.cache
def programs() -> list[Json]:
    done = run(COUNT, SEED, MOST_COMMANDS)
    if done.returncode != 0 or done.stderr:
        raise AssertionError(f"code {done.returncode}: {done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def difference(program: Json, simulator: Callable[[Json], Simulator] = Simulator) -> str:
    """Where model and simulator differ first in each queue; empty when they don't."""
    try:
        ours = simulator(program).run()
    except Deadlock as deadlock:
        return f"simulator: {deadlock}"
    found = []
    if ours["total"] != program["total"]:
        found.append(f"total {program['total']}, simulator {ours['total']}")
    for queue in QUEUES:
        theirs, mine = program["finish"][queue], ours["finish"][queue]
        if theirs == mine:
            continue
        if len(theirs) != len(mine):
            found.append(f"{len(theirs)} {queue} commands, simulator {len(mine)}")
        wrong = [n for n, (a, b) in enumerate(zip(theirs, mine)) if a != b]
        for n in wrong[:1]:
            found.append(f"{queue} command {n} visible in {theirs[n]}, simulator {mine[n]}")
    return "; ".join(found)


def kinds(program: Json) -> Iterator[str]:
    """What a program shows."""
    yield program["dataflow"]
    yield from layer_kinds(program)
    if split(program)[1]:
        yield "token given with no command before it"
    memories: dict[str, list[str]] = {}  # of the loads into the slot of a buffer that is filled
    users = defaultdict(set)  # queues that hold or fill slots of a buffer
    primed = 0  # slots that no post has taken
    slots = rings(program)
    for name, what in unroll(program["body"]):
        if name in ("layer", "mark", "wait_marks"):
            continue
        if isinstance(what, list):
            queue, buffer = what
            several = "several slots" if slots[buffer] > 1 else "one slot"
            if buffer in program["regions"]:
                yield f"{several} of a region"
                yield f"region, {name} by {queue}"
                continue
            yield f"{several} of {buffer}"
            if name in ("signal_full", "signal_primed") and queue == "load":
                slot = "primed slot" if name == "signal_primed" else "slot"
                loads = memories.pop(buffer, [])
                yield f"{slot} of {min(len(loads), 2)} loads"
                if len(set(loads)) > 1:
                    yield f"{slot} from both memories"
            primed += {"signal_primed": 1, "wait_primed": -1}.get(name, 0)
            if primed > 1:
                yield "primed slots that run ahead"
            if name in ("wait_full", "signal_full"):
                users[name, buffer].add(queue)
            continue
        yield name
        yield from vector_kinds(name, what, program["machine"])
        if name == "stage":
            yield f"stage from {what['from']}"
            yield f"stage of {'one run' if what['runs'] == 1 else 'several runs'}"
        if "memory" in what:
            yield f"{name}, {what['memory']}"
            yield f"{name} of {'one run' if what['runs'] == 1 else 'several runs'}"
        if name == "post" and what["cols"] > program["machine"]["buffers"]["output"]["port"]:
            yield "post of several beats a row"
        if name == "post" and what["groups"] > 1:
            yield "post of several groups"
        if name == "gemm" and what["n"] > program["machine"]["cols"]:
            yield "columns in several rounds"
        if name == "load" and "rows" in what:
            side = Contract(program["machine"]).side(what)
            columns = what["run"] // what["element"]
            yield f"transposed load of {min(2, what['runs'] // what['rows'])} matrices"
            if what["buffer"] == "output":
                yield "transposed load to output"
            yield f"transposed load, {'wide' if columns > what['rows'] else 'high'}"
            yield f"transposed load of {what['element']}-byte elements"
            if what["rows"] > side and what["rows"] % side:
                yield "transposed load with a low last block"
            if columns > side and columns % side:
                yield "transposed load with a narrow last block"
        if name == "load" and "items" in what:
            yield f"gathered load to {what['buffer']}"
        if name == "load":
            memories.setdefault(what["buffer"], []).append(what["memory"])
    yield from (f"{buffer} slots of {len(queues)} queues" for (_, buffer), queues in users.items())


def layer_kinds(program: Json) -> Iterator[str]:
    """What its layers and marks show."""
    dataflow = program["dataflow"]
    gemm_of = None
    setters = defaultdict(list)  # of the marks on a tensor, queues
    for name, what in unroll(program["body"]):
        if name == "layer":
            dataflow = what
            yield "layer"
        elif name == "gemm":
            if gemm_of not in (None, dataflow):
                yield f"{dataflow} behind {gemm_of}"
            gemm_of = dataflow
        elif name == "mark":
            yield f"mark of {what[0]}"
            setters[what[1]].append(what[0])
        elif name == "wait_marks":
            yield from (f"{what[0]} waits for {queue}" for queue in set(setters[what[1]]))
            yield f"{min(2, len(setters[what[1]]))} marks waited for"
            if len(set(setters[what[1]])) > 1:
                yield "marks of several queues waited for"
    queues: set[str] = set()  # whose next command is told to wait for marks
    for name, what in reversed(list(unroll(program["body"]))):
        queues.add(QUEUE_OF.get(name) or (what["unit"] if name == "table" else ""))
        if name == "wait_marks" and what[0] not in queues:
            yield "wait for marks with no command behind it"
    looped = [part for part in program["body"] if "loop" in part]
    if any(name == "wait_marks" for name, _ in unroll(looped)):
        yield "wait for marks in a loop"


def vector_kinds(name: str, what: Json, machine: Json) -> Iterator[str]:
    """What a command of the vector queue or a table shows."""
    if name == "vector":
        yield f"vector of {min(2, sum(n > 0 for n in what['ops'].values()))} classes"
    elif name == "table":
        yield f"table of {what['unit']}"
    elif name == "lane":
        if what["weighs"]:
            yield "lane that weighs its taps"
        if what["slide"]:
            yield f"lane that slides over {'rows' if what['line'] > 1 else 'a row'}"
        taps = "taps" if what["taps"] > 1 else "no taps"
        yield f"lane, b {what['b']}, {taps}{', across' if what['across'] else ''}"
        beat = Contract(machine).lane_beat(what)
        if what["run"] > beat and what["run"] % beat:
            yield "lane with a last beat of what is left"
    elif name == "row":
        yield f"{what['op']} of {'a row' if what['rows'] == 1 else 'rows'}"
        if what["rows"] > 6:
            yield "more rows than passes between"
        contract = Contract(machine)
        beats = sum(contract.row_passes_beats(what))
        yield f"row, {'long' if beats > contract.row_step else 'short'} steps"
        if beats < contract.row_step and what["rows"] % -(-contract.row_step // beats) > 1:
            yield "rows in groups, fewer in the last"
        if what["mask"]:
            yield "softmax with a mask"
        if what["logarithm"]:
            yield "softmax with logarithms"
        if what["per_channel"] > contract.row_beat(what):
            yield "row, channels of several beats"


EXPECTED = {
    *COMMANDS,
    *HELD,
    *(f"{move}, {memory}" for move in ("load", "store") for memory in ("dram", "shared")),
    *(f"slot of {loads} loads" for loads in range(3)),
    *(
        f"{slots} of {buffer}"
        for slots in ("one slot", "several slots")
        for buffer in ("activation", "weight", "parameter", "accumulator", "output")
    ),
    *(f"{move} of {runs}" for move in ("load", "store") for runs in ("one run", "several runs")),
    *(f"transposed load of {matrices} matrices" for matrices in (1, 2)),
    *(f"transposed load of {element}-byte elements" for element in (1, 2)),
    "transposed load, wide",
    "transposed load, high",
    "transposed load with a low last block",
    "transposed load with a narrow last block",
    "transposed load to output",
    *(f"gathered load to {b}" for b in ("activation", "weight", "parameter", "output")),
    "vector of 1 classes",
    "vector of 2 classes",
    "post of several beats a row",
    "post of several groups",
    "columns in several rounds",
    *(f"primed slot of {loads} loads" for loads in range(3)),
    "slot from both memories",
    "primed slot from both memories",
    "primed slots that run ahead",
    "activation slots of 2 queues",
    "parameter slots of 2 queues",
    "parameter slots of 3 queues",
    "output slots of 2 queues",
    "output slots of 3 queues",
    "table of post",
    "table of vector",
    *(
        f"lane, b {b}, {taps}{across}"
        for b in ("none", "activation", "parameter")
        for taps in ("taps", "no taps")
        for across in ("", ", across")
    ),
    "lane with a last beat of what is left",
    "lane that weighs its taps",
    *(f"lane that slides over {rows}" for rows in ("a row", "rows")),
    *(f"{op} of {rows}" for op in Contract.row_passes for rows in ("a row", "rows")),
    *(f"row, {steps} steps" for steps in ("long", "short")),
    "more rows than passes between",
    "rows in groups, fewer in the last",
    "softmax with a mask",
    "softmax with logarithms",
    "row, channels of several beats",
    "token given with no command before it",
    *(f"{slots} of a region" for slots in ("one slot", "several slots")),
    *(
        f"region, {operation} by {queue}"
        for operations, queues in (
            (("wait_free", "signal_full"), ("stage", "store")),
            (("wait_full", "signal_free"), ("stage", "load")),
        )
        for operation in operations
        for queue in queues
    ),
    "stage from dram",
    "stage from shared",
    "stage of one run",
    "stage of several runs",
    "layer",
    "weight_stationary behind input_stationary",
    "input_stationary behind weight_stationary",
    *(f"mark of {queue}" for queue in ("load", "store", "stage")),
    *(
        f"{waiting} waits for {queue}"
        for waiting in ("load", "store", "stage")
        for queue in ("load", "store", "stage")
    ),
    *(f"{marks} marks waited for" for marks in range(3)),
    "marks of several queues waited for",
    "wait for marks with no command behind it",
    "wait for marks in a loop",
}


def more(rule: str, by: int = 1, only: str = "") -> type[Contract]:
    """A contract in which a number is larger: everywhere, or of one memory or buffer only."""

    def changed(self, *args):
        return getattr(Contract, rule)(self, *args) + by * (not only or args[-1] == only)

    return type("Changed", (Contract,), {rule: changed})


def changed(**rules) -> type[Contract]:
    return type("Changed", (Contract,), rules)


def slower(memory: str, rate: str) -> Callable[[Json], Simulator]:
    """A simulator for which a memory moves an eighth less."""

    def simulator(program):
        machine = program["machine"]
        channel = {**machine[memory], rate: machine[memory][rate] * 7 // 8}
        return Simulator({**program, "machine": {**machine, memory: channel}})

    return simulator


def largest_class(self, vector):
    """Classes of lanes work side by side."""
    lanes = max(-(-n // self.machine["lanes"][name]) for name, n in vector["ops"].items())
    moved_in = self.beats(vector["in"], "activation")
    return max(1, lanes, moved_in, self.beats(vector["out"], "output"))


def one_train(self, move):
    """Beats don't end with their run."""
    moved = move["runs"] * move["run"]
    buffer = move.get("buffer", "output")
    rate = self.machine[move["memory"]]["read" if "buffer" in move else "write"]
    return max(1, self.channel(moved, rate), self.beats(moved, buffer))


def beat_as_if(**fields) -> Callable[[Contract, Json], int]:
    """A beat of a lane command that were another one in these fields."""
    return lambda self, lane: Contract.lane_beat(self, {**lane, **fields})


def half_rounded_up(self, lane):
    """Two operands in activation slots: the larger half of the port."""
    activation = self.machine["buffers"]["activation"]
    wider = {**activation, "port": activation["port"] + 1}
    buffers = {**self.machine["buffers"], "activation": wider}
    if lane["b"] != "activation":
        return Contract.lane_beat(self, lane)
    return Contract.lane_beat(Contract({**self.machine, "buffers": buffers}), lane)


def no_output_port(self, lane):
    """The port of the output buffer bounds no beat."""
    output = {**self.machine["buffers"]["output"], "port": 1 << 20}
    machine = {**self.machine, "buffers": {**self.machine["buffers"], "output": output}}
    return Contract.lane_beat(Contract(machine), lane)


def output_port_across(self, lane):
    """The port of the output buffer bounds beats across too."""
    return min(Contract.lane_beat(self, lane), self.machine["buffers"]["output"]["port"])


def free_splat(self, lane):
    """A second operand in an activation slot leaves all of the port to the first."""
    return Contract.lane_beat(self, {**lane, "b": "none"} if lane["b"] == "activation" else lane)


def slides_at_once(self, lane):
    """A line's first row takes no more than the others."""
    if not lane["slide"]:
        return Contract.lane(self, lane)
    return Contract.lane(self, {**lane, "slide": 0}) * lane["slide"] // lane["columns"]


def rows_in_one_train(self, lane):
    """Beats don't end with their run."""
    return Contract.lane(self, {**lane, "rows": 1, "line": 1, "run": lane["rows"] * lane["run"]})


class OneQueueForPostAndVector(Simulator):
    """Post and vector unit run their commands by turns, in the order of the text."""

    def __init__(self, program):
        super().__init__(program)
        both = self.text["post"] + self.text["vector"]
        self.text["post"] = sorted(both, key=lambda command: command.place)
        self.text["vector"] = []


class PrimedAsLoaded(Simulator):
    """A primed token is given with the last load before it, whatever else is on its way."""

    def signal(self, tokens, visible, given_back):
        primed = [token for token in tokens if token.kind == "primed"]
        super().signal(primed, self.finish["load"][-1] if primed else 0, given_back)
        super().signal([token for token in tokens if token not in primed], visible, given_back)


class PrimedWhenAskedFor(Simulator):
    """A primed token is given when the last load has been asked for, not when it has arrived."""

    def signal(self, tokens, visible, given_back):
        primed = [token for token in tokens if token.kind == "primed"]
        super().signal(primed, given_back, given_back)
        super().signal([token for token in tokens if token not in primed], visible, given_back)


class PrimedNotWaitedFor(Simulator):
    """A post doesn't wait for what it adds."""

    def __init__(self, program):
        super().__init__(program)
        for command in self.text["post"]:
            command.waits[:] = [token for token in command.waits if token.kind != "primed"]


class NoTurns(Simulator):
    """Queues use DRAM's channels at once."""

    def take_turns(self):
        pass


class RegionFullWithTheEnd(Simulator):
    """A slot of a region is full when it has been asked for, not when it is in memory."""

    def signal(self, tokens, visible, given_back):
        regions = [token for token in tokens if token.buffer in self.regions]
        super().signal(regions, given_back, given_back)
        super().signal([token for token in tokens if token not in regions], visible, given_back)


class RegionBackWithResult(Simulator):
    """A slot of a region is free when what was read has arrived."""

    def signal(self, tokens, visible, given_back):
        regions = [token for token in tokens if token.buffer in self.regions]
        super().signal(regions, visible, max(visible, given_back))
        super().signal([token for token in tokens if token not in regions], visible, given_back)


class NoMarks(Simulator):
    """Waits for marks hold nothing."""

    def __init__(self, program):
        super().__init__(program)
        for command in chain(*self.text.values()):
            command.waits[:] = [token for token in command.waits if token.kind != "mark"]


class LastMark(Simulator):
    """A wait is for the last mark on its tensor alone."""

    def __init__(self, program):
        super().__init__(program)
        for command in chain(*self.text.values()):
            last = {token.buffer: token for token in command.waits if token.kind == "mark"}
            command.waits[:] = [
                token
                for token in command.waits
                if token.kind != "mark" or last[token.buffer] == token
            ]


class FirstWaitForMarks(Simulator):
    """A mark is used up by the first wait for it."""

    def __init__(self, program):
        super().__init__(program)
        taken = set()
        for command in sorted(chain(*self.text.values()), key=lambda command: command.place):
            command.waits[:] = [token for token in command.waits if token not in taken]
            taken |= {token for token in command.waits if token.kind == "mark"}


class OneDataflow(Simulator):
    """The program's dataflow is that of all layers."""

    def __init__(self, program):
        super().__init__(program)
        for command in self.text["execute"]:
            command.dataflow = program["dataflow"]


class HeldGatesStream(Simulator):
    """The held operand is waited for by the stream, and given back by it."""

    def __init__(self, program):
        super().__init__(program)
        self.held = dict.fromkeys(HELD)


class SlotsBackWithResult(Simulator):
    def signal(self, tokens, visible, given_back):
        super().signal(tokens, visible, max(visible, given_back))


class ResultsWithTheEnd(Simulator):
    def signal(self, tokens, visible, given_back):
        super().signal(tokens, given_back, given_back)


class FreeInOrderOfTime(Simulator):
    """A slot that comes back early takes the place of one that was claimed before it."""

    def __init__(self, program):
        super().__init__(program)
        self.numbers = defaultdict(int)

    def given(self, token):
        if token.kind == "free" and token.buffer in self.contract.machine["buffers"]:
            slots = self.contract.machine["buffers"][token.buffer]["slots"]
            token = Token("free", token.buffer, slots + self.numbers[token.buffer])
            self.numbers[token.buffer] += 1
        super().given(token)


CONTRACTS = {
    "token latency": changed(token_cycles=2),
    "no token latency": changed(token_cycles=0),
    "array latency": changed(array_cycles=5),
    "post latency": changed(post_cycles=9),
    "vector latency": changed(vector_cycles=10),
    "fill": more("fill"),
    "fill of a row a cycle": changed(fill=Contract.operand_read),
    "held operand given back at the end of the fill": changed(operand_read=Contract.fill),
    "stream": more("stream"),
    "fill behind the stream": changed(shadow_free=lambda self, start, end: end),
    "drain": more("drain"),
    "post": more("post"),
    "post of one group": changed(post=lambda self, c: Contract.post(self, {**c, "groups": 1})),
    "post's table": more("table", 1, "post"),
    "vector unit's table": more("table", 1, "vector"),
    "table of 16 bytes a cycle": changed(table_beat=16),
    "table doesn't wait for what came before": changed(table=lambda self, unit: 256 // 8),
    "lane": more("lane"),
    "lane, taps at once": changed(lane=lambda self, c: Contract.lane(self, {**c, "taps": 1})),
    "lane, a row": changed(lane=lambda self, c: Contract.lane(self, {**c, "rows": 1})),
    "lane, slides without reuse": changed(
        lane=lambda self, c: Contract.lane(self, {**c, "slide": 0})
    ),
    "lane, slides from the first row on": changed(lane=slides_at_once),
    "lane, rows in one train of beats": changed(lane=rows_in_one_train),
    "lane, all of the port for each operand": changed(lane_beat=free_splat),
    "lane, half a port rounded up": changed(lane_beat=half_rounded_up),
    "lane, no second operand": changed(lane_beat=beat_as_if(b="none")),
    "lane, no parameter port": changed(
        lane_beat=lambda self, c: Contract.lane_beat(
            self, {**c, "b": "none"} if c["b"] == "parameter" else c
        )
    ),
    "lane, no output port": changed(lane_beat=no_output_port),
    "lane, output port across": changed(lane_beat=output_port_across),
    "lane, weighs in the lanes of its class": changed(lane_beat=beat_as_if(weighs=False)),
    "lane, one class": changed(lane_class=lambda self, c: "elementwise"),
    "lane, taps before across": changed(
        lane_class=lambda self, c: "pool" if c["taps"] > 1 else Contract.lane_class(self, c)
    ),
    "row": more("row"),
    "row, steps of 17 cycles": changed(row_step=17),
    "row, one in a group": changed(row_group=lambda self, beats: 1),
    "row, only whole rows in a group": changed(row_group=lambda self, beats: max(1, 16 // beats)),
    "row, a softmax written a step sooner": changed(
        row_passes={**Contract.row_passes, "softmax": (0, 2, 4)}
    ),
    "row, a sum a step sooner": changed(row_passes={**Contract.row_passes, "softmax": (0, 1, 5)}),
    "row, one normalisation a step later": changed(
        row_passes={**Contract.row_passes, "layer_norm": (0, 5)}
    ),
    "row, exponentials in every lane": changed(late_beat=Contract.row_beat),
    "row, all passes in lanes with exponentials": changed(
        row_beat=lambda self, c: min(Contract.row_beat(self, c), self.machine["lanes"]["special"])
    ),
    "row, a free mask": changed(
        row_beat=lambda self, c: Contract.row_beat(self, {**c, "mask": False})
    ),
    "row, beats of several channels": changed(
        row_beats=lambda self, c, beat: Contract.row_beats(self, {**c, "per_channel": 1}, beat)
    ),
    "row, pieces in one train of beats": changed(
        row_beats=lambda self, c, beat: Contract.row_beats(
            self, {**c, "pieces": 1, "run": c["run"] * c["pieces"]}, beat
        )
    ),
    "vector": more("vector"),
    "stage": more("stage"),
    "stage's latency": more("staged"),
    "stage on one channel": changed(
        dram_channel=lambda self, c: c.name == "stage" and "read" or Contract.dram_channel(self, c)
    ),
    "stage, DRAM's latency alone": changed(staged=lambda self, stage: self.latency("dram")),
    "vector, no ports": changed(
        vector=lambda self, v: max(
            1, sum(-(-n // self.machine["lanes"][name]) for name, n in v["ops"].items())
        )
    ),
    "vector, largest class": changed(vector=largest_class),
    "runs make one train of beats": changed(transfer=one_train),
    "transposed blocks": changed(side=lambda self, load: max(1, Contract.side(self, load) // 2)),
    "transposed": more("transposed"),
    "gathered": more("gathered"),
    "gathered, index by index": changed(
        gathered=lambda self, load: Contract.gathered(self, load) + load["items"] - 1
    ),
    "last block doesn't keep the queue": changed(
        transposed=lambda self, load: (
            Contract.transposed(self, load)
            - ((load["run"] // load["element"] - 1) % self.side(load) + 1)
        )
    ),
    "activation beats": more("beats", 1, "activation"),
    "weight beats": more("beats", 1, "weight"),
    "parameter beats": more("beats", 1, "parameter"),
    "output beats": more("beats", 1, "output"),
    "channel": more("channel"),
    "dram latency": more("latency", 1, "dram"),
    "shared latency": more("latency", 1, "shared"),
    "full with the last load": changed(full=lambda self, e, slot: [e + 1, *slot][-1]),
    "full with the last load, in order": changed(
        full=lambda self, e, slot: max([e + 1, *slot[-1:]])
    ),
    "earlier slots not waited for": changed(full=lambda self, e, slot: max(slot, default=e + 1)),
    "dataflow changes a cycle later": more("turned"),
    "dataflow changes with the results": changed(turned=lambda self, summed: summed),
    "dataflow changes in a full array": changed(turned=lambda self, summed: 0),
    "marks of loads with the result": changed(marked=lambda self, queue, visible, end: visible),
    "marks of stores at the end": changed(
        marked=lambda self, queue, visible, end: visible if queue == "stage" else end
    ),
    "marks of stages at the end": changed(
        marked=lambda self, queue, visible, end: visible if queue == "store" else end
    ),
    "two slots full in a cycle": changed(full=lambda self, e, slot: max([e, 0, *slot])),
}


class IndicesBackWithTheBytes(Simulator):
    """A slot of indices comes back when what they name has arrived."""

    def indices_read(self, tokens, visible, end):
        super().indices_read(tokens, visible, visible)


FAULTS: dict[str, Callable[[Json], Simulator]] = {
    **{name: functools.partial(Simulator, contract=rule) for name, rule in CONTRACTS.items()},
    **{
        f"{m} {rate} rate": slower(m, rate)
        for m in ("dram", "shared")
        for rate in ("read", "write")
    },
    "no turns on DRAM's channels": NoTurns,
    "region full with the end": RegionFullWithTheEnd,
    "region back with the result": RegionBackWithResult,
    "waits for marks hold nothing": NoMarks,
    "the last mark alone": LastMark,
    "marks are used up": FirstWaitForMarks,
    "one dataflow for all layers": OneDataflow,
    "held operand gates the stream": HeldGatesStream,
    "one queue for post and vector": OneQueueForPostAndVector,
    "primed as loaded": PrimedAsLoaded,
    "primed when asked for": PrimedWhenAskedFor,
    "primed not waited for": PrimedNotWaitedFor,
    "slots back with the result": SlotsBackWithResult,
    "results with the end": ResultsWithTheEnd,
    "free tokens in order of time": FreeInOrderOfTime,
    "indices back with the bytes": IndicesBackWithTheBytes,
}
# Show where two queues use a buffer by turns (a queue alone has waited for its earlier slots),
# where a post waits for its residual longest, where the slot of a list is the one that is waited
# for, where the parameter port is the narrowest, where the activation port is narrow and rows are
# long, where there are rows for more than a group.
RARE = {
    "earlier slots not waited for",
    "primed as loaded",
    "primed when asked for",
    "primed not waited for",
    "lane, no parameter port",
    "row, a free mask",
    "row, only whole rows in a group",
    "indices back with the bytes",
}


class TimingOracleTest(unittest.TestCase):
    def test_all_kinds_appear(self):
        self.assertEqual(len(programs()), COUNT)
        shown = Counter(kind for program in programs() for kind in set(kinds(program)))
        few = {kind: shown[kind] for kind in EXPECTED if shown[kind] < 10}
        self.assertFalse(few, "kinds of programs that hardly appear")

    def test_model_is_the_simulator(self):
        for number, program in enumerate(programs()):
            found = difference(program)
            self.assertFalse(found, f"program {number} of seed {SEED}: {found}")

    def test_changed_rules_are_seen(self):
        for name, simulator in FAULTS.items():
            with self.subTest(name):
                some = programs()[: COUNT if name in RARE else FAULTY]
                self.assertTrue(any(difference(program, simulator) for program in some))

    def test_deadlock_names_what_is_waited_for(self):
        program = programs()[0]
        body = [
            {"wait_full": ["store", "output"]},
            {"store": {"memory": "dram", "runs": 1, "run": 1}},
            {"wait_full": ["execute", "weight"]},
            {"gemm": {"m": 1, "k": 1, "n": 1}},
        ]
        stuck = {**program, "dataflow": "weight_stationary", "body": body}
        with self.assertRaises(Deadlock) as raised:
            Simulator(stuck).run()
        self.assertEqual(
            str(raised.exception),
            "after cycle 0: fill waits for full token 0 of weight; "
            "stream waits for full token 0 of shadow registers; "
            "store waits for full token 0 of output",
        )


if __name__ == "__main__":
    unittest.main()
