#!/usr/bin/python3
"""Does the program take TorchScript files? Without torch: a program of these tests stands for
Python, which says what it was started with and gives what it is told to.

Usage: torch_file_test.py ACCSIM [unittest arguments]. What torch itself exports:
tests/python/torch_test.py."""

import json
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

from program import ACCSIM, ROOT

MODEL = ROOT / "models" / "resnet18_op13.onnx"

# Starts as Python does: SCRIPT FILE OUTPUT SHAPE...
STAND_IN = f"""#!{sys.executable}
import json, os, shutil, sys, time
folder = os.path.dirname(os.path.abspath(__file__))
with open(folder + "/started.json", "w") as file:
    json.dump(sys.argv[1:], file)
with open(folder + "/does") as file:
    exec(file.read())
"""


class TorchFile(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name).resolve()
        self.temporary = self.dir / "tmp"
        self.temporary.mkdir()
        self.python = self.dir / "stand-in"
        self.python.write_text(STAND_IN)
        self.python.chmod(0o755)
        self.does(f"shutil.copy({str(MODEL)!r}, sys.argv[3])")
        self.net = self.dir / "net.pt"
        self.net.write_bytes(b"PK\x03\x04")

    def does(self, code):
        (self.dir / "does").write_text(code)

    def environment(self, **variables):
        return {**os.environ, "TMPDIR": str(self.temporary), "COLUMNS": "500", **variables}

    def run_program(self, *words, **variables):
        done = subprocess.run(
            [str(ACCSIM), *map(str, words)],
            capture_output=True,
            text=True,
            cwd=self.dir,
            env=self.environment(**variables),
            timeout=120,
            check=False,
        )
        self.assertEqual(list(self.temporary.iterdir()), [], "something was left behind")
        return done

    def cost(self, *words, **variables):
        return self.run_program("--hw", "64x64", *words, **variables)

    def refused(self, *words, **variables):
        done = self.cost(*words, **variables)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        for line in done.stderr.splitlines():
            self.assertTrue(line.startswith("accsim: error: "), line)
        return done.stderr

    def started(self):
        return json.loads((self.dir / "started.json").read_text())

    def not_started(self):
        self.assertFalse((self.dir / "started.json").exists())

    def test_is_what_was_exported_costed_under_the_files_name(self):
        words = ("net.pt", "--example", "1x3x224x224", "--python", self.python, "--json", "-")
        done = self.cost(*words)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        report = json.loads(done.stdout)
        self.assertEqual(report["model"]["file"], "net.pt")
        plain = json.loads(self.cost(MODEL, "--json", "-").stdout)
        self.assertEqual(report["totals"], plain["totals"])
        script, model, output, *shapes = self.started()
        self.assertEqual(pathlib.Path(script), ROOT / "python" / "accsim" / "_export.py")
        self.assertEqual((model, shapes), ("net.pt", ["1x3x224x224"]))
        self.assertTrue(output.startswith(f"{self.temporary}/"))

    def test_do_the_other_commands_take_it(self):
        words = ("net.pt", "--example", "1x3x224x224", "--python", self.python)
        for command in (("inspect",), ("shapes",), ("advise", "--hw", "16x16")):
            done = self.run_program(*command, *words)
            self.assertEqual((done.returncode, done.stderr), (0, ""), command)
            self.assertEqual(self.started()[1], "net.pt")

    def test_is_what_was_exported_run(self):
        small, out = self.dir / "small.onnx", self.dir / "out"
        self.run_program("gemm", "2x3x4", "-o", small, "--weights", "random:1")
        self.does(f"shutil.copy({str(small)!r}, sys.argv[3])")
        words = ("run", "net.pt", "--example", "2x3", "--python", self.python)
        done = self.run_program(*words, "--output", out, "--dump", "all")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.started()[3:], ["2x3"])
        self.assertEqual(json.loads((out / "manifest.json").read_text())["model"], "net.pt")
        plain = self.run_program("run", small, "--output", self.dir / "plain")
        self.assertEqual(done.stdout.splitlines()[:2], plain.stdout.splitlines()[:2])
        self.assertEqual((out / "Y.npy").read_bytes(), (self.dir / "plain/Y.npy").read_bytes())
        done = self.run_program(*words, "--input", "none=random:1")
        self.assertEqual(done.returncode, 2)
        self.assertNotIn(str(self.temporary), done.stderr)

    def test_is_each_example_an_argument(self):
        shapes = ["1x128:int64", "2", "1x128:bool"]
        words = [word for shape in shapes for word in ("--example", shape)]
        self.assertEqual(self.cost("net.pt", *words, "--python", self.python).returncode, 0)
        self.assertEqual(self.started()[3:], shapes)

    def test_is_the_path_never_interpreted(self):
        for name in ("a b;touch x.pt", "$(touch x).pt", "--help.pt", "%s\n'\".pth", "-c.pt"):
            shutil.copy(self.net, self.dir / name)
            (self.dir / "started.json").unlink(missing_ok=True)
            done = self.cost("--example", "2", "--python", self.python, "--", name)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.started()[1], name)
            self.assertFalse((self.dir / "x").exists())
            self.assertFalse((self.dir / "x.pt").exists())

    def test_what_is_no_shape(self):
        for wrong in ("", "1x3x", "x1", "0", "-1x3", "1x3:int65", "1x3:", ":int64", "1x3 ", "axb"):
            words = (f"--example={wrong}",) if wrong else ("--example", "")
            text = self.refused("net.pt", *words, "--python", self.python)
            self.assertIn(
                f"--example: '{wrong}' is no shape, e.g. 1x3x224x224 or 1x128:int64", text
            )
        two = self.refused("net.pt", "--example", "a", "--example", "b")
        self.assertEqual(two.count("is no shape"), 2)
        self.not_started()

    def test_is_it_said_that_a_torchscript_file_needs_examples(self):
        text = self.refused("net.pt", "--python", self.python)
        self.assertIn("net.pt: a TorchScript file has no shapes", text)
        self.assertIn("--example 1x3x224x224", text)
        self.not_started()

    def test_is_there_a_command_that_makes_a_model_of_a_program_of_torch_export(self):
        self.net.rename(self.dir / "net.pt2")
        for words in (("--hw", "64x64"), ("inspect",), ("shapes",)):
            done = self.run_program(*words, "net.pt2")
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("net.pt2: a program of torch.export", done.stderr)
            self.assertIn('torch.onnx.export(torch.export.load("net.pt2")', done.stderr)
            self.assertIn('f="net.onnx", dynamo=True)', done.stderr)

    def test_are_examples_refused_for_an_onnx_file(self):
        text = self.refused(MODEL, "--example", "1x3x224x224", "--python", self.python)
        self.assertIn("--example: is for TorchScript files (.pt, .pth)", text)
        self.assertIn("--input-shape", text)
        self.assertIn("--python: is for TorchScript files", text)
        self.not_started()

    def test_is_it_said_what_to_install_where_there_is_no_python(self):
        for words, path in (
            (("--python", self.dir / "no-such-python"), os.environ["PATH"]),
            ((), str(self.temporary)),
        ):
            text = self.refused("net.pt", "--example", "1", *words, PATH=path)
            self.assertIn("doesn't start (No such file or directory)", text)
            self.assertIn("pip install torch; Debian: python3-torch", text)
            self.assertIn("--python", text)

    def test_is_it_said_what_to_install_where_there_is_no_torch(self):
        # Python itself and the package's exporter; -S and -E as a program of its own, so that no
        # torch of this machine is seen.
        bare = self.dir / "bare"
        bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S -E "$@"\n')
        bare.chmod(0o755)
        text = self.refused("net.pt", "--example", "1", "--python", bare)
        self.assertIn("net.pt: a TorchScript file is read by Python with PyTorch", text)
        self.assertIn(f"{sys.executable} has no torch: pip install torch, or Debian's", text)

    def test_is_pythons_word_the_reason(self):
        self.does("print('torch.onnx: no\\nnever'); sys.exit(65)")
        text = self.cost("net.pt", "--example", "1", "--python", self.python).stderr
        self.assertEqual(text, "accsim: error: net.pt: torch.onnx: no\nnever\n")
        self.does("raise MemoryError('all gone')")
        text = self.refused("net.pt", "--example", "1", "--python", self.python)
        self.assertIn("ended before it was exported: MemoryError: all gone", text)
        self.does("os.kill(os.getpid(), 9)")
        text = self.refused("net.pt", "--example", "1", "--python", self.python)
        self.assertIn("ended before it was exported, by signal 9", text)

    def test_is_an_export_that_is_no_model_an_error_about_the_file(self):
        self.does("open(sys.argv[3], 'w').write('no model')")
        text = self.refused("net.pt", "--example", "1", "--python", self.python)
        self.assertIn("error: net.pt: ", text)
        self.assertNotIn(str(self.temporary), text)

    def test_is_a_file_that_is_not_there_said_before_python_starts(self):
        text = self.refused("gone.pt", "--example", "1", "--python", self.python)
        self.assertIn("gone.pt: no such file", text)
        self.not_started()

    def test_are_tensors_of_torch_save_compared(self):
        elements = struct.pack("<6f", *range(6))
        # What python/accsim/_tensors.py writes: elements, and a list of what they are.
        self.does(
            "name = os.path.basename(sys.argv[2])\n"
            "entries = {'one.pt': ['float32 2,3 '],\n"
            "    'two.pth': ['float32 2,3 x', 'float32 6 y y'],\n"
            "    'three.pt': ['float32 6 y y', 'int32  z']}[name]\n"
            "for i, entry in enumerate(entries):\n"
            "    size = 4 if entry.startswith('int32') else 24\n"
            f"    open(sys.argv[3] + f'/{{i}}', 'wb').write({elements!r}[:size])\n"
            "open(sys.argv[3] + '/list', 'w').write(''.join(e + '\\0' for e in entries))"
        )
        for name in ("one.pt", "two.pth", "three.pt"):
            shutil.copy(self.net, self.dir / name)
        (self.dir / "raw.bin").write_bytes(elements)
        python = ("--python", self.python)
        done = self.run_program("diff", "one.pt", "raw.bin", *python, "--json", "-")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        (layer,) = json.loads(done.stdout)["layers"]
        self.assertEqual(layer["elements"], 6)
        script, file, _ = self.started()
        self.assertEqual(pathlib.Path(script), ROOT / "python" / "accsim" / "_tensors.py")
        self.assertEqual(file, "one.pt")
        done = self.run_program("diff", "two.pth", "three.pt", *python, "--json", "-")
        report = json.loads(done.stdout)
        self.assertEqual([layer["tensor"] for layer in report["layers"]], ["y y"])
        self.assertEqual((report["only_a"], report["only_b"]), (["x"], ["z"]))
        done = self.run_program("diff", "one.pt", "two.pth", *python)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--tensor picks one", done.stderr)
        done = self.run_program("diff", "one.pt", "two.pth", "--tensor", "x", *python)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        done = self.run_program("diff", "one.pt", "two.pth", "--tensor", "no", *python)
        self.assertIn("has no tensor 'no'; it has x, y y", done.stderr)

    def test_is_it_said_why_no_tensors_are_read(self):
        self.does("print('torch finds no tensors in it'); sys.exit(65)")
        done = self.run_program("diff", "net.pt", "net.pt", "--python", self.python)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr, "accsim: error: net.pt: torch finds no tensors in it\n")
        for wrote, said in (("", "can't be opened"), ("float32", "list of its tensors")):
            self.does(f"if {wrote!r}: open(sys.argv[3] + '/list', 'w').write({wrote!r})")
            done = self.run_program("diff", "net.pt", "net.pt", "--python", self.python)
            self.assertEqual(done.returncode, 2)
            self.assertIn(said, done.stderr)
            self.assertNotIn(str(self.temporary), done.stderr)
        done = self.run_program("diff", "net.pt", "net.pt", "--python", self.dir / "none")
        self.assertIn("net.pt: a file of torch.save() is read by Python with PyTorch", done.stderr)

    def test_does_ctrl_c_clean_up(self):
        self.does("time.sleep(60)")
        for one in (signal.SIGINT, signal.SIGTERM):
            (self.dir / "started.json").unlink(missing_ok=True)
            with subprocess.Popen(
                [ACCSIM, "--hw", "64x64", "net.pt", "--example", "1", "--python", self.python],
                cwd=self.dir,
                env=self.environment(),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            ) as process:
                end = time.monotonic() + 60
                while not (self.dir / "started.json").exists() and time.monotonic() < end:
                    time.sleep(0.01)
                self.assertEqual(len(list(self.temporary.iterdir())), 1)
                begun = time.monotonic()
                process.send_signal(one)
                process.wait(30)
                self.assertLess(time.monotonic() - begun, 20)
            self.assertEqual(process.returncode, -signal.SIGINT)
            self.assertEqual(list(self.temporary.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
