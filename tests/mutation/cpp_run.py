#!/usr/bin/python3
"""Do the tests see faults in the C++ of timing, golden and mapping? Draws changes of their sources
by a seed (cpp_mutants.py), builds the test programs once with all behind switches, and runs,
mutant by mutant, the tests that reach it until the first one fails.

    tests/mutation/cpp_run.py                      # 200 mutants of hw/timing, hw/golden and sim/map
    tests/mutation/cpp_run.py --count 50 --seed 2  # others
    tests/mutation/cpp_run.py --only 12            # one, by its number; always run again
    tests/mutation/cpp_run.py --folder hw/timing   # of one folder; needs a --work of its own
    tests/mutation/cpp_run.py --report             # what is known so far

Sources, build and results lie in --work; a run goes on where it was stopped. Exit code 0: every
mutant is detected or explained (cpp_explained.json); 1: not so; 2: wrong usage; 77: skipped, there
is no python3-clang-14.
"""

import argparse
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
SKIPPED = 77
try:
    import cpp_mutants
except ImportError:
    print("skipped: python3-clang-14 is missing; scripts/setup installs it")
    sys.exit(SKIPPED)

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
EXPLAINED = HERE / "cpp_explained.json"
ROOMS = ("schedule", "cost", "program", "quantise", "verify")
FLOW = [f"sim_{room}_test" for room in ROOMS]
# Folders and the test programs that know them, the nearest first.
FOLDERS = {
    "hw/timing": ["hw_timing_test", *FLOW],
    "hw/golden": ["hw_golden_test", "hw_random_test", "sim_pack_test", *FLOW],
    "sim/map": ["sim_map_test", "sim_pack_test", *FLOW],
}
NEEDED = ("CMakeLists.txt", "CMakePresets.json", "hw", "sim", "rtl", "configs", "models", "tests")
NEEDED_TOO = ("scripts", "web/dist", "docs", "validation", "examples")
DETECTED = ("detected", "crashes", "hangs")
FLAGS = ["-std=c++20", "-DFMT_SHARED", "-isystem", str(ROOT / "tests/fuzz/clang14")]


def candidates(folders):
    """All mutants of the folders, in one order."""
    out = []
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".cpp", ".h"):
                out += cpp_mutants.find(ROOT, path, [*FLAGS, "-I", str(ROOT)])
    return out


def programs(folders):
    return sorted({p for folder in folders for p in FOLDERS[folder]})


class Tree:
    """A copy of the sources with mutants, and its build."""

    def __init__(self, work, jobs, folders):
        self.root, self.jobs, self.programs = work / "tree", jobs, programs(folders)
        self.build = work / "build"
        self.lines = {}  # by file: number: lines that a mutant takes

    def copy(self):
        shutil.rmtree(self.root, ignore_errors=True)
        for name in (*NEEDED, *NEEDED_TOO):
            source, target = ROOT / name, self.root / name
            if source.is_dir():
                ignored = shutil.ignore_patterns("node_modules", "__pycache__")
                shutil.copytree(source, target, ignore=ignored)
            else:
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, target)
        rooms = [f"sim/{room}" for room in ("map", "pack", *ROOMS)]
        for folder in ("hw/timing", "hw/golden", "hw/random", *rooms):
            shutil.copy2(
                HERE / "cpp" / "recorder.cpp", self.root / "tests" / folder / "recorder_test.cpp"
            )

    def write(self, mutants):
        """Puts the mutants, {number: mutant}, into the copy; files that stay equal aren't touched,
        so that a build goes on."""
        files = {}
        for i, m in mutants.items():
            files.setdefault(m.file, {})[i] = m
        for file in {*files, *self.lines}:
            source, lines = cpp_mutants.rewrite((ROOT / file).read_bytes(), files.get(file, {}))
            self.lines[file] = lines
            if (self.root / file).read_bytes() != source:
                (self.root / file).write_bytes(source)

    def configure(self):
        flags = f"-include {HERE / 'cpp' / 'mutant.h'} -w -D_GLIBCXX_ASSERTIONS"
        # -Wno-dev: the preset's own messages
        command = ["cmake", "-S", self.root, "-B", self.build, "-G", "Ninja", "-Wno-dev"]
        command += ["-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -g0"]
        command += [f"-DCMAKE_CXX_FLAGS={flags}", "-DCMAKE_UNITY_BUILD=ON"]
        command += ["-DCMAKE_UNITY_BUILD_BATCH_SIZE=12", "-DACCSIM_INSTALL=OFF"]
        subprocess.run([str(c) for c in command], check=True, stdout=subprocess.DEVNULL)

    def compile(self):
        """Numbers of the mutants that don't compile; fails where that isn't what is wrong."""
        done = subprocess.run(
            ["cmake", "--build", self.build, "-j", str(self.jobs), "--target", *self.programs]
            + ["--", "-k", "0"],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode == 0:
            return set()
        # Places of headers are named from the build folder, those of sources in full.
        errors = "\n".join(t for t in (done.stdout + done.stderr).split("\n") if ": error: " in t)
        wrong = {
            i
            for file, lines in self.lines.items()
            for i, taken in lines.items()
            for line in taken
            if f"{self.root.name}/{file}:{line}:" in errors
        }
        if not wrong:
            sys.exit(f"the build of the mutated tree fails:\n{done.stdout[-4000:]}{done.stderr}")
        return wrong


class Runner:
    """Runs tests with a mutant on."""

    def __init__(self, work, tree):
        self.tests, self.programs = tree.build / "tests", tree.programs
        self.reached = {}  # by program: number: tests that reach it
        self.seconds = {}  # by program: processor time without mutants
        self.cache = work / "reached.json"

    def command(self, program, *args, seconds=3600, **variables):
        def limit():
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        return subprocess.run(
            [str(self.tests / program), "--gtest_fail_fast", "--gtest_brief=1", *args],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            preexec_fn=limit,
            env={**os.environ, **{k: str(v) for k, v in variables.items()}},
        )

    def learn(self, work):
        """The unmutated run: passes, and says which tests reach what."""
        if self.cache.exists():
            known = json.loads(self.cache.read_text())
            self.seconds = known["seconds"]
            for program, reached in known["reached"].items():
                self.reached[program] = {int(i): tests for i, tests in reached.items()}
            return
        for program in self.programs:
            file = work / f"{program}.reached"
            before = os.times()
            done = self.command(program, ACCSIM_REACHED=file)
            after = os.times()
            if done.returncode != 0:
                sys.exit(f"{program} fails without a mutant:\n{done.stdout[-3000:]}{done.stderr}")
            used = after.children_user + after.children_system
            self.seconds[program] = used - before.children_user - before.children_system
            reached = self.reached.setdefault(program, {})
            for line in file.read_text().splitlines():
                test, *numbers = line.split()
                for i in numbers:
                    reached.setdefault(int(i), []).append(test)
        self.cache.write_text(json.dumps({"seconds": self.seconds, "reached": self.reached}))

    def verdict(self, i, mutant):
        """(outcome, how it shows)."""
        folder = next(f for f in FOLDERS if mutant.file.startswith(f"{f}/"))
        seen = 0
        for program in FOLDERS[folder]:
            tests = self.reached[program].get(i, [])
            seen += len(tests)
            if not tests:
                continue
            seconds = int(3 * self.seconds[program]) + 10
            done = self.command(
                program, f"--gtest_filter={':'.join(tests)}", seconds=seconds, ACCSIM_MUTANT=i
            )
            if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
                return "hangs", f"{program}: {seconds} s"
            if done.returncode < 0:
                return "crashes", f"{program}: signal {-done.returncode}: {done.stderr[-150:]}"
            if done.returncode != 0:
                failed = [w for w in done.stdout.split() if w in tests]
                return "detected", f"{program}: {failed[-1] if failed else done.stdout[-150:]}"
        return ("SURVIVED", f"{seen} tests reach it") if seen else ("NOT REACHED", "by no test")


class Results:
    """A line a mutant, as they come."""

    def __init__(self, path):
        self.path, self.known = path, {}
        if path.exists():
            for line in path.read_text().splitlines():
                row = json.loads(line)
                self.known[row["number"]] = row

    def is_wrong(self, i):
        return i in self.known and self.known[i]["outcome"] == "does not compile"

    def add(self, row):
        self.known[row["number"]] = row
        with self.path.open("a") as out:
            out.write(json.dumps(row) + "\n")


def load_explained(path=EXPLAINED):
    """{key: reason}; a reason is a sentence."""
    entries = json.loads(path.read_text())
    for key, reason in entries.items():
        if len(reason.split()) < 4:
            sys.exit(f"{path}: {key}: the reason says nothing")
    return entries


def report(results, explained, total):
    """Prints what came out; the exit code."""
    rows = [results.known[i] for i in sorted(results.known)]
    left = 0
    for row in rows:
        if row["outcome"] not in DETECTED and row["outcome"] != "does not compile":
            reason = explained.get(row["key"])
            left += reason is None
            print(f"{row['number']:4} {row['outcome']}: {row['key']} (line {row['line']})")
            print(f"     {'explained: ' + reason if reason else row['shows']}")
    counts = {}
    for row in rows:
        folder = str(Path(row["file"]).parent)
        counts.setdefault(folder, {}).setdefault(row["outcome"], 0)
        counts[folder][row["outcome"]] += 1
    for folder, outcomes in sorted(counts.items()):
        print(f"{folder}: " + ", ".join(f"{n} {what}" for what, n in sorted(outcomes.items())))
    run = sum(row["outcome"] != "does not compile" for row in rows)
    detected = sum(row["outcome"] in DETECTED for row in rows)
    print(
        f"{run} of {total} mutants run: {detected} detected, {run - detected - left} explained, "
        f"{left} left"
    )
    return 1 if left else 0


def build(args, tree, results):
    """The mutants that compile, {number: mutant}, built. Drawn again only with another seed."""
    drawn, built = args.work / "drawn.json", args.work / "built"
    if drawn.exists():
        known = json.loads(drawn.read_text())
        if (known["seed"], known["count"]) != (args.seed, args.count):
            sys.exit(f"{drawn} is of another seed or count: name another --work")
        mutants = {int(i): cpp_mutants.Mutant(**m) for i, m in known["mutants"].items()}
        mutants = {i: m for i, m in mutants.items() if not results.is_wrong(i)}
    else:
        chosen = cpp_mutants.draw(candidates(args.folder), args.count, random.Random(args.seed))
        mutants = dict(enumerate(chosen))
        tree.copy()
        stored = {i: vars(m) for i, m in mutants.items()}
        drawn.write_text(
            json.dumps({"seed": args.seed, "count": args.count, "mutants": stored}, indent=1)
        )
    if not built.exists():  # a build that was stopped goes on: what stays equal isn't written
        tree.write(mutants)
        tree.configure()
        while wrong := tree.compile():
            for i in sorted(wrong):
                results.add(row_of(i, mutants.pop(i), "does not compile", ""))
            tree.write(mutants)
        built.touch()
    return mutants


def row_of(i, mutant, outcome, shows):
    return {
        "number": i,
        "key": mutant.key(),
        "file": mutant.file,
        "line": mutant.line,
        "outcome": outcome,
        "shows": shows.strip(),
    }


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=200, help="mutants that are drawn")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, action="append", help="number of a mutant")
    parser.add_argument("--folder", action="append", choices=list(FOLDERS))
    parser.add_argument("--jobs", type=int, default=1, help="of the build")
    parser.add_argument("--report", action="store_true", help="runs nothing")
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "mutants")
    args = parser.parse_args()
    args.work, args.folder = args.work.resolve(), args.folder or list(FOLDERS)
    args.work.mkdir(parents=True, exist_ok=True)
    results, explained = Results(args.work / "results.jsonl"), load_explained()
    if args.report:
        return report(results, explained, args.count)
    tree = Tree(args.work, args.jobs, args.folder)
    start = time.monotonic()
    mutants = build(args, tree, results)
    runner = Runner(args.work, tree)
    runner.learn(args.work)
    print(f"built and learnt in {time.monotonic() - start:.0f} s", flush=True)
    for i, mutant in mutants.items():
        if i not in args.only if args.only else i in results.known:
            continue
        outcome, shows = runner.verdict(i, mutant)
        results.add(row_of(i, mutant, outcome, shows))
        print(f"{i:4} {outcome}: {mutant.key()}: {shows}"[:300], flush=True)
    return report(results, explained, args.count)


if __name__ == "__main__":
    sys.exit(main())
