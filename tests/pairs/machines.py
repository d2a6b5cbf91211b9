"""Machines drawn at random: those that come with accsim and known ones, as they are or with some of
their sizes, slots, rates, dataflows, types and memories changed."""

import copy
import random

import yaml
from program import ROOT

FILES = sorted([*(ROOT / "configs").glob("*.yaml"), *(ROOT / "configs/known").glob("*.yaml")])
PRESETS = ("DDR4-2400", "LPDDR4-3200", "HBM2")
FLOWS = ("weight_stationary", "input_stationary", "output_stationary")


def arrays(r, m):
    m["array"]["rows"] = r.choice((1, 3, 4, 8, 16, 33, 64))
    m["array"]["cols"] = r.choice((1, 2, 4, 8, 16, 31, 64))


def flows(r, m):
    m["array"]["dataflows"] = r.sample(FLOWS, r.randrange(1, 4))


def types(r, m):
    kinds = (("int8", "int8", "int32"), ("int16", "int8", "int32"), ("int8", "int4", "int32"),
             ("float16", "float16", "float32"), ("bfloat16", "bfloat16", "float32"))  # fmt: skip
    m["types"] = dict(zip(("activation", "weight", "accumulator"), r.choice(kinds)))
    if m["types"]["weight"] == "int4":
        m["types"]["weight_group"] = r.choice((0, 32))


def slots(r, m):
    buffer = m["buffers"][r.choice(("activation", "weight", "parameter", "accumulator", "output"))]
    buffer["slots"] = r.choice((1, 2, 3))


def sizes(r, m):
    for name in ("activation", "weight", "accumulator", "output"):
        m["buffers"][name]["kib"] = r.choice((8, 24, 64, 256))


def widths(r, m):
    for name in ("activation", "weight", "parameter", "output"):
        m["buffers"][name]["width"] = r.choice((8, 16, 64, 128))


def shared(r, m):
    m["buffers"]["shared"]["kib"] = r.choice((0, 1, 4, 16, 64, 100, 256, 1000, 4096))


def shared_rates(r, m):
    if m["buffers"]["shared"]["kib"] == 0:
        return
    m["buffers"]["shared"].update(
        read_bytes_per_cycle=r.choice((1, 7.5, 64, 512)),
        write_bytes_per_cycle=r.choice((1, 7.5, 64, 512)),
        latency=r.choice((0, 1, 20, 200)),
        weights=r.choice(("read", "kept")),
    )


def dram(r, m):
    m["dram"] = {
        "model": "ideal",
        "read_bytes_per_cycle": r.choice((0.5, 3, 25.6, 200)),
        "write_bytes_per_cycle": r.choice((0.5, 3, 25.6, 200)),
        "latency": r.choice((0, 100, 1000)),
        "bus": r.choice(("separate", "shared")),
    }


def banked(r, m):
    m["energy"].pop("dram", None)
    m["dram"] = {
        "model": "banked",
        "preset": r.choice(PRESETS),
        "channels": r.choice((1, 2, 8)),
        "map": r.choice(("bank_group_low", "bank_group_high")),
    }


def lanes(r, m):
    for name in m["vector"]["lanes"]:
        m["vector"]["lanes"][name] = r.choice((1, 8, 64))


CHANGES = (arrays, flows, types, slots, sizes, widths, shared, shared_rates, dram, banked, lanes)


def obey(r, m):
    """What rules ask for together, most of the time."""
    for buffer in m["buffers"].values():
        buffer["kib"] -= buffer["kib"] % buffer.get("slots", 1)
    if "output_stationary" in m["array"]["dataflows"]:
        m["array"]["cols"] = m["array"]["rows"]
    shared, dram = m["buffers"]["shared"], m["dram"]
    if shared["kib"] == 0 or r.random() < 0.05:
        return
    for way in ("read", "write"):
        key = f"{way}_bytes_per_cycle"
        shared[key] = max(shared[key], dram.get(key, 512))
    shared["latency"] = min(shared["latency"], dram.get("latency", 0))


def draw(seed):
    """(name, text) of a machine's file. Not every one obeys the rules of machines."""
    r = random.Random(seed)
    file = r.choice(FILES)
    machine = copy.deepcopy(yaml.safe_load(file.read_text("utf-8")))
    for change in r.sample(CHANGES, r.choice((0, 1, 1, 2, 3, 5))):
        change(r, machine)
    obey(r, machine)
    return file.stem, yaml.safe_dump(machine, sort_keys=False)
