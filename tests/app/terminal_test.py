#!/usr/bin/python3
"""What people see: widths of lines, colours, bars, progress and what --verbose says.

Usage: terminal_test.py ACCSIM [unittest arguments]."""

import os
import pathlib
import pty
import re
import subprocess
import tempfile
import unicodedata
import unittest

import onnx
from program import ACCSIM, ROOT, patience

CONFIG = ROOT / "configs" / "64x64.yaml"
RESNET = ROOT / "models" / "resnet18_op13.onnx"
MODELS = [
    ROOT / "models" / f"{name}.onnx"
    for name in (
        "mobilenet_v2_op13",
        "bert_base_op17",
        "resnet50_op17",
        "llama_tiny2_decode_dyn_op17",
    )
]
SIZES = ("--bind", "*=1")  # of the symbolic dims
WIDTHS = (80, 100, 132)

# Names of variables that change what is printed.
OURS = ("COLUMNS", "NO_COLOR", "CLICOLOR_FORCE", "LC_ALL", "LC_CTYPE", "LANG", "TERM")
# What is printed for machines, or is a language of its own.
FOR_MACHINES = (
    "ops",
    "options",
    "schema",
    "hw schema",
    "hw fields",
    "hw print",
    "hw rtl",
    "completion",
    "manual",
)


def environment(**variables):
    kept = {name: value for name, value in os.environ.items() if name not in OURS}
    return {**kept, "LC_ALL": "C.UTF-8", **{name: str(v) for name, v in variables.items()}}


def run(*args, cwd=None, codes=(0,), **variables):
    done = subprocess.run(
        [str(ACCSIM), *map(str, args)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=cwd,
        env=environment(**variables),
        timeout=patience(),
        check=False,
    )
    assert done.returncode in codes, (args, done.returncode, done.stdout[-500:], done.stderr)
    return done


def on_terminal(*args, **variables):
    """Standard output and error of a run on a terminal."""
    main, child = pty.openpty()
    with subprocess.Popen(
        [str(ACCSIM), *map(str, args)],
        stdout=child,
        stderr=child,
        env=environment(TERM="xterm", **variables),
    ) as process:
        os.close(child)
        out = b""
        try:
            while part := os.read(main, 65536):
                out += part
        except OSError:  # Linux says so when the other side has closed
            pass
        process.wait()
    os.close(main)
    return out.decode()


def help_pages(path=()):
    """(words of a command, its help) of the program and all commands, 80 columns wide."""
    text = run(*path, "--help", COLUMNS=80).stdout
    yield path, text
    section = re.search(r"^Commands:\n((?:  .*\n)*)", text, re.M)
    for name in re.findall(r"^  (\w+)(?= )", section[1] if section else "", re.M):
        yield from help_pages((*path, name))


class Widths(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.dir = pathlib.Path(folder.name)

    def narrow(self, *args, codes=(0,), widths=WIDTHS):
        """Runs at all widths; no line may be longer. The texts by width."""
        texts = {}
        for width in widths:
            with self.subTest(args=args, width=width):
                texts[width] = run(*args, cwd=self.dir, codes=codes, COLUMNS=width).stdout
                self.assertTrue(texts[width])
                self.assertEqual([x for x in texts[width].splitlines() if len(x) > width], [])
        return texts

    def test_report(self):
        for model in MODELS:
            for more in ([], ["--all"]):
                self.narrow("--hw", CONFIG, model, *SIZES, *more)
        self.narrow("--hw", ROOT / "configs" / "64x64-hbm-banked.yaml", RESNET)

    def test_inspect(self):
        for model in MODELS:
            self.narrow("inspect", model, *SIZES, "--arena", "--all", "--reorder")

    def test_compare_and_advise(self):
        small = ROOT / "configs" / "16x16.yaml"
        for model in MODELS[:3]:
            self.narrow("compare", "--hw", small, "--hw", CONFIG, model, "--all")
            # Rows are of one kind however mappings are found; the rule takes a tenth of the time.
            effort = "search" if model == MODELS[0] else "rule"
            self.narrow("advise", "--hw", CONFIG, model, "--effort", effort)

    def test_shapes(self):
        for model in MODELS:
            self.narrow("shapes", model, *SIZES)

    def test_validate(self):
        self.narrow("validate", ROOT / "validation" / "tpu-v1.yaml")
        self.narrow("validate", ROOT / "validation" / "nvdla.yaml", "--no-interval")

    def test_hw(self):
        self.narrow("hw", "check", CONFIG)
        self.narrow("hw", "dram", ROOT / "configs" / "64x64-ddr4.yaml", "--bursts", 1000)

    def test_programs_that_are_made_and_cut(self):
        run("gemm", "300x200x100", "-o", "product.onnx", "--weights", "random:1", cwd=self.dir)
        dump = run("--hw", CONFIG, "product.onnx", "--dump-program", "*", cwd=self.dir).stdout
        (self.dir / "programs.txt").write_text(dump)
        self.narrow("program", "programs.txt", "--hw", CONFIG)
        self.narrow("tile", "product.onnx", "-o", "cut.onnx")
        self.narrow("--hw", CONFIG, "cut.onnx")
        self.narrow(
            "tile", MODELS[0], "-o", "cut.onnx", "--conv", "im2col", "--tile", "512x512x512"
        )
        self.narrow("--dump-program", "/classifier*", "--hw", CONFIG, MODELS[0])
        part = ("--from", "/layer1/layer1.0/conv1/Conv", "--until", "/layer1/layer1.0/relu_1/Relu")
        self.narrow("cut", RESNET, *part, "-o", "part.onnx")

    def test_vectors(self):
        self.narrow("vectors", "--hw", CONFIG, "--gemm", "70x80x90", "-o", "products")
        self.narrow("vectors", "--hw", CONFIG, "--random", "3", "-o", "random", "--format", "npy")

    def test_run_and_diff(self):
        run("gemm", "30x20x10", "-o", "small.onnx", "--weights", "random:1", cwd=self.dir)
        for to in ("a", "b"):
            flags = ["--int8"] if to == "b" else []
            self.narrow("run", "small.onnx", "--output", to, "--dump", "all", *flags)
        self.narrow("diff", "a", "b", codes=(0, 1))
        manifest = self.dir / "b" / "manifest.json"
        manifest.write_text(manifest.read_text().replace('"name": "gemm', '"name": "' + 90 * "g"))
        self.narrow("diff", "a", "b", codes=(0, 1))

    def test_sweep(self):
        spec = self.dir / "space.yaml"
        spec.write_text(
            f"base: {CONFIG}\nmodels:\n  - file: {RESNET}\n"
            "axes:\n"
            "  dram_rate: {field: dram.read_bytes_per_cycle, values: [32, 64]}\n"
            "  activations_kib: {field: buffers.activation.kib, values: [64, 128]}\n"
            "  weights_kib: {field: buffers.weight.kib, values: [64, 128]}\n"
            "  accumulator_kib: {field: buffers.accumulator.kib, values: [64, 128]}\n"
            "objectives: [cycles, energy, area, traffic]\n"
        )
        self.narrow("sweep", "space.yaml", "--store", "space.sqlite")
        for more in ([], ["--pareto", "cycles,energy,area,edp,sram,time,traffic"]):
            self.narrow("sweep", "show", "space.sqlite", *more)

    def test_help(self):
        commands = 0
        for path, _ in help_pages():
            commands += 1
            for width in (60, *WIDTHS):
                text = run(*path, "--help", COLUMNS=width).stdout
                self.assertEqual([x for x in text.splitlines() if len(x) > min(width, 100)], [])
        self.assertGreaterEqual(commands, 20)

    def test_every_command_is_tried(self):
        tried = pathlib.Path(__file__).read_text()
        for path, _ in help_pages():
            words = " ".join(path)
            if not path or words.startswith(FOR_MACHINES) or words in ("hw", "sweep merge"):
                continue
            with self.subTest(words):
                # They need tools, or don't end: verify_test, sweep_slurm_test, serve_test.
                if words in ("verify", "sweep submit", "serve"):
                    continue
                self.assertIn('"' + '", "'.join(path) + '"', tried)

    def test_what_the_width_is_without_a_terminal(self):
        lines = run("--hw", CONFIG, RESNET).stdout.splitlines()
        self.assertLessEqual(max(map(len, lines)), 160)
        self.assertGreater(max(map(len, lines)), 132)
        for odd in ("", "0", "wide", "-3"):
            self.assertEqual(run("--hw", CONFIG, RESNET, COLUMNS=odd).stdout.splitlines(), lines)


class Names(unittest.TestCase):
    def test_are_all_layers_told_apart(self):
        """In the layer table no two rows of different layers have one name."""
        for model in MODELS:
            for width in WIDTHS:
                text = run("--hw", CONFIG, model, *SIZES, "--all", COLUMNS=width).stdout
                lines = text.splitlines()
                head = next(i for i, x in enumerate(lines) if x.startswith("layer "))
                rules = [i for i, x in enumerate(lines) if re.fullmatch("-+", x) and i > head]
                column = re.match(r"layer +", lines[head]).end()
                names = [x[:column].rstrip() for x in lines[rules[0] + 1 : rules[1]]]
                self.assertEqual(len(names), len(set(names)), f"{model.name} at {width}")


class ForeignNames(unittest.TestCase):
    """Names that are no ASCII, and such as a terminal would obey."""

    EVIL = "\x1b]0;owned\x07\u009b31m\rab\x7f\u202e"

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.dir = pathlib.Path(folder.name)
        cls.model = cls.dir / "net\x1b[7m.onnx"
        cls.save(cls.model, ["\u7de8\u78bc\u5668/\u5c64.1", cls.EVIL, "d\u00e9j\u00e0"])

    @classmethod
    def save(cls, path, names, op="Gemm"):
        tensor = onnx.helper.make_tensor_value_info
        nodes, last, weights = [], "x", []
        for i, name in enumerate(names):
            weight = f"w{i}{name}"
            data = [0.1] * 1024
            weights.append(onnx.helper.make_tensor(weight, onnx.TensorProto.FLOAT, [32, 32], data))
            nodes.append(onnx.helper.make_node(op, [last, weight], [f"{name}:y"], name=name))
            last = f"{name}:y"
        shape = (onnx.TensorProto.FLOAT, [16, 32])
        graph = onnx.helper.make_graph(
            nodes, "net" + cls.EVIL, [tensor("x", *shape)], [tensor(last, *shape)], weights
        )
        opsets = [onnx.helper.make_opsetid("", 17)]
        onnx.save(onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8), str(path))

    def test_every_script_is_printed_and_aligned(self):
        lines = run("--hw", CONFIG, self.model, COLUMNS=132).stdout.splitlines()
        widths = {}
        for line in lines:
            for name in ("\u7de8\u78bc\u5668/\u5c64.1", "d\u00e9j\u00e0"):
                if line.startswith(name + " ") and "Gemm" in line:
                    # unicodedata counts a wide character as two columns.
                    at = line.index("Gemm")
                    wide = [unicodedata.east_asian_width(c) in "WF" for c in line[:at]]
                    widths[name] = at + sum(wide)
        self.assertEqual(len(widths), 2, lines)
        self.assertEqual(len(set(widths.values())), 1, widths)

    def test_no_control_character_is_printed(self):
        unknown = self.dir / "unknown.onnx"
        self.save(unknown, [self.EVIL], op="NoSuch\x1b[31m")
        machines = ("--hw", CONFIG, "--hw", ROOT / "configs" / "16x16.yaml")
        dumps = [self.dir / name for name in ("a", "b")]
        for folder, seed in zip(dumps, "12", strict=True):
            words = ("--output", folder, "--dump", "all", "--input", f"x=random:{seed}")
            self.harmless("run", self.model, *words)
        for words in (
            ("--hw", CONFIG, self.model, "--all", "--verbose"),
            ("--hw", CONFIG, self.model, "--csv", "-"),
            ("--hw", CONFIG, self.model, "--dump-program", "*"),
            ("--hw", CONFIG, self.model, "--mapping", "*=k3"),
            ("inspect", self.model, "--arena", "--all"),
            ("inspect", self.model, "--csv", "-"),
            ("shapes", self.model),
            ("compare", *machines, self.model, "--all"),
            ("advise", "--hw", CONFIG, self.model, "--effort", "rule"),
            ("diff", *dumps),
            ("tile", self.model, "--hw", CONFIG, "--output", self.dir / "cut\x1b[1m.onnx"),
            ("--hw", CONFIG, unknown),
            ("--hw", CONFIG, unknown, "--allow-unsupported"),
            ("inspect", unknown),
            ("--hw", CONFIG, self.dir / "gone\x1b[1m.onnx"),
            ("--hw", "no\x1b[1mmachine", self.model),
            ("no\x1b[1mcommand", "x"),
        ):
            with self.subTest(words=words):
                self.harmless(*words)

    def harmless(self, *words):
        done = run(*words, codes=(0, 1, 2))
        text = done.stdout + done.stderr
        self.assertTrue(text)
        self.assertIsNone(re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", text), text[:3000])


class Colours(unittest.TestCase):
    def coloured(self, *args, terminal=False, **variables):
        words = ("--hw", CONFIG, RESNET, *args)
        text = on_terminal(*words, **variables) if terminal else run(*words, **variables).stdout
        return "\x1b[" in text

    def test_without_a_terminal(self):
        self.assertFalse(self.coloured())
        self.assertTrue(self.coloured("--color", "always"))
        self.assertTrue(self.coloured(CLICOLOR_FORCE=1))
        self.assertFalse(self.coloured(CLICOLOR_FORCE=0))
        self.assertFalse(self.coloured(CLICOLOR_FORCE=1, NO_COLOR=1))
        self.assertFalse(self.coloured("--color", "never", CLICOLOR_FORCE=1))

    def test_on_a_terminal(self):
        self.assertTrue(self.coloured(terminal=True))
        self.assertTrue(self.coloured(terminal=True, NO_COLOR=""))
        self.assertFalse(self.coloured(terminal=True, NO_COLOR=1))
        self.assertTrue(self.coloured("--color", "always", terminal=True, NO_COLOR=1))
        self.assertFalse(self.coloured("--color", "never", terminal=True))

    def test_bars_are_ascii_where_the_locale_is(self):
        def table(**variables):
            return run("--hw", CONFIG, RESNET, COLUMNS=132, **variables).stdout

        self.assertIn("█", table())
        self.assertIn("█", table(LC_ALL="", LANG="de_DE.utf8"))
        for variables in ({"LC_ALL": "C"}, {"LC_ALL": "", "LC_CTYPE": "POSIX", "LANG": "C.UTF-8"}):
            text = table(**variables)
            self.assertTrue(text.isascii())
            self.assertIn("####", text)


class Verbose(unittest.TestCase):
    def test_files_and_times(self):
        done = run("--hw", CONFIG, RESNET, "--verbose", "-q")
        self.assertIn(f"machine: {CONFIG}, ", done.stderr)
        self.assertIn(f"model: {RESNET}, ", done.stderr)
        self.assertRegex(done.stderr, r"ms  lowered, mapped and timed\n")
        self.assertRegex(done.stderr, r"distinct programs were searched")
        times = [float(x) for x in re.findall(r"^accsim: +([\d.]+) ms", done.stderr, re.M)]
        self.assertGreaterEqual(times[-1] + 0.5, sum(times[:-1]), "the last is the sum")

    def test_every_command_takes_it_and_is_silent_without(self):
        for words in (["inspect", RESNET], ["shapes", RESNET], ["hw", "check", CONFIG]):
            self.assertEqual(run(*words).stderr, "")
            run(*words, "--verbose")

    def test_commands_that_cost_name_the_files_they_read(self):
        machines = ["--hw", CONFIG, "--hw", ROOT / "configs" / "16x16.yaml"]
        for words in (
            ["compare", *machines, RESNET, "--effort", "rule"],
            ["advise", "--hw", CONFIG, RESNET, "--effort", "rule"],
            ["inspect", RESNET],
        ):
            with self.subTest(words[0]):
                said = run(*words, "--verbose").stderr
                self.assertIn(f"model: {RESNET}, ", said)
                self.assertRegex(said, r"ms  in all\n")
                if "--hw" in words:
                    self.assertIn(f"machine: {CONFIG}, ", said)


if __name__ == "__main__":
    unittest.main()
