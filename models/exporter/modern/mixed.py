#!/usr/bin/env python3
"""Does mixed precision cost what plain precision costs?

    models/exporter/modern/mixed.py [--accsim build/accsim] [--out out/mixed] [NETWORK ...]

Exports the networks of mixed_one.py by both of PyTorch's exporters: as float32, under
torch.autocast, as float16, and the float32 file converted to float16. Costs each file on two
machines, as it is and without its casts between floats: cycles must be equal. They must be those of
the float32 file, too, where `REASONS` doesn't say why the graph is another. Needs nothing but this
tree: the packages of requirements.txt and mixed_requirements.txt go into an environment of their
own in OUT (6.3 GB). What is exported already isn't again. Prints the table of MIXED.md beside this;
--json FILE has it for programs. Exit code 1 where anything isn't exported or costed, or has other
cycles.
"""

import json
import subprocess
import sys
import time

sys.dont_write_bytecode = True

from measure import enter_environment, read_options, run_exporter  # noqa: E402

MACHINES = ("64x64", "8x8")
SECONDS = 900  # for all exports of a network
SAME = 1e-3  # of the cycles, by which other graphs may differ without a reason
# Why a variant's graph has other work than the float32 one, by network and variant.
_T5 = "in float16 the module looks for infinities in each sum, and clamps it"
_BATCH = "not optimised: normalisations stay that the optimiser folds"
_DIT = "of two equal embeddings the exporter keeps one, but not under autocast"
_WHISPER = "in float16 the module clamps each layer's sum"
REASONS = {
    ("diffusers_dit", "new autocast_bf16"): _DIT,
    ("diffusers_dit", "new autocast_fp16"): _DIT,
    ("timm_fastvit_t8", "new autocast_bf16"): _BATCH,
    ("timm_fastvit_t8", "new autocast_fp16"): _BATCH,
    ("timm_repvit_m0_9", "new autocast_bf16"): _BATCH,
    ("timm_repvit_m0_9", "new autocast_fp16"): _BATCH,
    ("hf_t5_encoder", "new half"): _T5,
    ("hf_t5_encoder", "ts half"): _T5,
    ("hf_whisper_encoder", "new half"): _WHISPER,
    ("hf_whisper_encoder", "ts half"): _WHISPER,
}


def export(name, out):
    """How each variant's export went."""
    facts = out / f"{name}.json"
    run_exporter("mixed_one.py", name, out, SECONDS)
    if not facts.is_file():
        return {"all": f"{name}: isn't exported, see {name}.log"}
    return json.loads(facts.read_text())


def cost(accsim, machine, path):
    """The report, or an error."""
    command = [accsim, "--hw", machine, path, "-q", "--json", "-"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return f"exit {done.returncode}: {done.stderr.strip()}"
    return json.loads(done.stdout)


def measure(path, accsim):
    """What is recorded of a file."""
    import casts
    import onnx

    model = onnx.load(path, load_external_data=False)
    found = {"nodes": sum(len(g.node) for g in casts.graphs_of(model.graph))}
    removed = casts.float_casts(model)
    found["casts"] = len(removed)
    found["cast_likes"] = sum(n.op_type == "CastLike" for n in removed)
    plain = path.with_suffix(".plain.onnx")
    casts.write_without_casts(path, plain)
    for machine in MACHINES:
        start = time.monotonic()
        report = cost(accsim, machine, path)
        found[machine] = {"seconds": round(time.monotonic() - start, 2)}
        if isinstance(report, str):
            found[machine]["error"] = report
            continue
        found[machine] |= {k: report["totals"][k] for k in ("cycles", "macs")}
        report = cost(accsim, machine, plain)
        same = report if isinstance(report, str) else report["totals"]["cycles"]
        found[machine]["without_casts"] = same
    return found


def row(name, options):
    """All that is known of a network: how its exports went, and what they cost."""
    exports, files = export(name, options.out), {}
    for key in exports:
        path = options.out / f"{name}.{key.replace(' ', '.')}.onnx"
        if path.is_file():
            files[key] = measure(path, options.accsim)
    return {"name": name, "exports": exports, "files": files}


def faults(r):
    """What is wrong with a network's variants."""
    out = [found for found in r["exports"].values() if isinstance(found, str)]
    for key, found in r["files"].items():
        plain = r["files"].get(f"{key.split()[0]} float32", {})
        for machine in MACHINES:
            wrong = fault(r["name"], key, found[machine], plain.get(machine, {}))
            if wrong:
                out.append(f"{r['name']}, {key}, {machine}: {wrong}")
    return out


def fault(name, key, found, plain):
    """What is wrong with a variant on a machine, or None."""
    if "error" in found:
        return found["error"]
    if found["cycles"] != found["without_casts"]:
        return f"{found['cycles']} cycles, without casts {found['without_casts']}"
    if "cycles" not in plain or (name, key) in REASONS:
        return None
    ratio = found["cycles"] / plain["cycles"]
    return f"{ratio:.4f} of float32's cycles" if abs(ratio - 1) > SAME else None


def ratio(found, plain):
    """Of the cycles to float32's, on the machine where it is farthest from 1."""
    if not found or not plain:
        return "-"
    pairs = [(found[m].get("cycles"), plain[m].get("cycles")) for m in MACHINES]
    if any(a is None or b is None for a, b in pairs):
        return "fails"
    far = max((a / b for a, b in pairs), key=lambda x: abs(x - 1))
    return "1" if far == 1 else f"{far:.4f}"


def cells(r, exporter):
    """Nodes, casts, cycles and ratios of the files of an exporter."""
    from mixed_one import PLAIN, VARIANTS

    plain, *others = (r["files"].get(f"{exporter} {v}") for v in (PLAIN, *VARIANTS))
    count = [str(f["casts"]) if f else "-" for f in (plain, *others)]
    nodes = f"{plain['nodes']:,}" if plain else "-"
    cycles = f"{plain[MACHINES[0]].get('cycles', 0):,}" if plain else "-"
    return [nodes, " ".join(count), cycles, " ".join(ratio(f, plain) for f in others)]


def line(r):
    from mixed_one import EXPORTERS

    notes = {REASONS[r["name"], key] for key in r["files"] if (r["name"], key) in REASONS}
    likes = max((f["cast_likes"] for f in r["files"].values()), default=0)
    if likes:
        notes.add(f"{likes} CastLike")
    both = [c for e in EXPORTERS for c in cells(r, e)]
    return "| " + " | ".join([r["name"], *both, "; ".join(sorted(notes))]) + " |"


def main():
    options = read_options(__doc__, "mixed")
    enter_environment(options.out, "mixed_requirements.txt")
    import mixed_one

    rows, wrong = [], []
    titles = "nodes | casts | cycles | others' cycles"
    print(f"| network | {titles} | {titles} | note |")
    print("|---" * 10 + "|")
    for name in options.networks or mixed_one.NAMES:
        rows.append(row(name, options))
        wrong += faults(rows[-1])
        print(line(rows[-1]), flush=True)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    files = sum(len(r["files"]) for r in rows)
    wrong.append(f"{len(rows)} networks, {files} files, {len(wrong)} faults")
    print(*wrong, sep="\n", file=sys.stderr)
    return 0 if len(wrong) == 1 else 1


if __name__ == "__main__":
    sys.exit(main())
