"""For tests of checks of the tree: a small tree that passes, with faults planted in it."""

import importlib.machinery
import importlib.util
import pathlib
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def load_script(name):
    """A Python program of scripts/ as a module."""
    loader = importlib.machinery.SourceFileLoader(name, str(ROOT / "scripts" / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


class PlantedTree(unittest.TestCase):
    """Subclasses give GOOD, {path: text} of a tree that passes, and `checker`, whose function
    check(root, exceptions) gives the problems first."""

    def problems(self, files=None, exceptions=()):
        """Of the good tree with other files in it, or in place of some of it."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder).resolve()
            for name, content in {**self.GOOD, **(files or {})}.items():
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(content)
            return self.checker.check(root, exceptions)[0]

    def refuses(self, files, *words, exceptions=()):
        problems = self.problems(files, exceptions)
        self.assertEqual(len(problems), 1, problems)
        for word in words:
            self.assertIn(word, problems[0])
