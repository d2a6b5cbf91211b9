#!/usr/bin/python3
"""Does scripts/check_sentences count the words of sentences, and of nothing else?"""

import importlib.machinery
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts/check_sentences"
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("checker", str(SCRIPT))
checker = importlib.util.module_from_spec(importlib.util.spec_from_loader("checker", loader))
loader.exec_module(checker)


def words(number):
    """A sentence of so many words."""
    return " ".join(["Word", *["word"] * (number - 1)]) + "."


class Sentences(unittest.TestCase):
    def of(self, text):
        return [(line, count) for line, count, _ in checker.page_sentences(text)]

    def test_does_a_stop_end_a_sentence(self):
        self.assertEqual(self.of("One two. Three four five!\nSix?"), [(1, 2), (1, 3), (2, 1)])
        self.assertEqual(self.of("(One two.) **Three four.** 5 six. `seven` is.")[-1], (1, 2))
        self.assertEqual(len(self.of("One two. accsim goes on. `x` does.")), 3)

    def test_does_a_sentence_go_over_lines(self):
        self.assertEqual(self.of("# Head\n\nOne\ntwo\nthree. Four\nfive."), [(3, 3), (5, 2)])

    def test_do_abbreviations_and_numbers_go_on(self):
        for text in (
            "Some, e.g. Three, i.e. Four.",
            "At 3.5 GHz, not 4.25 of it.",
            "By N. Jouppi et al. Then more.",
            "By Y.-H. Chen.",
            "Files a.yaml and .b are here.",
            "A line of a, b ... Then z.",
            "Of fig. 3, cf. table 2, vs. others.",
            "Before, i.e.\nbehind it.",
        ):
            self.assertEqual(len(self.of(text)), 1, text)

    def test_is_code_one_word_and_a_link_its_text(self):
        self.assertEqual(self.of("Run `a b. C d` and ``x ` y. Z`` now."), [(1, 5)])
        self.assertEqual(
            self.of("See [the page. Of](a/b.md#c.D) and <https://a.b/c?d=e>."), [(1, 3), (1, 3)]
        )
        self.assertEqual(self.of("It is ![a picture](a b.svg) here."), [(1, 5)])

    def test_are_items_blocks_of_their_own(self):
        text = "There are\n\n- one two\n  three\n- four. Five six.\n1. seven\n* eight\n> nine\n"
        self.assertEqual(self.of(text), [(1, 2), (3, 3), (5, 1), (5, 2), (6, 1), (7, 2)])

    def test_are_code_and_headings_left_out(self):
        text = f"# {words(50)}\n\n```sh\n{words(50)}\n```\n\n  ~~~\n{words(50)}\n  ~~~\n"
        text += f"|---|---|\n![{words(50)}](a)\n<!-- note.\n-->\n"
        self.assertEqual(self.of(text), [])

    def test_are_sentences_and_fragments_of_cells_seen(self):
        self.assertEqual(self.of("| a b | One `x | y. z` two. Three. | \n")[1:], [(1, 3), (1, 1)])
        self.assertEqual(
            self.of("| a fragment; one. Two three. A fragment | b | \n"),
            [(1, 3), (1, 2), (1, 2), (1, 1)],
        )

    def test_counts_what_programs_write(self):
        made = f"<!-- fields:begin (who) -->\n{words(50)}\n<!-- fields:end -->\n"
        self.assertEqual(self.of(f"One.\n\n{made}\nTwo three."), [(1, 1), (4, 50), (7, 2)])

    def test_are_descriptions_of_a_schema_seen(self):
        schema = json.dumps(
            {"description": "One two.", "a": {"description": 'Is "b"; c? D', "e": words(50)}},
            indent=2,
        )
        self.assertEqual(
            [(line, count) for line, count, _ in checker.schema_sentences(schema)],
            [(2, 2), (4, 3), (4, 1)],
        )

    def test_are_entries_and_paragraphs_of_help_seen(self):
        text = (
            "One two\nthree.\n\n  accsim one.onnx       four five\n\nOptions:\n"
            "  -a, --all WHAT        Six seven. Eight\n                            nine\n"
            "  --a-name-that-is-long-and-ends-its-line\n                            Ten\n"
        )
        self.assertEqual(
            [(line, count) for line, count, _ in checker.help_sentences(text)],
            [(1, 3), (4, 2), (6, 1), (7, 2), (7, 2), (9, 2)],
        )

    def test_are_figures_right(self):
        self.assertEqual(
            checker.figures("a", [5, 1, 2, 3, 4, 10, 9, 8, 7, 6]),
            "a: 10 sentences, median 6 words, p90 9, longest 10",
        )


class Program(unittest.TestCase):
    def run_on(self, text, *options):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "page.md"
            page.write_text(text)
            return subprocess.run(
                [sys.executable, SCRIPT, *options, page],
                capture_output=True,
                text=True,
                check=False,
            )

    def test_is_a_long_sentence_named(self):
        done = self.run_on(f"{words(40)}\n\n{words(3)} {words(41)}\n")
        self.assertEqual(done.returncode, 1)
        self.assertIn("page.md:3: 41 words, at most 40: Word word", done.stdout)
        self.assertEqual(done.stdout.count("page.md"), 1)

    def test_is_a_good_page_passed(self):
        done = self.run_on(f"{words(40)}\n")
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_is_the_help_of_a_program_read(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "accsim"
            for longest, code in ((40, 0), (41, 1)):
                program.write_text(
                    "#!/bin/sh\n"
                    'if [ "$*" = options ]; then printf "## accsim\\n\\n## accsim a b\\n"; fi\n'
                    f'if [ "$*" = "a b --help" ]; then echo "  -h   {words(longest)}"; fi\n'
                )
                program.chmod(0o755)
                done = subprocess.run(
                    [sys.executable, SCRIPT, "--help-of", program],
                    capture_output=True,
                    text=True,
                    check=False,
                )
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertEqual("accsim a b --help:1: 41 words" in done.stdout, code == 1)

    def test_is_a_schema_read(self):
        with tempfile.TemporaryDirectory() as folder:
            schema = pathlib.Path(folder) / "a.schema.json"
            schema.write_text(json.dumps({"description": words(41)}, indent=1))
            done = subprocess.run(
                [sys.executable, SCRIPT, schema], capture_output=True, text=True, check=False
            )
            self.assertEqual(done.returncode, 1)
            self.assertIn("a.schema.json:2: 41 words", done.stdout)

    def test_is_another_limit_taken(self):
        self.assertEqual(self.run_on(words(40), "--most", "39").returncode, 1)
        self.assertEqual(self.run_on(words(41), "--most", "41").returncode, 0)

    def test_are_figures_told(self):
        told = self.run_on(f"{words(4)} {words(6)}", "--figures").stdout
        self.assertIn("all: 2 sentences, median 5 words, p90 6, longest 6", told)


if __name__ == "__main__":
    sys.exit(unittest.main())
