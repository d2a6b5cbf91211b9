#!/usr/bin/env python3
"""Does one network cost the same, whoever wrote its file?

    models/exporter/modern/exports.py [--accsim build/accsim] [--out out/exports] [NETWORK ...]

Exports the networks below in the forms of exports_one.py: by both of PyTorch's exporters, by ONNX
Runtime's optimiser and its fusions for transformers, quantised by ONNX Runtime, and by
onnxruntime-genai's builder. Costs each file on configs/64x64.yaml. Needs nothing but this tree: the
packages of requirements.txt and exports_requirements.txt go into an environment of their own in OUT
(6.4 GB). What is exported already isn't again. Prints the table of EXPORTS.md beside this; --json
FILE has it for programs. Exit code 1 where float forms of equal MACs differ by more than `SPREAD`,
or a quantised one costs more than the float one that it is made of, and `REASONS` doesn't say why;
and where RTL has commands for too few (few_verifiable()).
"""

import json
import sys

sys.dont_write_bytecode = True

from measure import (  # noqa: E402
    cost,
    enter_environment,
    few_verifiable,
    percent,
    read_options,
    run_exporter,
    verifiable,
)

SPREAD = 1.05
NETWORKS = (
    "tv_resnet50",
    "tv_mobilenet_v3_large",
    "tv_efficientnet_v2_s",
    "tv_convnext_tiny",
    "tv_swin_v2_t",
    "tv_vit_b_16",
    "tv_maxvit_t",
    "tv_deeplabv3_resnet50",
    "tv_r3d_18",
    "timm_mobilenetv4_small",
    "timm_efficientformerv2_s0",
    "timm_fastvit_t8",
    "timm_convnextv2_atto",
    "timm_eva02_tiny",
    "timm_mobilevit_s",
    "timm_mixer_s32",
    "timm_hiera_tiny",
    "timm_repvit_m0_9",
    "timm_ghostnetv2_100",
    "timm_coatnet_nano",
    "timm_xcit_nano",
    "timm_volo_d1",
    "hf_bert_base",
    "hf_distilbert",
    "hf_gpt2",
    "hf_llama",
    "hf_qwen3",
    "hf_gemma3",
    "hf_phi3",
    "hf_t5_encoder",
    "hf_whisper_encoder",
    "hf_segformer",
    "hf_dinov2_small",
    "hf_clip_vision",
)
QUANTISED = ("qdq", "qoperator")
# What a form costs more for, by network and form.
REASONS = {
    ("hf_dinov2_small", "qdq"): "reads 5.3 MB less from DRAM",
    ("hf_dinov2_small", "qoperator"): "reads 5.3 MB less from DRAM",
    ("timm_coatnet_nano", "qdq"): "other tensors stay on chip",
}


def export(name, out):
    """Reasons of the forms that there aren't, or an error."""
    facts = out / f"{name}.json"
    run_exporter("exports_one.py", name, out)
    return json.loads(facts.read_text()) if facts.is_file() else {"": "isn't exported"}


def forms_of(name, options):
    """Cycles, MACs and verifiable part by form, and notes."""
    import exports_one
    import genai

    missing, found, notes = export(name, options.out), {}, []
    if "" in missing:
        return found, [missing[""]]
    for form in exports_one.wanted(name):
        if form in missing:
            notes.append(f"no {form}: {missing[form]}")
            continue
        path = options.out / f"{name}.{form}.onnx"
        report = cost(options.accsim, path, {"bind": genai.sizes(path)} if form == "genai" else {})
        if isinstance(report, str):
            notes.append(f"{form} {report.splitlines()[0].split('.onnx: ')[-1][:120]}")
            continue
        totals = report["totals"]
        found[form] = {
            "cycles": totals["cycles"],
            "macs": totals["macs"],
            "verifiable": verifiable(report),
        }
    return found, notes


def judge(name, found, notes):
    """The spread of float forms of equal MACs, and whether all is as it should be."""
    floats = {f: v for f, v in found.items() if f not in QUANTISED}
    if not floats:
        return None, False
    macs = [v["macs"] for v in floats.values()]
    usual = max(set(macs), key=macs.count)
    cycles = [v["cycles"] for v in floats.values() if v["macs"] == usual]
    spread, good = max(cycles) / min(cycles), True
    for form, v in found.items():
        quantised = form in QUANTISED and "dynamo" in floats
        over = v["cycles"] / (floats["dynamo"]["cycles"] if quantised else min(cycles))
        if over <= (1 if quantised else SPREAD):
            continue
        if form not in QUANTISED and v["macs"] != usual:
            notes.append(f"{form} has {v['macs']:,} MACs, not {usual:,}")
            continue
        reason = REASONS.get((name, form))
        notes.append(f"{form} {over:.4f}: {reason or 'UNEXPLAINED'}")
        good &= reason is not None
    return spread, good


def main():
    options = read_options(__doc__, "exports")
    enter_environment(options.out, "exports_requirements.txt")
    from exports_one import FORMS

    rows, failed = [], 0
    print(f"| network | {' | '.join(FORMS)} | spread | verifiable | note |")
    print(f"|---{'|---:' * (len(FORMS) + 2)}|---|")
    for name in options.networks or NETWORKS:
        found, notes = forms_of(name, options)
        spread, good = judge(name, found, notes)
        failed += not good
        rows.append({"name": name, "forms": found, "spread": spread, "notes": notes})
        cells = [f"{found[f]['cycles']:,}" if f in found else "" for f in FORMS]
        spread_text = "" if spread is None else f"{spread:.3f}"
        least = percent(min(v["verifiable"] for v in found.values())) if found else ""
        cells += [spread_text, least, "; ".join(notes)]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    few = few_verifiable([v["verifiable"] for r in rows for v in r["forms"].values()])
    print(f"{len(rows)} networks, {failed} failed", file=sys.stderr)
    return 1 if failed or few else 0


if __name__ == "__main__":
    sys.exit(main())
