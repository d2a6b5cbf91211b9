#!/usr/bin/python3
"""accsim --trace FILE: a reader of Chrome's trace event format, and what it must find.

Usage: trace_test.py ACCSIM [unittest arguments]. Perfetto's own reader is a binary that its Python
package fetches from the network when it is first used, so it can't be used here; the rules that it
has for this format are checked instead: complete events that nest on their thread, whole numbers
for times, counters in order. Skips what needs python3-onnx where there is none.
"""

import json
import pathlib
import re
import tempfile
import unittest
from collections import Counter, defaultdict

from program import ROOT, run

try:
    import onnx
    from onnx import TensorProto, helper
except ImportError:
    onnx = None

MACHINE = ROOT / "configs/64x64.yaml"
QUEUES = ("load", "execute", "post", "vector", "store", "stage")
# The queue whose waits are a layer's stalls, by what becomes of the layer.
MAIN_QUEUE = {"gemm": "execute", "vector": "vector", "memory": "load"}


class Trace:
    """A trace that keeps the rules of the format; AssertionError says which it doesn't keep."""

    def __init__(self, path):
        document = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
        self.about = document["otherData"]
        self.threads, self.counters = {}, defaultdict(list)
        slices = defaultdict(list)
        for event in document["traceEvents"]:
            kind = event["ph"]
            assert event["pid"] == 1, event
            if kind == "M":
                if event["name"] == "thread_name":
                    self.threads[event["tid"]] = event["args"]["name"]
                continue
            assert type(event["ts"]) is int and event["ts"] >= 0, event
            if kind == "C":
                (value,) = event["args"].values()
                self.counters[event["name"]].append((event["ts"], value))
            else:
                assert kind == "X" and type(event["dur"]) is int and event["dur"] >= 0, event
                slices[event["tid"]].append(event)
        for points in self.counters.values():
            times = [at for at, _ in points]
            assert times == sorted(times)
            assert points[-1][1] == 0, "a counter stays up behind the end"
        self.visible = 0  # the last result of the layers that were looked at
        self.slices = {self.threads[tid]: nested(events) for tid, events in slices.items()}

    def bytes_of(self, counter, start, end):
        """What a counter of bytes a cycle adds up to between two cycles."""
        points = self.counters[counter]
        total = 0
        for (at, value), (until, _) in zip(points, points[1:] + [(end, 0)]):
            total += value * max(0, min(until, end) - max(at, start))
        return total


def nested(events):
    """[(outer event, [inner events])]: two levels, each slice inside its outer one."""
    out = []
    last = 0
    for event in events:  # in the order of the file, which is that of time
        start, end = event["ts"], event["ts"] + event["dur"]
        assert start >= last, f"begins before its predecessor is over: {event}"
        if event["cat"] in ("command", "summary"):
            assert out, f"lies in no layer: {event}"
            outer = out[-1][0]
            assert end <= outer["ts"] + outer["dur"], f"ends behind its layer: {event}"
            out[-1][1].append(event)
            last = end
        else:
            assert event["cat"] in ("layer", "queue"), event
            assert not out or start >= out[-1][0]["ts"] + out[-1][0]["dur"], event
            out.append((event, []))
            last = start
    return out


def busy(event):
    return event["args"].get("busy", event["dur"])


def commands(event):
    return event["args"].get("commands", 1)


class TraceTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def trace(self, model, *options):
        """The trace of a model and its report."""
        path, report = self.folder / "trace.json", self.folder / "report.json"
        done = run("--hw", MACHINE, model, "--trace", path, "--json", report, "-q", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return Trace(path), json.loads(report.read_text())

    def check_whole(self, whole, inner, start, end, mapping):
        """A slice of a layer on a queue and the commands in it."""
        turns = " pieces, " in mapping
        self.assertEqual(whole["ts"], inner[0]["ts"])
        self.assertEqual(whole["ts"] + whole["dur"], inner[-1]["ts"] + inner[-1]["dur"])
        if not turns:
            self.assertLessEqual(whole["ts"] + whole["dur"], end)
        # Programs of one layer, and pieces of layers that take turns, begin under one another.
        several = ";" in mapping or turns
        most = whole["args"]["busy"] if several else max(0, start - whole["ts"])
        self.assertLessEqual(whole["args"].get("hidden", 0), most)
        self.assertEqual(sum(map(busy, inner)), whole["args"]["busy"])
        self.assertLessEqual(whole["args"]["busy"], whole["dur"])
        self.assertEqual(sum(map(commands, inner)), whole["args"]["commands"])
        waited = defaultdict(int)
        for event in inner:
            self.assertLessEqual(busy(event), event["dur"])
            self.assertTrue(turns or "from" not in event["args"], event)
            for reason, cycles in event["args"].get("waited", {}).items():
                waited[reason] += cycles
        self.assertEqual(waited, whole["args"].get("waited", {}))

    def check_layer(self, trace, layer, outer, shown):
        """One layer: on the thread of layers, on the queues' threads, and in the report."""
        self.assertEqual(outer["name"], layer["name"])
        self.assertEqual(outer["dur"], layer["cycles"])
        self.assertEqual(outer["args"]["macs"], layer["macs"])
        start, end = outer["ts"], outer["ts"] + outer["dur"]
        visible, moved, summarised = 0, {}, False
        turns = " pieces, " in layer["mapping"]
        for queue in QUEUES:
            # A queue may begin with a layer under the layers before it, and go on under others.
            parts = trace.slices.get(f"{queue} queue", [])
            own = [part for part in parts if part[0]["name"] == layer["name"]]
            if not own or (parts[0] is not own[0] and not turns):
                continue
            parts[:] = [part for part in parts if part[0]["name"] != layer["name"]]
            self.assertTrue(turns or len(own) == 1, layer["name"])
            waited, within = defaultdict(int), 0
            moved[queue] = 0
            for whole, inner in own:
                self.check_whole(whole, inner, start, end, layer["mapping"])
                within += whole["args"]["busy"] - whole["args"].get("hidden", 0)
                for reason, cycles in whole["args"].get("waited", {}).items():
                    waited[reason] += cycles
                visible = max(visible, *(event["args"]["visible"] for event in inner))
                summarised |= any(event["cat"] == "summary" for event in inner)
                moved[queue] += sum(event["args"].get("dram_bytes", 0) for event in inner)
            # Layers of several programs have several main units.
            if MAIN_QUEUE[layer["fate"]] == queue and ";" not in layer["mapping"]:
                self.assertEqual(within, layer["compute_cycles"], layer["name"])
                for key, cycles in layer.items():
                    if reason := re.fullmatch("stall_(.+)_cycles", key):
                        self.assertEqual(waited.get(reason[1], 0), cycles, layer["name"])
        if not turns:  # the cycles of those that take turns are shared out
            if layer["cycles"] > 0:  # else all of it is done under the layers before
                self.assertEqual(visible, end, layer["name"])
            self.assertLessEqual(visible, end, layer["name"])
        trace.visible = max(trace.visible, visible)
        self.assertEqual(outer["args"]["summarised"], summarised)
        for queue, counter, field in (
            ("load", "DRAM read", "dram_read_bytes"),
            ("store", "DRAM write", "dram_write_bytes"),
        ):
            self.assertEqual(moved.get(queue, 0), layer[field])
            self.assertEqual(moved.get(queue, 0), outer["args"][field])
            shown[counter] += moved.get(queue, 0)
        return summarised

    def check(self, model, *options):
        trace, report = self.trace(model, *options)
        layers = [layer for layer in report["layers"] if layer["mapping"]]
        outers = [outer for outer, _ in trace.slices["layers"]]
        self.assertEqual(len(outers), len(layers))
        self.assertEqual(trace.about["cycles"], report["totals"]["cycles"])
        at = summarised = 0
        moved = Counter()
        for outer, layer in zip(outers, layers):
            self.assertEqual(outer["ts"], at)
            at += outer["dur"]
            summarised += self.check_layer(trace, layer, outer, moved)
        self.assertEqual(at, report["totals"]["cycles"])
        self.assertEqual(at, trace.visible)
        self.assertEqual(
            [name for name, left in trace.slices.items() if left and name != "layers"], []
        )
        for counter, expected in moved.items():
            shown = trace.bytes_of(counter, 0, at)
            self.assertAlmostEqual(shown, expected, delta=1e-6 * shown + 1e-3)
        self.assertEqual(trace.about["summarised_layers"], summarised)
        return trace

    def test_slices_are_the_reports_cycles(self):
        for model in ("mobilenet_v2_op13.onnx", "llama_tiny2_prefill64_op17.onnx"):
            for limit in (0, 50, 2000):
                with self.subTest(model=model, limit=limit):
                    self.check(ROOT / "models" / model, "--trace-commands", limit)

    def test_layers_that_take_turns_nest(self):
        for model in ("gpt2_small_op17", "llama3_8b_layer_decode1024_op17", "bert_base_op17"):
            for limit in (0, 60, 2000):
                with self.subTest(model=model, limit=limit):
                    path = ROOT / "models" / f"{model}.onnx"
                    self.check(path, "--trace-commands", limit, "--effort", "rule")

    def test_everything_is_there_without_a_limit(self):
        model = ROOT / "models/llama_tiny2_decode_dyn_op17.onnx"
        everything = self.check(model, "--bind", "past=1", "--trace-commands", 10_000_000)
        self.assertEqual(everything.about["summarised_layers"], 0)
        some = self.check(model, "--bind", "past=1", "--trace-commands", 4)
        self.assertGreater(some.about["summarised_layers"], 0)

        def totals(trace):
            return [
                sum(outer["args"][key] for outer, _ in trace.slices.get(f"{queue} queue", []))
                for queue in QUEUES
                for key in ("busy", "commands")
            ]

        self.assertEqual(totals(some), totals(everything))

    def test_the_same_twice_and_to_stdout(self):
        model = ROOT / "models/alexnet_op13.onnx"
        texts = []
        for _ in range(2):
            path = self.folder / "trace.json"
            self.assertEqual(run("--hw", MACHINE, model, "-q", "--trace", path).returncode, 0)
            texts.append(path.read_text())
        texts.append(run("--hw", MACHINE, model, "--trace", "-").stdout)
        self.assertEqual(texts[0], texts[1])
        self.assertEqual(texts[0], texts[2])

    def test_all_or_nothing(self):
        model = ROOT / "models/alexnet_op13.onnx"
        path = self.folder / "trace.json"
        path.write_text("old")
        done = run("--hw", MACHINE, self.folder / "no.onnx", "--trace", path)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(path.read_text(), "old")
        done = run("--hw", MACHINE, model, "-q", "--trace", self.folder / "no/trace.json")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no/trace.json", done.stderr)
        done = run("--hw", MACHINE, model, "-q", "--trace", "/dev/full")
        self.assertEqual(done.returncode, 2)
        self.assertIn("No space left", done.stderr)
        done = run("--hw", MACHINE, model, "-q", "--trace", MACHINE)
        self.assertEqual(done.returncode, 2)
        self.assertIn("would be overwritten", done.stderr)
        self.assertEqual([p.name for p in self.folder.iterdir()], ["trace.json"])

    @unittest.skipIf(onnx is None, "python3-onnx is missing")
    def test_any_name_is_a_string(self):
        name = 'a "b" \\ c\n\t\x01 ü/😀'
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [64, 64])
        y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [64, 64])
        graph = helper.make_graph(
            [helper.make_node("Neg", ["x"], ["y"], name=name)], name, [x], [y]
        )
        model = self.folder / "m.onnx"
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), str(model))
        trace = self.check(model)
        self.assertEqual(trace.slices["layers"][0][0]["name"], name)


if __name__ == "__main__":
    unittest.main()
