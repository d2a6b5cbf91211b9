"""An event simulator of a tile program's timing, written from the contract in rtl/README.md alone.

It shares no code and no method with hw/timing: the load, execute, post, vector, store and stage
queue are processes that run side by side and meet at nothing but tokens and marks, as the engines
of the core do.
A process sleeps until a cycle has come or a token is there; a heap of events wakes it.
Section names in the docstrings are those of the README.
"""

import heapq
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, count
from typing import Any

Json = dict[str, Any]
QUEUES = ("load", "execute", "post", "vector", "store", "stage")
QUEUE_OF = {
    "load": "load",
    "gemm": "execute",
    "drain": "execute",
    "post": "post",
    "lane": "vector",
    "row": "vector",
    "vector": "vector",
    "store": "store",
    "stage": "stage",
}  # and "table": that of its unit
PORTS = ("activation", "weight", "parameter", "output")
HELD = {"weight_stationary": "weight", "input_stationary": "activation", "output_stationary": None}
SHADOW = "shadow registers"  # tokens within the execute queue: between its stream and its fill


@dataclass(frozen=True)
class Token:
    """A token of a kind, "free", "full", "primed" or "turn", of a buffer, a region or a channel:
    number 0 is its first. A "mark", on a tensor, is one that stays."""

    kind: str
    buffer: str
    number: int

    def __str__(self) -> str:
        return f"{self.kind} token {self.number} of {self.buffer}"


@dataclass
class Command:
    """A command, what it waits for and what is signalled by it. Section "Queues": a wait
    holds the queue's next command back, a signal is given by what was done before it."""

    name: str
    fields: Json
    queue: str
    place: int  # commands before it in the text, whatever their queue
    dataflow: str  # of the layer that it stands in
    waits: list[Token]
    signals: list[Token] = field(default_factory=list)


class Contract:
    """Numbers and rules of the timing contract. timing_oracle_test.py overrides them one by one."""

    token_cycles = 1
    array_cycles = 4
    post_cycles = 8
    vector_cycles = 9
    table_bytes, table_beat = 256, 8
    row_step = 16
    row_passes = {"softmax": (0, 2, 5), "layer_norm": (0, 4), "rms_norm": (0, 4)}
    gather_cycles = 4

    def __init__(self, machine: Json) -> None:
        self.machine = machine

    def channel(self, bytes_moved: int, rate: int) -> int:
        """Section "Rates": the least n with n x rate >= 1000 x bytes."""
        return -(-1000 * bytes_moved // rate)

    def beats(self, bytes_moved: int, buffer: str) -> int:
        """Beats of one run of bytes through a buffer's port: each run begins a new beat."""
        return -(-bytes_moved // self.machine["buffers"][buffer]["port"])

    def transfer(self, move: Json) -> int:
        """Rows "load" and "store": the slower of channel and port, at least a cycle."""
        buffer = move.get("buffer", "output")
        rate = self.machine[move["memory"]]["read" if "buffer" in move else "write"]
        channel = self.channel(move["runs"] * move["run"], rate)
        return max(1, channel, move["runs"] * self.beats(move["run"], buffer))

    def stage(self, stage: Json) -> int:
        """Row "stage": DRAM's channel, the widest port of a slot."""
        port = max(self.machine["buffers"][b]["port"] for b in PORTS)
        rate = self.machine["dram"]["read" if stage["from"] == "dram" else "write"]
        channel = self.channel(stage["runs"] * stage["run"], rate)
        return max(1, channel, stage["runs"] * -(-stage["run"] // port))

    def staged(self, stage: Json) -> int:
        """Row "stage": from the end until the bytes are there."""
        return self.latency("dram") + self.latency("shared")

    def dram_channel(self, command: Command) -> str | None:
        """Section "Regions and stages": the channel of DRAM that a command uses."""
        if command.name == "stage":
            return "read" if command.fields["from"] == "dram" else "write"
        if command.fields.get("memory") != "dram":
            return None
        return {"load": "read", "store": "write"}[command.name]

    def side(self, load: Json) -> int:
        """Section "Transposed loads": rows and columns of a block."""
        port = self.machine["buffers"][load["buffer"]]["port"]
        return min(self.machine["cols"], port // load["element"])

    def transposed(self, load: Json) -> int:
        """Row "load, transposed", the last block begins when those before have had their
        cycles, is asked for and goes out."""
        side, rows, columns = self.side(load), load["rows"], load["run"] // load["element"]
        blocks = [
            (min(side, rows - row), min(side, columns - column))
            for _ in range(load["runs"] // rows)
            for column in range(0, columns, side)
            for row in range(0, rows, side)
        ]
        begin = (len(blocks) - 1) * max(blocks[0])
        rate = self.machine[load["memory"]]["read"]
        asked = max(self.channel(load["runs"] * load["run"], rate), begin + blocks[0][0])
        return asked + blocks[-1][1]

    def gathered(self, load: Json) -> int:
        """Row "load, gathered": the first index is read, limited, multiplied and added; the others
        are read ahead."""
        return self.gather_cycles + self.transfer(load)

    def moved(self, move: Json) -> int:
        """The rows of loads and stores, whichever it is."""
        if "items" in move:
            return self.gathered(move)
        return self.transposed(move) if "rows" in move else self.transfer(move)

    def latency(self, memory: str) -> int:
        """Rows "load" and "store": from the end until the bytes have arrived, either way."""
        return self.machine[memory]["latency"]

    def full(self, earlier: int, slot: list[int]) -> int:
        """Section "Loads and full slots": all loads before the signal have arrived,
        not only those into this slot; `earlier` is when the slot before was full, and one slot
        of a buffer becomes full a cycle."""
        return max([earlier + 1, *slot])

    def fill(self, dataflow: str) -> int:
        """Row "gemm, fill": cycles until the next operand may go in."""
        rows = -(-self.machine["rows"] // self.machine["fill_rows"])
        return {"weight": rows, "activation": self.machine["cols"]}.get(HELD[dataflow], 0)

    def operand_read(self, dataflow: str) -> int:
        """Row "gemm, fill", column "slots given back": cycles until all that is held is read."""
        side = {"weight": "rows", "activation": "cols"}.get(HELD[dataflow])
        return self.machine[side] if side else 0

    def stream(self, gemm: Json, dataflow: str) -> int:
        """Row "gemm, stream": cycles to move the other one through."""
        if dataflow == "output_stationary":
            return max(gemm["m"], gemm["k"])
        return gemm["m" if dataflow == "weight_stationary" else "n"]

    def turned(self, summed: int) -> int:
        """Section "Execute: what holds what": from when on the array takes an operand of the other
        dataflow, where the results of the gemm before are visible in `summed`."""
        return summed + 1

    def shadow_free(self, start: int, end: int) -> int:
        """Row "gemm, fill": from when on a stream leaves the shadow registers to the next fill."""
        return start

    def array(self) -> int:
        """From the end of a stream, or of the drain registers' shift, to the accumulators."""
        return self.machine["rows"] + self.machine["cols"] - 1 + self.array_cycles

    def drain(self) -> int:
        """Row "drain": cycles until the drain registers take the next one."""
        return self.machine["rows"]

    def post(self, post: Json) -> int:
        """Row "post": beats, each for all groups."""
        return post["rows"] * self.beats(post["cols"], "output") * post["groups"]

    def unit_cycles(self, unit: str) -> int:
        """Column "result visible": from the end to the result of the post or vector unit."""
        return self.post_cycles if unit == "post" else self.vector_cycles

    def table(self, unit: str) -> int:
        """Rows "post's table" and "vector unit's table": what came before leaves the unit first."""
        return self.unit_cycles(unit) + self.table_bytes // self.table_beat

    def lane_class(self, lane: Json) -> str:
        """Section "Values", a beat: whose lanes the command takes."""
        if lane["across"]:
            return "reduce"
        return "pool" if lane["taps"] > 1 else "elementwise"

    def lane_beat(self, lane: Json) -> int:
        """Section "Values", a beat: what a cycle takes of a run."""
        port = {name: buffer["port"] for name, buffer in self.machine["buffers"].items()}
        lanes = self.machine["lanes"][self.lane_class(lane)]
        widths = [self.machine["mac_lanes"] if lane["weighs"] else lanes]
        widths.append(port["activation"] // (2 if lane["b"] == "activation" else 1))
        if lane["b"] == "parameter":
            widths.append(port["parameter"])
        if not lane["across"]:
            widths.append(port["output"])
        return min(widths)

    def lane(self, lane: Json) -> int:
        """Row "lane command": the last beat of each run has what is left; rows that slide take
        columns that the row before them hasn't."""
        taps = lane["rows"] * lane["taps"]
        if lane["slide"]:
            line = lane["columns"] + (lane["line"] - 1) * lane["slide"]
            taps = lane["rows"] // lane["line"] * line * (lane["taps"] // lane["columns"])
        return taps * -(-lane["run"] // self.lane_beat(lane))

    def row_beat(self, row: Json) -> int:
        """Section "Row commands": elements that a cycle takes, half a port's with a mask."""
        port = {name: buffer["port"] for name, buffer in self.machine["buffers"].items()}
        activations = port["activation"] // (2 if row["mask"] else 1)
        return min(self.machine["lanes"]["elementwise"], activations, port["output"])

    def late_beat(self, row: Json) -> int:
        """Section "Row commands": of a softmax' passes with exponentials."""
        if row["op"] != "softmax":
            return self.row_beat(row)
        return min(self.row_beat(row), self.machine["lanes"]["special"])

    def row_beats(self, row: Json, beat: int) -> int:
        """Section "Row commands": of a pass; no beat goes beyond its stretch."""
        stretch = row["per_channel"] if row["per_channel"] > 1 else row["run"]
        stretches = row["pieces"] * (row["run"] // stretch)
        return stretches * -(-stretch // beat)

    def row_passes_beats(self, row: Json) -> list[int]:
        """Section "Row commands": of every pass; a logarithm has a beat in the last."""
        late = self.row_beats(row, self.late_beat(row))
        beats = [late] * len(self.row_passes[row["op"]])
        beats[0] = self.row_beats(row, self.row_beat(row))
        beats[-1] += 1 if row["logarithm"] else 0
        return beats

    def row_group(self, beats: int) -> int:
        """Section "Row commands": rows of a step, by the beats of all passes over a row; each has a
        lane for its root, or its reciprocal."""
        return min(-(-self.row_step // beats), self.machine["lanes"]["special"])

    def row(self, row: Json) -> int:
        """Row "row command": in each step the passes whose group of rows there is."""
        behind, beats = self.row_passes[row["op"]], self.row_passes_beats(row)
        most = self.row_group(sum(beats))
        left, groups = row["rows"], []
        while left > 0:
            groups.append(min(most, left))
            left -= groups[-1]
        return sum(
            max(
                self.row_step,
                sum(
                    each * groups[t - b]
                    for b, each in zip(behind, beats, strict=True)
                    if 0 <= t - b < len(groups)
                ),
            )
            for t in range(len(groups) + max(behind))
        )

    def vector(self, vector: Json) -> int:
        """The vector commands below the table: lanes and ports work side by side."""
        lanes = sum(-(-n // self.machine["lanes"][name]) for name, n in vector["ops"].items())
        moved_in = self.beats(vector["in"], "activation")
        return max(1, lanes, moved_in, self.beats(vector["out"], "output"))

    def marked(self, queue: str, visible: int, end: int) -> int:
        """Section "Layers and marks": when a mark behind a command is reached."""
        return end if queue == "load" else visible

    def times(self, start: int, command: Command) -> tuple[int, int]:
        """End and visible result of any command but those of the execute queue."""
        what = command.fields
        if command.name in ("load", "store"):
            end = start + self.moved(what)
            return end, end + self.latency(what["memory"])
        if command.name == "stage":
            end = start + self.stage(what)
            return end, end + self.staged(what)
        if command.name == "table":
            end = start + self.table(command.queue)
        else:
            end = start + getattr(self, command.name)(what)
        return end, end + self.unit_cycles(command.queue)


def unroll(body: list[Json]) -> Iterator[tuple[str, Any]]:
    """The operations of a body, loops written out."""
    for operation in body:
        if "loop" in operation:
            for _ in range(operation["loop"]):
                yield from unroll(operation["body"])
        else:
            yield from operation.items()


def rings(program: Json) -> dict[str, int]:
    """Slots of the buffers and of the regions, by name."""
    buffers = program["machine"]["buffers"]
    return {name: buffer["slots"] for name, buffer in buffers.items()} | program["regions"]


def split(program: Json) -> tuple[dict[str, list[Command]], list[tuple[str, Token]]]:
    """Each queue's own commands, and the tokens that nothing comes before, with their queues.
    Tokens of one kind are taken in the order in which they are given (section "Queues"): the n-th
    wait of the program's text takes what its n-th signal gives, whichever queues they are in. Free
    tokens 0 to slots - 1 are those that the buffer begins with. A wait for the marks of a tensor is
    one for each of those before it (section "Layers and marks")."""
    numbers = defaultdict(int, {("signal", "free", ring): n for ring, n in rings(program).items()})
    given_at_once: list[tuple[str, Token]] = []
    commands: dict[str, list[Command]] = {queue: [] for queue in QUEUES}
    waits: dict[str, list[Token]] = {queue: [] for queue in QUEUES}
    last: dict[str, Command] = {}  # of a queue, and of the loads into a buffer
    marks: dict[str, list[Token]] = defaultdict(list)  # by tensor, in the order of the text
    place = count()
    dataflow = program["dataflow"]
    for name, what in unroll(program["body"]):
        if name == "layer":
            dataflow = what
            continue
        if name == "mark":
            queue, tensor = what
            marks[tensor].append(Token("mark", tensor, len(marks[tensor])))
            last[queue].signals.append(marks[tensor][-1])
            continue
        if name == "wait_marks":
            queue, tensor = what
            waits[queue] += marks[tensor]
            continue
        if isinstance(what, list):
            (operation, kind), (queue, buffer) = name.split("_"), what
            token = Token(kind, buffer, numbers[operation, kind, buffer])
            numbers[operation, kind, buffer] += 1
            if operation == "wait":
                waits[queue].append(token)
            else:
                filled = queue == "load" and kind != "free"
                giver = last.get(f"load {buffer}" if filled else queue)
                if giver:
                    giver.signals.append(token)
                else:
                    given_at_once.append((queue, token))
            continue
        queue = QUEUE_OF.get(name) or what["unit"]
        command = Command(name, what, queue, next(place), dataflow, waits[queue])
        waits[queue] = []
        commands[queue].append(command)
        last[queue] = command
        if name == "load":
            last[f"load {what['buffer']}"] = command
    return commands, given_at_once


Wishes = Iterator[int | Token]  # of a process: what it sleeps for


@dataclass
class Process:
    """Works by itself, step by step; after each it sleeps for a cycle to come or for a token."""

    name: str
    steps: Wishes
    sleeps_for: int | Token | None = None


class Deadlock(Exception):
    """Nothing can go on; says what each queue waits for."""


class Simulator:
    """The six queues, the tokens between them and the events to come."""

    def __init__(self, program: Json, contract: type[Contract] = Contract) -> None:
        self.contract = contract(program["machine"])
        self.held = HELD
        self.text, self.given_at_once = split(program)
        self.latest_full: dict[str, int] = defaultdict(lambda: -1)  # by buffer, when
        self.finish: dict[str, list[int]] = {queue: [] for queue in QUEUES}
        self.summed = 0  # when the sums of the last gemm that streams are there
        self.now = 0
        self.events: list[tuple[int, int, Callable[[], None]]] = []  # cycle, order, what happens
        self.order = count()
        self.usable = {Token("free", SHADOW, 0): 0}  # from which cycle on
        for name, slots in rings(program).items():
            self.usable |= {Token("free", name, number): 0 for number in range(slots)}
        self.regions = program["regions"]
        self.take_turns()
        self.asleep: dict[Token, list[Process]] = defaultdict(list)
        steps = {"load": self.load(), "fill": self.fill(), "stream": self.stream()}
        steps |= {queue: self.in_turn(queue) for queue in ("post", "vector", "store", "stage")}
        self.processes = [Process(name, work) for name, work in steps.items()]

    def take_turns(self) -> None:
        """Section "Regions and stages": DRAM's channels are used in the order of the text."""
        last: dict[str, Command] = {}
        turns = count()
        for command in sorted(chain(*self.text.values()), key=lambda command: command.place):
            channel = self.contract.dram_channel(command)
            if channel is None:
                continue
            if channel in last and last[channel].queue != command.queue:
                turn = Token("turn", channel, next(turns))
                last[channel].signals.append(turn)
                command.waits.append(turn)
            last[channel] = command

    def at(self, cycle: int, happens: Callable[[], None]) -> None:
        """Plans an event."""
        heapq.heappush(self.events, (cycle, next(self.order), happens))

    def run(self) -> Json:
        """The cycle in which each command's result is visible, and the last of them."""
        for queue, token in self.given_at_once:
            cycle = 0
            if queue == "load" and token.kind != "free":
                full = self.latest_full
                cycle = full[token.buffer] = self.contract.full(full[token.buffer], [])
            self.at(cycle, partial(self.given, token))
        for process in self.processes:
            self.at(0, partial(self.resume, process))
        while self.events:
            self.now, _, happens = heapq.heappop(self.events)
            happens()
        stuck = [f"{p.name} waits for {p.sleeps_for}" for p in self.processes if p.sleeps_for]
        if stuck:
            raise Deadlock(f"after cycle {self.now}: " + "; ".join(stuck))
        return {"finish": self.finish, "total": max(chain(*self.finish.values()), default=0)}

    def resume(self, process: Process) -> None:
        """A process goes on, until it sleeps for something else or has come to its end."""
        process.sleeps_for = wish = next(process.steps, None)
        if isinstance(wish, Token):
            if wish not in self.usable:
                self.asleep[wish].append(process)
                return
            wish = max(self.now, self.usable[wish])
        if wish is not None:
            self.at(wish, partial(self.resume, process))

    def given(self, token: Token) -> None:
        """Section "Timing contract": a token given in cycle t can be acted on in t + 1;
        within the execute queue, where shadow registers are passed on, in cycle t."""
        self.usable[token] = self.now + self.contract.token_cycles * (token.buffer != SHADOW)
        for process in self.asleep.pop(token, []):
            self.at(self.usable[token], partial(self.resume, process))

    def signal(self, tokens: list[Token], visible: int, given_back: int) -> None:
        """Columns "result visible" and "slots given back": when full (or primed) and free tokens
        are given."""
        for token in tokens:
            cycle = given_back if token.kind in ("free", "turn") else visible
            self.at(cycle, partial(self.given, token))

    def mark(self, command: Command, visible: int, end: int) -> list[Token]:
        """Marks behind a command, which are reached with it; the tokens that it gives else."""
        reached = self.contract.marked(command.queue, visible, end)
        self.signal([token for token in command.signals if token.kind == "mark"], reached, reached)
        return [token for token in command.signals if token.kind != "mark"]

    def load(self) -> Wishes:
        """Section "Loads and full slots". As all processes it starts a command in self.now.
        Primed tokens are given as full ones are (section "Queues"), a slot of indices is given back
        at the end (section "Gathered loads")."""
        full = self.latest_full
        slot: dict[str, list[int]] = defaultdict(list)
        for command in self.text["load"]:
            yield from command.waits
            end, visible = self.contract.times(self.now, command)
            self.finish["load"].append(visible)
            slot[buffer := command.fields["buffer"]].append(visible)
            for token in self.mark(command, visible, end):
                if token.kind == "turn" or token.buffer in self.regions:
                    self.signal([token], visible, end)
                    continue
                if token.kind == "free":
                    self.indices_read([token], visible, end)
                    continue
                full[buffer] = self.contract.full(full[buffer], slot.pop(buffer, []))
                self.signal([token], full[buffer], end)
            yield end

    def indices_read(self, tokens: list[Token], visible: int, end: int) -> None:
        """Row "load, gathered", column "slots given back"."""
        self.signal(tokens, visible, end)

    def fill(self) -> Wishes:
        """Section "Execute: what holds what", the fill: begins when the shadow registers
        are free and the held operand is there, after a change of dataflow when the array is empty
        too. All other tokens are the stream's affair."""
        gemms = [c for c in self.text["execute"] if c.name == "gemm"]
        for number, gemm in enumerate(gemms):
            yield Token("free", SHADOW, number)
            if number > 0 and gemm.dataflow != gemms[number - 1].dataflow:
                yield max(self.now, self.contract.turned(self.summed))
            yield from self.operand(gemm, gemm.waits, held=True)
            end = self.now + self.contract.fill(gemm.dataflow)
            read = self.now + self.contract.operand_read(gemm.dataflow)
            self.signal([Token("full", SHADOW, number)], end, end)
            self.signal(self.operand(gemm, gemm.signals, held=True), read, read)
            yield end

    def stream(self) -> Wishes:
        """Section "Execute: what holds what", streams and drains in the order of the text."""
        gemms = drained = 0
        for command in self.text["execute"]:
            if command.name == "drain":
                yield from command.waits
                yield max(self.now, drained)
                drained = self.now + self.contract.drain()
                visible = drained + self.contract.array()
                self.signal(command.signals, visible, self.now)
            else:
                yield Token("full", SHADOW, gemms)
                yield from self.operand(command, command.waits, held=False)
                gemms += 1
                end = self.now + self.contract.stream(command.fields, command.dataflow)
                shadow_free = Token("free", SHADOW, gemms)
                self.signal([shadow_free], end, self.contract.shadow_free(self.now, end))
                self.summed = visible = end + self.contract.array()
                self.signal(self.operand(command, command.signals, held=False), visible, end)
                yield end
            self.finish["execute"].append(visible)

    def operand(self, gemm: Command, tokens: list[Token], held: bool) -> list[Token]:
        """Those tokens that are, or aren't, of the operand that the gemm's dataflow holds."""
        return [token for token in tokens if (token.buffer == self.held[gemm.dataflow]) == held]

    def in_turn(self, queue: str) -> Wishes:
        """Section "Post, vector and store: what holds what"."""
        for command in self.text[queue]:
            yield from command.waits
            end, visible = self.contract.times(self.now, command)
            self.finish[command.queue].append(visible)
            self.signal(self.mark(command, visible, end), visible, end)
            yield end
