#!/usr/bin/python3
"""Do the documents speak of what is there? Usage: docs_test.py.

In every Markdown file of the tree relative links must lead somewhere, headings that links name must
exist. In docs/architecture.md and docs/decisions every file named (sim/map/mapper.h,
*_operators.cpp) must exist, and every function named, as in `cost_network()`, must stand in the
sources. A section of a header that says which file has its functions, as in `// slice_rules.cpp`,
names a file that exists, from the header's folder or the one above it. README.md is short, and its
figures are those of docs/validation.md. Every page of docs/ stands in docs/mkdocs.yml."""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOPS = "sim|hw|rtl|configs|models|tests|bench|scripts|docs"
CLOSE_READ = ("docs/architecture.md", "docs/decisions/")
README_LINES = 150


def tracked(*patterns):
    """Files of the tree that aren't ignored, as paths relative to its root."""
    done = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 0:
        return [ROOT / line for line in done.stdout.splitlines() if (ROOT / line).is_file()]
    return [f for pattern in patterns for f in ROOT.rglob(pattern) if "build" not in f.parts]


def anchors(text):
    """What a code host makes of the headings."""
    heads = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def broken_links(file, text):
    """Relative links of a document that lead nowhere."""
    out = []
    for target in re.findall(
        r"\]\(([^)\s]+)\)", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    ):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        to = (file.parent / path).resolve() if path else file
        if (
            not to.exists()
            or anchor
            and to.suffix == ".md"
            and anchor not in anchors(to.read_text())
        ):
            out.append(target)
    return out


def missing_files(text):
    """Files that a document names and that aren't there; patterns must match something."""
    named = re.findall(rf"(?<![\w/.-])((?:{TOPS})/[\w./*-]*[\w*])", text)
    return sorted({name for name in named if not any(ROOT.glob(name))})


def missing_functions(text, sources):
    """Functions that a document names as `f()` or `A::f()` and that no source has."""
    named = re.findall(r"`(?:\w+::)*(\w+)\(\)`", text)
    return sorted({name for name in named if not re.search(rf"\b{name}\(", sources)})


def missing_section_files(header):
    """Sources that a header's section comments name and that aren't there."""
    named = re.findall(r"^// ((?:\w+/)?\w+\.cpp)\b", header.read_text(), re.M)
    places = (header.parent, header.parent.parent)
    return [name for name in named if not any((place / name).is_file() for place in places)]


def different_figures(readme, validation):
    """What README should say of published figures, by docs/validation.md, and doesn't."""
    (points, mean, worst, inside), *more = re.findall(
        r"^Unfitted: (\d+) points, mean absolute error ([\d.]+) %, worst [+-]([\d.]+) %"
        r".*; (\d+) of the measured figures",
        validation,
        re.M,
    )
    assert not more, "one line sums up all sources"
    rank = min(re.findall(r"^Rank correlation (-?[\d.]+)", validation, re.M), key=float)
    said = " ".join(readme.split())
    wanted = (
        f"| {points} times and rates,",
        f"| {mean} % on average, {worst} % at most |",
        f"{inside} of the {points} figures lie in the interval",
        f"measured figures is {rank} or more",
    )
    for file, rows, table_mean, table_worst in re.findall(
        r"^Table of (\S+): (\d+) rows, mean absolute error ([\d.]+) %, worst [+-]?([\d.]+) %",
        validation,
        re.M,
    ):
        wanted += (f"| {rows} rows of [{file}](validation/{file})",)
        if float(table_worst) > 0:
            wanted += (f"| {table_mean} % on average, {table_worst} % at most |",)
    return [text for text in wanted if text not in said]


def pages_left_out(config, pages):
    """Pages that the site's contents don't name."""
    return sorted(page for page in pages if f": {page}\n" not in config)


class Front(unittest.TestCase):
    """README.md, and the contents of the site."""

    def setUp(self):
        self.readme = (ROOT / "README.md").read_text("utf-8")

    def test_is_readme_short(self):
        self.assertLessEqual(len(self.readme.splitlines()), README_LINES)

    def test_are_its_figures_those_of_validation(self):
        validation = (ROOT / "docs" / "validation.md").read_text("utf-8")
        self.assertEqual(different_figures(self.readme, validation), [])

    def test_is_another_figure_seen(self):
        validation = (
            "Unfitted: 55 points, mean absolute error 41.8 %, worst +186.8 % (CNN1); 20 of the "
            "measured figures lie in the interval.\n"
            "Table of x.yaml: 86 rows, mean absolute error 30.5 %, worst -88.4 % (r).\n"
            "Table of y.yaml: 7 rows, mean absolute error 0.0 %, worst 0.0 % (0).\n"
            "Rank correlation 0.9, R2 1.0.\nRank correlation 0.25, R2 0.2.\n"
        )
        readme = (
            "| 55 times and rates, of chips | 41.8 % on average, 186.8 % at most |\n20 of the 55 "
            "figures lie in the\n"
            "interval; of measured figures is 0.25 or more\n"
            "| 86 rows of [x.yaml](validation/x.yaml) | 30.5 % on average, 88.4 % at most |\n"
            "| 7 rows of [y.yaml](validation/y.yaml) | 0 |"
        )
        self.assertEqual(different_figures(readme, validation), [])
        for old, new in (
            ("| 55", "| 54"),
            ("41.8", "41.9"),
            ("186.8", "1.1"),
            ("20 of", "21 of"),
            ("0.25", "0.9"),
            ("86 rows", "85 rows"),
            ("7 rows", "8 rows"),
            ("30.5", "30.4"),
            ("88.4", "88.5"),
        ):
            self.assertEqual(len(different_figures(readme.replace(old, new), validation)), 1, old)

    def test_has_every_page_a_place_in_the_site(self):
        config = (ROOT / "docs" / "mkdocs.yml").read_text("utf-8")
        pages = [str(f.relative_to(ROOT)) for f in ROOT.glob("docs/*.md")]
        self.assertEqual(pages_left_out(config, pages), [])
        self.assertEqual(pages_left_out(config, ["docs/none.md", *pages]), ["docs/none.md"])


class Documents(unittest.TestCase):
    def test_do_all_links_lead_somewhere(self):
        for file in tracked("*.md"):
            self.assertEqual(broken_links(file, file.read_text()), [], file.relative_to(ROOT))

    def test_does_architecture_name_what_is_there(self):
        sources = "\n".join(
            f.read_text() for f in tracked("sim/*", "hw/*") if f.suffix in (".h", ".cpp")
        )
        for file in tracked("docs/*.md"):
            name = str(file.relative_to(ROOT))
            if not name.startswith(CLOSE_READ):
                continue
            text = file.read_text()
            self.assertEqual(missing_files(text), [], f"{name} names files that aren't there")
            unknown = missing_functions(text, sources)
            self.assertEqual(unknown, [], f"{name} names functions that sim/ and hw/ don't have")

    def test_has_every_room_a_row(self):
        rooms = {
            f"{f.relative_to(ROOT).parts[0]}/{f.relative_to(ROOT).parts[1]}"
            for f in tracked("sim/*", "hw/*")
            if len(f.relative_to(ROOT).parts) > 2
        }
        text = (ROOT / "docs/architecture.md").read_text()
        rows = set(
            re.findall(r"(?:sim|hw)/\w+", " ".join(re.findall(r"^\| ([^|]*)\|", text, re.M)))
        )
        self.assertEqual(rooms - rows, set())

    def test_do_sections_of_headers_name_files_that_are_there(self):
        for header in tracked("sim/*.h", "hw/*.h"):
            self.assertEqual(missing_section_files(header), [], header.relative_to(ROOT))

    def test_is_what_is_not_there_seen(self):
        here = ROOT / "docs" / "x.md"
        self.assertEqual(broken_links(here, "[a](nowhere.md) [b](../README.md)"), ["nowhere.md"])
        self.assertEqual(
            broken_links(here, "[a](../README.md#no-such-heading)"),
            ["../README.md#no-such-heading"],
        )
        self.assertEqual(
            missing_files("sim/base/result.h, sim/base/nothing.h"), ["sim/base/nothing.h"]
        )
        with tempfile.TemporaryDirectory() as folder:
            header = pathlib.Path(folder) / "x_rules.h"
            (header.parent / "there.cpp").write_text("")
            header.write_text("// there.cpp: rules\nint f();\n// gone.cpp: others\nint g();\n")
            self.assertEqual(missing_section_files(header), ["gone.cpp"])
        self.assertEqual(missing_functions("`A::gone()` and `here()`", "int here(int);"), ["gone"])


if __name__ == "__main__":
    sys.exit(unittest.main())
