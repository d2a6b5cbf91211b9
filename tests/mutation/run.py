#!/usr/bin/env python3
"""Does the co-verification see faults? Puts one fault after another into a copy of rtl/ and runs
random tile programs on it; a mutant counts as detected when `accsim verify` reports a difference. A
mutant that shows in none of the programs gets a second, longer round of others. A mutant that names
an assertion (MODULE.LABEL) counts as detected when that assertion stops a program.

    tests/mutation/run.py                       # all of mutants.json
    tests/mutation/run.py --only 'post_*'       # some
    tests/mutation/run.py --quick               # the few that CI runs, the first round only

Exit code 0: the original passes and every mutant is detected; 1: not so; 2: wrong usage; 77:
skipped, there is no verilator.
"""

import argparse
import concurrent.futures
import fnmatch
import json
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FIELDS = {"name", "file", "find", "replace", "kind", "breaks"}
OPTIONAL = {"quick", "conv", "dataflow", "assertion", "pe_modules"}
SKIPPED = 77
DETECTED = "detected"
ILLEGAL = "gen_illegal"  # where a checker refuses parameters: an error of elaboration


def load_mutants(path):
    """The list, checked: all fields there, names unique, a fault is a change."""
    mutants = json.loads(path.read_text())
    problems = []
    for m in mutants:
        name = m.get("name", "?")
        if set(m) - OPTIONAL != FIELDS:
            problems.append(
                f"{name}: fields are {sorted(m)}; wanted {sorted(FIELDS)} and perhaps "
                f"{sorted(OPTIONAL)}"
            )
        elif m["find"].split() == m["replace"].split():
            problems.append(f"{name}: replaces text by itself")
    for name, count in Counter(m.get("name") for m in mutants).items():
        if count > 1:
            problems.append(f"{name}: {count} mutants have this name")
    if problems:
        sys.exit("\n".join([f"{path}:", *problems]))
    return mutants


def mutated(text, mutant):
    """The file with the fault. White space matches any white space, so that alignment may
    change."""
    pattern = r"\s+".join(re.escape(word) for word in mutant["find"].split())
    found = re.findall(pattern, text)
    if len(found) != 1:
        raise ValueError(
            f"{mutant['file']} holds the text {len(found)} times, not once: {mutant['find']}"
        )
    return re.sub(pattern, lambda _: mutant["replace"], text)


class Assertions:
    """Labels of the assertions in a folder's *_sva.sv, by the lines where Verilator says that they
    fail."""

    def __init__(self, rtl):
        self.lines = {}
        for path in rtl.glob("*_sva.sv"):
            found = []
            for number, line in enumerate(path.read_text().splitlines(), 1):
                label = re.search(rf"`ASSERT(?:_ALWAYS)?\((\w+)|begin : ({ILLEGAL})\b", line)
                if label:
                    found.append((number, f"{path.stem}.{label[1] or label[2]}"))
            self.lines[path.name] = found

    def known(self, name):
        return any(name == label for found in self.lines.values() for _, label in found)

    def at(self, file, line):
        """The assertion that a line belongs to: the last that begins there or before."""
        labels = [label for number, label in self.lines.get(file, []) if number <= line]
        return labels[-1] if labels else f"{file}:{line}"

    def caught(self, text):
        """The assertion that an error tells of: one that failed, or an illegal parameter that ended
        the build; None where it tells of something else."""
        said = re.search(
            r"fails the assertion at (\w+\.sv):(\d+)|%Error-USERERROR: (\w+\.sv):(\d+):", text or ""
        )
        return self.at(said[1] or said[3], int(said[2] or said[4])) if said else None


def options(mutant):
    """What `accsim verify` is to be told besides the programs."""
    return (
        *(("--dataflow", mutant["dataflow"]) if "dataflow" in mutant else ()),
        *(("--conv", mutant["conv"]) if "conv" in mutant else ()),
        *(("--assertions",) if "assertion" in mutant else ()),
        *(("--pe-modules",) if mutant.get("pe_modules") else ()),
    )


def copy_tree(source, target):
    """What a core is built from."""
    for folder in ("rtl", "hw/cosim"):
        shutil.copytree(source / folder, target / folder)


class Verifier:
    """Runs `accsim verify` on a tree."""

    def __init__(self, args, accsim):
        self.args = args
        self.accsim = accsim

    def verdict(self, folder, extra, assertion=None):
        """(outcome, how it shows) of the tree in `folder`; "equal" when nothing differs in either
        round. Extra: more options; without a dataflow it is those that the machine lists.
        Assertion: MODULE.LABEL of the one that must fail."""
        rounds = [(self.args.count, self.args.seed), (self.args.more, self.args.seed + 1)]
        if assertion and assertion.endswith(f".{ILLEGAL}"):
            rounds = [(1, self.args.seed)]  # no program runs: the build ends
        for count, seed in rounds:
            if count == 0:
                break
            outcome, shown = self.round(folder, extra, count, seed, assertion)
            if outcome != "equal":
                break
        return outcome, shown

    def limit(self):
        """A limit of processor time: a busy machine must not make a core look hung."""
        seconds = int(self.args.timeout)
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))

    def round(self, folder, extra, count, seed, assertion):
        report = folder / "report.json"
        report.unlink(missing_ok=True)
        command = [
            self.accsim,
            "verify",
            "--hw",
            HERE / "machine.yaml",
            "--random",
            count,
            "--seed",
            seed,
            "--source",
            folder,
            "--cache",
            self.args.cores,
            "--json",
            report,
        ]
        command += extra
        log = folder / "log"
        with log.open("w") as out:
            code = subprocess.run(
                [str(part) for part in command],
                stdout=out,
                stderr=out,
                preexec_fn=self.limit,
                check=False,
            ).returncode
        assertions = Assertions(folder / "rtl")
        if code == 3:  # there is no core
            if assertion in stopped_by(assertions, report):
                return DETECTED, f"does not build: {assertion}"
            return "does not build", first_error(report, log)
        if code == -signal.SIGXCPU:
            return DETECTED, f"hangs for {self.args.timeout:.0f} s"
        if code == 0:
            return "equal", ""
        if code != 1:
            return "verify fails", f"ends with {code}: {tail(log)}"
        rows = failed_rows(report)
        if not assertion:
            return DETECTED, f"{len(rows):>3} of {count}: {symptom(rows)}"
        stopped = stopped_by(assertions, report)
        if assertion not in stopped:
            others = f" ({', '.join(stopped)})" if stopped else ""
            return "no assertion", f"{symptom(rows)}{others}"
        by = ", ".join(f"{n} by {label}" for label, n in stopped.most_common())
        return DETECTED, f"{len(rows):>3} of {count}: {by}"


def failed_rows(report):
    return [row for row in json.loads(report.read_text())["rows"] if not row["passed"]]


def stopped_by(assertions, report):
    """How many programs each assertion stopped; empty without a report."""
    rows = failed_rows(report) if report.exists() else []
    return Counter(label for row in rows if (label := assertions.caught(row["error"])))


def tail(log):
    return " ".join(log.read_text().split())[-200:]


def first_error(report, log):
    if not report.exists():
        return tail(log)
    errors = [row["error"] for row in json.loads(report.read_text())["rows"] if row["error"]]
    lines = [line for line in "\n".join(errors[:1]).splitlines() if "rror" in line]
    return lines[0][:200] if lines else "no error message"


def symptom(rows):
    """The first difference, of values if there is one: they say more than cycles."""
    rows = sorted(rows, key=lambda row: not row["error"] and row["bit_exact"])
    text = rows[0]["error"] or rows[0]["first_difference"]
    return " ".join(text.split())[:110]


def run_mutant(mutant, original, folder, verifier):
    """(mutant, outcome, how it shows, seconds)."""
    begin = time.perf_counter()
    tree = folder / mutant["name"]
    copy_tree(original, tree)
    target = tree / "rtl" / mutant["file"]
    try:
        if mutant["file"] not in (tree / "rtl/accsim.f").read_text().split():
            raise ValueError(f"accsim.f doesn't list {mutant['file']}")
        target.write_text(mutated(target.read_text(), mutant))
        wanted = mutant.get("assertion")
        if wanted and not Assertions(tree / "rtl").known(wanted):
            raise ValueError(f"rtl/ has no assertion {wanted}")
        outcome, shown = verifier.verdict(tree, options(mutant), wanted)
    except (OSError, ValueError) as error:
        outcome, shown = "not applied", str(error)
    if not verifier.args.keep:
        shutil.rmtree(tree, ignore_errors=True)
    return mutant, "SURVIVED" if outcome == "equal" else outcome, shown, time.perf_counter() - begin


def originals_are_equal(source, folder, verifier, forms):
    """Whether the tree without a fault passes in all forms that mutants take; says so if not."""
    trees = [folder / f"original-{i}" for i in range(len(forms))]
    for tree in trees:
        copy_tree(source, tree)
    with concurrent.futures.ThreadPoolExecutor(verifier.args.jobs) as pool:
        verdicts = list(pool.map(verifier.verdict, trees, forms))
    for outcome, shown in verdicts:
        if outcome != "equal":
            print(
                f"the original: {outcome}: {shown}\nno mutant is run: every one would look detected"
            )
            return False
    return True


def run(args, mutants, folder):
    # Copies: nothing that is edited or rebuilt meanwhile gets in between.
    original = folder / "original"
    copy_tree(args.source, original)
    accsim = folder / "accsim"
    shutil.copy2(args.accsim, accsim)
    args.cores = (args.cores or folder / "cores").resolve()
    args.cores.mkdir(parents=True, exist_ok=True)
    verifier = Verifier(args, accsim)
    forms = sorted({options(m) for m in mutants})
    if not originals_are_equal(original, folder, verifier, forms):
        return 1
    programs = args.count + args.more
    print(
        f"the original: {programs} of {programs} programs equal\n\n"
        f"{'mutant':<30} {'file':<16} {'kind':<11} {'outcome':<15} {'s':>5}  programs that differ, "
        "first difference",
        flush=True,
    )
    outcomes = Counter()
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        jobs = [pool.submit(run_mutant, m, original, folder, verifier) for m in mutants]
        for job in jobs:
            mutant, outcome, shown, seconds = job.result()
            outcomes[outcome] += 1
            print(
                f"{mutant['name']:<30} {mutant['file']:<16} {mutant['kind']:<11} {outcome:<15} "
                f"{seconds:>5.1f}  {shown}",
                flush=True,
            )
    others = "".join(f", {n} {what}" for what, n in outcomes.items() if what != DETECTED)
    print(f"\n{outcomes[DETECTED]} of {len(mutants)} detected{others}")
    return 0 if outcomes[DETECTED] == len(mutants) else 1


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--accsim", type=Path, default=ROOT / "build/accsim", help="the program")
    parser.add_argument("--source", type=Path, default=ROOT, help="tree with rtl/ and hw/cosim/")
    parser.add_argument(
        "--cores", type=Path, help="folder that keeps the cores, for the next run; default: none"
    )
    parser.add_argument("--mutants", type=Path, default=HERE / "mutants.json", help="the list")
    parser.add_argument("--only", metavar="GLOB", default="*", help="mutants whose name matches")
    parser.add_argument("--quick", action="store_true", help="the mutants marked quick")
    parser.add_argument("--count", type=int, default=100, help="random programs a mutant")
    parser.add_argument(
        "--more", type=int, help="and, when they are equal, others: 400, with --quick none"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="mutants side by side")
    parser.add_argument("--timeout", type=float, default=120, help="CPU seconds a round")
    parser.add_argument("--keep", metavar="DIR", type=Path, help="leave the mutated trees there")
    args = parser.parse_args()
    if args.more is None:
        args.more = 0 if args.quick else 400
    if not shutil.which("verilator"):
        print("skipped: there is no verilator")
        return SKIPPED
    mutants = [
        m
        for m in load_mutants(args.mutants)
        if fnmatch.fnmatch(m["name"], args.only) and (m.get("quick") or not args.quick)
    ]
    if not mutants:
        parser.error("no mutant has such a name")
    if args.keep:
        args.keep.mkdir(parents=True, exist_ok=True)
        return run(args, mutants, args.keep.resolve())
    with tempfile.TemporaryDirectory() as folder:
        return run(args, mutants, Path(folder))


if __name__ == "__main__":
    sys.exit(main())
