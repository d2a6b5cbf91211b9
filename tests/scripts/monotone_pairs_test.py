#!/usr/bin/python3
"""Does scripts/monotone_pairs see a better machine that is slower, and change one key for the
better only? Feeds it scripted programs, and a few real pairs.

Usage: monotone_pairs_test.py ACCSIM [unittest arguments]"""

import ast
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "app"))
from program import ACCSIM, ROOT, patience

SCRIPT = ROOT / "scripts" / "monotone_pairs"
MODELS = ["squeezenet1_1_op13", "llama_tiny2_prefill64_op17", "mobilenet_v2_op13"]
# Stands in for accsim: cycles are a formula of the machine's numbers. Keeps the machines it saw. It
# starts hundreds of times, so it imports nothing that takes longer than its work.
PROGRAM = """#!/usr/bin/python3 -IS
import sys
with open(sys.argv[sys.argv.index("--hw") + 1], encoding="utf-8") as file:
    text = file.read()
with open(__file__ + ".seen", "a", encoding="utf-8") as file:
    file.write(repr(text) + "\\n")
lanes = int(text.split("elementwise: ")[1].split()[0])
mapping = "".join(c if c.isalnum() else "_" for c in MAPPING)
layer = ('{"cycles": %d, "alone_cycles": %d, "name": "n", "mapping": "%s", "resident_bytes": 0}'
         % (CYCLES, ALONE, mapping))
print('{"totals": %s, "layers": [%s]}' % (layer, layer))
sys.exit(CODE)
"""
SAME = {"CYCLES": "100", "ALONE": "100", "MAPPING": "'m'", "CODE": "0"}


def numbers(text):
    """What the keys of a machine are, by line."""
    return {
        n: float(found[1])
        for n, line in enumerate(text.splitlines())
        if (found := re.match(r" *\w+: *([0-9.]+)", line))
    }


class MonotonePairs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.dir = pathlib.Path(self.folder.name)

    def study(self, *options, accsim=None, **changes):
        program = accsim or self.dir / "accsim"
        if accsim is None:
            text = PROGRAM
            for word, value in {**SAME, **changes}.items():
                text = text.replace(word, value)
            program.write_text(text)
            program.chmod(0o755)
        models = [ROOT / "models" / f"{model}.onnx" for model in MODELS]
        command = [SCRIPT, "--accsim", program, "--models", *models, *options]
        return subprocess.run(
            [sys.executable, *map(str, command)],
            capture_output=True,
            text=True,
            timeout=patience(),
            check=False,
        )

    def test_passes_where_nothing_is_slower(self):
        done = self.study("--pairs", "30", "--most", "0")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("30 pairs, 0 more refused", done.stdout)

    def test_sees_a_slower_machine_and_says_why(self):
        for why, changes in {
            "layer alone": {"CYCLES": "1000 + lanes", "ALONE": "1000 + lanes"},
            "chain, same mappings": {"CYCLES": "1000 + lanes"},
            "chain, other mappings": {"CYCLES": "1000 + lanes", "MAPPING": "text"},
        }.items():
            with self.subTest(why):
                report = self.dir / "pairs.json"
                done = self.study("--pairs", "40", "--most", "0.1", "--json", report, **changes)
                self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
                self.assertIn(f"\n{why}: ", done.stdout)
                pairs = json.loads(report.read_text())
                wrong = [p for p in pairs if p["now"] > p["cycles"]]
                self.assertTrue(wrong)
                for p in pairs:
                    rises = p["key"] == "vector.lanes.elementwise"
                    self.assertEqual(p["now"] > p["cycles"], rises, p)

    def test_allows_what_it_is_told_to(self):
        done = self.study("--pairs", "40", "--most", "100", CYCLES="10000 + lanes // 100")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_changes_one_key_for_the_better(self):
        self.study("--pairs", "60")
        lines = (self.dir / "accsim.seen").read_text().splitlines()
        seen = [ast.literal_eval(line) for line in lines]
        self.assertEqual(len(seen), 120)
        changed = set()
        for before, after in zip(seen[::2], seen[1::2]):
            a, b = numbers(before), numbers(after)
            lines = [n for n in a if a[n] != b[n]]
            self.assertEqual(len(lines), 1)
            self.assertGreater(b[lines[0]], a[lines[0]])
            changed.add(before.splitlines()[lines[0]].split(":")[0].strip())
        self.assertGreater(len(changed), 6)

    def test_ends_where_the_program_fails(self):
        done = self.study("--pairs", "2", CODE="3")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("ended with 3", done.stderr)

    def test_does_a_real_machine_get_no_slower(self):
        done = self.study("--pairs", "100", "--most", "0.5", accsim=ACCSIM)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
