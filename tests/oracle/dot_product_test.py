#!/usr/bin/python3
"""The dot-product template of docs/dot-product.md against measured layers of NVDLA's nv_small.

Usage: dot_product_test.py [unittest arguments], or dot_product_test.py compare, which prints every
row. Rows are those of validation/tables/: convolutions of the vendor's traces, of networks and of
random shapes, and layers cut into parts. Are cycles and events right, do the stepped and the closed
form agree, do the latencies come from the rows that the page names, is every field seen, and is the
buffer divided as the rows say?
"""

import csv
import functools
import pathlib
import random
import sys
import unittest
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

from dot_product import simulate
from dot_product_division import Convolution, divide
from dot_product_division import layers as divided
from dot_product_periods import cost
from dot_product_work import Engine, Layer, Times, stripes

TABLES = pathlib.Path(__file__).resolve().parents[2] / "validation" / "tables"
FILES = ("nvdla_nv_small_layers.csv", "nvdla_nv_small_rtl.csv")
MEAN, WORST = 0.005, 0.08  # percent: the figures of the page, rounded up
STEPPED = 200_000  # cycles of the longest row that is stepped one by one
MACHINES, SEED = 250, 1
SMALL = Engine()


@dataclass(frozen=True)
class Row:
    """A measured convolution: its layer, cycles and events."""

    file: str
    name: str
    layer: Layer
    events: dict[str, int]

    def __getitem__(self, event: str) -> int:
        return self.events[event]


EVENTS = {
    "first_read": "first_read_request",
    "last_read": "last_read_request",
    "last_weight_read": "last_weight_read",
    "last_feature_read": "last_data_read",
    "first_write": "first_write",
    "last_write": "cycles",
}
COLUMNS = ("W", "H", "C", "K", "S", "R", "OW", "OH", "data_banks", "weight_banks")  # as of Layer


def table(file: str) -> Iterator[dict[str, str]]:
    with open(TABLES / file, encoding="utf-8") as text:
        yield from csv.DictReader(line for line in text if not line.startswith("#"))


@functools.cache
def rows() -> dict[str, Row]:
    """All convolutions of the two tables, by name."""
    found = {}
    for file in FILES:
        for line in table(file):
            if line["unit"] == "dc" and line["result"] == "PASS":
                layer = Layer(*(int(line[column]) for column in COLUMNS))
                events = {event: int(line[column]) for event, column in EVENTS.items()}
                found[line["trace"]] = Row(file, line["trace"], layer, events)
    return found


@functools.cache
def predicted(name: str, engine: Engine = SMALL) -> Times:
    return cost([rows()[name].layer], engine)[0]


def error(name: str, engine: Engine = SMALL) -> float:
    """Predicted over measured cycles to the last write, less one, in percent."""
    return 100 * (predicted(name, engine).last_write / rows()[name]["last_write"] - 1)


def parts(width: int, lines: list[int], channels: int, kernels: int, banks: str) -> list[Layer]:
    """The parts of a 1x1 layer that is cut by lines; the first reads the weights."""
    division = tuple(int(n) for n in banks.split("+"))
    return [
        Layer(
            width, n, channels, kernels, 1, 1, width, n, *division, part < len(lines) - 1, part > 0
        )
        for part, n in enumerate(lines)
    ]


# Lines of each part: all that fit, then the rest (width 112, 56 and 56, as high).
CUT = {
    "mbv2_b1_project_all_parts_reuse": (112, [35, 35, 35, 7], 32, 16),
    "resnet50_l1_1_conv1_all_parts_reuse": (56, [8] * 7, 256, 64),
    "mbv2_b2_project_all_parts_reuse": (56, [23, 23, 10], 96, 24),
}


def sequences() -> Iterator[tuple[str, list[Layer], list[int]]]:
    """Layers cut into parts: name, parts, cycle of the last write of each."""
    for line in table("nvdla_nv_small_sequences.csv"):
        layers = parts(*CUT[line["name"]], line["banks"])
        yield line["name"], layers, [int(cycle) for cycle in line["last_write_each"].split()]


def draw(rng: random.Random) -> tuple[Engine, list[Layer]]:
    """A machine unlike nv_small, and one to three layers in sequence."""
    stripe = rng.choice([4, 8, 16])
    engine = Engine(
        atom_channels=rng.choice([4, 8, 16, 32]),
        atom_kernels=rng.choice([4, 8, 16]),
        element_bytes=rng.choice([1, 2]),
        stripe=stripe,
        short_stripe=stripe // 2,
        block_cycles=rng.choice([1, 4, 8, 16]),
        kernel_cycles=rng.randint(1, 2),
        entry_bytes=rng.choice([8, 16, 32]),
        bank_entries=64,
        spare_entries=rng.choice([0, 8]),
        burst_entries=rng.choice([1, 4, 8]),
        request_interval=rng.randint(1, 3),
        read_latency=rng.randint(1, 60),
        places=rng.choice([stripe, stripe + 3, 2 * stripe, 4 * stripe]),
        atom_cycles=rng.randint(1, 12),
        weight_start=rng.randint(0, 40),
        feature_start=rng.randint(0, 40),
        issue_to_atom=rng.randint(0, 50),
        load_to_entries=rng.randint(0, 47),  # before features of the next layer are read
    )
    banks, kept, layers = (rng.randint(1, 8), rng.randint(1, 8)), rng.random() < 0.3, []
    number = rng.choice([1, 1, 2, 3])
    for place in range(number):
        sizes = [rng.randint(1, most) for most in (9, 9, 60, 50, 3, 3, 9, 9)]
        if not kept and rng.random() < 0.2:
            banks = rng.randint(1, 8), rng.randint(1, 8)
        layers.append(Layer(*sizes, *banks, kept and place < number - 1, kept and place > 0))
    return engine, layers


class Measured(unittest.TestCase):
    """The figures of docs/dot-product.md, "Against the RTL"."""

    def test_are_cycles_to_the_last_write_right(self):
        for file in FILES:
            errors = [abs(error(r.name)) for r in rows().values() if r.file == file]
            self.assertTrue(errors, file)
            self.assertLessEqual(sum(errors) / len(errors), MEAN, file)
            self.assertLessEqual(max(errors), WORST, file)

    def test_are_events_where_they_were_seen(self):
        """First reads and last reads of features to the cycle. The others follow the cycle in which
        the features are there, which is up to 5 early (page, "What is left")."""
        for row in rows().values():
            times = predicted(row.name)
            for event in ("first_read", "last_feature_read"):
                self.assertEqual(getattr(times, event), row[event], (row.name, event))
            for event in ("last_read", "last_weight_read", "first_write", "last_write"):
                late = row[event] - getattr(times, event)
                self.assertTrue(0 <= late <= 5, (row.name, event, late))

    def test_are_layers_cut_into_parts_right(self):
        for name, layers, measured in sequences():
            times = cost(layers, SMALL)
            self.assertEqual(len(times), len(measured), name)
            for part, cycle in zip(times, measured):
                self.assertAlmostEqual(part.last_write / cycle, 1, delta=WORST / 100, msg=name)

    def test_is_every_field_seen(self):
        """A machine with one field changed isn't the one that was measured: some row says so."""
        seen = [row.name for row in rows().values() if row["last_write"] < 110_000]
        elsewhere = {"layer_to_reads"}  # of sequences
        for field in fields(Engine):
            engine = replace(SMALL, **{field.name: max(1, getattr(SMALL, field.name) * 2)})
            if field.name == "stripe":
                engine = replace(SMALL, stripe=8)
            with self.subTest(field=field.name):
                changed = field.name in elsewhere
                for name in seen:
                    try:
                        changed |= predicted(name, engine) != predicted(name)
                    except ValueError:
                        changed = True
                self.assertTrue(changed)
        _, layers, measured = next(sequences())
        late = cost(layers, replace(SMALL, layer_to_reads=1000))[-1].last_write
        self.assertGreater(late, 1.001 * measured[-1])


class TwoForms(unittest.TestCase):
    """dot_product.py steps events, dot_product_periods.py skips what repeats."""

    def test_do_they_agree_on_measured_layers(self):
        for row in rows().values():
            if row["last_write"] <= STEPPED:
                self.assertEqual(simulate([row.layer], SMALL), [predicted(row.name)], row.name)

    def test_do_they_agree_on_layers_cut_into_parts(self):
        for name, layers, _ in sequences():
            if name.startswith("mbv2_b2"):
                self.assertEqual(simulate(layers, SMALL), cost(layers, SMALL), name)

    def test_do_they_agree_on_any_machine(self):
        rng, compared, refused = random.Random(SEED), 0, 0
        while compared < MACHINES:
            engine, layers = draw(rng)
            try:
                stepped = simulate(layers, engine)
            except ValueError as said:
                with self.assertRaises(ValueError) as closed:
                    cost(layers, engine)
                self.assertEqual(str(closed.exception), str(said))
                refused += 1
                continue
            self.assertEqual(stepped, cost(layers, engine), (engine, layers))
            compared += 1
        self.assertGreater(refused, 0)

    def test_is_a_full_stripe_as_long_as_the_page_says(self):
        """Section "In closed form": the longer of its blocks and of the way of its atoms."""
        for blocks in (1, 5, 11, 12, 40):
            layer = Layer(1, 1, 8 * blocks, 8, 1, 1, 16, 1, 16, 16)
            once, more = (
                cost([replace(layer, out_height=n)], SMALL)[0].last_write for n in (20, 30)
            )
            self.assertEqual(more - once, 10 * max(16 * blocks, 15 * 9 + 36 + 11), blocks)


class Rules(unittest.TestCase):
    """What the page states beside the cycles."""

    def test_are_stripes_cut_as_the_page_says(self):
        cut = {1: (1,), 16: (16,), 17: (8, 9), 31: (8, 8, 15), 32: (16, 16), 49: (16, 16, 8, 9)}
        for outputs, lengths in cut.items():
            self.assertEqual(stripes(outputs, SMALL), lengths)

    def test_is_what_does_not_fit_refused(self):
        layer = Layer(32, 32, 64, 64, 3, 3, 32, 32, 16, 9)
        for change in ({"feature_banks": 15}, {"weight_banks": 1}, {"channels": 65}):
            for form in (simulate, cost):
                with self.assertRaises(ValueError):
                    form([replace(layer, **change)], SMALL)
        with self.assertRaises(ValueError):
            cost([replace(layer, weight_banks=8, keeps_weights=True)], SMALL)
        with self.assertRaises(ValueError):
            cost([layer], replace(SMALL, places=15))


class Latencies(unittest.TestCase):
    """Section "Where the latencies come from": each from the event columns of one row."""

    def test_are_reads_begun_so_late(self):
        row = rows()["dc_1x1x8_1x1x8x1_int8_0"]  # 1 entry of features, 16 of weights
        self.assertEqual(row["first_read"], SMALL.weight_start)
        self.assertEqual(row["last_feature_read"], SMALL.feature_start)

    def test_is_the_way_from_answer_to_write_so_long(self):
        """Weights come last: one block, of a kernel that is loaded in two cycles."""
        row = rows()["dc_1x1x8_1x1x8x1_int8_0"]
        answer = row["last_weight_read"] + SMALL.read_latency
        way = row["first_write"] - answer - SMALL.load_cycles
        self.assertEqual(way, SMALL.issue_to_atom + SMALL.atom_to_write)

    def test_do_features_take_so_much_longer(self):
        """Features come last: 16 blocks of 16 cycles, one kernel."""
        row = rows()["own_rnd_7_6_14x29x1_4x4x1_s22_d11"]
        answer = row["last_feature_read"] + SMALL.read_latency
        way = row["first_write"] - answer - SMALL.load_cycles - 15 * 16
        self.assertEqual(way - SMALL.issue_to_atom - SMALL.atom_to_write, SMALL.feature_latency)

    def test_is_a_place_free_so_late(self):
        """8 groups of 4 stripes of 16, whose 4 blocks are shorter than the way of the atoms."""
        row = rows()["own_resnet8_s3_short"]
        stripe, left = divmod(row["last_write"] - row["first_write"] - 15 * SMALL.atom_cycles, 31)
        self.assertEqual(left, 0)
        way = stripe - 15 * SMALL.atom_cycles
        self.assertEqual(way, SMALL.issue_to_atom + SMALL.atom_to_place)

    def test_are_entries_of_weights_free_so_late(self):
        """Two groups of 120 blocks in 9 stripes of 16, one of 8, one of 16. 1920 entries, of which
        1544 are asked for before the first group's are free."""
        row = rows()["dc_13x15x64_5x3x64x16_int8_0"]
        way = SMALL.issue_to_atom + SMALL.atom_to_write
        first_stripe = row["first_write"] - way  # its last block's issue
        short_stripe = first_stripe + 8 * 120 * 16 + 16 + 119 * 8
        last_load = short_stripe + 8 + 118 * 16
        again = row["last_weight_read"] - (1920 - 1544 - 1) * SMALL.request_interval
        self.assertEqual(again - last_load, SMALL.load_to_entries)

    def test_does_the_next_layer_read_so_late(self):
        """The second part is the first without its 288 entries of weights."""
        name, layers, (first, second, _) = next(s for s in sequences() if "b2" in s[0])
        weights, interval = 288, SMALL.request_interval
        begin = second - (first - SMALL.weight_start - weights * interval)
        last_issue = first - 15 * SMALL.atom_cycles - SMALL.issue_to_atom - SMALL.atom_to_write
        self.assertEqual(begin - (last_issue + 16), SMALL.layer_to_reads, (name, layers[0]))


# Layers that the rows have one or two parts of: height of input and output, of the whole layer.
WHOLE = {
    "own_mbv2_b1_project": (112, 112),
    "own_resnet50_l2_0_conv2": (56, 28),
    "own_resnet50_l3_1_conv1": (14, 14),
    "own_resnet50_l1_0_conv2": (56, 56),
    "own_mbv2_b2_expand": (112, 112),
    "own_alexnet_conv1": (227, 55),
    "own_resnet50_conv1": (224, 112),
    "own_vgg16_conv2_1": (112, 112),
}


class Division(unittest.TestCase):
    """Section "Division of the buffer"."""

    def test_is_the_buffer_divided_as_the_rows_say(self):
        seen = 0
        for line in table(FILES[0]):
            size = {name: int(line[name]) for name in (*COLUMNS, "stride_y", "dil_y", "pad_t")}
            name, _, part = line["trace"].partition("_part")
            whole = name.removesuffix("_mid").removesuffix("_last")
            height, out = WHOLE[whole] if part else (size["H"], size["OH"])
            pad = 1 if whole == "own_resnet50_l1_0_conv2" else size["pad_t"]  # of its first part
            pad = 3 if whole == "own_resnet50_conv1" else pad
            reach = (size["R"] - 1) * size["dil_y"] + 1
            sizes = [size["W"], height, *(size[c] for c in ("C", "K", "S", "R", "OW")), out]
            layer = Convolution(*sizes, size["stride_y"], reach, pad)
            banks = size["data_banks"], size["weight_banks"]
            self.assertEqual(divide(layer, SMALL), (line["op"], *banks), line["trace"])
            number, of = (int(n) for n in part.split("of")) if part else (1, 1)
            made = divided(layer, SMALL)
            self.assertEqual(len(made), of, line["trace"])
            self.assertEqual(made[number - 1], rows()[line["trace"]].layer, line["trace"])
            seen += 1
        self.assertEqual(seen, 79)


def compare() -> None:
    """A line per row, then mean and worst error by file."""
    for row in rows().values():
        times = predicted(row.name)
        events = " ".join(f"{e} {getattr(times, e) - row[e]:+d}" for e in EVENTS)
        print(f"{row.name} measured {row['last_write']} {error(row.name):+.4f} % ({events})")
    for name, layers, measured in sequences():
        off = 100 * (cost(layers, SMALL)[-1].last_write / measured[-1] - 1)
        print(f"{name} measured {measured[-1]} {off:+.4f} %")
    for file in FILES:
        errors = [abs(error(r.name)) for r in rows().values() if r.file == file]
        mean, exact = sum(errors) / len(errors), sum(e == 0 for e in errors)
        print(f"{file}: {len(errors)} rows, {exact} exact", end=", ")
        print(f"mean {mean:.4f} %, worst {max(errors):.4f} %")


if __name__ == "__main__":
    if sys.argv[1:] == ["compare"]:
        compare()
    else:
        unittest.main()
