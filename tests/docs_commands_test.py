#!/usr/bin/python3
"""Do the commands of the pages in docs/ work, and print what the pages say?

Usage: docs_commands_test.py ACCSIM. The ```sh blocks of a page run one after the other in a scratch
folder that sees configs/, models/, validation/, docs/examples/, examples/ and rtl/; a ```python
block that imports nothing but json and numpy is a program that must end well; a ```yaml block is
the file that the text before it names; the lines of a ```text block must be in the output of the
commands before it. Commands in other blocks don't run: they take minutes, or need what isn't here.
Their options must be those that docs/options.md has for the command."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
ACCSIM = None  # set by main


def blocks(text):
    """(language, what stands in it, the text before it) of the fenced blocks."""
    end = 0
    for found in re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S):
        yield found[1], found[2], text[end : found.start()]
        end = found.end()


def words(text):
    return " ".join(text.split())


def is_alone(program):
    """Does a program in Python need nothing but what Debian has here?"""
    lines = re.findall(r"^(?:import|from) ([^\n]*)", program, re.M)
    return all(re.match(r"(json|numpy)( as \w+)?$", line) for line in lines)


def pages(folder):
    """Those that have commands to run."""
    found = sorted(folder.glob("*.md"))
    return [f for f in found if any(b[0] == "sh" for b in blocks(f.read_text("utf-8")))]


def options(text):
    """The options of each command, by docs/options.md; those of every command with each."""
    sections = dict(re.findall(r"^## ([^\n]*)\n(.*?)(?=^## |\Z)", text, re.M | re.S))
    found = {}
    for name, section in sections.items():
        rows = " ".join(re.findall(r"^\| `([^`]*)`", section, re.M))
        found[name] = set(re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", rows))
    common = found.pop("Options of every command")
    return {name: own | common | {"-q", "--quiet", "-h", "--help"} for name, own in found.items()}


def written(text):
    """Commands of the blocks that don't run, as lists of words."""
    for language, block, _ in blocks(text):
        if language == "":
            lines = re.sub(r"\\\n *", "", block).splitlines()
            yield from (
                re.split(r"[;|#]|&&", line)[0].split()
                for line in lines
                if re.match(r"(\S*/)?accsim\s", line)
            )


def unknown_options(text, known):
    """What written commands ask for and their command doesn't have."""
    out = []
    for _, *rest in written(text):
        name = max((c for c in known if f"accsim {' '.join(rest)} ".startswith(f"{c} ")), key=len)
        asked = [word.split("=")[0] for word in rest if re.match(r"--?[A-Za-z]", word)]
        out += [f"{name} {word}" for word in asked if word not in known[name]]
    return out


class WrittenCommands(unittest.TestCase):
    def setUp(self):
        self.known = options((ROOT / "docs" / "options.md").read_text("utf-8"))

    def test_have_commands_that_do_not_run_their_options(self):
        for page in [ROOT / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("*/README.md")]:
            unknown = unknown_options(page.read_text("utf-8"), self.known)
            self.assertEqual(unknown, [], page.relative_to(ROOT))

    def test_is_an_unknown_option_seen(self):
        text = (
            "```\nbuild/accsim verify --gemm 1x2x3 \\\n  --shade # --more\naccsim x --hw 8x8\n```\n"
        )
        self.assertEqual(unknown_options(text, self.known), ["accsim verify --shade"])
        text = "```\naccsim sweep show --pareto cycles --shard 1/2\n```\n"
        self.assertEqual(unknown_options(text, self.known), ["accsim sweep show --shard"])


class Commands(unittest.TestCase):
    def follow(self, page, folder):
        """Does what the page says; how many blocks were run."""
        (folder / "bin").mkdir()
        (folder / "bin" / "accsim").symlink_to(ACCSIM)
        work = folder / "work"
        (work / "docs").mkdir(parents=True)
        for name in ("configs", "models", "validation", "docs/examples", "examples", "rtl"):
            (work / name).symlink_to(ROOT / name)
        path = f"{folder / 'bin'}:{os.environ['PATH']}"
        ran, printed = 0, ""
        for language, block, before in blocks(page.read_text("utf-8")):
            if language == "yaml":
                (work / re.findall(r"`([\w.-]+\.yaml)`", before)[-1]).write_text(block)
            elif language == "sh" or (language == "python" and is_alone(block)):
                shell = [sys.executable, "-c"] if language == "python" else ["bash", "-euc"]
                done = subprocess.run(
                    [*shell, block],
                    cwd=work,
                    capture_output=True,
                    encoding="utf-8",
                    env={**os.environ, "PATH": path, "COLUMNS": "120", "LC_ALL": "C.UTF-8"},
                    timeout=200,
                    check=False,
                )
                # On a busy machine a command may take the half minute that progress begins after.
                # A core is built once.
                silent = r"^accsim: ([\d,]+ of [\d,]+ |building the Verilated core).*\n"
                said = re.sub(silent, "", done.stderr, flags=re.M)
                self.assertEqual((done.returncode, said), (0, ""), f"{page.name}:\n{block}")
                ran, printed = ran + 1, words(done.stdout)
            elif language == "text":
                for line in block.splitlines():
                    self.assertIn(words(line), printed, page.name)
        return ran

    def test_do_the_pages_commands_work(self):
        found = pages(ROOT / "docs")
        self.assertIn("tutorial.md", [page.name for page in found])
        for page in found:
            with self.subTest(page.name), tempfile.TemporaryDirectory() as folder:
                self.assertGreater(self.follow(page, pathlib.Path(folder)), 0)

    def test_is_a_page_seen_that_says_what_is_not_so(self):
        for text in (
            "```sh\naccsim hw check configs/8x8.yaml\n```\n```text\n8x8.yaml: bad\n```\n",
            "```sh\naccsim hw check configs/none.yaml\n```\n",
        ):
            with self.subTest(text), tempfile.TemporaryDirectory() as folder:
                page = pathlib.Path(folder) / "page.md"
                page.write_text(text)
                self.assertEqual(pages(page.parent), [page])
                with self.assertRaises(AssertionError):
                    self.follow(page, page.parent)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    ACCSIM = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
