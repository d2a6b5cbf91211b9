"""Which tests a change touches, for scripts/check: by the build graph and tests/inputs.txt."""

import json
import os
import pathlib
import re
import shlex
import subprocess

import test_inputs

KEPT = "scripts/kept"
# What programs are compiled from: a test that reads nothing else that changed can wait.
COMPILED = (
    "sim/",
    "hw/",
    "CMakeLists.txt",
    "CMakePresets.json",
    "web/dist/",
    "scripts/embed.cmake",
)
FEW = 3  # tests that read a file which is theirs
QUICK = 30  # seconds
ALL_PROGRAMS = ("CMakeLists.txt", "CMakePresets.json", "tests/CMakeLists.txt")
UNITY = re.compile(r'^#include "(.*)"$', re.MULTILINE)


def output(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout


def sources_that_include(root, header):
    """Sources with a header, relative to the tree; the one of its name and folder first."""
    out = []
    for top in ("sim", "hw", "tests", "bench"):
        for path in sorted((root / top).rglob("*.cpp")):
            if re.search(rf'^\s*#\s*include\s*"{re.escape(header)}"', path.read_text(), re.M):
                out.append(str(path.relative_to(root)))
    own = pathlib.PurePath(header).with_suffix("")

    def distance(name):
        path = pathlib.PurePath(name).with_suffix("")
        return path != own, path.parent != own.parent

    return sorted(out, key=distance)


def objects_of(build, root, changed):
    """What a build compiles from changed sources, or, of a header, from its folder; as ninja names
    it. A batch is several sources."""
    wanted = {root / name for name in changed if not name.endswith(".h")}
    folders = {(root / name).parent for name in changed if name.endswith(".h")}
    out = []
    for entry in json.loads((build / "compile_commands.json").read_text()):
        source = pathlib.Path(entry["directory"], entry["file"])
        sources = {source}
        if "/Unity/" in str(source):
            sources = {pathlib.Path(name) for name in UNITY.findall(source.read_text())}
        if sources & wanted or not folders.isdisjoint(s.parent for s in sources):
            words = shlex.split(entry["command"])
            out.append(words[words.index("-o") + 1])
    return out


class Graph:
    """What ninja knows of a build that is up to date."""

    def __init__(self, build, root, changed):
        self.build, self.root = build, root
        self.changed = {root / name for name in changed}
        self.everything = bool(set(ALL_PROGRAMS) & set(changed))
        gone = [p for p in self.changed if p.suffix in (".cpp", ".h") and not p.exists()]
        self.folders = {"_".join(p.relative_to(root).parts[:2]) for p in gone}
        self.objects = self.changed_objects()

    def path(self, name):
        """A path that ninja prints, whole and without `..`."""
        return pathlib.Path(os.path.normpath(self.build / name))

    def changed_objects(self):
        """Objects that were compiled from what changed, and those of folders that lost a source."""
        out, here = set(), None
        for line in output(["ninja", "-t", "deps"], self.build).splitlines():
            if line[:1].strip():
                here = line.partition(":")[0]
                target = re.search(r"CMakeFiles/(\w+)\.dir/", here)
                if target and target[1].removesuffix("_test") in self.folders:
                    out.add(here)
            elif line.strip() and here not in out and self.path(line.strip()) in self.changed:
                out.add(here)
        return out

    def is_new(self, program):
        """Whether a program is made of something that changed."""
        if self.everything:
            return True
        name = str(program.relative_to(self.build))
        inputs = output(["ninja", "-t", "inputs", name], self.build).splitlines()
        return any(line in self.objects or self.path(line) in self.changed for line in inputs)


class Test:
    """A test of ctest: its number, its command, what it costs in seconds, why it is chosen."""

    def __init__(self, number, entry, build, root):
        self.number, self.name = number, entry["name"]
        command = entry.get("command", [])
        if any(word.endswith(KEPT) for word in command[:2]):
            command = command[command.index("--") + 1 :]
        self.command = [pathlib.Path(word) for word in command if word.startswith("/")]
        self.programs = [p for p in self.command if p.is_relative_to(build) and p.is_file()]
        others = (p for p in self.command if p.is_relative_to(root) and p not in self.programs)
        self.files = {str(path.relative_to(root)) for path in others}
        self.cost, self.why = 0.0, ""

    @property
    def row(self):
        """Its name in tests/inputs.txt: of GoogleTests their program's."""
        first = self.command[0] if self.command else None
        return first.name if first in self.programs and "." in self.name else self.name


def costs(root, build):
    """{test: seconds}: as ctest has measured here, else as tests/costs.txt has it. The numbers are
    the last words of a line: names of tests may have spaces. Below a line --- are those that
    failed."""
    out = {}
    measured = build / "Testing/Temporary/CTestCostData.txt"
    for path, column in ((root / "tests/costs.txt", 1), (measured, 2)):
        text = path.read_text().partition("\n---\n")[0] if path.is_file() else ""
        for words in (line.rsplit(maxsplit=column) for line in text.splitlines()):
            if len(words) > column and not words[0].startswith("#") and float(words[column]) > 0:
                out[words[0]] = float(words[column])
    return out


class Selection:
    """near: tests of what changed and those likeliest to fail; far: the others that depend on it,
    the quickest first."""

    def __init__(self, root, build, changed):
        self.changed, self.rows = changed, test_inputs.read_table(root)
        self.graph = Graph(build, root, changed)
        listed = output(["ctest", "--test-dir", str(build), "--show-only=json-v1"], root)
        entries = json.loads(listed)["tests"]
        tests = [Test(number, entry, build, root) for number, entry in enumerate(entries, 1)]
        self.new = {p: self.graph.is_new(p) for p in {p for t in tests for p in t.programs}}
        known = costs(root, build)
        self.near, self.far = [], []
        for test in tests:
            # A GoogleTest takes less than a second, a script some.
            test.cost = known.get(test.name, 0.3 if "." in test.name else 5)
        own = self.own_files(tests)
        for test in tests:
            if self.is_near(test, own):
                self.near.append(test)
            elif self.depends(test):
                self.far.append(test)
        self.far.sort(key=lambda test: test.cost)
        self.untouched = len(tests) - len(self.near) - len(self.far)

    def reads(self, test, paths):
        row = self.rows.get(test.row)
        return [p for p in paths if p in test.files or (row and row.reads(p))]

    def depends(self, test):
        """Whether its program is new, or its inputs have changed; says by what."""
        new = [program.name for program in test.programs if self.new[program]]
        read = self.reads(test, self.changed)
        test.why = f"{new[0]} is new" if new else f"it reads {read[0]}" if read else ""
        return bool(test.why)

    def own_files(self, tests):
        """What changed that few tests read: theirs, and no part of the program."""
        files = [path for path in self.changed if not path.startswith(COMPILED)]
        readers = {path: sum(bool(self.reads(t, [path])) for t in tests) for path in files}
        return [path for path, count in readers.items() if count <= FEW]

    def is_near(self, test, own):
        row = self.rows.get(test.row)
        if self.reads(test, own):
            return True
        if not self.depends(test):
            return False
        folders = {"_".join(path.split("/")[:2]) for path in self.changed}
        folders |= {"_".join(path.split("/")[1:3]) for path in self.changed}  # tests/sim/cost/
        of_folder = any(p.name.removesuffix("_test") in folders for p in test.programs)
        quick = not test.programs and test.cost < QUICK
        return of_folder or quick or bool(row and "early" in row.marks)

    def fit(self, seconds):
        """(tests of far that take no more than so many seconds of processor time, the others)."""
        chosen = []
        for test in self.far:
            seconds -= test.cost
            if seconds < 0:
                break
            chosen.append(test)
        return chosen, self.far[len(chosen) :]
