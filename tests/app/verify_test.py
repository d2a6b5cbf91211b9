#!/usr/bin/python3
"""`accsim verify` end to end: tables, exit codes, waveforms, interruption.

Usage: verify_test.py ACCSIM [unittest arguments]. Exit code 77 (skipped) without verilator.
"""

import json
import os
import pathlib
import pty
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

import fst
import onnx
from program import ACCSIM, ROOT, patience

SMALL = ROOT / "configs" / "8x8.yaml"
SHAPE = "20x30x40"


def command(*args, hw=SMALL):
    return [str(ACCSIM), "verify", "--hw", str(hw), *map(str, args)]


def run(*args, **kwargs):
    return subprocess.run(
        command(*args, **kwargs), capture_output=True, text=True, timeout=patience(), check=False
    )


def catches_interrupts(pid):
    """Has the process a handler for SIGINT by now?"""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    caught = int(re.search(r"^SigCgt:\s*(\w+)", status, re.M).group(1), 16)
    return caught >> (signal.SIGINT - 1) & 1


def fst_header(data):
    """Fields of the header block: (first time, last time, scopes, variables)."""
    kind, length, first, last = struct.unpack_from(">BQQQ", data)
    # The writer's byte order shows in the constant e.
    order = "<" if struct.unpack_from("<d", data, 25)[0] == 2.7182818284590452354 else ">"
    assert kind == 0 and length == 329, "no header block"
    assert struct.unpack_from(order + "d", data, 25)[0] == 2.7182818284590452354, "no byte order"
    _, scopes, variables = struct.unpack_from(">QQQ", data, 33)
    return first, last, scopes, variables


def fst_blocks(data):
    """Kinds of the blocks, which must end with the file."""
    kinds, at = [], 0
    while at < len(data):
        kind, length = struct.unpack_from(">BQ", data, at)
        kinds.append(kind)
        at += 1 + length
    assert at == len(data), "the last block ends beyond the file"
    return kinds


class VerifyTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)

    def report(self, *args, code=0):
        path = self.dir / "report.json"
        done = run(*args, "--json", path)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout, json.loads(path.read_text())

    def test_all_equal(self):
        text, report = self.report(
            "--gemm", SHAPE, "--conv", "1,16,12,12,24,3,3,1,1,1,1", "--seed", 7
        )
        self.assertIn("2 of 2 equal", text.splitlines()[-1])
        self.assertEqual(
            [row["name"] for row in report["rows"]],
            ["gemm 20x30x40", "conv 1,16,12,12,24,3,3,1,1,1,1"],
        )
        for row in report["rows"]:
            self.assertTrue(row["bit_exact"] and row["passed"])
            self.assertEqual(row["difference"], 0)
            # All the array can do in a cycle is a row of 64 products.
            self.assertGreater(row["rtl_cycles"], 20 * 30 * 40 / 64)

    def test_jobs_change_nothing(self):
        def rows(jobs):
            _, report = self.report("--random", 30, "--jobs", jobs)
            return [(r["name"], r["mapping"], r["rtl_cycles"], r["passed"]) for r in report["rows"]]

        one = rows(1)
        self.assertEqual(len(one), 30)
        self.assertEqual(one, rows(3))

    def test_assertions_hold(self):
        for flow in ("ws", "os"):
            _, report = self.report("--random", 100, "--assertions", "--dataflow", flow)
            self.assertEqual(report["passed"], 100)

    def test_both_forms_of_the_array_are_equal(self):
        def rows(flow, *form):
            _, report = self.report("--random", 40, "--dataflow", flow, *form)
            self.assertEqual(report["passed"], 40)
            return [(r["name"], r["rtl_cycles"], r["commands"]) for r in report["rows"]]

        for flow in ("ws", "is", "os"):
            with self.subTest(flow=flow):
                self.assertEqual(rows(flow), rows(flow, "--pe-modules"))

    def test_long_layers_are_cut_and_say_so(self):
        text, report = self.report("--conv", "1,16,40,40,24,3,3,1,1,1,1", "--max-cycles", 5000)
        self.assertLessEqual(report["rows"][0]["rtl_cycles"], 5000)
        self.assertRegex(text, r"cut: 1x16x40x40 k3x3 -> 24 to ")

    def network(self):
        """A network's file: two convolutions and what is between them; no weights."""
        helper = onnx.helper
        tensor = onnx.TensorProto

        def weight(name, *dims):
            t = tensor(name=name, data_type=tensor.FLOAT, dims=dims)
            t.data_location = tensor.EXTERNAL
            t.external_data.add(key="location", value="absent.bin")
            return t

        graph = helper.make_graph(
            [
                helper.make_node("Conv", ["in", "w1"], ["c1"], "first", pads=[1, 1, 1, 1]),
                helper.make_node("Relu", ["c1"], ["r1"], "clip"),
                helper.make_node("Conv", ["r1", "w2"], ["c2"], "second"),
                helper.make_node("Add", ["c2", "r1"], ["out"], "sum"),
            ],
            "small",
            [helper.make_tensor_value_info("in", tensor.FLOAT, [1, 8, 12, 12])],
            [helper.make_tensor_value_info("out", tensor.FLOAT, None)],
            [weight("w1", 16, 8, 3, 3), weight("w2", 16, 16, 1, 1)],
        )
        path = self.dir / "small.onnx"
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), path)
        return path

    def test_a_network_is_one_program(self):
        model = self.network()
        text, report = self.report(model)
        done = subprocess.run(
            [str(ACCSIM), "--hw", str(SMALL), str(model), "--json", "-"],
            capture_output=True,
            text=True,
            check=True,
        )
        total = json.loads(done.stdout)["totals"]["cycles"]
        (row,) = report["rows"]
        self.assertTrue(row["passed"])
        self.assertEqual((row["rtl_cycles"], row["difference"]), (total, 0))
        self.assertEqual(
            report["network"],
            {
                "report_cycles": total,
                "left_cycles": 0,
                "left_out": [],
                "programs": 2,
                "real_programs": 0,  # the file has no weights: numbers drawn
                "referenced": 2,
                "not_referenced": [],
                "from": "",
                "until": "",
                "commands_before": 0,
                "commands_behind": 0,
            },
        )
        self.assertIn(f"all of the report's {total} cycles are this program's", text)
        _, layers = self.report(model, "--layers")
        self.assertEqual([r["name"] for r in layers["rows"]], ["first", "second"])
        self.assertNotIn("network", layers)

    def test_rtl_can_begin_and_end_at_a_layer(self):
        model = self.network()
        _, whole = self.report(model)
        text, rest = self.report(model, "--resume-at", "second")
        (row,) = rest["rows"]
        network = rest["network"]
        self.assertTrue(row["passed"])
        self.assertEqual(row["difference"], 0)
        self.assertEqual((network["from"], network["until"]), ("second", ""))
        self.assertEqual(network["commands_before"] + row["commands"], whole["rows"][0]["commands"])
        self.assertEqual(network["referenced"], whole["network"]["referenced"])
        self.assertIn("RTL began at layer 'second' with the memory that golden had there", text)
        self.assertIn("as a program of its own, which begins in reset", text)
        text, first = self.report(model, "--until", 0)
        self.assertTrue(first["rows"][0]["passed"])
        self.assertEqual(first["rows"][0]["commands"], network["commands_before"])
        self.assertEqual(first["network"]["commands_behind"], row["commands"])
        self.assertIn("RTL ended with layer 'first'", text)

    def test_a_layer_that_is_none_is_an_input_error(self):
        model = self.network()
        for args, reason in (
            (["--resume-at", "secnd"], "there is no layer 'secnd'; did you mean 'second'?"),
            (["--resume-at", "clip"], "the next that has some is 'second'"),
            (["--resume-at", 4], "names and numbers, 0 to 3"),
            (["--resume-at", 2, "--until", 0], "'0' ends before '2' begins"),
            (["--trace-layer", 2], "needs --trace"),
            (["--layers", "--resume-at", 2], "one program"),
        ):
            with self.subTest(args=args):
                done = run(model, *args)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn(reason, done.stderr)

    def test_a_fault_gives_exit_code_1_and_the_command(self):
        for folder in ("rtl", "hw/cosim"):
            shutil.copytree(ROOT / folder, self.dir / folder)
        unit = self.dir / "rtl" / "post_walk.sv"
        good = "acc_row_q   <= row_q + 1;"
        self.assertEqual(unit.read_text().count(good), 1)
        unit.write_text(unit.read_text().replace(good, "acc_row_q   <= row_q;"))
        core = ("--source", self.dir, "--cache", self.dir / "cache")
        # Two at once build it once: the second waits for the first one's.
        both = [self.start("--gemm", SHAPE, *core, stderr=subprocess.PIPE) for _ in range(2)]
        said = [process.communicate(timeout=patience()) for process in both]
        self.assertEqual([process.returncode for process in both], [1, 1], said)
        self.assertEqual((self.dir / "runs").read_text(), "run\n")
        text, report = self.report("--gemm", SHAPE, *core, code=1)
        row = report["rows"][0]
        self.assertFalse(row["passed"] or row["bit_exact"])
        self.assertEqual(row["difference"], 0, "the fault is one of values only")
        self.assertRegex(
            row["first_difference"], r"^store command \d+( at .*)?: byte \d+ of 'out' is"
        )
        self.assertIn("0 of 1 equal", text)
        # What lies beside the core's sources makes no other core of it.
        (self.dir / "rtl" / "netlist.json").write_text("{}")
        self.report("--gemm", SHAPE, *core, code=1)
        self.assertEqual(len(list((self.dir / "cache").glob("*/core.so"))), 1)
        # Of a network the layer, too, and how to look at it.
        model = self.network()
        text, report = self.report(model, *core, code=1)
        row = report["rows"][0]
        self.assertEqual(row["wrong_layer"], "first")
        self.assertRegex(row["first_difference"], r"^store command \d+ of layer 'first' at ")
        self.assertRegex(text, r"look closer:\s+--resume-at 'first', or\s+--trace FILE")
        _, report = self.report(model, *core, "--resume-at", "second", code=1)
        self.assertEqual(report["rows"][0]["wrong_layer"], "second")

    def start(self, *args, run_verilator="", **kwargs):
        """Starts `verify` with a Verilator before it that notes each time it translates."""
        verilator = shutil.which("verilator")
        (self.dir / "bin").mkdir(exist_ok=True)
        script = self.dir / "bin" / "verilator"
        script.write_text(
            f'#!/bin/sh\n[ $1 = --cc ] || exec {verilator} "$@"\n'
            f"echo run >> '{self.dir}/runs'\nexec {run_verilator or verilator} \"$@\"\n"
        )
        script.chmod(0o755)
        path = f"{script.parent}:{os.environ['PATH']}"
        return subprocess.Popen(
            command(*args),
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PATH": path},
            **kwargs,
        )

    def test_building_shows_how_far_it_is_and_waiting_can_be_interrupted(self):
        core = ("--gemm", SHAPE, "--cache", self.dir / "cache")
        stuck = self.dir / "stuck"
        stuck.write_text("#!/bin/sh\nsleep 1000\n")
        stuck.chmod(0o755)
        main, child = pty.openpty()
        self.addCleanup(os.close, main)
        first = self.start(*core, run_verilator=stuck, stderr=child)
        os.close(child)
        shown = ""
        while not re.search(r"\r\x1b\[KVerilated core: translating rtl/, \d+ s", shown):
            shown += os.read(main, 65536).decode()
        self.assertTrue(shown.startswith("accsim: building the Verilated core of this machine"))
        second = self.start(*core, run_verilator=stuck, stderr=subprocess.PIPE)
        self.assertEqual(
            second.stderr.readline(),
            "accsim: another accsim builds the Verilated core of this machine; waiting\n",
        )
        for process in (second, first):
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate(timeout=patience())
            self.assertEqual(process.returncode, 1, out)
        self.assertEqual((self.dir / "runs").read_text(), "run\n")
        self.assertEqual(list((self.dir / "cache").iterdir()), [])

    def test_lists_of_signals_name_what_the_waveforms_have(self):
        trace = self.dir / "x.fst"
        for flow in ("ws", "os"):
            shown = {}
            for end in ("gtkw", "sucl"):
                path = self.dir / f"x.{end}"
                case = ("--gemm", SHAPE, "--dataflow", flow)
                self.report(*case, "--trace", trace, "--trace-signals", path)
                shown[end] = path.read_text().splitlines()
            bits = fst.names(trace.read_bytes())
            gtkwave = [line for line in shown["gtkw"] if line.startswith("TOP.")]
            kinds = dict(zip(shown["gtkw"][1:], shown["gtkw"], strict=False))
            known = {name.replace(" ", "") for name in bits}
            for name in gtkwave:
                self.assertIn(name, known)
                self.assertEqual(kinds[name], "@22" if name.endswith("]") else "@28", name)
            self.assertIn(f'[dumpfile] "{trace}"', shown["gtkw"])
            surfer = [line.split()[1] for line in shown["sucl"] if line.startswith("variable_add")]
            self.assertEqual(surfer, [re.sub(r"\[\d+:\d+\]$", "", name) for name in gtkwave])
            self.assertEqual(len(gtkwave), len(set(gtkwave)))
            groups = {}
            for line in shown["sucl"]:
                word, name = line.split()
                if word == "divider_add":
                    groups[name] = []
                else:
                    groups[list(groups)[-1]].append(name)
            self.assertEqual(list(groups), ["Queues", "Tokens", "Array", "Memory"])
            core = "TOP.accsim_core"
            self.assertLessEqual(
                {f"{core}.gemm_valid_i", f"{core}.retire_post_o"}, set(groups["Queues"])
            )
            self.assertIn(f"{core}.u_tokens.u_act_full.count_q", groups["Tokens"])
            self.assertIn(f"{core}.u_execute.gen_array.u_array.sum_o", groups["Array"])
            self.assertIn(f"{core}.read_addr_o", groups["Memory"])
            # The array's own ports, not those of the modules in it, which may be thousands.
            within = [n for n in groups["Array"] if re.search(r"\.u_array\..*\.", n)]
            self.assertEqual(within, [])
            # All counters of tokens that the core has.
            counters = [
                n.split(" ")[0] for n in bits if re.search(r"\.u_(region_)?tokens\..*count_q", n)
            ]
            self.assertLessEqual(set(counters), set(groups["Tokens"]))

    def test_a_list_of_signals_is_of_waveforms(self):
        trace = ("--trace", self.dir / "x.fst")
        for args, reason in (
            (["x.gtkw"], "--trace-signals: needs --trace FILE"),
            (["x.txt", *trace], "'x.txt' ends neither in .gtkw (for GTKWave) nor in .sucl"),
            ([self.dir / "no" / "x.gtkw", *trace], "no/x.gtkw: can't create a file in the folder"),
        ):
            done = run("--gemm", SHAPE, "--trace-signals", *args)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(reason, done.stderr)

    def test_trace_is_a_valid_waveform_file(self):
        path = self.dir / "x.fst"
        _, report = self.report("--gemm", SHAPE, "--trace", path)
        cycles = report["rows"][0]["rtl_cycles"]
        data = path.read_bytes()
        first, last, scopes, variables = fst_header(data)
        self.assertEqual(first, 0)
        self.assertGreaterEqual(last, 2 * cycles)  # two time steps a cycle, and the reset before
        self.assertLess(last, 2 * cycles + 200)
        self.assertGreater(scopes, 20)
        self.assertGreater(variables, 500)
        kinds = fst_blocks(data)
        self.assertEqual(kinds.count(0), 1)
        self.assertTrue({3, 4, 6, 7} & set(kinds), "a hierarchy and the lengths of the signals")
        self.assertTrue({1, 5, 8} & set(kinds), "values that change")
        if not shutil.which("fst2vcd"):
            return
        text = subprocess.run(
            ["fst2vcd", str(path)], capture_output=True, text=True, check=False
        ).stdout
        code = re.search(r"\$var wire 1 (\S+) retire_post_o \$end", text).group(1)
        pulses = re.findall(rf"^1{re.escape(code)}$", text, re.M)
        self.assertTrue(0 < len(pulses) < report["rows"][0]["commands"])

    def test_trace_of_a_layer_has_its_cycles(self):
        model, path = self.network(), self.dir / "x.fst"
        text, report = self.report(model, "--trace", path, "--trace-layer", "second")
        (row,) = report["rows"]
        waveform = row["waveform"]
        self.assertTrue(waveform["complete"])
        # A bit after the end of `first`, which overlaps it; the last cycle is that of the last
        # store, which is in memory a latency later.
        self.assertTrue(0 < waveform["first_cycle"] < waveform["last_cycle"] < row["rtl_cycles"])
        self.assertIn(f"cycles {waveform['first_cycle']} to {waveform['last_cycle']}", text)
        first, last, _, _ = fst_header(path.read_bytes())
        cycles = waveform["last_cycle"] - waveform["first_cycle"] + 1
        self.assertEqual((first, last), (waveform["time"], waveform["time"] + 2 * cycles - 1))
        whole = self.dir / "whole.fst"
        _, report = self.report(model, "--trace", whole)
        self.assertEqual(report["rows"][0]["waveform"]["first_cycle"], 0)
        self.assertLess(path.stat().st_size, whole.stat().st_size)
        # From the layer on there is nothing before it.
        _, report = self.report(
            model, "--resume-at", "second", "--trace", path, "--trace-layer", "second"
        )
        self.assertEqual(report["rows"][0]["waveform"]["first_cycle"], 0)

    def test_trace_needs_one_program_and_a_place(self):
        two = run("--gemm", SHAPE, "--gemm", SHAPE, "--trace", self.dir / "x.fst")
        self.assertEqual(two.returncode, 2)
        self.assertIn("one program", two.stderr)
        nowhere = run("--gemm", SHAPE, "--trace", "/no/such/folder/x.fst")
        self.assertEqual(nowhere.returncode, 1)
        self.assertIn("can't write /no/such/folder/x.fst", nowhere.stdout)

    def test_an_interrupted_run_says_what_it_has_finished(self):
        self.report("--gemm", SHAPE)  # so that the core is built
        running = subprocess.Popen(
            command("--random", 5000, "--verbose"),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        while not catches_interrupts(running.pid):
            self.assertIsNone(running.poll())
            time.sleep(0.1)
        time.sleep(2)
        running.send_signal(signal.SIGINT)
        text, _ = running.communicate(timeout=patience())
        self.assertEqual(running.returncode, 1)
        found = re.search(r"interrupted: (\d+) of 5000 programs were run", text)
        self.assertTrue(found, text[-300:])
        self.assertEqual(len(re.findall(r"^random \d+ ", text, re.M)), int(found.group(1)))

    def test_a_lack_of_tools_is_said_on_standard_error(self):
        done = subprocess.run(
            command("--gemm", "4x4x4", "--cache", self.dir / "cores"),
            capture_output=True,
            text=True,
            timeout=patience(),
            check=False,
            env={**os.environ, "PATH": "/nowhere"},
        )
        self.assertEqual(done.returncode, 3, done.stdout)
        self.assertRegex(done.stderr, r"^accsim: error: .*there is no such tool")

    def test_a_machine_without_a_core_is_an_input_error(self):
        wide = self.dir / "wide.yaml"
        text, found = re.subn(
            r"(\n  activation:.*\n(?:    .*\n)*?    width: )\d+",
            r"\g<1>65536",
            SMALL.read_text(),
            count=1,
        )
        self.assertEqual(found, 1)
        wide.write_text(text)
        for hw, reason in (
            (ROOT / "configs" / "128x128.yaml", "int8 x int8 -> int32 only"),
            (ROOT / "configs" / "64x64-ddr4.yaml", "dram.model: ideal"),
            (wide, "buffers.activation.width is 65536"),
        ):
            for case in (["--gemm", "3x4x5"], [ROOT / "models" / "squeezenet1_1_op13.onnx"]):
                with self.subTest(hw=hw.name, case=case):
                    done = run(*case, hw=hw)
                    self.assertEqual((done.returncode, done.stdout), (2, ""))
                    self.assertIn(f"{hw}: ", done.stderr)
                    self.assertIn(reason, done.stderr)

    def test_wrong_use(self):
        for args in (
            [],
            ["--gemm", "3x4"],
            ["--conv", "1,2,3"],
            ["--gemm", SHAPE, "model.onnx"],
            ["no_such_model.onnx"],
            ["--random", "0"],
            ["--gemm", SHAPE, "--layers"],
            [self.network(), "--max-cycles", "100"],
        ):
            with self.subTest(args=args):
                done = run(*args)
                self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
                self.assertTrue(done.stderr)
                self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    if not shutil.which("verilator"):
        print("skipped: there is no verilator", file=sys.stderr)
        sys.exit(77)
    unittest.main()
