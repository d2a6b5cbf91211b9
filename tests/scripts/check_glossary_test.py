#!/usr/bin/python3
"""Does scripts/check_glossary see a word of a type's name that nobody explains?"""

import importlib.machinery
import importlib.util
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts/check_glossary"
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("checker", str(SCRIPT))
checker = importlib.util.module_from_spec(importlib.util.spec_from_loader("checker", loader))
loader.exec_module(checker)


class Words(unittest.TestCase):
    def words_of(self, text):
        with tempfile.TemporaryDirectory() as folder:
            header = pathlib.Path(folder) / "sim/room/header.h"
            header.parent.mkdir(parents=True)
            header.write_text(text)
            return set(checker.type_words(pathlib.Path(folder)))

    def test_are_names_cut_at_capitals_and_underscores(self):
        for text, words in (
            ("struct RowTileShape {};", {"row", "tile", "shape"}),
            ("class YAMLNode final {};", {"yaml", "node"}),
            ("enum class DType { f };", {"d", "type"}),
            ("struct Int8Network {};", {"int", "network"}),
            ("using Shares = int;", {"shares"}),
            ("typedef struct accsim_run accsim_run;", {"accsim", "run"}),
        ):
            self.assertEqual(self.words_of(f"namespace a {{ {text} }}"), words, text)

    def test_are_types_of_others_left_out(self):
        for text in (
            "namespace a::detail { struct Hidden {}; }",
            "namespace { struct Hidden {}; }",
            "// struct Hidden {};",
            "namespace a { void f(); int hidden; }",
        ):
            self.assertEqual(self.words_of(text), set(), text)
        self.assertEqual(self.words_of("class A { struct Hidden {}; };"), {"a"})

    def test_stands_a_word_for_its_forms(self):
        for word, forms in (
            ("map", "map maps mapped mapper mapping"),
            ("store", "stores stored storing storer storable"),
            ("entry", "entries"),
            ("verify", "verified verifier verifying"),
            ("pass", "passes passed"),
        ):
            self.assertLessEqual(set(forms.split()), checker.forms(word))
        self.assertNotIn("mapless", checker.forms("map"))

    def test_are_heads_those_of_the_glossary_alone(self):
        page = "| **no** | head |\n\n## Glossary\n\n| **row command** | a **b** |\n\n## Next\n"
        self.assertEqual(checker.heads(page + "| **no** | head |\n"), {"row", "command"})


class Tree(unittest.TestCase):
    """The headers and the page of this tree, with something else in them."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for top in ("hw", "sim"):
            for header in (ROOT / top).rglob("*.h"):
                to = self.root / header.relative_to(ROOT)
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(header, to)
        self.page = self.root / checker.PAGE
        self.page.parent.mkdir()
        shutil.copyfile(ROOT / checker.PAGE, self.page)

    def run_it(self):
        done = subprocess.run(
            [sys.executable, SCRIPT, self.root], capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout

    def test_is_the_tree_passed_as_it_is(self):
        self.assertEqual(self.run_it(), (0, ""))

    def test_is_a_new_private_word_refused(self):
        header = self.root / "sim/base/new.h"
        header.write_text("#pragma once\nnamespace accsim {\nclass RowFrobnicator {};\n}\n")
        code, said = self.run_it()
        self.assertEqual(code, 1)
        self.assertIn("sim/base/new.h:3: RowFrobnicator: the glossary", said)
        self.assertIn("'frobnicator'", said)
        self.assertNotIn("'row'", said)
        self.page.write_text(
            self.page.read_text().replace("| **row**", "| **frobnicator** | x |\n| **row**")
        )
        self.assertEqual(self.run_it(), (0, ""))

    def test_is_an_entry_that_is_gone_missed(self):
        self.page.write_text(self.page.read_text().replace("| **poison** |", "| **venom** |"))
        code, said = self.run_it()
        self.assertEqual(code, 1)
        self.assertIn("hw/golden/slots.h", said)
        self.assertIn("'poison'", said)

    def test_is_a_common_word_that_no_type_has_refused(self):
        for header in self.root.rglob("*.h"):
            header.write_text(header.read_text().replace("Waveform", "Tensor"))
        code, said = self.run_it()
        self.assertEqual(code, 1)
        self.assertIn("no type has 'waveform'", said)


if __name__ == "__main__":
    if not shutil.which("ctags"):
        print("skipped: ctags isn't installed (scripts/setup)")
        sys.exit(77)
    sys.exit(unittest.main())
