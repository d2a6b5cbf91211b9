"""Checks dot_array.sv against the golden: cocotb. The runner (../run) starts it with

    +vectors=DIR   what `accsim vectors --level tile` has written
    +seed=N        of the traffic

Sends each tile's weights and activations, and compares every sum that leaves the array. Fails at
the first difference."""

import json
import pathlib

import cocotb
import numpy
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

PATIENCE = 1000  # cycles in which nothing moves


class Traffic:
    """When each port is busy: a generator (xorshift32) that all benches share."""

    def __init__(self, seed):
        self.state, self.cycle = seed, 0

    def next(self):
        """Once per cycle: is a result taken, is something offered? Of 128 cycles the first half
        takes few results, the second half many."""
        self.state ^= self.state << 13 & 0xFFFFFFFF
        self.state ^= self.state >> 17
        self.state ^= self.state << 5 & 0xFFFFFFFF
        few = self.cycle // 64 % 2 == 0
        self.cycle += 1
        return (self.state % 4 == 0) == few, self.state // 4 % 4 != 0


class Vectors:
    """The golden's tiles, as files have them."""

    def __init__(self, folder):
        folder = pathlib.Path(folder)
        self.matrices = {
            name: numpy.load(folder / f"{name}.npy", mmap_mode="r") for name in ("a", "b", "sums")
        }
        self.lines = (folder / "tiles.jsonl").read_text("utf-8").splitlines()
        machine = json.loads((folder / "manifest.json").read_text("utf-8"))["machine"]
        self.slot_rows = machine["accumulator_rows"]

    def rows(self, tile, name, columns):
        first, count = tile[name]
        return self.matrices[name][first : first + count, :columns]

    def tiles(self):
        for line in self.lines:
            tile = json.loads(line)
            tile["a"] = self.rows(tile, "a", tile["k"])
            tile["b"] = self.rows(tile, "b", tile["n"])
            tile["sums"] = self.rows(tile, "sums", tile["n"])
            tile["row"] = tile["slot"] * self.slot_rows + tile["accumulator_row"]
            yield tile


class Bench:
    def __init__(self, dut, seed):
        self.dut, self.traffic = dut, Traffic(seed)
        self.kernel = self.row = self.result = 0  # of the tile, so far
        self.weights_wait = self.row_waits = False

    async def reset(self):
        self.dut.rst_ni.value = 0
        for port in ("weight_valid_i", "act_valid_i", "sum_ready_i"):
            getattr(self.dut, port).value = 0
        cocotb.start_soon(Clock(self.dut.clk_i, 2, "step").start())
        for _ in range(2):
            await FallingEdge(self.dut.clk_i)
        self.dut.rst_ni.value = 1

    async def check(self, tile):
        if tile["k"] > int(self.dut.Lanes.value) or tile["n"] > int(self.dut.Kernels.value):
            raise ValueError("a tile is larger than the array; is its machine weight stationary?")
        self.tile = tile
        self.kernel = self.row = self.result = idle = 0
        while self.result < tile["m"]:
            idle = 0 if await self.cycle() else idle + 1
            if idle == PATIENCE:
                self.fail(f"no result in {PATIENCE} cycles")

    async def cycle(self):
        """From falling edge to falling edge; does something move? What is offered stays until it
        is taken. The array's ready and valid follow from registers alone: they are known here."""
        dut, tile = self.dut, self.tile
        takes, offers = self.traffic.next()
        dut.sum_ready_i.value = int(takes)
        if offers and not self.weights_wait and self.kernel < tile["n"]:
            self.offer_weights()
        elif offers and not self.row_waits and self.kernel == tile["n"] and self.row < tile["m"]:
            self.offer_row()
        weights = self.weights_wait and dut.weight_ready_o.value == 1
        row = self.row_waits and dut.act_ready_o.value == 1
        result = takes and dut.sum_valid_o.value == 1
        if result:
            self.check_row()
        await FallingEdge(dut.clk_i)
        if weights:
            self.weights_wait, self.kernel = False, self.kernel + 1
            dut.weight_valid_i.value = 0
        if row:
            self.row_waits, self.row = False, self.row + 1
            dut.act_valid_i.value = 0
        return weights or row or result

    def offer_weights(self):
        self.weights_wait = True
        self.dut.weight_valid_i.value = 1
        self.dut.weight_last_i.value = int(self.kernel == self.tile["n"] - 1)
        self.dut.weight_data_i.value = packed(self.tile["b"][:, self.kernel])

    def offer_row(self):
        self.row_waits = True
        self.dut.act_valid_i.value = 1
        self.dut.act_accumulate_i.value = int(self.tile["accumulate"])
        self.dut.act_row_i.value = self.tile["row"] + self.row
        self.dut.act_data_i.value = packed(self.tile["a"][self.row])

    def check_row(self):
        if self.result == self.tile["m"]:
            self.fail("a result too many")
        port = self.dut.sum_data_o.value
        mine = numpy.frombuffer(port.integer.to_bytes(port.n_bits // 8, "little"), "<i4")
        golden = self.tile["sums"][self.result]
        for column in numpy.flatnonzero(mine[: len(golden)] != golden):
            self.fail(f"{mine[column]}, golden {golden[column]}", f", column {column}")
        self.result += 1

    def fail(self, what, column=""):
        name = self.tile["name"]
        text = f"tile {self.tile['tile']} ({name}): row {self.result}{column}: {what}"
        print(text, flush=True)
        raise AssertionError(text)


def packed(row):
    """Signed bytes as the ports have them, the first in the lowest bits."""
    return int.from_bytes(row.astype(numpy.int8).tobytes(), "little")


@cocotb.test()
async def are_all_sums_the_goldens(dut):
    arguments = cocotb.plusargs
    bench = Bench(dut, int(arguments["seed"]))
    await bench.reset()
    tiles = sums = 0
    for tile in Vectors(arguments["vectors"]).tiles():
        await bench.check(tile)
        tiles, sums = tiles + 1, sums + tile["sums"].size
    for _ in range(PATIENCE):  # nothing more comes after the last tile
        await bench.cycle()
    print(f"{tiles} tiles, {sums} sums: all equal", flush=True)
