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
    split,
    unroll,
)

COUNT, SEED, MOST_COMMANDS = 1000, 1, 2000
COMMANDS = {*QUEUE_OF, "post", "vector"}
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
    if split(program)[1]:
        yield "token given with no command before it"
    memories: dict[str, list[str]] = {}  # of the loads into the slot of a buffer that is filled
    consumers = set()
    slots = {name: buffer["slots"] for name, buffer in program["machine"]["buffers"].items()}
    for name, what in unroll(program["body"]):
        if isinstance(what, list):
            queue, buffer = what
            yield f"{'several slots' if slots[buffer] > 1 else 'one slot'} of {buffer}"
            if name == "signal_full" and queue == "load":
                loads = memories.pop(buffer, [])
                yield f"slot of {min(len(loads), 2)} loads"
                if len(set(loads)) > 1:
                    yield "slot from both memories"
            elif name == "wait_full" and buffer == "activation":
                consumers.add(queue)
            continue
        yield name
        if "memory" in what:
            yield f"{name}, {what['memory']}"
            yield f"{name} of {'one run' if what['runs'] == 1 else 'several runs'}"
        if name == "vector":
            yield f"vector of {min(2, sum(n > 0 for n in what['ops']))} classes"
        if name == "post" and what["cols"] > program["machine"]["buffers"]["output"]["port"]:
            yield "post of several beats a row"
        if name == "gemm" and what["n"] > program["machine"]["cols"]:
            yield "columns in several rounds"
        if name == "load":
            memories.setdefault(what["buffer"], []).append(what["memory"])
    if len(consumers) > 1:
        yield "activation slots of two queues"


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
    "vector of 1 classes",
    "vector of 2 classes",
    "post of several beats a row",
    "columns in several rounds",
    "slot from both memories",
    "activation slots of two queues",
    "token given with no command before it",
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
    lanes = max(-(-n // width) for n, width in zip(vector["ops"], self.machine["lanes"]))
    moved_in = self.beats(vector["in"], "activation")
    return max(1, lanes, moved_in, self.beats(vector["out"], "output"))


def one_train(self, move):
    """Beats don't end with their run."""
    moved = move["runs"] * move["run"]
    buffer = move.get("buffer", "output")
    rate = self.machine[move["memory"]]["write" if buffer == "output" else "read"]
    return max(1, self.channel(moved, rate), self.beats(moved, buffer))


class HeldGatesStream(Simulator):
    """The held operand is waited for by the stream, and given back by it."""

    def __init__(self, program):
        super().__init__(program)
        self.held = None


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
    "post latency": changed(post_cycles=7),
    "fill": more("fill"),
    "stream": more("stream"),
    "fill behind the stream": changed(shadow_free=lambda self, start, end: end),
    "drain": more("drain"),
    "post": more("post"),
    "vector": more("vector"),
    "vector, no ports": changed(
        vector=lambda self, v: max(
            1, sum(-(-n // w) for n, w in zip(v["ops"], self.machine["lanes"]))
        )
    ),
    "vector, largest class": changed(vector=largest_class),
    "runs make one train of beats": changed(transfer=one_train),
    "activation beats": more("beats", 1, "activation"),
    "weight beats": more("beats", 1, "weight"),
    "parameter beats": more("beats", 1, "parameter"),
    "output beats": more("beats", 1, "output"),
    "channel": more("channel"),
    "dram latency": more("latency", 1, "dram"),
    "shared latency": more("latency", 1, "shared"),
    "full with the last load": changed(full=lambda self, earlier, slot: slot[-1]),
    "full with the last load, in order": changed(full=lambda self, e, slot: max(e, slot[-1])),
    "earlier slots not waited for": changed(full=lambda self, earlier, slot: max(slot)),
}
FAULTS: dict[str, Callable[[Json], Simulator]] = {
    **{name: functools.partial(Simulator, contract=rule) for name, rule in CONTRACTS.items()},
    **{
        f"{m} {rate} rate": slower(m, rate)
        for m in ("dram", "shared")
        for rate in ("read", "write")
    },
    "held operand gates the stream": HeldGatesStream,
    "slots back with the result": SlotsBackWithResult,
    "results with the end": ResultsWithTheEnd,
    "free tokens in order of time": FreeInOrderOfTime,
}
# Shows where two queues use a buffer by turns: a queue alone has waited for its earlier slots.
RARE = {"earlier slots not waited for"}


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
