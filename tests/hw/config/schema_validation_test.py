#!/usr/bin/python3
"""configs/hw.schema.json and the program agree: schema_validation_test.py ACCSIM

Every shipped machine is valid by the schema, read by python3-jsonschema. Of the errors that a
schema can express, made one at a time in shipped machines of both DRAM models, the schema and
`accsim hw check` refuse each; at the ends of every range both are content with the value.
"""

import copy
import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import jsonschema
    import yaml
except ImportError as missing:
    print(f"SKIPPED: {missing} (Debian: python3-jsonschema, python3-yaml)", file=sys.stderr)
    sys.exit(77)

CONFIGS = pathlib.Path(__file__).resolve().parents[3] / "configs"
# Every number of the schema, by path, with its ends; written here a second time on purpose.
BUFFERS = ("activation", "weight", "parameter", "accumulator", "output")
RANGES = {
    "clock_mhz": (0.001, 100000),
    "array.rows": (1, 1024),
    "array.cols": (1, 1024),
    **{f"buffers.{b}.kib": (1, 1048576) for b in BUFFERS},
    **{f"buffers.{b}.slots": (1, 16) for b in BUFFERS},
    **{f"buffers.{b}.width": (1, 65536) for b in BUFFERS if b != "accumulator"},
    "buffers.shared.kib": (0, 1048576),
    "dram.channels": (1, 128),
    **{
        f"{m}.{way}_bytes_per_cycle": (0.001, 1000000)
        for m in ("buffers.shared", "dram")
        for way in ("read", "write")
    },
    "buffers.shared.latency": (0, 1000000),
    "dram.latency": (0, 1000000),
    **{
        f"vector.lanes.{c}": (1, 65536)
        for c in ("elementwise", "special", "reduce", "pool", "resize", "convert", "search")
    },
    **{
        f"energy.{e}": (0, 1000000000)
        for e in (
            "mac_pj",
            "vector_op_pj",
            "dram_read_pj_per_byte",
            "dram_write_pj_per_byte",
            "static_pj_per_cycle",
            "shared_pj_per_byte",
            *(f"{b}_pj_per_byte" for b in BUFFERS),
        )
    },
}
NOT_WHOLE = ("clock_mhz", "bytes_per_cycle", "energy.")
WHOLE = {name for name in RANGES if not any(part in name for part in NOT_WHOLE)}
WORDS = {
    "types.activation": "int7",
    "types.weight": "int32",
    "types.accumulator": "int8",
    "dram.model": "bankd",
    "dram.preset": "DDR4-2401",
    "dram.map": "low",
    "name": "a name with 'quotes'",
}


def leaves(tree, at=()):
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from leaves(value, (*at, key))
        else:
            yield (*at, key), value


def sections(tree, at=()):
    yield at
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from sections(value, (*at, key))


def changed(machine, path, value):
    """The machine with another value at a path; without the key for None."""
    out = copy.deepcopy(machine)
    section = out
    for key in path[:-1]:
        section = section[key]
    if value is None:
        del section[path[-1]]
    else:
        section[path[-1]] = value
    return out


def broken(machine):
    """(what is wrong, machine) for one error at a time."""
    for path, value in leaves(machine):
        name = ".".join(path)
        yield f"without {name}", changed(machine, path, None)
        yield f"{name} is a section", changed(machine, path, {"a": 1})
        if name == "array.dataflows":
            for bad in (
                "weight_stationary",
                [],
                ["weight_stationery"],
                ["weight_stationary"] * 2,
                [1],
            ):
                yield f"{name} is {bad}", changed(machine, path, bad)
            continue
        yield f"{name} is a list", changed(machine, path, [value])
        if name in WORDS:
            yield f"{name} is {WORDS[name]}", changed(machine, path, WORDS[name])
            continue
        low, high = RANGES[name]
        yield f"{name} is a word", changed(machine, path, "sixty")
        yield f"{name} is a truth", changed(machine, path, True)
        for bad in (-1 if low >= 0 else low - 1, 0 if low > 0 else -5, high + 1):
            yield f"{name} is {bad}", changed(machine, path, bad)
        if name in WHOLE:
            yield f"{name} isn't whole", changed(machine, path, 8.5)
    for path in sections(machine):
        yield f"unknown key in {'.'.join(path)}", changed(machine, (*path, "banana_split"), 8)
        if path:
            yield f"without {'.'.join(path)}", changed(machine, path, None)
            yield f"{'.'.join(path)} is a word", changed(machine, path, "int8")
    other = {"latency": 3} if machine["dram"]["model"] == "banked" else {"preset": "HBM2"}
    for key, value in other.items():
        yield f"dram.{key} of the other model", changed(machine, ("dram", key), value)


def broken_modes(machine):
    """The same of the entries of types.modes: the first one and a float one."""
    modes = machine["types"]["modes"]
    real = next(i for i, m in enumerate(modes) if m["weight"] == "bfloat16")

    def with_mode(at, **keys):
        entry = {k: v for k, v in {**modes[at], **keys}.items() if v is not None}
        return changed(machine, ("types", "modes"), [*modes[:at], entry, *modes[at + 1 :]])

    for bad in ("int4", {"int8": "int4"}, ["int4"], [modes]):
        yield f"types.modes is {bad}", changed(machine, ("types", "modes"), bad)
    for key in modes[0]:
        yield f"a mode without {key}", with_mode(0, **{key: None})
    for key, values in {
        "activation": ("int7", "int4", 8, ["int8"]),
        "weight": ("int7", "int32", 8),
        "rate": (0, -1, 65, "fast"),
        "mac_pj": (-1, 1e10, "little"),
        "group": (-1, 65537, 1.5, "all"),
        "banana_split": (1,),
    }.items():
        for bad in values:
            yield f"a mode's {key} is {bad}", with_mode(0, **{key: bad})
    yield "a group of wide weights", with_mode(real, group=128)


def broken_engine(machine):
    """The same of the keys that only arrays of dot products have."""
    for key in set(machine["array"]) - {"template", "rows", "cols", "fill_rows", "dataflows"}:
        for bad in (None, -1, 1.5, "few", 1 << 40):
            yield f"array.{key} is {bad}", changed(machine, ("array", key), bad)
    yield "no template", changed(machine, ("array", "template"), None)
    yield "the other template", changed(machine, ("array", "template"), "systolic")


def broken_units(machine):
    """The same of the keys that only machines with units beside their array have."""
    for key in set(machine["vector"]) - {"template", "lanes"}:
        for bad in (None, -1, 1.5, "few", 1 << 40):
            yield f"vector.{key} is {bad}", changed(machine, ("vector", key), bad)
    yield "no vector.template", changed(machine, ("vector", "template"), None)
    yield "lanes alone", changed(machine, ("vector", "template"), "lanes")


def broken_tokens(machine):
    """The same of the section of engines that hand each other tokens."""
    engines = machine["engines"]
    lists = ("queues", "kinds", "token_queues")
    for key in set(engines) - set(lists):
        for bad in (None, -1, 1.5, "few", 1 << 40):
            yield f"engines.{key} is {bad}", changed(machine, ("engines", key), bad)
    for key in lists:
        entries = engines[key]
        for bad in (None, "load", {"load": 512}, ["load"], [entries]):
            yield f"engines.{key} is {bad}", changed(machine, ("engines", key), bad)
        for at, entry in enumerate(entries):
            for word, value in entry.items():
                wrong = (None, [value], 1.5) if isinstance(value, str) else (None, -1, 1.5, "few")
                for bad in wrong:
                    other = {k: v for k, v in {**entry, word: bad}.items() if v is not None}
                    path = f"engines.{key}[{at}].{word}"
                    changes = [*entries[:at], other, *entries[at + 1 :]]
                    yield f"{path} is {bad}", changed(machine, ("engines", key), changes)
        more = [*entries[:-1], {**entries[-1], "banana_split": 1}]
        yield f"engines.{key}, unknown key", changed(machine, ("engines", key), more)
    for key in ("queues", "kinds"):
        yield f"no engines.{key}", changed(machine, ("engines", key), [])
    gap = [{**engines["kinds"][0], "item_gap": 1}, *engines["kinds"][1:]]
    yield "a gap of a read", changed(machine, ("engines", "kinds"), gap)
    yield "an unknown key", changed(machine, ("engines", "banana_split"), 1)


def optional_words(machine, with_modes):
    """(what, machine, is it good) of the words that a file may leave out."""
    energy = machine["energy"]
    few = {"technology": "16nm", "dram": "ddr4"}
    yield "two words of energy", changed(machine, ("energy",), few), True
    yield "a number beside them", changed(machine, ("energy",), {**few, "mac_pj": 1}), True
    yield "all numbers and a node", changed(machine, ("energy", "technology"), "7nm"), True
    yield "custom and all numbers", changed(machine, ("energy", "technology"), "custom"), True
    yield "custom alone", changed(machine, ("energy",), {"technology": "custom"}), False
    yield "no known node", changed(machine, ("energy",), {**few, "technology": "27nm"}), False
    yield "no known DRAM", changed(machine, ("energy",), {**few, "dram": "ddr9"}), False
    without = {k: v for k, v in energy.items() if k != "mac_pj"}
    yield "a number is missing", changed(machine, ("energy",), without), False
    modes = [{k: v for k, v in m.items() if k != "mac_pj"} for m in with_modes["types"]["modes"]]
    no_prices = changed(with_modes, ("types", "modes"), modes)
    yield "modes without energies", no_prices, False
    yield "modes with a node", changed(no_prices, ("energy",), few), True
    for bus, good in (("shared", True), ("separate", True), ("both", False), (1, False)):
        yield f"a bus that is {bus}", changed(machine, ("dram", "bus"), bus), good
    yield (
        "the other template by its name",
        changed(machine, ("array", "template"), "systolic"),
        True,
    )
    yield "dot products without keys", changed(machine, ("array", "template"), "dot_product"), False
    yield "no known template", changed(machine, ("array", "template"), "dot"), False
    yield "a key of dot products", changed(machine, ("array", "stripe"), 16), False
    yield "lanes by their name", changed(machine, ("vector", "template"), "lanes"), True
    yield "units without keys", changed(machine, ("vector", "template"), "units"), False
    yield "no known vector unit", changed(machine, ("vector", "template"), "unit"), False
    yield "a key of units", changed(machine, ("vector", "pool_banks"), 8), False
    for lanes, good in ((0, True), (65536, True), (65537, False), (-1, False), (1.5, False)):
        yield f"{lanes} mac lanes", changed(machine, ("vector", "mac_lanes"), lanes), good
    for rows, good in ((1, True), (2, True), (0, False), (1025, False), (1.5, False)):
        yield f"{rows} rows a fill", changed(machine, ("array", "fill_rows"), rows), good
    for part, good in ((0, True), (0.44, True), (1, True), (1.01, False), (-0.1, False)):
        for key in ("zeros", "zero_saves"):
            yield f"{key} of {part}", changed(machine, ("energy", key), part), good


class Program:
    def __init__(self, accsim, folder):
        self.accsim, self.file = accsim, pathlib.Path(folder) / "machine.yaml"

    def errors(self, machine):
        self.file.write_text(yaml.safe_dump(machine, sort_keys=False))
        done = subprocess.run(
            [self.accsim, "hw", "check", self.file], capture_output=True, text=True, check=False
        )
        if done.returncode not in (0, 2):
            sys.exit(f"accsim hw check ended with {done.returncode}: {done.stderr}")
        return done.stderr if done.returncode else ""


def main():
    schema = json.loads((CONFIGS / "hw.schema.json").read_text())
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    problems, refused = [], 0
    machines = {p.stem: yaml.safe_load(p.read_text()) for p in sorted(CONFIGS.glob("*.yaml"))}
    if len(machines) < 8:
        problems.append(f"only {len(machines)} machines in {CONFIGS}")
    for name, machine in machines.items():
        problems += [f"{name}: {e.message}" for e in validator.iter_errors(machine)]
    named = set()
    with tempfile.TemporaryDirectory() as folder:
        program = Program(sys.argv[1], folder)
        for name in ("8x8", "64x64-hbm-banked"):
            machine = machines[name]
            named |= {".".join(path) for path, _ in leaves(machine)}
            if errors := program.errors(machine):
                problems.append(f"{name}: refused as written by PyYAML: {errors}")
            others = broken_modes(machines["64x64-modes"]) if name == "8x8" else ()
            for what, bad in (*broken(machine), *others):
                refused += 1
                if validator.is_valid(bad):
                    problems.append(f"{name}, {what}: the schema has nothing against it")
                if not program.errors(bad):
                    problems.append(f"{name}, {what}: accsim has nothing against it")
            for path, _ in leaves(machine):
                for end in RANGES.get(".".join(path), ()):
                    edge = changed(machine, path, end)
                    if not validator.is_valid(edge) or "out of range" in program.errors(edge):
                        problems.append(
                            f"{name}: {'.'.join(path)} of {end} is refused as out of range"
                        )
        engine = yaml.safe_load((CONFIGS / "known/nvdla-nv-small.yaml").read_text())
        if program.errors(engine) or not validator.is_valid(engine):
            problems.append("nvdla-nv-small is refused")
        for what, bad in (*broken_engine(engine), *broken_units(engine)):
            if validator.is_valid(bad):
                problems.append(f"dot products, {what}: the schema has nothing against it")
            if not program.errors(bad):
                problems.append(f"dot products, {what}: accsim has nothing against it")
        vta = yaml.safe_load((CONFIGS / "known/vta-16x16.yaml").read_text())
        for machine in (vta, changed(vta, ("engines",), None)):
            if program.errors(machine) or not validator.is_valid(machine):
                problems.append("vta-16x16 is refused")
        for what, bad in broken_tokens(vta):
            if validator.is_valid(bad):
                problems.append(f"{what}: the schema has nothing against it")
            if not program.errors(bad):
                problems.append(f"{what}: accsim has nothing against it")
        for what, machine, good in optional_words(machines["8x8"], machines["64x64-modes"]):
            if validator.is_valid(machine) != good:
                problems.append(f"{what}: the schema says {not good}")
            if bool(program.errors(machine)) == good:
                problems.append(f"{what}: accsim says {not good}")
    if missing := (set(RANGES) | set(WORDS) | {"array.dataflows"}) ^ named:
        problems.append(f"keys in this test and keys of machines differ: {sorted(missing)}")
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{len(machines)} machines, {refused} broken ones")
    return 1 if problems or refused < 300 else 0


if __name__ == "__main__":
    sys.exit(main())
