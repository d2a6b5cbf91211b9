#!/usr/bin/python3
"""Whole networks against timing_simulator.py, an event simulation written from rtl/README.md.

Usage: network_oracle_test.py PRINT_NETWORK [unittest arguments]. `PRINT_NETWORK MACHINE MODEL`
prints a network as one program, all layers one behind the other on a machine that never drains,
with what the model says of it: the cycle in which every command's result is visible, the program's
last, and what the report says. The simulator must say the same, command by command; and it must not
when it takes a rule that ties layers together for another one. Exit code 77 (skipped) without
python3-onnx.
"""

import functools
import itertools
import json
import sys
import tempfile
import unittest
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

try:
    import onnx
    from oracle_networks import NETWORKS
except ImportError as missing:
    print(f"skipped: {missing}", file=sys.stderr)
    sys.exit(77)
from timing_oracle_test import FAULTS, difference, layer_kinds
from timing_simulator import QUEUES, Json, unroll

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "app"))
from program import ROOT, run

MACHINES = ("8x8", "16x16", "64x64", "64x64-int4", "64x64-starved", "16x16:output_stationary")
# Every network of models/ on machines whose tiles are large, so that commands are few, and three
# on others.
LARGE = ("64x64", "64x64-starved")
OTHER = {
    "squeezenet1_1_op13": "16x16",
    "llama_tiny2_prefill64_op17": "8x8",
    "bert_base_op17": "64x64-int4",
}
LEAST_NETWORKS = 20
# Rules that tie layers together; each must show in a network.
TIES = (
    "waits for marks hold nothing",
    "marks of stores at the end",
    "one dataflow for all layers",
    "dataflow changes in a full array",
    "dataflow changes a cycle later",
    "free tokens in order of time",
    "token latency",
)


@functools.cache
def folder() -> tempfile.TemporaryDirectory:
    """With a file for each of the networks that are made here."""
    out = tempfile.TemporaryDirectory()
    for name, make in NETWORKS.items():
        onnx.save(make(), f"{out.name}/{name}.onnx")
    return out


def program(network: str, machine: str) -> Json:
    """A network's, as PRINT_NETWORK prints it."""
    made = network in NETWORKS
    path = Path(folder().name if made else ROOT / "models") / f"{network}.onnx"
    done = run(machine, path)
    if done.returncode != 0 or done.stderr:
        raise AssertionError(f"{network} on {machine}: code {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


@functools.cache
def made(network: str, machine: str) -> Json:
    """That of a network that is made here."""
    return program(network, machine)


def kinds(of: Json) -> set[str]:
    """What a network's program shows."""
    names = Counter(name for name, _ in unroll(of["body"]))
    out = {*layer_kinds(of), *names}
    if names["layer"] > 1:
        out.add("several layers")
    return out


EXPECTED = {
    *("load", "gemm", "post", "lane", "row", "store", "table", "signal_primed"),
    *("several layers", "mark of store", "load waits for store", "2 marks waited for"),
    "drain",
    "weight_stationary behind input_stationary",
    "input_stationary behind weight_stationary",
}


class NetworkOracleTest(unittest.TestCase):
    def compare(self, pairs: Iterable[tuple[str, str]], get: Callable[[str, str], Json]) -> None:
        compared = set()
        for network, machine in pairs:
            with self.subTest(f"{network} on {machine}"):
                of = get(network, machine)
                self.assertGreater(sum(len(of["finish"][queue]) for queue in QUEUES), 0)
                self.assertEqual(difference(of), "")
                self.assertEqual(of["report"], of["total"])
                compared.add(network)
        self.assertGreaterEqual(len(compared), LEAST_NETWORKS)

    def test_are_made_networks_what_the_simulator_says(self):
        self.compare(itertools.product(NETWORKS, MACHINES), made)

    def test_are_shipped_networks_what_the_simulator_says(self):
        shipped = sorted((ROOT / "models").rglob("*.onnx"))
        names = [str(path.relative_to(ROOT / "models").with_suffix("")) for path in shipped]
        self.compare([*itertools.product(names, LARGE), *OTHER.items()], program)

    def test_do_networks_have_what_ties_layers_together(self):
        shown = set()
        for network in NETWORKS:
            for machine in MACHINES:
                shown |= kinds(made(network, machine))
        self.assertFalse(EXPECTED - shown)

    def test_are_changed_rules_seen(self):
        """Few commands first: most rules show there."""
        some = sorted(
            (made(*pair) for pair in itertools.product(NETWORKS, MACHINES)),
            key=lambda of: sum(len(of["finish"][queue]) for queue in QUEUES),
        )
        for name in TIES:
            with self.subTest(name):
                self.assertTrue(any(difference(of, FAULTS[name]) for of in some))


if __name__ == "__main__":
    unittest.main()
