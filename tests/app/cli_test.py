#!/usr/bin/python3
"""End to end: the built program on good and bad command lines, models and machines.

Usage: cli_test.py ACCSIM [unittest arguments]. Exit code 77 (skipped) without python3-onnx.
"""

import csv
import json
import os
import pathlib
import re
import stat
import subprocess
import sys
import tempfile
import unittest

from program import ACCSIM, ROOT, run

try:
    import onnx
    from onnx import TensorProto, helper
except ImportError:
    print("skipped: python3-onnx isn't installed", file=sys.stderr)
    sys.exit(77)

CONFIG = ROOT / "configs" / "64x64.yaml"
RESNET18 = ROOT / "models" / "resnet18_op13.onnx"
BERT = ROOT / "models" / "bert_base_op17.onnx"
BERT_DYN = ROOT / "models" / "bert_base_dyn_op17.onnx"
LLAMA_DECODE = ROOT / "models" / "llama_tiny2_decode_dyn_op17.onnx"


def value(name, dims, dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, dims)


def model(nodes, inputs, outputs, initializers=(), opset=13):
    graph = helper.make_graph(nodes, "net", inputs, outputs, list(initializers))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])


class CliTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.dir = pathlib.Path(self.folder.name)
        self.addCleanup(self.folder.cleanup)

    def path(self, name, content=None):
        path = self.dir / name
        if isinstance(content, onnx.ModelProto):
            content = content.SerializeToString()
        if isinstance(content, bytes):
            path.write_bytes(content)
        elif content is not None:
            path.write_text(content)
        return path

    def refused(self, result, *words):
        """Exit code 2, nothing on stdout, only error lines on stderr, which hold the words."""
        self.assertEqual(result.returncode, 2, result.stderr + result.stdout[:500])
        self.assertEqual(result.stdout, "")
        lines = result.stderr.splitlines()
        self.assertTrue(lines, "nothing on stderr")
        for line in lines:
            self.assertTrue(line.startswith("accsim: error: "), result.stderr)
        for word in words:
            self.assertIn(str(word).lower(), result.stderr.lower())
        return lines

    def cost(self, path, *args):
        return run("--hw", CONFIG, path, *args)

    def report(self, path, hw=CONFIG, *args):
        result = run("--hw", hw, path, "--json", "-", *args)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)


class ModelFiles(CliTest):
    def test_missing(self):
        self.refused(self.cost(self.dir / "gone.onnx"), "gone.onnx", "no such file")

    def test_folder(self):
        self.refused(self.cost(self.dir), self.dir)

    def test_unreadable_device_or_fifo(self):
        os.mkfifo(self.dir / "fifo")
        self.refused(self.cost(self.dir / "fifo"), "fifo")

    def test_truncated(self):
        whole = RESNET18.read_bytes()
        for size in (1, 100, 1000, len(whole) // 2, len(whole) - 1):
            with self.subTest(size=size):
                self.refused(self.cost(self.path("cut.onnx", whole[:size])), "cut.onnx")

    def test_empty_file(self):
        self.refused(self.cost(self.path("empty.onnx", b"")), "empty.onnx")

    def test_text(self):
        self.refused(
            self.cost(self.path("notes.onnx", "This is not a model.\n" * 50)), "notes.onnx"
        )

    def test_other_formats(self):
        for name, content in [
            ("hw.onnx", CONFIG.read_bytes()),
            ("zip.onnx", b"PK\x03\x04" * 99),
            ("elf.onnx", ACCSIM.read_bytes()[:4096]),
            ("zero.onnx", bytes(4096)),
            ("ones.onnx", b"\xff" * 4096),
            ("json.onnx", json.dumps({"graph": [1, 2]}).encode()),
        ]:
            with self.subTest(name):
                self.refused(self.cost(self.path(name, content)), name)

    def test_machine_and_model_swapped(self):
        self.refused(run("--hw", RESNET18, CONFIG), RESNET18.name, CONFIG.name)


class Graphs(CliTest):
    def refuse_model(self, proto, *words, args=()):
        return self.refused(self.cost(self.path("bad.onnx", proto), *args), *words)

    def test_wrong_element_type(self):
        self.refuse_model(
            model(
                [helper.make_node("Conv", ["x", "w"], ["y"], name="stem")],
                [value("x", [1, 3, 8, 8]), value("w", [4, 3, 3, 3], TensorProto.INT64)],
                [value("y", None)],
            ),
            "stem",
        )

    def test_string_tensor_in_a_product(self):
        self.refuse_model(
            model(
                [helper.make_node("MatMul", ["x", "x"], ["y"], name="mm")],
                [value("x", [4, 4], TensorProto.STRING)],
                [value("y", None)],
            ),
            "mm",
        )

    def test_element_type_that_does_not_exist(self):
        self.refuse_model(
            model(
                [helper.make_node("Relu", ["x"], ["y"], name="r")],
                [value("x", [4], 999)],
                [value("y", None)],
            ),
            "999",
        )

    def test_shapes_that_do_not_fit(self):
        self.refuse_model(
            model(
                [helper.make_node("MatMul", ["x", "w"], ["y"], name="mm")],
                [value("x", [2, 3]), value("w", [4, 5])],
                [value("y", None)],
            ),
            "mm",
        )

    def test_cycle(self):
        self.refuse_model(
            model(
                [
                    helper.make_node("Add", ["x", "b"], ["a"], name="first"),
                    helper.make_node("Relu", ["a"], ["b"], name="second"),
                ],
                [value("x", [4])],
                [value("b", [4])],
            ),
            "first",
            "cycle",
        )

    def test_value_that_nobody_makes(self):
        self.refuse_model(
            model(
                [helper.make_node("Relu", ["ghost"], ["y"], name="r")],
                [value("x", [4])],
                [value("y", [4])],
            ),
            "ghost",
        )

    def test_two_writers_of_one_value(self):
        self.refuse_model(
            model(
                [
                    helper.make_node("Relu", ["x"], ["y"], name="r1"),
                    helper.make_node("Abs", ["x"], ["y"], name="r2"),
                ],
                [value("x", [4])],
                [value("y", [4])],
            ),
            "y",
        )

    def test_output_that_nobody_makes(self):
        self.refuse_model(
            model(
                [helper.make_node("Relu", ["x"], ["y"], name="r")],
                [value("x", [4])],
                [value("nowhere", [4])],
            ),
            "nowhere",
        )

    def test_unknown_operators_all_at_once(self):
        proto = model(
            [
                helper.make_node("Frobnicate", ["x"], ["a"], name="f1"),
                helper.make_node("Relu", ["a"], ["b"], name="r"),
                helper.make_node("Twiddle", ["b"], ["y"], name="f2", domain="my.ops"),
            ],
            [value("x", [4])],
            [value("y", [4])],
        )
        self.refuse_model(proto, "Frobnicate", "f1", "Twiddle", "f2", "--allow-unsupported")

    def test_allow_unsupported_says_so(self):
        proto = model(
            [helper.make_node("Frobnicate", ["x"], ["y"], name="f1")],
            [value("x", [4])],
            [value("y", [4])],
        )
        path = self.path("odd.onnx", proto)
        report = self.report(path, CONFIG, "--allow-unsupported")
        self.assertEqual(len(report["unsupported"]), 1)
        self.assertEqual(report["layers"][0]["fate"], "unsupported")
        self.assertEqual(report["layers"][0]["dram_read_bytes"], 4)

    def test_huge_dims(self):
        for dims in ([2**62, 2**62], [2**40, 2**40, 4], [2**63 - 1]):
            with self.subTest(dims=dims):
                self.refuse_model(
                    model(
                        [helper.make_node("MatMul", ["x", "w"], ["y"], name="mm")],
                        [value("x", [*dims, 4]), value("w", [4, 4])],
                        [value("y", None)],
                    )
                )

    def test_huge_work_on_tensors_that_fit(self):
        size = 2**30
        self.refuse_model(
            model(
                [helper.make_node("MatMul", ["x", "w"], ["y"], name="mm")],
                [value("x", [size, size]), value("w", [size, size])],
                [value("y", None)],
            )
        )

    def test_negative_dims(self):
        self.refuse_model(
            model(
                [helper.make_node("Relu", ["x"], ["y"], name="r")],
                [value("x", [-3, 4])],
                [value("y", None)],
            ),
            "-3",
        )

    def test_huge_sum_of_many_tensors(self):
        nodes = [helper.make_node("Relu", [f"t{i}"], [f"t{i + 1}"]) for i in range(9)]
        self.refuse_model(model(nodes, [value("t0", [2**60])], [value("t9", None)]))

    def test_empty_graph(self):
        """What only hands its input on costs nothing; what gives nothing is no network."""
        path = self.path("through.onnx", model([], [value("x", [1])], [value("x", [1])]))
        self.assertEqual(self.report(path)["totals"]["cycles"], 0)
        self.refuse_model(model([], [], []))
        self.refuse_model(onnx.ModelProto(ir_version=8))

    def test_missing_attribute(self):
        self.refuse_model(
            model(
                [helper.make_node("MaxPool", ["x"], ["y"], name="pool")],
                [value("x", [1, 1, 8, 8])],
                [value("y", None)],
            ),
            "pool",
            "kernel_shape",
        )

    def test_opset_before_seven(self):
        self.refuse_model(
            model(
                [helper.make_node("Relu", ["x"], ["y"], name="r")],
                [value("x", [4])],
                [value("y", [4])],
                opset=6,
            ),
            "opset 6",
        )


class Options(CliTest):
    def test_nothing_to_do(self):
        result = run()
        self.assertEqual(result.returncode, 2)

    def test_model_without_machine(self):
        self.refused(run(RESNET18), "--hw")

    def test_machine_without_model(self):
        self.refused(run("--hw", CONFIG), "model")

    def test_unknown_option(self):
        self.refused(self.cost(RESNET18, "--jsn", "x"), "--jsn")

    def test_unknown_dim_lists_those_there_are(self):
        self.refused(self.cost(BERT_DYN, "--bind", "btch=2"), "btch", "batch", "sequence")
        self.refused(self.cost(RESNET18, "--bind", "batch=2"), "batch")

    def test_bind_that_is_no_number(self):
        for text in (
            "batch",
            "batch=",
            "batch=two",
            "batch=-1",
            "=3",
            "batch=1.5",
            "batch=99999999999999999999",
        ):
            with self.subTest(text):
                self.refused(self.cost(BERT_DYN, f"--bind={text}"), "--bind")

    def test_bind_to_nothing(self):
        """A prefill has no past: tensors without elements cost nothing."""
        past = self.report(LLAMA_DECODE, CONFIG, "--bind", "past=64")["totals"]
        none = self.report(LLAMA_DECODE, CONFIG, "--bind", "past=0")["totals"]
        self.assertLess(none["macs"], past["macs"])
        self.assertLess(none["dram_read_bytes"], past["dram_read_bytes"])
        for model in (LLAMA_DECODE, BERT_DYN):
            self.assertIn(self.cost(model, "--bind", "batch=0").returncode, (0, 2))

    def test_bind_twice(self):
        self.refused(self.cost(BERT_DYN, "--bind", "batch=2", "--bind", "batch=3"), "batch")

    def test_unbound_dims_are_one_and_the_report_says_so(self):
        report = self.report(BERT_DYN, CONFIG, "--bind", "sequence=128")
        self.assertEqual(report["model"]["bindings"], {"batch": 1, "sequence": 128})
        self.assertEqual(report["model"]["defaulted"], ["batch"])
        static = self.report(BERT)
        self.assertEqual(report["totals"]["macs"], static["totals"]["macs"])

    def test_bind_scales_the_work(self):
        one = self.report(BERT_DYN, CONFIG, "--bind", "sequence=16")["totals"]["macs"]
        four = self.report(BERT_DYN, CONFIG, "--bind", "sequence=16", "--bind", "batch=4")[
            "totals"
        ]["macs"]
        self.assertEqual(four, 4 * one)

    def test_huge_bind(self):
        self.refused(self.cost(BERT_DYN, "--bind", "sequence=9000000000000000000"))

    def test_bad_dataflow_and_mapping(self):
        self.refused(self.cost(RESNET18, "--dataflow", "rs"), "--dataflow", "ws")
        self.refused(self.cost(RESNET18, "--mapping", "banana"), "--mapping", "banana")
        self.refused(self.cost(RESNET18, "--mapping", "ws os"), "--mapping", "'os' in 'ws os'")

    def test_options_that_would_do_nothing(self):
        for pin in ("nosuch*=n64", "/maxpool*=n64"):
            words = ("--mapping", f"no layer with a product matches '{pin[:-4]}'")
            self.refused(self.cost(RESNET18, "--mapping", pin), *words)
        both = ("--mapping", "*=n64", "--mapping", "nosuch*=ws", "--mapping", "none=os")
        said = self.refused(self.cost(RESNET18, *both), "'nosuch*'", "'none'")
        self.assertEqual(len(said), 2)
        done = run("compare", "--hw", CONFIG, "--b-mapping", "nosuch*=n64", RESNET18)
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn("nosuch*", done.stderr)
        self.refused(self.cost(RESNET18, "--objective", "energy", "--slack", "5%"), "--slack")
        self.refused(self.cost(RESNET18, "--trace-commands", "5"), "--trace")
        shape = ("--input-shape", "input=1x3x8x8")
        self.refused(self.cost(RESNET18, *shape, *shape), "--input-shape", "twice")

    def test_input_shape(self):
        self.refused(self.cost(RESNET18, "--input-shape", "nothere=1x3x8x8"), "nothere")
        self.refused(self.cost(RESNET18, "--input-shape", "input=1x3xblue"), "--input-shape")
        self.refused(self.cost(RESNET18, "--input-shape", "input=1x4x8x8"))

    def test_dump_of_no_layer(self):
        self.refused(self.cost(RESNET18, "--dump-program", "nosuch*"), "nosuch*")

    def test_help_and_version_are_no_errors(self):
        for args in (["--help"], ["--version"], ["hw", "--help"], ["shapes", "--help"]):
            result = run(*args)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertIn("accsim" if args == ["--version"] else "Usage", result.stdout)

    def test_version_names_the_libraries(self):
        lines = run("--version").stdout.splitlines()
        self.assertRegex(lines[0], r"^accsim [0-9.]+ \(cost model [0-9]+\)$")
        self.assertEqual(len(lines), 2)
        named = re.findall(r"([A-Za-z_-][A-Za-z0-9_-]*) [0-9]+(?:\.[0-9]+)+", lines[1])
        wanted = ["fmt", "yaml-cpp", "nlohmann_json", "CLI11", "Eigen", "SQLite", "xxHash"]
        # The allocator is linked where it is there, and not under sanitizers.
        self.assertIn(named[1:], (wanted, [*wanted, "jemalloc"]), lines[1])
        self.assertIn(named[0], ("GNU", "Clang"))


class Machines(CliTest):
    def setUp(self):
        super().setUp()
        self.text = CONFIG.read_text()

    def edited(self, pattern, new, count=1):
        text, made = re.subn(pattern, new, self.text, count=count, flags=re.MULTILINE)
        self.assertEqual(made, count, pattern)
        return self.path("edited.yaml", text)

    def line_of(self, path, word):
        return next(i for i, line in enumerate(path.read_text().splitlines(), 1) if word in line)

    def refuse_machine(self, path, *words):
        """By hw check and by the main job, with the same words."""
        check = self.refused(run("hw", "check", path), *words)
        self.assertEqual(self.refused(run("--hw", path, RESNET18), *words), check)
        return check

    def test_what_a_technology_gives_is_printed_as_people_read_it(self):
        known = ROOT / "configs" / "known" / "tpu-v1.yaml"
        energies = self.report(RESNET18, known, "-q", "--effort", "rule")["hw"]["energy"]
        printed = run("hw", "print", known).stdout
        said = re.findall(r"(?m)^  # (\w+): ([\d.]+) +# by technology", printed)
        self.assertGreaterEqual(len(said), 8)
        for key, text in said:
            self.assertEqual(text, f"{energies[key]:.7g}", key)
        # They aren't read back: the same machine comes of it.
        again = self.report(RESNET18, self.path("again.yaml", printed), "-q", "--effort", "rule")
        self.assertEqual(again["hw"]["energy"], energies)

    def test_missing_file(self):
        self.refuse_machine(self.dir / "gone.yaml", "gone.yaml", "no such file")

    def test_folder(self):
        self.refuse_machine(self.dir, self.dir)

    def test_typo_in_a_key_has_line_and_nearest_key(self):
        path = self.edited(r"^  rows:", "  rosw:")
        number = self.line_of(path, "rosw")
        self.refuse_machine(path, f"edited.yaml:{number}", "rosw", "rows")

    def test_missing_key(self):
        self.refuse_machine(self.edited(r"^  latency: 100.*\n", ""), "latency", "dram")

    def test_duplicate_key(self):
        path = self.edited(r"^clock_mhz:.*$", "clock_mhz: 1000\nclock_mhz: 2000")
        self.refuse_machine(path, "clock_mhz", f":{self.line_of(path, 'clock_mhz: 2000')}")

    def test_wrong_type(self):
        path = self.edited(r"^  rows: 64 ", "  rows: many ")
        self.refuse_machine(path, f"edited.yaml:{self.line_of(path, 'many')}", "rows", "many")

    def test_zero_rows(self):
        path = self.edited(r"^  rows: 64 ", "  rows: 0 ")
        self.refuse_machine(path, f"edited.yaml:{self.line_of(path, 'rows: 0')}", "rows")

    def test_negative_infinite_and_nan_rates(self):
        for rate in ("-1", "0", ".inf", ".nan", "1e99"):
            with self.subTest(rate):
                self.refuse_machine(
                    self.edited(
                        r"^  read_bytes_per_cycle: 102.4", f"  read_bytes_per_cycle: {rate}"
                    ),
                    "read_bytes_per_cycle",
                )

    def test_buffer_too_small_for_one_tile(self):
        self.refuse_machine(self.edited(r"^(  weight:[^\n]*\n    kib:) 256", r"\1 2"), "weight")

    def test_all_errors_at_once(self):
        self.text = self.text.replace("  rows: 64 ", "  rows: 0 ").replace(
            "clock_mhz:", "clok_mhz:"
        )
        lines = self.refuse_machine(self.path("edited.yaml", self.text))
        self.assertGreaterEqual(len(lines), 2)

    def test_not_yaml(self):
        for content in ("{", "a: [1, 2", "\t\n: :", "- 1\n- 2\n", "", "just words", "&a [*a]"):
            with self.subTest(content):
                self.refuse_machine(self.path("odd.yaml", content), "odd.yaml")
        self.refuse_machine(self.path("odd.yaml", bytes(range(256))), "odd.yaml")

    def test_good_files_are_good_and_print_loads_again(self):
        for config in sorted((ROOT / "configs").glob("*.yaml")):
            with self.subTest(config.name):
                self.assertEqual(run("hw", "check", config).returncode, 0)
                printed = run("hw", "print", config)
                self.assertEqual(printed.returncode, 0, printed.stderr)
                again = run("hw", "print", self.path("again.yaml", printed.stdout))
                self.assertEqual(again.stdout, printed.stdout)

    def test_schema_and_fields_are_those_in_configs(self):
        schema = run("hw", "schema")
        self.assertEqual(
            json.loads(schema.stdout), json.loads((ROOT / "configs" / "hw.schema.json").read_text())
        )
        self.assertIn(
            run("hw", "fields").stdout.strip(), (ROOT / "configs" / "README.md").read_text()
        )


class Results(CliTest):
    def test_two_runs_are_equal_byte_for_byte(self):
        files = []
        for i in (1, 2):
            paths = [self.dir / f"{i}.json", self.dir / f"{i}.csv"]
            result = self.cost(RESNET18, "--json", paths[0], "--csv", paths[1])
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            files.append([result.stdout.encode(), *(p.read_bytes() for p in paths)])
        self.assertEqual(files[0], files[1])

    def test_json_and_csv_agree_and_have_one_row_a_node(self):
        result = self.cost(
            RESNET18, "--json", self.dir / "r.json", "--csv", self.dir / "r.csv", "-q"
        )
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
        report = json.loads((self.dir / "r.json").read_text())
        with open(self.dir / "r.csv", newline="") as file:
            rows = list(csv.reader(file))
        nodes = onnx.load(str(RESNET18), load_external_data=False).graph.node
        self.assertEqual(len(rows), 1 + len(nodes))
        self.assertEqual(len(report["layers"]), len(nodes))
        self.assertEqual(rows[0], list(report["layers"][0]))
        cycles = rows[0].index("cycles")
        self.assertEqual(
            [int(row[cycles]) for row in rows[1:]], [layer["cycles"] for layer in report["layers"]]
        )
        self.assertEqual(sum(int(row[cycles]) for row in rows[1:]), report["totals"]["cycles"])
        for row, layer in zip(rows[1:], report["layers"], strict=True):
            for key, cell in zip(rows[0], row, strict=True):
                value = layer[key]
                if isinstance(value, int):
                    self.assertEqual(cell, str(value), key)
                if not isinstance(value, float):
                    continue
                # Seven digits, or all before the point: what is behind them means nothing.
                self.assertLessEqual(abs(float(cell) - value), abs(value) * 0.51e-6, key)
                digits = re.sub(r"e.*|^-?0\.0*|\D", "", cell)
                self.assertTrue(len(digits) <= 7 or cell.isdigit(), (key, cell))

    def test_json_has_the_keys_it_promises(self):
        report = self.report(RESNET18)
        self.assertEqual(report["schema"], "accsim.report/1")
        for part, keys in [
            ("model", "name file opset params weight_bytes"),
            ("hw", "name"),
            (
                "totals",
                "cycles seconds macs params utilization dram_read_bytes dram_write_bytes "
                "energy_pj area_mm2",
            ),
        ]:
            for key in keys.split():
                self.assertIn(key, report[part])
        for key in [
            "name",
            "op_type",
            "fate",
            "macs",
            "params",
            "cycles",
            "compute_cycles",
            "stall_cycles",
            "utilization",
            "dram_read_bytes",
            "dram_write_bytes",
            "arithmetic_intensity",
            "bound",
            "energy_pj",
            "output_shape",
        ]:
            for layer in report["layers"]:
                self.assertIn(key, layer)
        self.assertEqual(report["unsupported"], [])

    def test_stdout(self):
        for option in ("--json", "--csv"):
            with self.subTest(option):
                result = self.cost(RESNET18, option, "-")
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                if option == "--json":
                    json.loads(result.stdout)
                else:
                    self.assertEqual(result.stdout.splitlines()[0].split(",")[0], "name")
        self.assertFalse(list(self.dir.iterdir()))

    def test_targets_that_cannot_be_written(self):
        for option in ("--json", "--csv"):
            for target in (self.dir / "no" / "such" / "r", self.dir, "/proc/nothing", "/dev/full"):
                with self.subTest(option=option, target=str(target)):
                    result = self.cost(RESNET18, option, target)
                    self.assertEqual(result.returncode, 2, result.stderr)
                    self.assertTrue(result.stderr.startswith("accsim: error: "), result.stderr)
        self.assertFalse(list(self.dir.iterdir()))

    def test_a_failed_run_touches_no_file(self):
        for name in ("r.json", "r.csv"):
            self.path(name, "precious")
        bad = self.path("bad.onnx", b"nonsense")
        for args in ([bad], [RESNET18, "--bind", "nosuch=1"], [RESNET18, "--dataflow", "rs"]):
            self.refused(
                self.cost(*args, "--json", self.dir / "r.json", "--csv", self.dir / "r.csv")
            )
        self.assertEqual((self.dir / "r.json").read_text(), "precious")
        self.assertEqual((self.dir / "r.csv").read_text(), "precious")
        self.assertEqual(len(list(self.dir.iterdir())), 3)

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_read_only_folder_and_file(self):
        old = self.path("old.json", "precious")
        old.chmod(stat.S_IRUSR)
        self.refused(self.cost(RESNET18, "--json", old), "old.json")
        self.assertEqual(old.read_text(), "precious")

    def test_file_size_limit_leaves_the_old_file(self):
        old = self.path("r.json", "precious")
        result = subprocess.run(
            [
                "bash",
                "-c",
                'trap "" XFSZ; ulimit -f 1; exec "$@"',
                "bash",
                str(ACCSIM),
                "--hw",
                str(CONFIG),
                str(RESNET18),
                "-q",
                "--json",
                str(old),
            ],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        self.refused(result, "r.json")
        self.assertEqual(old.read_text(), "precious")
        self.assertEqual(list(self.dir.iterdir()), [old])

    def test_same_file_for_json_and_csv(self):
        result = self.cost(RESNET18, "--json", self.dir / "r", "--csv", self.dir / "r")
        self.refused(result, "--json", "--csv")

    def test_closed_and_full_stdout(self):
        with open("/dev/full", "w") as full:
            result = subprocess.run(
                [str(ACCSIM), "--hw", str(CONFIG), str(RESNET18)],
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                timeout=60,
                check=False,
            )
        self.assertEqual(result.returncode, 2)
        self.assertTrue(result.stderr.startswith("accsim: error: "), result.stderr)

    def test_shapes(self):
        result = run("shapes", RESNET18, "--json", "-")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        measured = json.loads((ROOT / "tests/data/shapes/resnet18_op13.json").read_text())
        printed = json.loads(result.stdout)
        for name, shape in measured.items():
            self.assertEqual(printed[name], shape)
        self.refused(run("shapes", self.dir / "gone.onnx"), "gone.onnx")

    def test_a_dataflow_that_the_machine_does_not_list_is_pinned_as_its_help_says(self):
        self.assertNotIn("output_stationary", CONFIG.read_text())
        layers = json.loads(
            self.cost(RESNET18, "--dataflow", "os", "-q", "--json", "-", "--effort", "rule").stdout
        )["layers"]
        products = [layer["mapping"] for layer in layers if layer["fate"] == "gemm"]
        self.assertTrue(products)
        self.assertEqual([m for m in products if not m.startswith("os ")], [])
        self.assertIn("The machine needn't list it", " ".join(run("--help").stdout.split()))

    def test_dump_program(self):
        result = self.cost(RESNET18, "--dump-program", "/layer1/*Conv")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("gemm", result.stdout)


class Dram(CliTest):
    """accsim hw dram."""

    DDR4 = ROOT / "configs" / "64x64-ddr4.yaml"

    def test_table(self):
        result = run(
            "hw",
            "dram",
            self.DDR4,
            "--bursts",
            20000,
            "--pattern",
            "random:256@0.25",
            "--pattern",
            "strided:64:8192",
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = result.stdout.splitlines()
        self.assertIn("DDR4-2400 (JESD79-4), 8 channels", lines[0])
        self.assertIn("peak 153.6 GB/s", lines[1])  # 8 x 2400 MT/s x 8 bytes
        rows = [line.split() for line in lines if line.startswith(("random", "strided"))]
        self.assertEqual([row[0] for row in rows], ["random:256@0.25", "strided:64:8192"])
        for _, stepped, rate, closed, closed_rate, differ, _ in rows:
            self.assertAlmostEqual(float(rate), float(stepped) * 1.536, delta=0.2)
            self.assertAlmostEqual(float(closed_rate), float(closed) * 1.536, delta=0.2)
            self.assertAlmostEqual(
                float(differ), (float(closed) / float(stepped) - 1) * 100, delta=0.5
            )

    def test_what_is_rounded_to_nothing_has_no_sign(self):
        words = ("--bursts", 20000, "--pattern", "random:16384@1")
        result = run("hw", "dram", ROOT / "configs" / "64x64-hbm-banked.yaml", *words)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r" 0\.0 ")
        self.assertNotRegex(result.stdout, r"[-+]0\.0\b")

    def test_default_patterns(self):
        result = run("hw", "dram", self.DDR4, "--bursts", 1000)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertGreaterEqual(result.stdout.count("\nrandom:"), 5)

    def test_ideal_machine(self):
        self.refused(run("hw", "dram", CONFIG), CONFIG, "ideal", "dram.model: banked")

    def test_bad_patterns(self):
        for text in (
            "",
            "randon:64",
            "random",
            "random:",
            "random:0",
            "random:-1",
            "random:64:64",
            "strided:64",
            "strided:64:0",
            "sequential:64",
            "random:64@2",
            "random:64@-0.1",
            "random:64@nan",
            "random:64@",
            "random:9999999999999999999999",
            "random:64x",
        ):
            with self.subTest(pattern=text):
                self.refused(run("hw", "dram", self.DDR4, f"--pattern={text}"), "pattern")

    def test_missing_file_and_bad_bursts(self):
        self.refused(run("hw", "dram", self.dir / "gone.yaml"), "gone.yaml")
        self.refused(run("hw", "dram", self.DDR4, "--bursts", 0), "bursts")


class Monotony(CliTest):
    """More of a resource never costs cycles, for whole networks."""

    def cycles(self, network, *edits):
        text = CONFIG.read_text()
        for pattern, new in edits:
            text, made = re.subn(pattern, new, text, flags=re.MULTILINE)
            self.assertEqual(made, 1, pattern)
        return self.report(network, self.path("edited.yaml", text))["totals"]["cycles"]

    def never_more(self, make_edits, values):
        """Cycles must not rise along `values`; by 0.5 % where each layer's mapping is chosen alone
        and the chain of them is slower for it (docs/modelled.md)."""
        for network in (RESNET18, BERT):
            found = [self.cycles(network, *make_edits(v)) for v in values]
            with self.subTest(network=network.name, cycles=dict(zip(values, found))):
                for before, after in zip(found, found[1:]):
                    self.assertLessEqual(after, before * 1.005)
                self.assertLessEqual(found[-1], found[0])

    def test_read_bandwidth(self):
        self.never_more(
            lambda v: [(r"^  read_bytes_per_cycle: 102.4", f"  read_bytes_per_cycle: {v}")],
            [1.7, 6.4, 12.8, 40, 102.4, 128],
        )

    def test_write_bandwidth(self):
        self.never_more(
            lambda v: [(r"^  write_bytes_per_cycle: 51.2", f"  write_bytes_per_cycle: {v}")],
            [0.9, 6.4, 40, 51.2, 77.7, 128],
        )

    def test_latency(self):
        self.never_more(
            lambda v: [(r"^  latency: 100", f"  latency: {v}")], [5000, 1000, 333, 100, 20]
        )

    def test_shared_buffer(self):
        self.never_more(
            lambda v: [(r"^    kib: 2048", f"    kib: {v}")], [0, 64, 300, 1000, 2048, 3000, 65536]
        )


if __name__ == "__main__":
    unittest.main()
