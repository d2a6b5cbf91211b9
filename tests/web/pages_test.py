#!/usr/bin/python3
"""The program's pages in a real browser: a CNN, a language model, a report of 5,000 layers, sweeps
of 2,000 and of 100,000 points. Hovers, clicks, sorts, filters, prints; light, dark and as wide as a
phone; no error, no request, contrast as axe-core judges it. What a step costs is computing time of
the page's thread, not the clock's, which other tests share.

Usage: pages_test.py ACCSIM [--keep FOLDER] [NAME...]. Exit code 77 where Chromium, node or the
packages of tests/web aren't there (scripts/setup installs them).
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

import onnx
from onnx import TensorProto, helper

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MACHINE = ROOT / "configs" / "64x64.yaml"
NODE = (18, 0)
LAYERS = 5000
SPEC = f"""
base: {MACHINE}
axes:
  act_kib: {{field: buffers.activation.kib, values: [ACT]}}
  weight_kib: {{field: buffers.weight.kib, values: [16, 32, 64, 128, 256]}}
  clock: {{field: clock_mhz, range: {{from: 500, to: CLOCK, step: 10}}}}
  dram_gbps:
    range: {{from: 8, to: DRAM, step: 8}}
    fields:
      dram.read_bytes_per_cycle: dram_gbps * 2 / 3
      dram.write_bytes_per_cycle: dram_gbps / 3
models: [{{file: MODEL, weight: 2}}]
objectives: [time, energy, area]
effort: rule
"""
LIVE = f"""
base: {MACHINE}
axes:
  rows: {{field: array.rows, range: {{from: 8, to: 64, step: 4}}}}
  cols: {{field: array.cols, range: {{from: 8, to: 84, step: 4}}}}
models: [{{file: MODEL}}]
objectives: [time, energy, area]
effort: search
"""


class Inputs:
    """Makes the pages that the browser opens."""

    def __init__(self, accsim, folder):
        self.accsim, self.folder, self.server = accsim, folder, None

    def run(self, *args):
        command = [str(self.accsim), *map(str, args)]
        done = subprocess.run(
            command, capture_output=True, text=True, cwd=ROOT, timeout=150, check=False
        )
        if done.returncode:
            sys.exit(f"{' '.join(command)}:\n{done.stderr}")
        return done.stdout

    def model(self, name):
        """A model of models/ by a path that no line of a phone has room for."""
        path = self.folder / ("a-long-name-without-a-blank-" * 4) / name
        path.parent.mkdir(exist_ok=True)
        if not path.exists():
            path.symlink_to(ROOT / "models" / name)
        return path

    def report(self, name, model):
        self.run("--hw", MACHINE, model, "-q", "--html", self.folder / f"{name}.html")
        graph = onnx.load(str(model), load_external_data=False).graph
        return {"name": name, "kind": "report", "layers": len(graph.node)}

    def chain(self):
        """Products and activations one after the other, with names of modules and one that would
        end an element of the page if it were taken for HTML."""
        nodes, weights, last = [], [], "x"
        for i in range(LAYERS // 2):
            name = f"/blocks.{i // 10}/mlp/fc{i % 10}"
            weights.append(helper.make_tensor(f"w{i}", TensorProto.FLOAT, [32, 32], [0.0] * 1024))
            nodes.append(
                helper.make_node("MatMul", [last, f"w{i}"], [f"y{i}"], name=f"{name}/MatMul")
            )
            nodes.append(helper.make_node("Softmax", [f"y{i}"], [f"z{i}"], name=f"{name}/Softmax"))
            last = f"z{i}"
        nodes[1].name = "</script><b>&amp;</b>"
        graph = helper.make_graph(
            nodes,
            "chain",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [16, 32])],
            [helper.make_tensor_value_info(last, TensorProto.FLOAT, [16, 32])],
            weights,
        )
        path = self.folder / "chain.onnx"
        onnx.save(
            helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
            str(path),
        )
        return path

    def live(self):
        """A spec of 300 machines whose mappings take seconds to search: the page looks on."""
        spec = self.folder / "live.yaml"
        model = ROOT / "models" / "resnet50_op17.onnx"
        spec.write_text(LIVE.replace("MODEL", str(model)))
        return spec

    def sweep(self, name, act, clock, dram):
        """A sweep of len(act) x 5 x (clock - 490) / 10 x dram / 8 machines, costed."""
        model = self.folder / "product.onnx"
        if not model.exists():
            self.run("gemm", "64x256x256", "--output", model)
        spec = self.folder / f"{name}.yaml"
        text = SPEC.replace("ACT", ", ".join(map(str, act))).replace("DRAM", str(dram))
        text = text.replace("CLOCK", str(clock))
        spec.write_text(text.replace("MODEL", str(model)))
        store = self.folder / f"{name}.sqlite"
        self.run("sweep", spec, "--store", store)
        self.run("sweep", "show", store, "--html", self.folder / f"{name}.html")
        points = len(act) * 5 * ((clock - 490) // 10) * (dram // 8)
        return {"name": name, "kind": "sweep", "points": points}

    def compare(self):
        machines = ["--hw", ROOT / "configs" / "16x16.yaml", "--hw", MACHINE]
        model = self.model("resnet50_op17.onnx")
        self.run("compare", *machines, model, "-q", "--html", self.folder / "compare.html")
        return {"name": "compare", "kind": "compare", "thorough": True}

    def serve(self):
        """A running accsim serve; ends with the test. Its store is made while the page waits."""
        store = self.folder / "live.sqlite"
        for left in self.folder.glob("live.sqlite*"):  # by a run that was told to keep
            left.unlink()
        command = [self.accsim, "serve", "--hw", MACHINE, self.model("resnet50_op17.onnx")]
        command += ["--store", store]
        sweep = list(
            map(str, [self.accsim, "sweep", self.live(), "--threads", 1, "--store", store])
        )
        self.server = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True)
        address = self.server.stdout.readline().strip()
        model = ROOT / "models" / "squeezenet1_1_op13.onnx"
        return {
            "name": "serve",
            "kind": "serve",
            "address": address,
            "pid": self.server.pid,
            "model": str(model),
            "sweep": sweep,
            "thorough": True,
        }

    def make(self, names):
        makers = {
            "resnet50": lambda: {
                **self.report("resnet50", self.model("resnet50_op17.onnx")),
                "thorough": True,
            },
            "gpt2": lambda: self.report("gpt2", self.model("gpt2_small_op17.onnx")),
            "compare": self.compare,
            "serve": self.serve,
            "layers5000": lambda: self.report("layers5000", self.chain()),
            "sweep2000": lambda: {**self.sweep("sweep2000", [64], 1490, 32), "thorough": True},
            "sweep100000": lambda: self.sweep("sweep100000", [16, 32, 64, 128, 256], 2490, 160),
        }
        return [make() for name, make in makers.items() if not names or name in names]


def commands_cost_what_is_stored(inputs, name, texts):
    """The commands that the page shows for a point give the cycles that the store has for it."""
    script, _ = texts
    point = int(re.search(r"point-(\d+)\.yaml", script)[1])
    with sqlite3.connect(inputs.folder / f"{name}.sqlite") as db:
        (stored,) = db.execute("SELECT cycles FROM points WHERE point = ?", [point]).fetchone()
    done = subprocess.run(
        ["bash", "-e", "-c", f'accsim() {{ "{inputs.accsim}" "$@" --json - -q; }}\n{script}\n'],
        capture_output=True,
        text=True,
        cwd=inputs.folder,
        timeout=60,
        check=False,
    )
    if done.returncode:
        return [f"{name}: the commands of point {point} fail: {done.stderr}"]
    cycles = 2 * json.loads(done.stdout)["totals"]["cycles"]  # the model's weight is 2
    if cycles != stored:
        return [f"{name}: point {point} costs {cycles} cycles, {stored} are stored"]
    return []


def missing():
    """Why the test can't run, or nothing."""
    node = shutil.which("node")
    if not node:
        return "no node"
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    if tuple(map(int, re.findall(r"\d+", version)[:2])) < NODE:
        return f"node {version.strip()} is too old"
    if not (HERE / "node_modules" / "playwright-core").is_dir():
        return "no tests/web/node_modules (scripts/setup installs it)"
    if not shutil.which("chromium"):
        return "no chromium (Debian: chromium; scripts/setup installs it)"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("accsim", type=pathlib.Path)
    parser.add_argument("--keep", type=pathlib.Path, help="leave pages and screenshots here")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    reason = missing()
    if reason:
        print(f"pages_test: SKIPPED: {reason}")
        return 77
    with tempfile.TemporaryDirectory(prefix="p") as temporary:
        home = pathlib.Path(temporary)
        folder = args.keep or home / "pages"
        folder.mkdir(parents=True, exist_ok=True)
        inputs = Inputs(args.accsim.resolve(), folder.resolve())
        # Chromium leaves folders of its own in both.
        environment = {**os.environ, "HOME": str(home), "TMPDIR": str(home)}
        try:
            (folder / "pages.json").write_text(json.dumps(inputs.make(args.names)))
            done = subprocess.run(
                ["node", HERE / "pages.js", shutil.which("chromium"), folder.resolve()],
                env=environment,
                timeout=900,
                check=False,
            )
        finally:
            if inputs.server:
                inputs.server.kill()
                inputs.server.wait()
        answers = folder / "answers.json"
        problems = []
        if answers.exists():
            for name, texts in json.loads(answers.read_text()).items():
                problems += commands_cost_what_is_stored(inputs, name, texts)
    print(*(f"PROBLEM: {p}" for p in problems), sep="\n")
    return 1 if problems or done.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
