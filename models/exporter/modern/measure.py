#!/usr/bin/env python3
"""Are MACs of today's networks those that PyTorch counts?

    models/exporter/modern/measure.py [--accsim build/accsim] [--out out/modern] [NETWORK ...]

Exports the networks of networks.py by PyTorch's exporters, costs each on configs/64x64.yaml and
compares its MACs with FlopCounterMode's. Needs nothing but this tree: the packages of
requirements.txt go into an environment of their own in OUT (6.2 GB). What is exported already isn't
again. Prints the table of README.md beside this; --json FILE has it for programs. Exit code 1 where
a network can't be exported or costed, or has other MACs and none of the reasons in `REASONS`, or
fewer than `GRAPHS` of them have commands of RTL for at least `VERIFIABLE` of their cycles.
"""

import argparse
import json
import math
import os
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))

import environment  # noqa: E402

OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "YOLO_OFFLINE": "true",
    "YOLO_AUTOINSTALL": "false",
    "PYTHONDONTWRITEBYTECODE": "1",
}
SECONDS = 1800  # for an export
VERIFIABLE, GRAPHS = 0.95, 0.9
# Why the exporter's graph has other products than the module's run, beside those of constants.
REASONS = {
    "diffusers_dit": "computes one embedding twice; the exporter keeps one",
}


def read_options(about=__doc__, out="modern"):
    """Of a program that says this of itself and writes into a folder of this name."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("--accsim", default=ROOT / "build" / "accsim", type=pathlib.Path)
    parser.add_argument("--out", default=ROOT / "out" / out, type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("networks", nargs="*")
    return parser.parse_args()


def enter_environment(out, more):
    """Runs this program in an environment of the packages of requirements.txt and of `more`."""
    out.mkdir(parents=True, exist_ok=True)
    files = ("requirements.txt", more)
    (out / "requirements.txt").write_text("".join((HERE / f).read_text() for f in files))
    environment.enter(out / "requirements.txt", out / "venv")


def run_exporter(program, name, out, seconds=SECONDS):
    """Exports a network by a program beside this into OUT, unless OUT/NAME.json is there. Its exit
    code; what it says is in OUT/NAME.log."""
    if (out / f"{name}.json").is_file():
        return 0
    with open(out / f"{name}.log", "w") as log:
        done = subprocess.run(
            [sys.executable, HERE / program, name, out],
            stdout=log,
            stderr=subprocess.STDOUT,
            check=False,
            timeout=seconds,
            env={**os.environ, **OFFLINE},
        )
    return done.returncode


def export(name, out):
    """An error's last line, or None."""
    if run_exporter("one.py", name, out) == 0:
        return None
    lines = (out / f"{name}.log").read_text().strip().splitlines() or [""]
    return f"isn't exported: {lines[-1]}"


def cost(accsim, path, options):
    flags = [f for k, v in options.get("bind", {}).items() for f in ("--bind", f"{k}={v}")]
    command = [accsim, "--hw", ROOT / "configs/64x64.yaml", path, "-q", "--json", "-", *flags]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return f"isn't costed: {done.stderr.strip()}"
    return json.loads(done.stdout)


def verifiable(report):
    """The part of the cycles that a run on RTL confirms."""
    totals = report["totals"]
    return totals["verifiable_cycles"] / totals["cycles"]


def few_verifiable(parts):
    """Says how many networks RTL confirms; whether these are too few."""
    good = sum(part >= VERIFIABLE for part in parts)
    print(
        f"{good} of {len(parts)} have commands of RTL for {100 * VERIFIABLE:.0f} % of their cycles",
        file=sys.stderr,
    )
    return good < GRAPHS * len(parts)


def assumptions(assumed):
    """How often each operator's size or branch was assumed."""
    counts = {}
    for a in assumed:
        what = f"{a['op_type']}: {a['branch']}" if a["branch"] else a["op_type"]
        counts[what] = counts.get(what, 0) + 1
    return (
        ["assumed: " + ", ".join(f"{n} x {what}" for what, n in counts.items())] if counts else []
    )


def row(name, network, options):
    """What the table has of a network, and whether that is as it should be."""
    error = export(name, options.out)
    if error:
        return {"name": name, "note": error}, False
    facts = json.loads((options.out / f"{name}.json").read_text())
    report = cost(options.accsim, options.out / f"{name}.onnx", network.options)
    if isinstance(report, str):
        return {"name": name, "note": report}, False
    ours, theirs = report["totals"]["macs"], facts["macs"] - facts["constant_macs"]
    notes = assumptions(report["model"]["assumed"])
    if facts["constant_macs"]:
        notes.append(f"{facts['constant_macs']:,} MACs of constants")
    if ours != theirs:
        notes.append(f"PyTorch counts {theirs:,}: {REASONS.get(name, 'WRONG')}")
    found = {
        "name": name,
        "from": network.origin,
        "exporter": "new" if network.dynamo else "TorchScript",
        "opset": facts["opset"],
        "nodes": facts["nodes"],
        "params": report["model"]["params"],
        "macs": ours,
        "cycles": report["totals"]["cycles"],
        "verifiable": verifiable(report),
        "note": "; ".join(notes),
    }
    good = not report["unsupported"] and (ours == theirs or name in REASONS)
    return found, good


def percent(part):
    """Rounded down, so that what isn't reached doesn't look so."""
    return f"{math.floor(1000 * part) / 10:.1f} %"


def line(r):
    if "macs" not in r:
        return f"| {r['name']} | | | | | | | | | {r['note']} |"
    numbers = " | ".join(f"{r[k]:,}" for k in ("opset", "nodes", "params", "macs", "cycles"))
    numbers += f" | {percent(r['verifiable'])}"
    return f"| {r['name']} | {r['from']} | {r['exporter']} | {numbers} | {r['note']} |"


def main():
    options = read_options()
    environment.enter(HERE / "requirements.txt", options.out / "venv")
    import networks

    rows, failed = [], 0
    print(
        "| network | from | exporter | opset | nodes | parameters | MACs | cycles | verifiable "
        "| note |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name in options.networks or networks.NETWORKS:
        found, good = row(name, networks.NETWORKS[name], options)
        rows.append(found)
        failed += not good
        print(line(found), flush=True)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    few = few_verifiable([r["verifiable"] for r in rows if "verifiable" in r])
    print(f"{len(rows)} networks, {failed} failed", file=sys.stderr)
    return 1 if failed or few else 0


if __name__ == "__main__":
    sys.exit(main())
