#!/usr/bin/python3
"""Does run.py tell which assertion stopped a program, and refuse mutants that say nothing? Without
a simulator: reports and lists made here."""

import json
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import run  # noqa: E402  (beside this file)

CHECKER = """module fifo_sva;
  if (Depth < 1) begin : gen_illegal
    $error("fifo: a place at least");
  end

  `ASSERT(Stable_A,
          valid && !ready |=> valid);
  `ASSERT_ALWAYS(NoOverflow_A, write |-> room);
endmodule
"""
MUTANT = {
    "name": "fifo_full",
    "file": "fifo.sv",
    "kind": "handshake",
    "find": "ready = room;",
    "replace": "ready = 1'b1;",
    "breaks": "a full queue takes more",
}


class AssertionsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)
        (self.dir / "fifo_sva.sv").write_text(CHECKER)
        self.assertions = run.Assertions(self.dir)

    def test_labels_are_known_by_module_and_name(self):
        for name in ("fifo_sva.Stable_A", "fifo_sva.NoOverflow_A", "fifo_sva.gen_illegal"):
            self.assertTrue(self.assertions.known(name), name)
        for name in ("fifo_sva.Stable", "Stable_A", "fifo_sva.sv"):
            self.assertFalse(self.assertions.known(name), name)

    def test_a_failure_in_any_line_of_an_assertion_is_of_that_one(self):
        for line, label in ((6, "Stable_A"), (7, "Stable_A"), (8, "NoOverflow_A")):
            text = f"the core fails the assertion at fifo_sva.sv:{line} in cycle 9"
            self.assertEqual(self.assertions.caught(text), f"fifo_sva.{label}")

    def test_an_illegal_parameter_is_one_too(self):
        text = "...\n%Error-USERERROR: fifo_sva.sv:3:5: fifo: a place at least\n   ..."
        self.assertEqual(self.assertions.caught(text), "fifo_sva.gen_illegal")

    def test_other_errors_are_of_no_assertion(self):
        for text in (
            None,
            "",
            "the core hangs in cycle 9",
            "%Error: fifo_sva.sv:3:5: syntax error",
        ):
            self.assertIsNone(self.assertions.caught(text))

    def test_programs_are_counted_by_what_stopped_them(self):
        errors = [f"fails the assertion at fifo_sva.sv:{line} in" for line in (7, 6, 8)]
        rows = [{"passed": False, "error": text} for text in [*errors, "the core hangs", None]]
        rows.append({"passed": True, "error": errors[0]})
        report = self.dir / "report.json"
        report.write_text(json.dumps({"rows": rows}))
        self.assertEqual(
            run.stopped_by(self.assertions, report),
            {"fifo_sva.Stable_A": 2, "fifo_sva.NoOverflow_A": 1},
        )
        self.assertEqual(run.stopped_by(self.assertions, self.dir / "none.json"), {})


class VerdictTest(unittest.TestCase):
    """A mutant's outcome; the program is a script that writes a report."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)
        (self.dir / "rtl").mkdir()
        (self.dir / "rtl/fifo_sva.sv").write_text(CHECKER)

    def verdict(self, assertion, error, builds=True):
        rows = [{"passed": False, "bit_exact": False, "error": error, "first_difference": "byte 1"}]
        program = self.dir / "program"
        program.write_text(
            "#!/bin/sh\n"
            'for word in "$@"; do case "$before" in --json) report="$word" ;; esac; '
            'before="$word"; done\n'
            f"cat > \"$report\" <<'END'\n{json.dumps({'rows': rows})}\nEND\n"
            f"exit {1 if builds else 3}\n"
        )
        program.chmod(0o755)
        args = run.argparse.Namespace(count=1, seed=1, more=0, timeout=60, cores=self.dir)
        return run.Verifier(args, program).verdict(self.dir, (), assertion)

    def test_the_assertion_named_must_fail_not_another(self):
        error = "the core fails the assertion at fifo_sva.sv:8 in cycle 9"
        outcome, shown = self.verdict("fifo_sva.NoOverflow_A", error)
        self.assertEqual(outcome, run.DETECTED)
        self.assertIn("1 by fifo_sva.NoOverflow_A", shown)
        outcome, shown = self.verdict("fifo_sva.Stable_A", error)
        self.assertEqual(outcome, "no assertion")
        self.assertIn("(fifo_sva.NoOverflow_A)", shown)

    def test_values_that_differ_are_no_assertion(self):
        self.assertEqual(self.verdict("fifo_sva.Stable_A", None)[0], "no assertion")
        self.assertEqual(self.verdict(None, None)[0], run.DETECTED)

    def test_a_build_that_ends_at_an_illegal_parameter_is_detected(self):
        error = "%Error-USERERROR: fifo_sva.sv:3:5: fifo: a place at least"
        self.assertEqual(self.verdict("fifo_sva.gen_illegal", error, False)[0], run.DETECTED)
        for name, text in (
            ("fifo_sva.gen_illegal", "%Error: fifo.sv:1:1: syntax error"),
            ("fifo_sva.Stable_A", error),
            (None, error),
        ):
            self.assertEqual(self.verdict(name, text, False)[0], "does not build")


class MutantsTest(unittest.TestCase):
    def test_the_assertions_of_the_list_are_there(self):
        assertions = run.Assertions(run.ROOT / "rtl")
        for mutant in run.load_mutants(run.HERE / "mutants.json"):
            if "assertion" in mutant:
                self.assertTrue(assertions.known(mutant["assertion"]), mutant["name"])

    def test_the_text_that_a_mutant_changes_is_there_once(self):
        for mutant in run.load_mutants(run.HERE / "mutants.json"):
            with self.subTest(mutant["name"]):
                run.mutated((run.ROOT / "rtl" / mutant["file"]).read_text(), mutant)

    def test_each_kind_of_assertion_has_a_mutant(self):
        named = {m.get("assertion") for m in run.load_mutants(run.HERE / "mutants.json")}
        for assertion in (
            "load_unit_sva.RequestStable_A",  # a handshake is stable
            "cmd_fifo_sva.NoOverflow_A",
            "slot_use_sva.TakenIsFull_A",  # read before it is full
            "slot_use_sva.WrittenWhenClaimed_A",  # written while it is held
            "token_counter_sva.TokenTakenIsThere_A",  # never negative
            "token_counter_sva.gen_illegal",
        ):
            self.assertIn(assertion, named)

    def test_a_text_that_is_there_twice_is_refused(self):
        self.assertEqual(run.mutated("a  ready =\n room; b", MUTANT), "a  ready = 1'b1; b")
        for text in ("ready = room; ready = room;", "nothing"):
            with self.assertRaises(ValueError):
                run.mutated(text, MUTANT)

    def test_a_list_with_a_wrong_field_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "mutants.json"
            for bad in ({**MUTANT, "asserts": "x"}, {**MUTANT, "replace": "ready =  room;"}):
                path.write_text(json.dumps([bad]))
                with self.assertRaises(SystemExit):
                    run.load_mutants(path)


if __name__ == "__main__":
    unittest.main()
