#!/usr/bin/python3
"""What helps at the command line: examples, help, suggestions, names of machines, completion and
manual pages.

Usage: command_line_test.py ACCSIM [unittest arguments]."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from program import ACCSIM, ROOT

DATAFLOWS = ["weight_stationary", "input_stationary", "output_stationary"]
RESNET = ROOT / "models" / "resnet18_op13.onnx"


def run(*args, cwd=None, **variables):
    return subprocess.run(
        [str(ACCSIM), *map(str, args)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "COLUMNS": "100", **variables},
        timeout=120,
        check=False,
    )


def good(*args, **kwargs):
    done = run(*args, **kwargs)
    assert (done.returncode, done.stderr) == (0, ""), (args, done.returncode, done.stderr)
    return done.stdout


def all_commands(path=()):
    """Words of every command, by the program's own help."""
    yield path
    section = re.search(r"^Commands:\n((?:  .*\n)*)", good(*path, "--help"), re.M)
    for name in re.findall(r"^  (\w+)(?= )", section[1] if section else "", re.M):
        yield from all_commands((*path, name))


class CommandLineTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)

    def refused(self, *args, cwd=None):
        done = run(*args, cwd=cwd or self.dir)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        for line in done.stderr.splitlines():
            self.assertTrue(line.startswith("accsim: error: "), line)
        return done.stderr


class Help(CommandLineTest):
    def test_alone_it_shows_three_examples(self):
        done = run()
        self.assertEqual((done.returncode, done.stderr), (2, ""))
        self.assertEqual(len(re.findall(r"^  accsim ", done.stdout, re.M)), 3)

    def test_defaults_units_and_groups(self):
        text = " ".join(good("verify", "--help").split())
        self.assertIn("--max-cycles CYCLES", text)
        self.assertIn("(1 to 256) (default: 1)", text)
        self.assertIn("--objective {cycles,energy,edp,traffic}", text)
        for group in ("Arguments:", "Options:", "Model:", "Mapping:", "Terminal:"):
            self.assertIn(group, text)

    def test_a_full_disk_is_said(self):
        for words in (["--help"], ["sweep", "show", "--help"], ["--version"]):
            with self.subTest(words=words), open("/dev/full", "w", encoding="utf-8") as full:
                command = [str(ACCSIM), *words]
                done = subprocess.run(
                    command, stdout=full, stderr=subprocess.PIPE, text=True, check=False
                )
                self.assertEqual(done.returncode, 2)
                self.assertIn("standard output", done.stderr)


class Suggestions(CommandLineTest):
    def test_options(self):
        for words, meant in (
            (
                ("--hw", "64x64", RESNET, "--jsn", "x"),
                "--jsn isn't known to accsim; did you mean --json?",
            ),
            (("inspect", RESNET, "--sotr=macs"), "did you mean --sort?"),
            (("sweep", "show", "--paretto", "x", "s"), "accsim sweep show; did you mean --pareto?"),
            (("inspect", RESNET, "--effort", "rule"), "it is an option of accsim, accsim verify"),
        ):
            with self.subTest(words=words):
                self.assertIn(meant, self.refused(*words))
        self.assertNotIn("did you mean", self.refused("inspect", RESNET, "--zzzzzzzz"))

    def test_commands(self):
        self.assertIn("did you mean the command inspect?", self.refused("inspct"))
        self.assertIn("did you mean the command inspect?", self.refused("inspct", RESNET))
        self.assertIn("did you mean the command check?", self.refused("hw", "chek", "x.yaml"))
        self.assertIn("did you mean show?", self.refused("manual", "sweep", "shwo"))
        self.assertIn("did you mean the command show?", self.refused("sweep", "shwo"))
        self.assertIn(
            "did you mean the command show?", self.refused("sweep", "shwo", "store.sqlite")
        )
        self.assertIn("did you mean the command merge?", self.refused("sweep", "mrege", "a", "b"))

    def test_files(self):
        (self.dir / "folder").mkdir()
        shutil.copy(RESNET, self.dir / "folder" / "network.onnx")
        wrong = "folder/netwrok.onnx"
        for words in (("inspect", wrong), ("--hw", "64x64", wrong), ("run", wrong)):
            text = self.refused(*words)
            self.assertIn(f"{wrong}: no such file; did you mean folder/network.onnx?", text)
        self.assertNotIn("did you mean", self.refused("inspect", "nothing.onnx"))
        self.assertNotIn("did you mean", self.refused("inspect", "gone/network.onnx"))

    def test_all_of_them_at_once(self):
        shutil.copy(RESNET, self.dir / "network.onnx")
        self.assertEqual(len(self.refused("--hw", "64x46", "netwrok.onnx").splitlines()), 2)

    def test_machines(self):
        self.assertIn(
            "did you mean the shipped machine 128x128?", self.refused("hw", "check", "128x12")
        )
        self.assertIn("mean the known machine tpu-v4?", self.refused("hw", "print", "tpuv4"))
        text = self.refused("--hw", "huge", RESNET)
        shipped, known = text.split("; known ")
        self.assertIn("huge: no such file, and no machine has that name: shipped ", shipped)
        for file in (ROOT / "configs").glob("*.yaml"):
            self.assertIn(file.stem, shipped)
        for file in (ROOT / "configs" / "known").glob("*.yaml"):
            self.assertIn(file.stem, known)


class MachineNames(CommandLineTest):
    def test_names_of_shipped_machines(self):
        for file in (ROOT / "configs").glob("*.yaml"):
            self.assertEqual(
                good("hw", "print", file.stem, cwd=self.dir), good("hw", "print", file)
            )
        text = good("--hw", "8x8", RESNET, cwd=self.dir, COLUMNS="500")
        self.assertRegex(text, r"(?m)^machine +8x8$")

    def test_names_of_known_machines(self):
        for file in (ROOT / "configs" / "known").glob("*.yaml"):
            self.assertEqual(
                good("hw", "print", file.stem, cwd=self.dir), good("hw", "print", file)
            )
        self.assertIn("good (tpu-v4, ", good("hw", "check", "tpu-v4", cwd=self.dir))
        text = good("--hw", "tpu-v4", RESNET, cwd=self.dir, COLUMNS="500")
        self.assertRegex(text, r"(?m)^machine +tpu-v4$")

    def test_where_such_a_machine_lies_is_not_written(self):
        page = self.dir / "page.html"
        for name in ("8x8", "tpu-v4"):
            text = good("--hw", name, RESNET, "--json", "-", "--html", page, cwd=self.dir)
            self.assertEqual(json.loads(text)["hw"]["file"], name)
            for written in (text, page.read_text("utf-8")):
                self.assertNotIn(str(ROOT / "configs"), written)

    def test_a_path_wins(self):
        mine = (ROOT / "configs" / "8x8.yaml").read_text().replace('name: "8x8"', "name: mine")
        (self.dir / "64x64").write_text(mine)
        self.assertIn("(mine, 8x8)", good("hw", "check", "64x64", cwd=self.dir))

    def test_a_shipped_machine_is_not_overwritten(self):
        shipped = ROOT / "configs" / "8x8.yaml"
        before = shipped.read_bytes()
        self.assertIn("is read (--hw)", self.refused("--hw", "8x8", RESNET, "--json", shipped))
        self.assertEqual(shipped.read_bytes(), before)


class Completion(CommandLineTest):
    def bash(self, *words):
        """What bash offers for the last of these words."""
        script = good("completion", "bash")
        quoted = " ".join(f"'{w}'" for w in words)
        ask = (
            f"compopt() {{ :; }}\n{script}\nCOMP_WORDS=(accsim {quoted})\n"
            f"COMP_CWORD={len(words)}\n_accsim\nprintf '%s\\n' \"${{COMPREPLY[@]}}\""
        )
        done = subprocess.run(
            ["bash", "--norc", "-uc", ask],
            capture_output=True,
            text=True,
            cwd=self.dir,
            timeout=60,
            check=False,
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [line for line in done.stdout.splitlines() if line]

    def test_bash_knows_commands_and_options(self):
        self.assertEqual(self.bash("ins"), ["inspect"])
        self.assertEqual(self.bash("sweep", "sh"), ["show"])
        self.assertEqual(self.bash("sweep", "show", "--par"), ["--pareto"])
        self.assertEqual(self.bash("hw", "sch"), ["schema"])
        self.assertEqual(self.bash("inspect", "--js"), ["--json"])
        self.assertEqual(self.bash("inspect", "--datafl"), [])
        self.assertEqual(self.bash("--datafl"), ["--dataflow"])

    def test_bash_knows_values(self):
        self.assertEqual(self.bash("--objective", "e"), ["energy", "edp"])
        self.assertEqual(self.bash("--objective", "=", "tr"), ["traffic"])
        self.assertEqual(self.bash("inspect", "--sort", "p"), ["params"])
        self.assertEqual(self.bash("completion", ""), ["bash", "zsh", "fish"])
        self.assertEqual(self.bash("verify", "--seed", ""), [])

    def test_bash_knows_words_where_others_may_be_given(self):
        for option in ("--dataflow", "--b-dataflow"):
            self.assertEqual(
                self.bash("compare", option, ""),
                [word for d in DATAFLOWS for word in (d, "".join(p[0] for p in d.split("_")))],
            )
        self.assertEqual(self.bash("--dataflow", "=", "o"), ["output_stationary", "os"])
        self.assertEqual(self.bash("--by", "m"), ["module"])
        self.assertEqual(self.bash("--key-blocks", ""), ["auto", "off"])
        self.assertEqual(self.bash("manual", "sweep", "sub"), ["submit"])

    def test_bash_completes_lists(self):
        show = ("sweep", "show", "--pareto")
        metrics = self.bash(*show, "")
        for word in metrics:  # the program takes what is offered
            self.assertIn("x.sqlite: no such store", self.refused(*show, word, "x.sqlite"))
        self.assertIn(f"valid: {', '.join(metrics)}", self.refused(*show, "x", "x.sqlite"))
        self.assertEqual(self.bash(*show, "cycles,e"), ["cycles,energy", "cycles,edp"])
        self.assertEqual(self.bash(*show, "time,energy,e"), ["time,energy,edp"])
        self.assertEqual(
            self.bash(*show, "cycles,"), [f"cycles,{m}" for m in metrics if m != "cycles"]
        )
        self.assertEqual(self.bash("sweep", "show", "--columns", "x,area"), ["x,area_mm2"])

    def test_every_word_of_a_known_list_is_completed(self):
        """A value that is spelt out in the options' table is offered, whatever option it is of."""
        tried = set()
        for section in good("options").split("\n## accsim")[1:]:
            command = section.split("\n", 1)[0].split()
            for option, value in re.findall(r"(?m)^\| `(--[a-z-]+) ([a-z]+\\\|[^`]+)`", section):
                words = [word for word in value.split("\\|") if word.islower()]
                self.assertEqual(self.bash(*command, option, ""), words, (command, option))
                tried.add(option)
        self.assertLessEqual({"--key-blocks", "--dump"}, tried)

    def test_bash_knows_files_and_machines(self):
        for name in ("a.onnx", "a.txt", "a.yaml"):
            (self.dir / name).touch()
        (self.dir / "a-folder").mkdir()
        self.assertEqual(sorted(self.bash("inspect", "a")), ["a-folder", "a.onnx"])
        self.assertEqual(sorted(self.bash("--hw", "a")), ["a-folder", "a.yaml"])
        self.assertEqual(self.bash("--hw", "128"), ["128x128"])
        self.assertEqual(self.bash("hw", "check", "8"), ["8x8"])
        self.assertEqual(self.bash("--hw", "tpu-v4"), ["tpu-v4"])
        self.assertEqual(sorted(self.bash("diff", "a")), ["a-folder", "a.onnx", "a.txt", "a.yaml"])
        self.assertEqual(self.bash("inspect", "--json", "a.t"), ["a.txt"])

    def test_bash_knows_every_command(self):
        for path in all_commands():
            if path:
                self.assertIn(path[-1], self.bash(*path[:-1], path[-1][:-1]), path)
            self.assertIn("--verbose", self.bash(*path, "--verb"))

    def check_syntax(self, shell, *words):
        if not shutil.which(words[0]):
            self.skipTest(f"no {words[0]}")
        script = self.dir / f"accsim.{shell}"
        script.write_text(good("completion", shell))
        done = subprocess.run([*words, script], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))

    def test_zsh_syntax(self):
        self.check_syntax("zsh", "zsh", "-n")

    def test_fish_syntax(self):
        self.check_syntax("fish", "fish", "--no-execute")

    def test_shellcheck(self):
        self.check_syntax("bash", "shellcheck", "--shell=bash")

    def test_other_shells_are_refused(self):
        self.assertIn("tcsh", self.refused("completion", "tcsh"))


class Manual(CommandLineTest):
    def test_every_command_has_a_page(self):
        good("manual", "--folder", "pages", cwd=self.dir)
        pages = {file.name for file in (self.dir / "pages").iterdir()}
        self.assertEqual(pages, {"-".join(("accsim", *path)) + ".1" for path in all_commands()})
        for path in all_commands():
            page = (self.dir / "pages" / ("-".join(("accsim", *path)) + ".1")).read_text()
            self.assertEqual(good("manual", *path), page)
            command = " ".join(["accsim manual", *path])
            self.assertEqual(page.splitlines()[0], f'.\\" Made by `{command}`.')

    @unittest.skipUnless(shutil.which("groff"), "no groff")
    def test_pages_are_clean_roff_and_say_what_help_says(self):
        for path in all_commands():
            done = subprocess.run(
                ["groff", "-man", "-ww", "-Tutf8", "-rLL=500n", "-P-c"],
                input=good("manual", *path),
                capture_output=True,
                text=True,
                check=False,
            )
            self.assertEqual((done.returncode, done.stderr), (0, ""), path)
            plain = re.sub(".\x08", "", done.stdout).replace("\u2010", "-").replace("\u2212", "-")
            for option in re.findall(r"^  (?:-\w, )?(--[\w-]+)", good(*path, "--help"), re.M):
                self.assertIn(option, plain, path)
            self.assertIn("SEE ALSO", plain)

    @unittest.skipUnless(shutil.which("mandoc"), "no mandoc")
    def test_mandoc_finds_nothing(self):
        for path in all_commands():
            done = subprocess.run(
                ["mandoc", "-T", "lint", "-W", "warning"],
                input=good("manual", *path),
                capture_output=True,
                text=True,
                check=False,
            )
            # Pages have no date: they would differ by the day on which they are made.
            said = [x for x in done.stdout.splitlines() if "missing date" not in x]
            self.assertEqual(said, [], path)

    def test_a_command_that_is_not_there(self):
        self.assertIn(
            "accsim has no command 'swep'; did you mean sweep?", self.refused("manual", "swep")
        )


class ClosedStreams(unittest.TestCase):
    def test_errors_that_cannot_be_said_are_exit_codes_still(self):
        for words in (["nope"], ["--hw", "nope", "x.onnx"], ["--hw", "64x64", "x.onnx"]):
            for where in ("2>/dev/full", "2>&-"):
                done = subprocess.run(
                    ["bash", "-c", f'"$@" {where}', "-", str(ACCSIM), *words],
                    check=False,
                    timeout=60,
                )
                self.assertEqual(done.returncode, 2, (words, where))

    def test_a_file_that_may_not_grow_is_an_error(self):
        model = ROOT / "models" / "squeezenet1_1_op13.onnx"
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                ["bash", "-c", 'ulimit -f 4; "$@"', "-", str(ACCSIM), "--hw", "64x64", model]
                + ["-q", "--json", "r.json"],
                check=False,
                timeout=60,
                capture_output=True,
                text=True,
                cwd=folder,
            )
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("File too large", done.stderr)
            self.assertEqual(list(pathlib.Path(folder).iterdir()), [])


if __name__ == "__main__":
    unittest.main()
