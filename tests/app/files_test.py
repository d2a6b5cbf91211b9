#!/usr/bin/python3
"""No command overwrites what it reads: every output option against every input option.

Usage: files_test.py ACCSIM [unittest arguments].

The options are those of --help. One that is neither in INPUTS, OUTPUTS nor NO_FILES fails the test,
so that a new option's kind has to be said here and in the program.
"""

import os
import pathlib
import re
import shutil
import tempfile
import unittest

from program import ROOT, run

# Commands, each with its words; {names} are files of the test's folder. None: writes no file.
COMMANDS = {
    "": ["--hw", "{hw}", "{model}"],
    "ops": None,
    "serve": None,
    "options": None,
    "schema": None,
    "completion": None,
    "manual": ["manual"],
    "hw": None,
    "hw check": None,
    "hw print": None,
    "hw rtl": None,
    "hw dram": None,
    "hw schema": None,
    "hw fields": None,
    "shapes": ["shapes", "{model}"],
    "verify": ["verify", "--hw", "{hw}", "{model}"],
    "program": ["program", "{program}", "--hw", "{hw}", "--verify"],
    "vectors": ["vectors", "--hw", "{hw}", "{model}"],
    "run": ["run", "{model}", "--hw", "{hw}", "--weights", "random:1", "--int8", "--network"],
    "diff": ["diff", "{dump_a}", "{dump_b}"],
    "inspect": ["inspect", "{model}"],
    "tile": ["tile", "{model}"],
    "cut": ["cut", "{model}", "--until", "product"],
    "gemm": ["gemm", "8x8x8"],
    "compare": ["compare", "--hw", "{hw}", "{model}", "--b-objective", "energy"],
    "advise": ["advise", "--hw", "{hw}", "{model}"],
    "validate": ["validate", "{figures}", "--no-interval"],
    "sweep": ["sweep", "{spec}"],
    "sweep show": ["sweep", "show", "{store}"],
    "sweep merge": ["sweep", "merge"],
    "sweep submit": ["sweep", "submit", "{spec}", "--nodes", "2"],
}

# By command: files that it reads, with the option that leads to them.
INPUTS = {
    "": {"{hw}": "--hw", "{model}": "model", "{weights}": "model"},
    "shapes": {"{model}": "model", "{weights}": "model"},
    "verify": {
        "{hw}": "--hw",
        "{model}": "model",
        "{weights}": "model",
        "{tree}/rtl/core.sv": "--source",
        "{own}": "--replace",
    },
    "program": {"{program}": "file", "{hw}": "--hw"},
    "vectors": {"{hw}": "--hw", "{model}": "model", "{weights}": "model"},
    "run": {"{model}": "model", "{npy}": "--input", "{hw}": "--hw"},
    "diff": {
        "{dump_a}/manifest.json": "a",
        "{dump_b}/x.npy": "b",
        "{dump_b}/layers/x.out": "b",
        "{model}": "--model",
    },
    "inspect": {"{model}": "model", "{weights}": "model"},
    "tile": {"{model}": "model", "{weights}": "model"},
    "cut": {"{model}": "model", "{weights}": "model"},
    "compare": {"{model}": "input", "{weights}": "input", "{hw}": "--hw"},
    "advise": {"{model}": "model", "{weights}": "model", "{hw}": "--hw"},
    "validate": {
        "{figures}": "source",
        "{known}": "source",
        "{model}": "source",
        "{rows}": "source",
        "{other_rows}": "--table",
    },
    "sweep": {"{spec}": "spec", "{hw}": "spec", "{model}": "spec"},
    "sweep show": {"{store}": "store", "{store}-wal": "store"},
    "sweep merge": {"{store}": "shards"},
    "sweep submit": {"{spec}": "spec", "{hw}": "spec", "{model}": "spec"},
}
READ_ONLY = {
    "serve": ["model", "--hw", "--store"],
    "hw check": ["file"],
    "hw print": ["file"],
    "hw dram": ["file"],
    "hw rtl": ["file"],
}
# Words that make an input one, where COMMANDS hasn't got them.
GIVEN = {
    "--source": ["--source", "{tree}"],
    "--replace": ["--replace", "{own}"],
    "shards": ["{store}", "{other_store}"],
    "--input": ["--input", "x={npy}"],
    "--model": ["--model", "{model}"],
    "--table": ["--table", "{other_rows}"],
}

# By command: options that write a file, and those that write into a folder.
OUTPUTS = {
    "": ["--json", "--csv", "--html", "--trace", "--annotate"],
    "shapes": ["--json"],
    "verify": ["--json", "--trace", "--trace-signals"],
    "program": ["--json", "--trace"],
    "run": ["--json"],
    "diff": ["--json"],
    "inspect": ["--json", "--csv"],
    "tile": ["--output"],
    "cut": ["--output"],
    "gemm": ["--output"],
    "compare": ["--json", "--html"],
    "advise": ["--json"],
    "validate": ["--json", "--csv", "--html", "--markdown"],
    "sweep": ["--store"],
    "sweep show": ["--csv", "--json", "--html"],
    "sweep merge": ["out"],
    "sweep submit": ["--store"],
}
FOLDERS = {
    "manual": ["--folder"],
    "run": ["--output"],
    "verify": ["--cache"],
    "program": ["--cache"],
    "vectors": ["--output"],
    "sweep submit": ["--folder"],
}

# Options whose value is no file.
NO_FILES = """
    --help --version --bind --example --python --input-shape --allow-unsupported --dump-program
    --dataflow --mapping --slack --verify
    --objective --effort --all --quiet --color --gemm --conv --random --seed --max-cycles --jobs
    --assertions --weights --dump --int8 --layerwise --threads --atol --rtol --macs --traffic --sort
    --in-place --reorder --arena --tile --edge --layers size --op --batch --transA --transB --alpha
    --beta --bias --opset --shard --pareto --where --nodes --partition --time --dry-run --pattern
    --bursts --conv --pe-modules --columns --verbose --trace-commands --network --inputs --calibrate
    --percentile --random-numbers --cycles --by --assume --trace-layer --trace-limit --resume-at
    --until --branch --from --no-interval --search --max-nodes --max-graph-mib --max-rank
    --max-programs --max-memory-mib --max-gops --key-blocks --raw --dtype --shape --tensor
    --layer --level --format --embed --value shell command of
    --b-dataflow --b-mapping --b-objective --b-slack --b-effort --port --max-upload --max-seconds
"""


def help_of(command):
    """(options and positionals, subcommands) that --help of a command lists."""
    options, commands, section = [], [], ""
    # Each entry begins two columns in; what goes on with it stands further in.
    for line in run(*command.split(), "--help").stdout.splitlines():
        if re.match(r"\w+:$", line):
            section = line[:-1]
        elif section == "Commands" and (found := re.match(r"  (\w+) ", line)):
            commands.append(found.group(1))
        elif (
            section == "Arguments"
            and (found := re.match(r"  (\w+)( |$)", line))
            or (found := re.match(r"  (?:-\w, )?(--[\w-]+)", line))
        ):
            options.append(found.group(1))
    return options, commands


# ---- a model by hand: its weights lie in a file beside it ----------------------------------------


def varint(n):
    out = b""
    while n >= 128:
        out += bytes([n % 128 + 128])
        n //= 128
    return out + bytes([n])


def text(field, value):
    value = value.encode() if isinstance(value, str) else value
    return bytes([field * 8 + 2]) + varint(len(value)) + value


def number(field, value):
    return bytes([field * 8]) + varint(value)


def model_bytes():
    """x (8 x 8) times 8 x 8 weights of weights.bin."""

    def value(name):
        dims = text(1, number(1, 8)) * 2
        return text(1, name) + text(2, text(1, number(1, 1) + text(2, dims)))

    node = text(1, "x") + text(1, "w") + text(2, "y") + text(3, "product") + text(4, "MatMul")
    weights = (
        number(1, 8) * 2
        + number(2, 1)
        + text(8, "w")
        + text(13, text(1, "location") + text(2, "weights.bin"))
        + number(14, 1)
    )
    graph = (
        text(1, node)
        + text(2, "g")
        + text(5, weights)
        + text(11, value("x"))
        + text(12, value("y"))
    )
    return number(1, 8) + text(7, graph) + text(8, number(2, 13))


class FilesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.dir = pathlib.Path(folder.name)
        cls.files = files = {
            name: cls.dir / file
            for name, file in (
                ("hw", "hw.yaml"),
                ("model", "model.onnx"),
                ("weights", "weights.bin"),
                ("spec", "spec.yaml"),
                ("known", "known.yaml"),
                ("figures", "figures.yaml"),
                ("rows", "rows.csv"),
                ("other_rows", "other.csv"),
                ("store", "store.sqlite"),
                ("other_store", "other.sqlite"),
                ("npy", "in/x.npy"),
                ("dump_a", "dump_a"),
                ("dump_b", "dump_b"),
                ("tree", "tree"),
                ("own", "core.sv"),
                ("program", "program.txt"),
            )
        }
        shutil.copy(ROOT / "configs" / "8x8.yaml", files["hw"])
        files["model"].write_bytes(model_bytes())
        files["weights"].write_bytes(bytes(4 * 64))
        files["spec"].write_text(
            "base: hw.yaml\nmodels: [{file: model.onnx}]\neffort: rule\n"
            "axes: {act: {field: buffers.activation.kib, values: [16, 32]}}\n"
        )
        shutil.copy(ROOT / "configs" / "known" / "vta-16x16.yaml", files["known"])
        files["figures"].write_text(
            "source: s\nevidence: estimate\nfitted: no\nmachine: known.yaml\n"
            "points: [{name: a, model: model.onnx, cycles: 100}]\n"
            "table: {file: rows.csv, workload: product,"
            " columns: {name: id, m: M, k: 64, n: 64, cycles: C}}\n"
        )
        for name in ("rows", "other_rows"):
            files[name].write_text("id,M,C\nx,64,1000\n")
        for name in ("store", "other_store"):
            cls.do("sweep", files["spec"], "--store", files[name])
        pathlib.Path(f"{files['store']}-wal").write_bytes(b"")
        for name in ("dump_a", "dump_b"):
            cls.do("run", files["model"], "--output", files[name], "--dump", "all")
            shutil.copy(next(files[name].glob("*.npy")), files[name] / "x.npy")
            (files[name] / "layers").mkdir()
            (files[name] / "layers" / "x.out").write_bytes(b"")
        files["npy"].parent.mkdir()
        shutil.copy(files["dump_a"] / "x.npy", files["npy"])
        dump = run("--hw", files["hw"], files["model"], "--dump-program", "*")
        files["program"].write_text(dump.stdout)
        files["own"].write_text("module core;\nendmodule\n")
        (files["tree"] / "rtl").mkdir(parents=True)
        (files["tree"] / "rtl" / "core.sv").write_text("module core;\nendmodule\n")

    @staticmethod
    def do(*words):
        done = run(*words)
        assert done.returncode == 0, done.stderr

    def fill(self, words):
        return [w.format(**self.files) for w in words]

    def words(self, command, of_input, target):
        given = self.fill(GIVEN.get(of_input, []))
        if command == "sweep merge":  # the target comes before the shards
            return [*self.fill(COMMANDS[command]), *target, *given]
        return [*self.fill(COMMANDS[command]), *given, *target]

    def refused(self, words, *parts):
        before = {p: p.read_bytes() for p in self.dir.rglob("*") if p.is_file()}
        done = run(*words, cwd=self.dir)
        self.assertEqual((done.returncode, done.stdout), (2, ""), f"{words}\n{done.stderr}")
        for part in parts:
            self.assertIn(part, done.stderr)
        after = {p: p.read_bytes() for p in self.dir.rglob("*") if p.is_file()}
        self.assertEqual(after, before)

    def names_of(self, target):
        """The file by several names."""
        link, hard = self.dir / "link", self.dir / "hard"
        for old in (link, hard):
            old.unlink(missing_ok=True)
        link.symlink_to(target)
        os.link(target, hard)
        return [
            target,
            os.path.relpath(target, self.dir),
            link,
            f"{target.parent}/../{target.parent.name}/{target.name}",
            hard,
        ]

    def test_every_option_is_known(self):
        commands = [""]
        for command in commands:
            options, subcommands = help_of(command)
            self.assertTrue(options, command)
            commands += [f"{command} {sub}".strip() for sub in subcommands]
            known = {
                *INPUTS.get(command, {}).values(),
                *OUTPUTS.get(command, []),
                *FOLDERS.get(command, []),
                *READ_ONLY.get(command, []),
                *NO_FILES.split(),
            }
            with self.subTest(command=command):
                self.assertEqual([o for o in options if o not in known], [])
        self.assertEqual(sorted(commands), sorted(COMMANDS))

    def test_an_output_without_a_name_is_refused(self):
        for option in OUTPUTS[""]:
            with self.subTest(option):
                self.refused([*self.fill(COMMANDS[""]), option, ""], "names no file", option)

    def test_no_output_overwrites_an_input(self):
        tried = 0
        for command, outputs in OUTPUTS.items():
            for option in outputs:
                for pattern, of_input in INPUTS.get(command, {}).items():
                    for name in self.names_of(pathlib.Path(pattern.format(**self.files))):
                        # What a folder holds is known by its place, not by its inode.
                        if of_input in ("a", "b", "--source") and str(name).endswith("/hard"):
                            continue
                        with self.subTest(command=command, option=option, input=pattern, name=name):
                            target = [str(name)] if option == "out" else [option, str(name)]
                            self.refused(
                                self.words(command, of_input, target), f"'{name}' is read", option
                            )
                            tried += 1
        self.assertGreater(tried, 100)

    def test_no_output_folder_takes_an_input(self):
        npy = self.files["npy"]
        for folder in (npy.parent, "in", "./dump_a/../in"):
            self.refused(
                [*self.fill(COMMANDS["run"]), "--input", f"x={npy}", "--output", folder],
                "could be overwritten",
                "--input",
            )

    def test_are_compared_files_kept(self):
        npy = self.files["npy"]
        for name in self.names_of(npy):
            self.refused(["diff", npy, npy, "--json", name], f"'{name}' is read", "--json")

    def test_no_two_outputs_are_one(self):
        for command in ("", "inspect", "verify"):
            first, second = OUTPUTS[command][:2]
            for a, b in (("z", "./z"), ("in/../z", str(self.dir / "z")), ("-", "-")):
                with self.subTest(command=command, names=(a, b)):
                    self.refused(
                        [*self.fill(COMMANDS[command]), first, a, second, b],
                        "names the same target as",
                    )

    def test_devices_and_new_files_are_written(self):
        words = self.fill(COMMANDS["inspect"])
        self.do(*words, "--json", "/dev/null", "--csv", "/dev/null", "-q")
        new = self.dir / "new.json"
        for _ in range(2):  # made, then replaced
            self.do(*words, "--json", new, "-q")
        self.assertGreater(new.stat().st_size, 0)
        new.unlink()

    def test_a_sweeps_default_store_isnt_its_spec(self):
        spec = self.dir / "space.sqlite"
        shutil.copy(self.files["spec"], spec)
        self.refused(["sweep", spec.name], "is read", "--store")
        spec.unlink()


if __name__ == "__main__":
    unittest.main()
