"""Recomputes a folder of vectors from what docs/vectors.md says, and from nothing else: runs its
commands on the memory that it begins with and compares operands, sums, bytes and addresses with
what the folder has, and memory in the end. Row commands and stages aren't known here.

Usage: vectors_reader.py FOLDER..."""

import json
import pathlib
import re
import sys

import numpy as np


class Difference(Exception):
    """A number of the folder isn't what its page says."""


def same(name, what, mine, given):
    mine, given = np.asarray(mine), np.asarray(given)
    if mine.shape != given.shape:
        raise Difference(f"{name}: {what} has the shape {given.shape}, not {mine.shape}")
    if (mine != given).any():
        at = tuple(int(i[0]) for i in np.nonzero(mine != given))
        raise Difference(f"{name}: {what} at {at} is {given[at]}, not {mine[at]}")


def round_shift(values, shift):
    """Halves away from zero; int64, of which the formulas leave room."""
    magnitude = np.abs(values)
    half = np.where(shift > 0, np.left_shift(1, np.maximum(shift - 1, 0)), 0)
    return np.sign(values) * np.right_shift(magnitude + half, shift)


class Folder:
    """The files of a folder."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.manifest = json.loads((self.path / "manifest.json").read_text())
        self.arrays = {
            f["name"]: np.load(self.path / f"{f['name']}.npy") for f in self.manifest["files"]
        }
        for file in self.manifest["files"]:
            shape = (file["count"],) if "count" in file else (file["rows"], file["columns"])
            array = self.arrays[file["name"]]
            if array.shape != shape or array.dtype != file["type"]:
                raise Difference(f"{file['name']}: {array.dtype} {array.shape} isn't {file}")

    def lines(self, name):
        with open(self.path / name, encoding="utf-8") as lines:
            yield from map(json.loads, lines)

    def rows(self, line, name, columns=None, of=None):
        first, count = line[of or name]
        rows = self.arrays[name][first : first + count]
        if columns is None:
            return rows
        if rows[:, columns:].any():
            raise Difference(f"{line['name']}: {name} isn't 0 beyond column {columns}")
        return rows[:, :columns]


class Machine:
    """Slots and memory, as far as the page tells of them."""

    def __init__(self, folder):
        self.folder = folder
        machine = folder.manifest["machine"]
        self.buffers = {
            name: [np.zeros(b["slot_bytes"], np.uint8) for _ in range(b["slots"])]
            for name, b in machine["buffers"].items()
        }
        shape = (machine["accumulator_rows"], machine["columns"])
        slots = machine["buffers"]["accumulator"]["slots"]
        self.sums = [np.zeros(shape, np.int64) for _ in range(slots)]
        self.array = np.zeros((machine["rows"], machine["columns"]), np.int64)
        self.tables = {}
        self.tensors = folder.manifest["tensors"]
        self.memory = {
            t["tensor"]: np.load(folder.path / f"{t['before']}.npy") for t in self.tensors
        }

    # ---- memory ----

    def tensor_at(self, number, address):
        """Offset in a tensor of an address; another's is an error."""
        tensor = self.tensors[number]
        if not 0 <= address - tensor["base"] < tensor["bytes"]:
            raise Difference(f"address {address} isn't in {tensor['name']}")
        return address - tensor["base"]

    @staticmethod
    def run_starts(fields, items=None):
        """Addresses of a walk's runs, in order."""
        starts = np.array([(fields["addr_hi"] << 32) + fields["addr_lo"]])
        for level in reversed(range(6)):
            if level == 5 and items is not None:
                steps = items
            else:
                steps = np.arange(fields["count"][level]) * fields["stride"][level]
            starts = (starts[:, None] + steps[None, :]).ravel()
        return starts

    def places(self, line, items=None):
        """Indices in its tensor of all bytes of a load or store, a row per run."""
        starts = self.run_starts(line["fields"], items)
        run = line["fields"]["run"]
        for end in (starts.min(), starts.max() + run - 1):
            self.tensor_at(line["tensor"], int(end))
        return starts[:, None] - self.tensors[line["tensor"]]["base"] + np.arange(run)[None, :]

    # ---- commands ----

    def load(self, line):
        f, items = line["fields"], None
        if f["flags.gather"]:
            slot = self.buffers["parameter"][line["reads"]["parameter"]]
            count = f["count"][5]
            words = slot[f["index_offset"] : f["index_offset"] + 4 * count].view("<u4")
            items = np.minimum(words.astype(np.int64), f["last_row"]) * f["stride"][5]
        data = self.memory[line["tensor"]][self.places(line, items)]
        if f["flags.transposed"]:
            rows = f["count"][0]
            data = data.reshape(-1, rows, f["run"]).swapaxes(1, 2)
        data = data.ravel()
        slot = self.buffers[line["buffer"]][line["slot"]]
        slot[f["slot_offset"] : f["slot_offset"] + data.size] = data
        same(line["name"], "address", f["slot_offset"], line["address"])
        same(line["name"], "bytes", data, self.folder.rows(line, "bytes"))

    def store(self, line):
        f = line["fields"]
        places = self.places(line)
        slot = self.buffers["output"][line["reads"]["output"]]
        data = slot[f["slot_offset"] : f["slot_offset"] + places.size]
        same(line["name"], "bytes", data, self.folder.rows(line, "bytes"))
        first = self.tensor_at(line["tensor"], (f["addr_hi"] << 32) + f["addr_lo"])
        slots = self.tensors[line["tensor"]].get("slots", 1)
        same(
            line["name"],
            "address",
            first % (self.tensors[line["tensor"]]["bytes"] // slots),
            line["address"],
        )
        self.memory[line["tensor"]][places.ravel()] = data

    def activations(self, line):
        f = line["fields"]
        w = {k.removeprefix("window."): v for k, v in f.items() if k.startswith("window.")}
        slot = self.buffers["activation"][line["reads"]["activation"]].view(np.int8)
        x, y, z = w["first_x"], w["first_y"], w["start_z"]
        element = np.arange(f["k"])
        segment = np.searchsorted(w["seg_end"], element, side="right")
        out = np.empty((f["m"], f["k"]), np.int8)
        for i in range(f["m"]):
            bx, by = x + element + segment * w["seg_x_step"], y + segment * w["seg_y_step"]
            inside = (bx >= 0) & (bx < w["tile_line"]) & (by >= 0) & (by < w["tile_height"])
            inside &= 0 <= z < w["tile_depth"]
            at = (z * w["tile_height"] + by) * w["tile_line"] + bx
            out[i] = np.where(inside, slot[np.where(inside, at, 0)], w["pad"])
            x, y, z = self.next_row(w, x, y, z)
        return out

    @staticmethod
    def next_row(w, x, y, z):
        if x != w["last_x"]:
            return x + w["step_x"], y, z
        if y != w["last_y"]:
            return w["start_x"], y + w["step_y"], z
        return w["start_x"], w["start_y"], z + w["step_z"]

    def weights(self, line):
        f = line["fields"]
        b = {k.removeprefix("blocks."): v for k, v in f.items() if k.startswith("blocks.")}
        slot = self.buffers["weight"][line["reads"]["weight"]]
        turned, narrow = f["flags.input_stationary"], f["flags.narrow_weights"]
        r, c = np.arange(f["k"])[:, None], np.arange(f["n"])[None, :]
        there = np.ones((f["k"], f["n"]), bool)
        row, element = (c + 0 * r, r + 0 * c) if turned else (r + 0 * c, c + 0 * r)
        if b["groups"] > 1 and turned:
            q = b["rows_before"] + r
            there = q // b["group_k"] % b["groups"] == c // b["group_n"]
            element = q // (b["groups"] * b["group_k"]) * b["group_k"] + q % b["group_k"] + 0 * c
        elif b["groups"] > 1:
            number = b["first_group"] * b["group_k"] + b["first_in_group"] + r
            there = number // b["group_k"] % b["groups"] == c // b["group_n"]
            element = c % b["group_n"] + 0 * r
        at = f["weight_offset"] + row * f["weight_pitch"] + (element // 2 if narrow else element)
        bytes_ = slot[np.where(there, at, 0)].astype(np.int64)
        if narrow:
            half = bytes_ >> (element % 2 * 4) & 15
            return np.where(there, (half ^ 8) - 8, 0)
        return np.where(there, (bytes_ ^ 128) - 128, 0)

    def gemm(self, line):
        f = line["fields"]
        a, b = self.activations(line), self.weights(line)
        turned = f["flags.input_stationary"]
        same(line["name"], "a", a, self.folder.rows(line, "a", f["k"]))
        given = self.folder.rows(line, "b", f["k"] if turned else f["n"])
        same(line["name"], "b", b.T if turned else b, given)
        product = a.astype(np.int64) @ b
        product = product.T if turned else product
        if line["sums_in_array"]:
            held = self.array[: product.shape[0], : product.shape[1]]
        else:
            held = self.accumulators(line, product.shape)
        self.add(line, held, product)

    def accumulators(self, line, shape):
        first = line["address"]
        return self.sums[line["slot"]][first : first + shape[0], : shape[1]]

    def add(self, line, held, product):
        held[...] = product + (0 if line["overwrites"] else held)
        held[...] = (held + 2**31) % 2**32 - 2**31
        same(line["name"], "sums", held, self.folder.rows(line, "sums", product.shape[1]))

    def drain(self, line):
        rows = line["sums"][1]
        columns = self.gemm_before["n"]
        held = self.accumulators(line, (rows, columns))
        self.add(line, held, self.array[:rows, :columns])

    def channels(self, line, count):
        slot = self.buffers["parameter"][line["reads"]["parameter"]]
        first = line["fields"]["parameter_offset"]
        words = slot[first : first + 12 * count].copy().view("<i4").reshape(-1, 3)
        same(line["name"], "parameters", words, self.folder.rows(line, "parameters"))
        return words

    def group_multipliers(self, line, channels):
        f, slot = line["fields"], self.buffers["parameter"][line["reads"]["parameter"]]
        count = (f["groups"] - 1) * channels
        data = slot[f["group_offset"] : f["group_offset"] + 2 * count]
        return data.copy().view("<i2").reshape(-1, channels)

    def post(self, line):
        f = line["fields"]
        sums = self.sums[line["reads"]["accumulator"]]
        turned = f["flags.transposed"]
        groups = []
        for g in range(f["groups"]):
            top = f["accumulator_row"] + g * f["group_rows"]
            block = sums[top : top + f["rows"], : f["cols"]]
            groups.append((block.T if turned else block).copy())
        pixels, channels = groups[0].shape
        scale, more = self.channels(line, channels), self.group_multipliers(line, channels)
        slot = self.buffers["output"][line["slot"]].view(np.int8)
        same(line["name"], "address", f["slot_offset"], line["address"])
        at = f["slot_offset"] + np.arange(pixels)[:, None] * f["pitch"] + np.arange(channels)
        others = sum(g * m for g, m in zip(groups[1:], more.astype(np.int64), strict=True))
        slot[at] = self.results(f, groups[0], scale.astype(np.int64), others, slot[at])
        given = self.folder.rows(line, "bytes").view(np.int8).reshape(pixels, channels)
        same(line["name"], "bytes", slot[at], given)

    def results(self, f, total, scale, others, residual):
        bias, multiplier, shift = scale.T
        biased = (total + bias + 2**31) % 2**32 - 2**31
        v = round_shift(biased * multiplier + others, shift) + f["zero"]
        v = np.clip(v, f["low"], f["high"])
        if f["flags.table_on"]:
            v = self.tables["post"][v + 128].astype(np.int64)
        if f["flags.residual"]:
            scaled = (residual.astype(np.int64) - f["residual.zero"]) * f["residual.multiplier"]
            added = v + round_shift(scaled, f["residual.shift"])
            v = np.clip(added, f["sum_limits.low"], f["sum_limits.high"])
        return v

    def set_table(self, line):
        f, post = line["fields"], line["queue"] == "post"
        at = f["parameter_offset"] if post else f["b_offset"]
        slot = self.buffers["parameter"][line["reads"]["parameter"]]
        same(line["name"], "bytes", slot[at : at + 256], self.folder.rows(line, "bytes"))
        self.tables[line["queue"]] = slot[at : at + 256].view(np.int8).copy()

    @staticmethod
    def nest(counts, strides):
        """Offsets of a nest of loops whose index 0 is the innermost, in order."""
        out = np.zeros(1, np.int64)
        for count, stride in zip(reversed(counts), reversed(strides), strict=True):
            out = (out[:, None] + np.arange(count) * stride).ravel()
        return out

    def lane(self, line):
        f = line["fields"]
        m = {k.removeprefix("mode."): v for k, v in f.items() if k.startswith("mode.")}
        run = (f["beats"] - 1) * f["beat"] + f["tail"]
        rows, taps, a_stride = list(f["rows"]), list(f["taps"]), list(f["a_stride"])
        if m["slide"]:
            rows[0] = (taps[1] - m["kept"] - 1) // m["slide"] + 1
            taps[1] = m["kept"] + 1
        element = np.arange(run)
        slot = self.buffers["activation"][line["reads"]["activation"]].view(np.int8)
        first = f["a_offset"] + self.nest(rows, a_stride)[:, None, None]
        at = first + self.nest(taps, f["tap_stride"])[None, :, None] + element
        a = slot[at].astype(np.int64) - f["zeros.a"]  # row, tap, element
        a = a.reshape(a.shape[0], -1, 1) if m["across"] else a
        a = (a.sum, a.min, a.max)[m["tap_op"]](axis=1)
        s = a * f["factors.a"]
        if m["b_on"]:
            b = self.second(line, m, rows, 1 if m["across"] else run)
            scaled = b * f["factors.b"]
            product = a * b * f["factors.a"]
            s = (s, s + scaled, s - scaled, product, np.minimum(s, scaled), np.maximum(s, scaled))[
                m["op"]
            ]
        y = round_shift(s, f["limits.shift"]) + f["zeros.result"]
        y = np.clip(y, f["limits.low"], f["limits.high"])
        if m["table_on"]:
            y = self.tables["vector"][y + 128]
        to = f["out_offset"] + self.nest(rows, f["out_stride"])[:, None] + np.arange(y.shape[1])
        self.buffers["output"][line["slot"]].view(np.int8)[to] = y
        same(line["name"], "address", f["out_offset"], line["address"])
        given = self.folder.rows(line, "bytes").view(np.int8).reshape(y.shape)
        same(line["name"], "bytes", y, given)

    def second(self, line, m, rows, run):
        f = line["fields"]
        buffer = "parameter" if m["b_parameter"] else "activation"
        slot = self.buffers[buffer][line["reads"][buffer]].view(np.int8)
        element = np.arange(run) * (0 if m["b_splat"] else 1)
        return (
            slot[f["b_offset"] + self.nest(rows, f["b_stride"])[:, None] + element].astype(np.int64)
            - f["zeros.b"]
        )

    def run(self):
        known = {"load": self.load, "store": self.store, "gemm": self.gemm, "drain": self.drain}
        known |= {"post": self.post, "table": self.set_table, "lane": self.lane}
        commands = 0
        for line in self.folder.lines("commands.jsonl"):
            if line["kind"] not in known:
                raise NotImplementedError(line["kind"])
            if line["kind"] == "gemm":
                self.gemm_before = line["fields"]
            same(line["name"], "command", commands, line["command"])
            known[line["kind"]](line)
            commands += 1
        same("manifest.json", "commands", commands, self.folder.manifest["commands"])
        for tensor in self.tensors:
            after = np.load(self.folder.path / f"{tensor['after']}.npy")
            same("in the end", tensor["name"], self.memory[tensor["tensor"]], after)
        return commands


def hex_equals_npy(folder):
    """Each .hex says what the .npy beside it says."""
    for path in folder.path.rglob("*.npy"):
        array = np.load(path)
        if array.size == 0:
            continue
        rows = array if array.ndim == 2 else array[:, None]
        text = path.with_suffix(".hex").read_text().split()
        data = np.frombuffer(bytes.fromhex("".join(text)), np.uint8).reshape(rows.shape[0], -1)
        little = np.ascontiguousarray(rows.astype(rows.dtype.newbyteorder("<"))).view(np.uint8)
        same(str(path), "hex", little.reshape(rows.shape[0], -1)[:, ::-1], data)


SECTIONS = {
    "load": "Loads and stores",
    "store": "Loads and stores",
    "stage": "Stages",
    "gemm": "Gemms and drains",
    "post": "Posts and their tables",
    "table": "Posts and their tables",
    "lane": "Lane commands and tables of the vector unit",
    "row": "Row commands",
}


def descriptor_page(text):
    """(section, field) -> (lowest bit, bits, how many, has a sign), as docs/descriptors.md says."""
    out, section = {}, None
    for line in text.splitlines():
        if line.startswith("## "):
            section = line[3:]
        row = re.match(
            r"\| `([\w.]+)`(?:\[(\d+)\])? \| (\d+)(?: \.\. \d+)?(?:, bits? ([\d:]+))? \|", line
        )
        if not row:
            continue
        name, count, word, bits = row.groups()
        high, _, low = (bits or "31:0").partition(":")
        low = low or high
        signed = line.split("|")[3].strip() == "yes"
        out[section, name] = (
            32 * int(word) + int(low),
            int(high) - int(low) + 1,
            int(count or 1),
            signed,
        )
    return out


def words_equal_fields(folder, page):
    """The words of `descriptors` have the fields' numbers at the bits of docs/descriptors.md."""
    words = folder.arrays["descriptors"]
    for line in folder.lines("commands.jsonl"):
        if line["kind"] == "drain":
            continue
        section = SECTIONS[
            line["kind"] if line["queue"] != "vector" or line["kind"] == "row" else "lane"
        ]
        value = sum(int(w) << (32 * i) for i, w in enumerate(words[line["descriptor"]]))
        for name, given in line["fields"].items():
            low, bits, count, signed = page[section, name]
            numbers = [value >> (low + bits * i) & ((1 << bits) - 1) for i in range(count)]
            if signed:
                numbers = [n - (n >> (bits - 1) << bits) for n in numbers]
            same(line["name"], name, numbers if count > 1 else numbers[0], given)


if __name__ == "__main__":
    for given in sys.argv[1:]:
        print(given, Machine(Folder(given)).run(), "commands")
