#!/usr/bin/python3
"""Is what libaccsim.so gives what Python computes by itself, and does wrong use give codes?

Usage: abi_test.py ACCSIM LIBACCSIM.SO NM [unittest arguments]. Sums come from numpy's products of
the operands, bytes from the formula of the post unit, a program's cycles from the report."""

import ctypes
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from c_interface import OUTPUTS, ROOT, TYPES, Library, Refused, Run, constants, prototypes

PARAMETERS = "b (bias and scale)"  # of a product's channels
MACHINE = ROOT / "configs" / "8x8.yaml"
CODE = constants()
ACCSIM = LIBRARY = NM = None  # set by main
MAY_BE_NULL = {("accsim_open_model", "layer")}


def requantised(sums, parameters):
    """What the post unit makes of M x N sums with N rows of bias, multiplier, shift: (sum + bias) *
    multiplier / 2^shift, halves rounded away from zero, clipped to int8."""
    out = np.zeros(sums.shape, np.int8)
    for (m, n), total in np.ndenumerate(sums):
        bias, multiplier, shift = (int(v) for v in parameters[n])
        biased = (int(total) + bias + 2**31) % 2**32 - 2**31
        product = biased * multiplier
        magnitude = (abs(product) + (1 << shift >> 1)) >> shift
        out[m, n] = max(-128, min(127, magnitude if product >= 0 else -magnitude))
    return out


class Interface(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.library = Library(LIBRARY)
        cls.machine = cls.library.call("accsim_machine_open", str(MACHINE))
        cls.addClassCleanup(cls.library.c.accsim_machine_close, cls.machine)
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)

    def open(self, how, *arguments, machine=None):
        return Run(
            self.library,
            self.library.call(f"accsim_open_{how}", machine or self.machine, *arguments),
        )

    def refuses(self, code, word, call):
        with self.assertRaises(Refused) as caught:
            call()
        self.assertEqual(caught.exception.code, CODE[f"ACCSIM_{code}"], caught.exception.text)
        self.assertIn(word, caught.exception.text)


class Names(Interface):
    def test_do_header_package_and_library_have_the_same_functions(self):
        package = (ROOT / "sim" / "abi" / "accsim_dpi.sv").read_text()
        imported = re.findall(r'^ *import "DPI-C" function [\w ]+ (\w+)\(', package, re.M)
        done = subprocess.run(
            [NM, "-D", "--defined-only", LIBRARY], capture_output=True, text=True, check=True
        )
        exported = [line.split()[-1] for line in done.stdout.splitlines()]
        self.assertEqual(sorted(imported), sorted(prototypes()))
        self.assertEqual(sorted(exported), sorted(prototypes()))

    def test_has_the_package_the_header_s_types_and_orders(self):
        package = (ROOT / "sim" / "abi" / "accsim_dpi.sv").read_text()
        types = {"int32_t": "int", "int64_t": "longint", "uint64_t": "longint unsigned"}
        types |= {"double": "real", "const char*": "string", "void": "void"}
        for name, (returns, parameters) in prototypes().items():
            found = re.search(rf"function ([\w ]+) {name}\(([^)]*)\);", package)
            self.assertEqual(found[1], types[returns], name)
            expected = []
            for kind, parameter in parameters:
                if kind.endswith("**") and not kind.startswith("const char"):
                    expected.append(f"output chandle {parameter}")
                elif kind in OUTPUTS and parameter != "to":
                    expected.append(f"output {types[kind[:-1]]} {parameter}")
                else:
                    expected.append(f"input {types.get(kind, 'chandle')} {parameter}")
            self.assertEqual(" ".join(found[2].split()), ", ".join(expected), name)

    def test_has_the_package_the_header_s_numbers(self):
        package = (ROOT / "sim" / "abi" / "accsim_dpi.sv").read_text()
        found = re.findall(r"^    Accsim(\w+) = (-?\d+)", package, re.M)
        self.assertEqual({f"ACCSIM_{n.upper()}": int(v) for n, v in found}, CODE)

    def test_has_the_library_the_version_in_its_name(self):
        version = self.library.c.accsim_abi_version()
        self.assertEqual(pathlib.Path(LIBRARY).resolve().name.split(".")[2], str(version))


class Values(Interface):
    def follow(self, run):
        """Every gemm's and drain's sums, from its operands and the sums before; how many commands
        there were."""
        held, array, seen = {}, {}, 0
        for kind in run.commands():
            seen += 1
            if kind == CODE["ACCSIM_GEMM"]:
                m, k, n = (run.number(name) for name in "mkn")
                a, b = run.values("A"), run.values("B")
                self.assertEqual((a.shape, b.shape), ((m, k), (k, n)))
                own = a.astype(np.int64) @ b.astype(np.int64)
                run.check("PRODUCTS", own)
                self.sums(run, own, held, array)
            elif kind == CODE["ACCSIM_DRAIN"]:
                shape = run.number("m"), run.number("n")
                own = np.array([[array[r, c] for c in range(shape[1])] for r in range(shape[0])])
                self.sums(run, own, held, None)
        return seen

    def sums(self, run, own, held, array):
        """`array`: of an output stationary gemm, where its sums stay."""
        names = ("dataflow", "slot", "address", "overwrites")
        dataflow, slot, address, overwrites = (run.number(name) for name in names)
        in_array, turned = array is not None and dataflow == 2, dataflow == 1
        expected = np.zeros(own.shape, np.int32)
        for (row, column), value in np.ndenumerate(own.T if turned else own):
            place = (row, column)
            if not in_array:
                place = (slot, address + row, column)
            to = array if in_array else held
            before = 0 if overwrites else to[place]
            to[place] = int(np.int32((before + int(value) + 2**31) % 2**32 - 2**31))
            expected[(column, row) if turned else (row, column)] = to[place]
        run.check("SUMS", expected)

    def flows(self, dataflow):
        """A machine that has this dataflow alone."""
        text = re.sub(r"dataflows: \[.*?\]", f"dataflows: [{dataflow}]", MACHINE.read_text())
        self.assertIn(f"[{dataflow}]", text)
        file = self.folder / f"{dataflow}.yaml"
        file.write_text(text)
        machine = self.library.call("accsim_machine_open", str(file))
        self.addCleanup(self.library.c.accsim_machine_close, machine)
        return machine

    def test_are_sums_of_every_dataflow_those_of_the_operands(self):
        for dataflow in ("weight_stationary", "input_stationary", "output_stationary"):
            machine = self.flows(dataflow)
            for index in range(0, 12):
                with (
                    self.subTest(dataflow, index=index),
                    self.open("random", 3, index, machine=machine) as run,
                ):
                    self.assertEqual(self.follow(run), run.call("commands"))

    def test_are_operands_of_ones_own_multiplied(self):
        m, k, n = 20, 30, 40
        mine = np.random.default_rng(1).integers(-128, 128, (m, k), np.int8)
        with self.open("product", m, k, n, 1) as run:
            run.write("a", mine)
            run.write("b", np.ones(k * n, np.int8))  # whatever their order
            np.testing.assert_array_equal(run.read("a").view(np.int8).reshape(m, k), mine)
            parameters = run.read(PARAMETERS).view("<i4").reshape(n, 3)
            for kind in run.commands():
                if kind == CODE["ACCSIM_GEMM"]:
                    self.assertTrue((run.values("B") == 1).all())
            sums = np.repeat(mine.astype(np.int64).sum(axis=1)[:, None], n, axis=1)
            stored = run.read("out").view(np.int8).reshape(m, n)
            np.testing.assert_array_equal(stored, requantised(sums, parameters))

    def test_does_a_post_have_its_parameters_and_bytes(self):
        with self.open("product", 8, 8, 8, 5) as run:
            sums, channels = None, 0
            parameters = run.read(PARAMETERS).view("<i4").reshape(8, 3)
            for kind in run.commands():
                if kind == CODE["ACCSIM_GEMM"]:
                    sums = run.values("SUMS")
                elif kind == CODE["ACCSIM_POST"]:
                    mine = parameters[channels : channels + sums.shape[1]]
                    np.testing.assert_array_equal(run.values("PARAMETERS"), mine)
                    run.check("BYTES", requantised(sums, mine))
                    channels += len(mine)
            self.assertEqual(channels, 8)

    def test_is_the_same_seed_the_same_and_another_one_not(self):
        def contents(seed):
            with self.open("conv", "1,8,6,6,8,3,3,1,1,1,1", seed) as run:
                return {name: run.read(name).tobytes() for name in run.tensors()}

        self.assertEqual(contents(1), contents(1))
        self.assertNotEqual(contents(1), contents(2))

    def test_is_a_convolution_that_of_its_window(self):
        rng = np.random.default_rng(2)
        mine = rng.integers(-128, 128, (6, 7, 8), np.int8)
        with self.open("conv", "1,8,6,7,8,3,3,1,1,1,1", 1) as run:
            run.write("a", mine)
            run.write("b", np.ones(8 * 8 * 9, np.int8))
            parameters = run.read(PARAMETERS).view("<i4").reshape(8, 3)
            list(run.commands("STORE"))
            padded = np.pad(mine.astype(np.int64), ((1, 1), (1, 1), (0, 0)))
            sums = [[padded[y : y + 3, x : x + 3].sum()] * 8 for y in range(6) for x in range(7)]
            stored = run.read("out").view(np.int8).reshape(42, 8)
            np.testing.assert_array_equal(stored, requantised(np.array(sums), parameters))


class Differences(Interface):
    def test_is_the_first_difference_named_with_its_loops(self):
        with self.open("product", 20, 30, 40, 1) as run:
            planted = None
            for index, _ in enumerate(run.commands("GEMM")):
                sums = run.values("SUMS")
                if index < 3:
                    run.check("SUMS", sums)
                    continue
                rows, columns = sums.shape
                sums[rows - 1, columns - 2] -= 1
                sums[rows - 1, columns - 1] -= 1
                text = run.call("command_text")
                self.refuses("DIFFERS", text, lambda run=run, sums=sums: run.check("SUMS", sums))
                if planted is None:
                    planted = (run.number("index"), rows - 1, columns - 2, text)
                    golden = int(run.values("SUMS")[rows - 1, columns - 2])
            first = run.call("first_difference")
            self.assertEqual(first, (*planted[:3], golden - 1, golden))
            text = run.call("first_difference_text")
            self.assertTrue(text.startswith(planted[3]))
            self.assertRegex(planted[3], r"^execute command \d+.* at \w+=\d+")
            self.assertIn(f"row {planted[1]}, column {planted[2]}: {golden - 1}", text)

    def test_does_a_text_say_loops_whose_index_is_a_number(self):
        with self.open("product", 40, 30, 40, 1) as run:
            for _ in run.commands():
                text = run.call("command_text")
                for name, index in re.findall(r"(\w+)=(\d+)", text):
                    self.assertEqual(run.number(f"loop.{name}"), int(index))

    def test_is_a_cycle_checked(self):
        with self.open("product", 20, 30, 40, 1) as run:
            finishes = []
            for _ in run.commands():
                finishes.append(run.number("finish"))
                run.call("check_finish", finishes[-1])
                wrong = finishes[-1] + 1
                self.refuses("DIFFERS", "cycle", lambda w=wrong: run.call("check_finish", w))
            self.assertEqual(max(finishes), run.call("cycles"))
            self.assertEqual(run.call("first_difference")[:3], (0, -1, -1))


def network(folder):
    """A convolution and two equal products, with weights."""
    rng = np.random.default_rng(3)

    def stored(name, *dims):
        return numpy_helper.from_array(rng.standard_normal(dims).astype(np.float32) * 0.1, name)

    graph = helper.make_graph(
        [
            helper.make_node("Conv", ["x", "w"], ["c"], "conv", pads=[1, 1, 1, 1]),
            helper.make_node("Relu", ["c"], ["r"], "relu"),
            helper.make_node("Flatten", ["r"], ["f"], "flat"),
            helper.make_node("MatMul", ["f", "v"], ["y"], "fc"),
        ],
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4, 6, 6])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 10])],
        [stored("w", 8, 4, 3, 3), stored("v", 8 * 36, 10)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 7
    file = folder / "net.onnx"
    onnx.save(model, file)
    return file


class Models(Interface):
    def test_are_a_model_s_cycles_those_of_the_report(self):
        file = network(self.folder)
        done = subprocess.run(
            [ACCSIM, "--hw", MACHINE, file, "--json", "-"],
            capture_output=True,
            text=True,
            check=True,
        )
        with self.open("model", str(file), None, 1) as run:
            self.assertEqual(run.call("cycles"), json.loads(done.stdout)["totals"]["cycles"])
            layers = set()
            for _ in run.commands():
                layers |= set(re.findall("of layer '(.*?)'", run.call("command_text")))
            self.assertEqual(layers, {"conv", "fc"})

    def test_has_a_layer_the_weights_of_the_file(self):
        file = network(self.folder)
        with self.open("model", str(file), "fc", 1) as run:
            used = np.concatenate([run.values("B").ravel() for _ in run.commands("GEMM")])
        with self.open("model", str(file), "fc", 2) as run:
            again = np.concatenate([run.values("B").ravel() for _ in run.commands("GEMM")])
        np.testing.assert_array_equal(used, again)
        weights = numpy_helper.to_array(onnx.load(file).graph.initializer[1])
        # Symmetric int8 keeps signs, and how many of each there are.
        large = np.abs(weights) > np.abs(weights).max() / 100
        self.assertGreaterEqual(np.count_nonzero(used > 0), np.count_nonzero(weights[large] > 0))
        self.assertGreaterEqual(np.count_nonzero(used < 0), np.count_nonzero(weights[large] < 0))

    def test_is_a_wrong_layer_or_file_said(self):
        file = network(self.folder)
        broken = self.folder / "broken.onnx"
        broken.write_bytes(file.read_bytes()[:200])
        self.refuses("INPUT", "'conv'?", lambda: self.open("model", str(file), "conw", 1))
        self.refuses("INPUT", "broken.onnx", lambda: self.open("model", str(broken), None, 1))
        self.refuses("INPUT", "none.onnx", lambda: self.open("model", "none.onnx", None, 1))


class Misuse(Interface):
    def call_with_null(self, name, null, good):
        """The function with this parameter null and the others as they should be."""
        types, arguments = [], []
        for i, (kind, parameter) in enumerate(prototypes()[name][1]):
            is_output = kind.endswith("**") or kind in OUTPUTS or "uint8" in kind
            value = good["buffer"] if is_output else good.get(parameter, good["buffer"])
            types.append(TYPES.get(kind, ctypes.c_void_p))
            arguments.append(None if i == null else value if "*" in kind else 0)
        address = ctypes.cast(getattr(self.library.c, name), ctypes.c_void_p).value
        return ctypes.CFUNCTYPE(ctypes.c_int32, *types)(address)(*arguments)

    def test_is_every_null_pointer_a_code(self):
        with self.open("product", 9, 9, 9, 1) as run:
            run.call("next", CODE["ACCSIM_GEMM"])
            buffer = (ctypes.c_int64 * 1000)()
            good = {"run": run.handle, "machine": self.machine, "path": b"array.rows"}
            good |= {"file": str(MACHINE).encode(), "numbers": b"1,8,6,6,8,3,3,1,1,1,1"}
            good |= {"name": b"m", "layer": b"", "buffer": ctypes.addressof(buffer)}
            tried = 0
            for name, (returns, parameters) in prototypes().items():
                for null, (kind, parameter) in enumerate(parameters):
                    if "*" not in kind:
                        continue
                    code = self.call_with_null(name, null, good)
                    if returns == "void" or (name, parameter) in MAY_BE_NULL:
                        continue
                    tried += 1
                    with self.subTest(name, pointer=parameter):
                        self.assertEqual(code, CODE["ACCSIM_ARGUMENT"])
                        self.assertEqual(self.library.message(), f"{parameter} is null")
            self.assertGreater(tried, 50)

    def test_is_a_machine_golden_does_not_know_unsupported(self):
        text = MACHINE.read_text().replace("activation: int8", "activation: bfloat16")
        text = text.replace("weight: int8", "weight: bfloat16")
        text = text.replace("accumulator: int32", "accumulator: float32")
        file = self.folder / "floats.yaml"
        file.write_text(text)
        machine = self.library.call("accsim_machine_open", str(file))
        self.addCleanup(self.library.c.accsim_machine_close, machine)
        for how, arguments in (
            ("product", (8, 8, 8, 1)),
            ("conv", ("1,8,6,6,8,3,3,1,1,1,1", 1)),
            ("random", (1, 0)),
            ("model", (str(network(self.folder)), None, 1)),
        ):
            with self.subTest(how):
                self.refuses(
                    "UNSUPPORTED",
                    "int8",
                    lambda how=how, arguments=arguments: self.open(
                        how, *arguments, machine=machine
                    ),
                )

    def test_is_what_golden_cannot_compute_said_again_and_again(self):
        with self.open("product", 8, 8, 8, 1) as run:
            parameters = run.read(PARAMETERS).view("<i4")
            parameters[2] = 63  # the shift of channel 0
            run.write(PARAMETERS, parameters)
            for _ in range(2):
                self.refuses("INPUT", "channel 0 by 63", lambda: list(run.commands()))
            self.refuses("ORDER", "has failed", run.kind)

    def test_are_all_faults_of_a_machine_said(self):
        file = self.folder / "bad.yaml"
        file.write_text(
            MACHINE.read_text().replace("rows: 8", "rows: 0").replace("cols: 8", "cols: x")
        )
        with self.assertRaises(Refused) as caught:
            self.library.call("accsim_machine_open", str(file))
        self.assertEqual(caught.exception.code, CODE["ACCSIM_INPUT"])
        for word in ("array.rows", "array.cols", "bad.yaml:"):
            self.assertIn(word, caught.exception.text)

    def test_does_a_name_lead_to_a_machine(self):
        machine = self.library.call("accsim_machine_open", "16x16")
        self.addCleanup(self.library.c.accsim_machine_close, machine)
        self.assertEqual(self.library.call("accsim_machine_number", machine, "array.rows"), 16)
        self.refuses("INPUT", "16x16", lambda: self.library.call("accsim_machine_open", "16x17"))

    def test_does_a_run_outlive_its_machine(self):
        machine = self.library.call("accsim_machine_open", str(MACHINE))
        with self.open("product", 9, 9, 9, 1, machine=machine) as run:
            self.library.c.accsim_machine_close(machine)
            self.assertEqual(len(list(run.commands())), run.call("commands"))

    def test_do_threads_share_a_machine(self):
        def bytes_of(seed):
            with self.open("product", 50, 60, 70, seed) as run:
                list(run.commands())
                return run.read("out").tobytes()

        alone, together = [bytes_of(seed) for seed in range(6)], {}
        threads = [
            threading.Thread(target=lambda s=seed: together.update({s: bytes_of(s)}))
            for seed in range(6)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([together[seed] for seed in range(6)], alone)

    def test_is_too_little_memory_a_code(self):
        """Of a process that may have little more than it has now."""
        program = """
import resource, sys
sys.path.insert(0, sys.argv[1])
from c_interface import Library, Refused, Run
library = Library(sys.argv[2])
machine = library.call("accsim_machine_open", sys.argv[3])
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + int(sys.argv[4])
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    with Run(library, library.call("accsim_open_product", machine, 3000, 64, 3000, 1)) as run:
        run.call("next", 5)
        print(0)
except Refused as why:
    print(why.code)
"""
        codes = []
        for room in (0, 1, 5, 10, 20, 40, 1000):
            words = [sys.executable, "-c", program, pathlib.Path(__file__).parent, LIBRARY]
            words += [MACHINE, str(room << 20)]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""), f"{room} MiB")
            codes.append(int(done.stdout))
        self.assertEqual(codes[0], CODE["ACCSIM_MEMORY"])
        self.assertEqual(codes[-1], CODE["ACCSIM_OK"])
        self.assertLessEqual(set(codes), {CODE["ACCSIM_MEMORY"], CODE["ACCSIM_OK"]})

    def test_has_each_thread_its_own_message(self):
        words = [f"none{i}.yaml" for i in range(8)]
        barrier, heard = threading.Barrier(len(words)), {}

        def fail(word):
            for _ in range(20):
                self.library.c.accsim_machine_open(word.encode(), ctypes.byref(ctypes.c_void_p()))
                barrier.wait()
                heard.setdefault(word, set()).add(word in self.library.message())

        threads = [threading.Thread(target=fail, args=(word,)) for word in words]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(heard, {word: {True} for word in words})


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    ACCSIM, LIBRARY, NM = (sys.argv.pop(1) for _ in range(3))
    unittest.main()
