#!/usr/bin/python3
"""Sweeps end to end: resuming after kill -9, threads, shared stores, shards, the adaptive strategy,
bad input, full disks. Usage: sweep_test.py ACCSIM [--kills N]; CI kills 4 times, by hand 20 is the
figure. WHOLE_GRIDS=1, at night, costs every machine of every shipped sweep."""

import functools
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

from program import ACCSIM, ROOT, patience

try:
    import onnx
    from onnx import TensorProto, helper
except ImportError:
    onnx = None

KILLS = 4
WHOLE_GRIDS = os.environ.get("WHOLE_GRIDS") == "1"
# Rates of DRAM, 35 machines each. Searched machines take 30 ms each, so that these last some
# commits, of which there is one a second.
RATES = {"rule": 24, "search": 12}
KV_WIDTH = 2 * 32  # heads x head of llama_tiny2's keys and values
SPEC = f"""
base: {ROOT}/configs/64x64.yaml
axes:
  act_kib: {{field: buffers.activation.kib, values: [1, 64, 96, 128, 192, 256]}}
  weight_kib: {{field: buffers.weight.kib, values: [4, 32, 64, 128, 192, 256]}}
  dram_gbps:
    range: {{from: 6, to: LAST, step: 2}}
    fields:
      dram.read_bytes_per_cycle: dram_gbps * 2 / 3
      dram.write_bytes_per_cycle: dram_gbps / 3
constraints: [act_kib + weight_kib <= 448]
models:
  - {{file: {ROOT}/models/resnet18_op13.onnx, weight: 2}}
  - {{file: {ROOT}/models/squeezenet1_1_op13.onnx}}
effort: EFFORT
"""
MACHINES = sum(a + w <= 448 for a in (1, 64, 96, 128, 192, 256) for w in (4, 32, 64, 128, 192, 256))
POINTS = RATES["rule"] * MACHINES
SEARCHED = RATES["search"] * MACHINES


def thinned(text):
    """A sweep with every second of its listed values and every fourth step of its ranges."""
    text = re.sub(
        r"values: \[(.*)\]", lambda m: f"values: [{', '.join(m[1].split(', ')[::2])}]", text
    )
    return re.sub(r"step: (\d+)", lambda m: f"step: {4 * int(m[1])}", text)


def run(*args, **kwargs):
    return subprocess.run(
        [str(ACCSIM), "sweep", *map(str, args)],
        capture_output=True,
        text=True,
        timeout=patience(),
        **kwargs,
        check=False,
    )


class SweepTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)

    def spec(self, effort="rule", more=""):
        path = self.dir / f"{effort}.yaml"
        last = 4 + 2 * RATES[effort]
        path.write_text(SPEC.replace("EFFORT", effort).replace("LAST", str(last)) + more)
        return path

    @classmethod
    @functools.cache
    def made(cls, effort):
        """(a store with all of spec(effort), its spec, what was said, the seconds it took), made
        once for all tests that look at it or change a copy of it."""
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        test = cls()
        test.dir = pathlib.Path(folder.name)
        spec, store = test.spec(effort), test.dir / "whole.sqlite"
        start = time.monotonic()
        said = test.good(spec, "--store", store)
        return store, spec, said, time.monotonic() - start

    def ruled(self):
        """A store with all of spec("rule"), the test's own."""
        return pathlib.Path(shutil.copy(self.made("rule")[0], self.dir / "s.sqlite"))

    def good(self, *args, **kwargs):
        done = run(*args, **kwargs)
        self.assertEqual(done.returncode, 0, done.stderr)
        said = re.sub(r"^accsim: [\d,]+ of [\d,]+ points, .*\n", "", done.stderr, flags=re.M)
        self.assertEqual(said, "")
        return done.stdout

    def bad(self, *args, **kwargs):
        done = run(*args, **kwargs)
        self.assertEqual(done.returncode, 2, done.stdout)
        return done.stderr

    def dump(self, store):
        return self.good("show", store, "--dump")

    def count(self, store):
        with sqlite3.connect(store) as db:
            return db.execute("SELECT count(*) FROM points").fetchone()[0]

    def rows_now(self, store):
        """Of a store that may not have its tables yet."""
        try:
            return self.count(store)
        except sqlite3.OperationalError:
            return 0

    def test_any_number_of_threads_gives_the_same_bytes(self):
        spec = self.spec()
        dumps = set()
        for threads in (1, 2, 5):
            store = self.dir / f"{threads}.sqlite"
            self.good(spec, "--store", store, "--threads", threads)
            dumps.add(self.dump(store))
        self.assertEqual(len(dumps), 1)
        self.assertEqual(self.count(store), POINTS)
        # Machines whose weight slot is too small for a tile are stored with the reason.
        with sqlite3.connect(store) as db:
            rows = db.execute(
                "SELECT weight_kib, count(*), min(reason) FROM points WHERE cycles IS NULL "
                "GROUP BY 1"
            ).fetchall()
        self.assertEqual([(w, n) for w, n, _ in rows], [(4, 6 * RATES["rule"])])
        self.assertIn("one slot of the weight buffer", rows[0][2])

    def test_json_and_csv_are_what_is_stored_in_the_columns_asked_for(self):
        store = self.ruled()
        columns = ["dram_gbps", "cycles", "area_mm2"]
        shown = json.loads(self.good("show", store, "--json", "-", "--columns", ",".join(columns)))
        self.assertEqual(shown["schema"], "accsim.sweep/1")
        self.assertEqual([c["name"] for c in shown["columns"]], columns)
        self.assertEqual([c["axis"] for c in shown["columns"]], [True, False, False])
        with sqlite3.connect(store) as db:
            rows = db.execute(
                f"SELECT point, {', '.join(columns)} FROM points WHERE cycles IS NOT NULL "
                "ORDER BY point"
            ).fetchall()
        points = shown["points"]
        self.assertEqual(list(zip(*(points[c] for c in ["point", *columns]), strict=True)), rows)
        front = self.good("show", store, "--csv", "-", "--columns", "cycles").splitlines()
        self.assertEqual(front[0], "point,cycles")
        self.assertEqual([int(line.split(",")[0]) for line in front[1:]], shown["front"])
        whole = self.good("show", store, "--csv", "-").splitlines()
        with sqlite3.connect(store) as db:
            stored = db.execute(
                f"SELECT {whole[0]} FROM points WHERE point IN "
                f"({','.join(map(str, shown['front']))}) ORDER BY point"
            ).fetchall()
        lines = sorted((line.split(",") for line in whole[1:]), key=lambda line: int(line[0]))
        for line, row in zip(lines, stored, strict=True):
            for cell, value in zip(line, row, strict=True):
                self.assertLessEqual(abs(float(cell) - value), abs(value) * 0.51e-6)
                self.assertLessEqual(len(cell.replace(".", "")), max(8, len(str(int(value)))))
        self.assertIn("'x' is no column", self.bad("show", store, "--columns", "x", "--csv", "-"))
        self.assertIn("twice", self.bad("show", store, "--columns", "cycles,cycles", "--csv", "-"))

    def test_is_the_page_of_a_store_whole_without_its_spec(self):
        store, spec, _, _ = self.made("rule")
        data = re.compile(r'id="data"[^>]*>(.*?)</script>', re.DOTALL)
        known = json.loads(data.search(self.good("show", store, "--html", "-"))[1])
        self.assertEqual(list(known["space"]["axes"]), ["act_kib", "weight_kib", "dram_gbps"])
        self.assertEqual(
            known["space"]["axes"]["dram_gbps"]["steps"][0]["sets"]["dram.read_bytes_per_cycle"],
            "4",
        )
        away = spec.rename(self.dir / "away.yaml")
        self.addCleanup(away.rename, spec)
        self.assertEqual(known["space"]["slack"], "", "the rule leaves nothing to choose")
        unknown = json.loads(data.search(self.good("show", store, "--html", "-"))[1])
        self.assertNotIn("space", unknown)
        self.assertEqual(unknown["store"], known["store"])

    def test_is_the_page_of_the_points_that_the_json_has(self):
        store = self.ruled()
        data = re.compile(r'id="data"[^>]*>(.*?)</script>', re.DOTALL)
        page = json.loads(data.search(self.good("show", store, "--html", "-"))[1])["store"]
        exact = json.loads(self.good("show", store, "--json", "-"))

        def unpacked(given):
            if isinstance(given, list):
                return given
            if "all" in given:
                return [given["all"]] * len(exact["points"]["point"])
            return list(range(given["from"], given["from"] + given["count"]))

        self.assertEqual(page["front"], exact["front"])
        self.assertEqual(unpacked(page["points"]["point"]), exact["points"]["point"])
        self.assertIn("all", page["points"]["macs"])
        for column in exact["columns"]:
            shown = unpacked(page["points"][column["name"]])
            told = exact["points"][column["name"]]
            if column["axis"]:
                self.assertEqual(shown, told, column["name"])
            else:
                near = (abs(a - b) <= 5e-7 * abs(b) for a, b in zip(shown, told, strict=True))
                self.assertTrue(all(near), column["name"])

    def test_a_point_agrees_with_a_report_of_the_same_machine(self):
        store = self.ruled()
        with sqlite3.connect(store) as db:
            db.row_factory = sqlite3.Row
            row = db.execute(
                "SELECT * FROM points WHERE act_kib = 96 AND weight_kib = 192 AND dram_gbps = 30"
            ).fetchone()
        text = (ROOT / "configs" / "64x64.yaml").read_text()
        text = re.sub(r"(activation:[^\n]*\n\s+kib: )\d+", r"\g<1>96", text)
        text = re.sub(r"(weight:[^\n]*tiles\n\s+kib: )\d+", r"\g<1>192", text)
        text = re.sub(r"(dram:.*?read_bytes_per_cycle: )[\d.]+", r"\g<1>20", text, flags=re.S)
        text = re.sub(r"(dram:.*?write_bytes_per_cycle: )[\d.]+", r"\g<1>10", text, flags=re.S)
        machine = self.dir / "m.yaml"
        machine.write_text(text)
        cycles = 0
        for name, weight in (("resnet18_op13", 2), ("squeezenet1_1_op13", 1)):
            done = subprocess.run(
                [
                    str(ACCSIM),
                    "--hw",
                    machine,
                    ROOT / "models" / f"{name}.onnx",
                    "--effort",
                    "rule",
                    "--csv",
                    "-",
                ],
                capture_output=True,
                text=True,
                check=False,
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            lines = [line.split(",") for line in done.stdout.splitlines()]
            column = {name: i for i, name in enumerate(lines[0])}
            for line in lines[1:]:
                cycles += weight * int(line[column["cycles"]] or 0)
        self.assertEqual(row["cycles"], cycles)

    def test_killed_at_random_moments_and_resumed_nothing_differs(self):
        spec, store = self.spec("search"), self.dir / "killed.sqlite"
        whole, _, _, lasts = self.made("search")
        chance = random.Random(int(os.environ.get("SEED", "1")))
        killed = 0
        for _ in range(KILLS):
            process = subprocess.Popen(
                [str(ACCSIM), "sweep", str(spec), "--store", str(store)],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            time.sleep(chance.uniform(0, max(0.3, 2 * lasts / KILLS)))
            killed += process.poll() is None
            process.send_signal(signal.SIGKILL)
            process.wait()
        self.good(spec, "--store", store)
        self.assertEqual(self.dump(store), self.dump(whole))
        self.assertGreater(killed, 0)
        print(f"killed {killed} times of {KILLS}, {SEARCHED} points", file=sys.stderr)

    def test_a_store_that_is_deleted_meanwhile_is_no_success(self):
        spec, store = self.spec("search"), self.dir / "s.sqlite"
        running = subprocess.Popen(
            [str(ACCSIM), "sweep", str(spec), "--store", str(store), "--threads", "1"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        while not store.exists() or not self.rows_now(store):
            time.sleep(0.01)
        running.send_signal(signal.SIGSTOP)
        for path in self.dir.glob("s.sqlite*"):
            path.unlink()
        running.send_signal(signal.SIGCONT)
        out, said = running.communicate(timeout=patience())
        self.assertEqual((running.returncode, out), (3, ""), said)
        self.assertIn("was deleted, moved or replaced while the sweep ran", said)

    def test_rows_of_others_are_refused(self):
        spec, store = self.spec(), self.ruled()
        with sqlite3.connect(store) as db:
            db.execute(f"UPDATE points SET cycles = 'many' WHERE point = {POINTS // 2}")
        for words in (("show", store), (spec, "--store", store)):
            self.assertIn(f"no such cycles as point {POINTS // 2} has", self.bad(*words))

    def test_a_stored_point_is_never_costed_again(self):
        spec, store = self.spec(), self.ruled()
        self.assertIn(f"{POINTS:,} costed now", self.made("rule")[2])
        self.assertIn(" 0 costed now", self.good(spec, "--store", store))
        with sqlite3.connect(store) as db:
            db.execute("DELETE FROM points WHERE point % 7 = 0")
            left = db.execute("SELECT count(*) FROM points").fetchone()[0]
        self.assertIn(f"{POINTS - left:,} costed now", self.good(spec, "--store", store))

    def test_ctrl_c_ends_cleanly_and_says_how_to_go_on(self):
        spec, store = self.spec("search"), self.dir / "s.sqlite"
        process = subprocess.Popen(
            [str(ACCSIM), "sweep", str(spec), "--store", str(store)],
            stdout=subprocess.PIPE,
            text=True,
        )
        while not store.exists() or time.sleep(0.3):
            time.sleep(0.01)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        out = process.communicate(timeout=patience())[0]
        if process.returncode != 0:  # a fast machine may have been done already
            self.assertEqual(process.returncode, 1)
            self.assertIn("the same command goes on", out)
            self.assertGreater(self.count(store), 0)

    def test_two_processes_share_a_store(self):
        spec, store = self.spec("search"), self.dir / "s.sqlite"
        both = [
            subprocess.Popen(
                [str(ACCSIM), "sweep", str(spec), "--store", str(store), "--threads", "1"],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for _ in range(2)
        ]
        said = [p.communicate(timeout=patience()) for p in both]
        self.assertEqual([p.returncode for p in both], [0, 0], said)
        for out, _ in said:  # each waits for the other
            self.assertIn(f"{SEARCHED:,} of {SEARCHED:,} points stored", out)
        costed = [
            int(re.search(r"([\d,]+) costed now", out)[1].replace(",", "")) for out, _ in said
        ]
        self.assertEqual(sum(costed), SEARCHED, "a point was costed twice, or not at all")
        self.assertGreater(min(costed), SEARCHED // 10, "one process did it all")
        self.assertEqual(self.dump(store), self.dump(self.made("search")[0]))

    def test_what_a_dead_process_had_claimed_is_taken_over(self):
        spec, store = self.spec("search"), self.dir / "s.sqlite"
        whole = self.dump(self.made("search")[0])
        command = [str(ACCSIM), "sweep", str(spec), "--store", str(store), "--threads", "1"]
        killed, other = (
            subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)
        )
        time.sleep(0.4)
        killed.kill()
        killed.communicate()
        out = other.communicate(timeout=patience())[0]
        self.assertEqual(other.returncode, 0)
        self.assertIn(f"{SEARCHED:,} of {SEARCHED:,} points stored", out)
        self.assertEqual(self.dump(store), whole)
        # A node that has failed: its job is started again on another one.
        with sqlite3.connect(store) as db:
            db.execute("DELETE FROM points WHERE point % 7 = 0")
            db.executemany(
                "INSERT INTO claims VALUES (?, 'node17 4711 1234567')",
                [(span,) for span in range(SEARCHED // 17)],
            )
        self.good(spec, "--store", store)
        self.assertEqual(self.dump(store), whole)

    def test_shards_merge_to_the_whole_again_and_again(self):
        spec, whole, out = self.spec(), self.made("rule")[0], self.dir / "out.sqlite"
        shards = [self.dir / f"{i}.sqlite" for i in range(1, 4)]
        self.good(spec, "--store", shards[0], "--shard", "1/3")
        self.good(spec, "--store", shards[1], "--shard", "2/3")
        self.assertIn("shard 3/3 is missing", self.bad("merge", out, *shards[:2]))
        self.assertFalse(out.exists())
        self.good(spec, "--store", shards[2], "--shard", "3/3")
        with sqlite3.connect(shards[2]) as db:
            db.execute("DELETE FROM points WHERE point % 5 = 0")
        self.assertIn("gap: holds", self.bad("merge", out, *shards))
        self.assertIn(
            "of shard 3/3", self.bad(spec, "--store", shards[2]).replace("is of shard", "of shard")
        )
        self.good(spec, "--store", shards[2], "--shard", "3/3")
        for _ in range(2):
            self.assertIn(f"{POINTS:,} points", self.good("merge", out, *shards, shards[0]))
            self.assertEqual(self.dump(out), self.dump(whole))
        twin, untouched = self.dir / "twin.sqlite", self.dir / "untouched.sqlite"
        shutil.copy(shards[1], twin)
        with sqlite3.connect(shards[1]) as db:
            db.execute(
                "UPDATE points SET cycles = cycles + 1 WHERE point = "
                "(SELECT max(point) FROM points WHERE cycles > 0)"
            )
        self.assertIn("overlap", self.bad("merge", out, *shards))
        self.assertEqual(self.dump(out), self.dump(whole))
        self.assertIn("overlap", self.bad("merge", untouched, *shards, twin))
        content = bytearray(twin.read_bytes())
        content[9000:17000] = bytes(8000)
        twin.write_bytes(content)
        self.assertIn("twin.sqlite: is", self.bad("merge", untouched, shards[0], twin, shards[2]))
        self.assertFalse(untouched.exists(), "a merge that can't succeed writes nothing")
        other = self.dir / "other.sqlite"
        self.good(self.spec("search"), "--store", other, "--shard", "1/3")
        self.assertIn("another sweep", self.bad("merge", out, other, *shards[1:]))

    def front(self, spec, text=None):
        """(the front's CSV of a spec, its store, what was said); a text is written there first"""
        if text:
            spec.write_text(text)
        store = self.dir / f"{spec.name}.sqlite"
        said = self.good(spec, "--store", store)
        return self.good("show", store, "--csv", "-"), store, said

    def test_the_adaptive_strategy_finds_the_grids_front_with_a_tenth(self):
        """The front of all of bandwidth.yaml; of the others', which have 28,000 machines, of every
        second value and every fourth step, for the answer to each is another minute."""
        found = 0
        for path in sorted((ROOT / "configs" / "sweeps").glob("*.yaml")):
            text = (
                path.read_text()
                .replace("../../", f"{ROOT}/")
                .replace("../64", f"{ROOT}/configs/64")
            )
            if "strategy: pareto" not in text:
                continue
            found += 1
            front, store, said = self.front(path)
            numbers = [
                int(n.replace(",", "")) for n in re.findall(r"([\d,]+) (?:costed now|bounds)", said)
            ]
            with sqlite3.connect(store) as db:
                (all_points,) = db.execute("SELECT value FROM meta WHERE key = 'points'").fetchone()
            print(
                f"{path.name}: {sum(numbers)} of {all_points} costed "
                f"({100 * sum(numbers) / int(all_points):.1f} %), front {front.count(chr(10)) - 1}",
                file=sys.stderr,
            )
            self.assertTrue(numbers, said)
            self.assertLessEqual(10 * sum(numbers), int(all_points))
            again = self.dir / "again.sqlite"
            self.good(path, "--store", again, "--threads", 1)
            self.assertEqual(self.dump(again), self.dump(store))
            again.unlink()
            if not WHOLE_GRIDS and path.stem != "bandwidth":
                text = thinned(text)
                front, _, _ = self.front(self.dir / f"{path.stem}.thin.yaml", text)
            grid = text.replace("strategy: pareto", "strategy: grid")
            whole, store, _ = self.front(self.dir / f"{path.stem}.grid.yaml", grid)
            self.assertEqual(front, whole)
            self.assertGreater(self.count(store), 150)
        self.assertEqual(found, 3)

    def test_bad_stores_are_refused_with_the_reason(self):
        spec = self.spec()
        self.assertIn(
            "does the folder exist", self.bad(spec, "--store", self.dir / "no" / "s.sqlite")
        )
        store = self.ruled()
        self.assertIn("another sweep", self.bad(self.spec("search"), "--store", store))
        with sqlite3.connect(store) as db:
            db.execute("UPDATE meta SET value = 'accsim 0.0.1' WHERE key = 'version'")
        self.assertIn("was written by accsim 0.0.1", self.bad(spec, "--store", store))
        text = self.dir / "t.sqlite"
        text.write_text("this is no database at all, but long enough to have a header\n" * 50)
        self.assertIn("no intact store", self.bad(spec, "--store", text))
        self.assertIn("no database", text.read_text())
        for offset in range(4096, store.stat().st_size, 4096):
            broken = self.dir / "broken.sqlite"
            content = bytearray(store.read_bytes())
            content[offset : offset + 64] = os.urandom(64)
            broken.write_bytes(content)
            done = run("show", broken, "--dump")
            self.assertIn(done.returncode, (0, 2), "must not crash")
            if offset == 4096 * 4:
                self.assertNotEqual(run(spec, "--store", broken).returncode, 0)
        changes = (
            ("UPDATE meta SET value = 'zz' WHERE key = 'shard'", "no store of"),
            ("DELETE FROM axes", "no store of"),
            ("DROP TABLE claims", "no store of"),
            ("UPDATE meta SET value = '7' WHERE key = 'schema'", "schema 7"),
            ("ALTER TABLE points DROP COLUMN time_us", "its table points is another"),
        )
        for i, (change, message) in enumerate(changes):
            broken = self.dir / f"changed{i}.sqlite"
            shutil.copy(store, broken)
            with sqlite3.connect(broken) as db:
                db.execute(change)
            self.assertIn(message, self.bad("show", broken), change)
        other = self.dir / "other.sqlite"
        with sqlite3.connect(other) as db:
            db.execute("CREATE TABLE photos (name TEXT)")
        self.assertIn("no store of accsim sweep", self.bad(spec, "--store", other))
        self.assertIn("no such file", self.bad("show", self.dir / "nothing.sqlite"))

    def test_a_full_disk_stops_cleanly_and_loses_nothing_committed(self):
        spec, store = self.spec(), self.dir / "s.sqlite"

        def limit():
            return resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))

        def limited():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            limit()

        done = run(spec, "--store", store, preexec_fn=limited)
        self.assertEqual(done.returncode, 2)
        self.assertIn("committed points are kept", done.stderr)
        kept = self.count(store)
        self.assertIn(f"{POINTS - kept:,} costed now", self.good(spec, "--store", store))

    @unittest.skipIf(os.geteuid() != 0, "mounting a small disk needs root")
    def test_a_small_disk_fills_up_and_is_made_larger(self):
        spec, disk, whole = self.spec(), self.dir / "disk", self.made("rule")[0]
        disk.mkdir()
        size = whole.stat().st_size // 2  # how much a log takes beside it depends on the time
        mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(disk)]
        if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
            self.skipTest("mounting isn't allowed here")
        self.addCleanup(subprocess.run, ["umount", str(disk)])
        for _ in range(2):
            self.assertIn(
                "the disk is full; make room", self.bad(spec, "--store", disk / "s.sqlite")
            )
        subprocess.run(["mount", "-o", "remount,size=20m", str(disk)], check=True)
        self.good(spec, "--store", disk / "s.sqlite")
        self.assertEqual(self.dump(disk / "s.sqlite"), self.dump(whole))
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        self.assertEqual(self.dump(disk / "s.sqlite"), self.dump(whole))
        self.assertIn("may it be written", self.bad(spec, "--store", disk / "other.sqlite"))

    def test_shards_that_make_no_sense_are_refused_before_anything_is_written(self):
        spec, pareto = self.spec(), ROOT / "configs" / "sweeps" / "edge.yaml"
        for shard in ("", "0/4", "5/4", "x/y", "1/0", "-1/4", "1/4/5", "1.5/4", "/8"):
            self.assertIn("is not i/n", self.bad(spec, "--shard", shard, cwd=self.dir))
        self.assertIn("can't be cut into shards", self.bad(pareto, "--shard", "1/2", cwd=self.dir))
        self.assertIn(
            "can't be cut into shards", self.bad("submit", pareto, "--nodes", 2, cwd=self.dir)
        )
        self.assertEqual(list(self.dir.iterdir()), [spec])

    def test_nothing_that_can_run_is_an_error(self):
        spec = self.dir / "none.yaml"
        spec.write_text(
            f"base: {ROOT}/configs/64x64.yaml\naxes: {{w: {{field: buffers.weight.kib, "
            f"values: [2, 4]}}}}\nmodels: [{{file: {ROOT}/models/alexnet_op13.onnx}}]\n"
        )
        self.assertIn("none of the 2 machines", self.bad(spec, "--store", self.dir / "s.sqlite"))

    def test_show_answers(self):
        spec, store = self.spec(more="objectives: [cycles, energy, area]\n"), self.dir / "s.sqlite"
        self.good(spec, "--store", store)
        csv = self.good(
            "show", store, "--pareto", "cycles,area", "--where", "dram_gbps<=32", "--csv", "-"
        )
        self.assertEqual(sorted(f.name for f in self.dir.glob("s.sqlite*")), ["s.sqlite"])
        lines = [line.split(",") for line in csv.splitlines()]
        with sqlite3.connect(store) as db:
            rows = db.execute(
                "SELECT point, cycles, area_mm2 FROM points WHERE cycles IS NOT NULL "
                "AND dram_gbps <= 32 ORDER BY point"
            ).fetchall()
        expected = [
            p
            for i, (p, c, a) in enumerate(rows)
            if not any(
                (c2 <= c and a2 <= a and (c2 < c or a2 < a)) or (c2 == c and a2 == a and p2 < p)
                for p2, c2, a2 in rows
            )
        ]
        self.assertEqual(sorted(int(line[0]) for line in lines[1:]), expected)
        text = self.good("show", store)
        for words in (
            "Pareto front of cycles, energy, area",
            "Sensitivity",
            "Best points",
            "least cycles",
        ):
            self.assertIn(words, text)
        self.assertIn("did you mean", self.bad("show", store, "--where", "dram_gps <= 3"))
        self.assertIn("no objective", self.bad("show", store, "--pareto", "speed"))
        self.assertIn("named twice", self.bad("show", store, "--pareto", "area,area"))
        self.assertIn("isn't expected", self.bad("show", store, "--where", "1; DROP TABLE points"))

    def test_layers_on_request(self):
        spec, store = self.dir / "l.yaml", self.dir / "l.sqlite"
        spec.write_text(
            f"base: {ROOT}/configs/64x64.yaml\naxes: {{w: {{field: buffers.weight.kib, values: "
            f"[64, 128]}}}}\nmodels: [{{file: {ROOT}/models/alexnet_op13.onnx, weight: 3}}]\n"
            "layers: true\n"
        )
        self.good(spec, "--store", store)
        with sqlite3.connect(store) as db:
            for cycles, layers in db.execute(
                "SELECT cycles, (SELECT sum(cycles) FROM layers l "
                "WHERE l.point = p.point) FROM points p"
            ):
                self.assertEqual(cycles, 3 * layers)

    def report_of(self, *words):
        done = subprocess.run(
            [str(ACCSIM), "--hw", *map(str, words), "-q", "--json", "-"],
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def cycles_of(self, *words):
        return self.report_of(*words)["totals"]["cycles"]

    def bound_spec(self, bind, model="llama_tiny2_decode_dyn_op17", more=""):
        path = self.dir / "bound.yaml"
        path.write_text(
            f"base: {ROOT}/configs/64x64.yaml\nbind: {bind}\n"
            "axes: {w: {field: buffers.weight.kib, values: [64, 256]}}\n"
            f"models: [{{file: {ROOT}/models/{model}.onnx{more}}}]\n"
        )
        return path

    def test_is_every_cell_of_workload_and_machine_a_report_of_its_own(self):
        store = self.dir / "b.sqlite"
        spec = self.bound_spec(
            "{context: [8, 64], batch: [1, 3]}", more=", bind: {past: context - 1}"
        )
        self.good(spec, "--store", store)
        with sqlite3.connect(store) as db:
            rows = db.execute("SELECT context, batch, w, cycles FROM points ORDER BY point")
            found = {(context, batch, w): cycles for context, batch, w, cycles in rows}
        expected = {
            (context, batch, 256): self.cycles_of(
                "64x64",
                ROOT / "models" / "llama_tiny2_decode_dyn_op17.onnx",
                *("--bind", f"past={context - 1}", "--bind", f"batch={batch}"),
            )
            for context in (8, 64)
            for batch in (1, 3)
        }
        self.assertEqual(len(found), 8)
        for cell, cycles in expected.items():
            self.assertEqual(found[cell], cycles, cell)
        front = json.loads(self.good("show", store, "--json", "-"))["front"]
        work = {point // 2 for point in front}
        self.assertEqual(work, {0, 1, 2, 3}, "every workload has a front of its own")

    def test_do_phases_say_what_users_of_a_language_model_notice(self):
        store, models = self.dir / "p.sqlite", ROOT / "models"
        model, prompt = (
            models / f"llama_tiny2_{phase}_op17.onnx" for phase in ("decode_dyn", "prefill64")
        )
        spec = self.dir / "phases.yaml"
        spec.write_text(
            f"base: {ROOT}/configs/64x64.yaml\nbind: {{context: [16, 64], batch: [2]}}\nmodels:\n"
            f"- {{file: {model}, phase: decode, bind: {{past: context - 1}}}}\n"
            f"- {{file: {prompt}, phase: prefill, tokens: 1}}\n"
        )
        self.good(spec, "--store", store)
        shown = json.loads(self.good("show", store, "--json", "-"))
        rows = {(row["point"], row["phase"]): row for row in shown["phases"]}
        self.assertEqual(len(rows), 4)
        prefill = self.cycles_of("64x64", prompt)
        params = self.report_of("64x64", model, "--bind", "past=1")["model"]["params"]
        for point, context in enumerate((16, 64)):
            first, step = rows[point, "prefill"], rows[point, "decode"]
            cycles = self.cycles_of(
                "64x64", model, *("--bind", f"past={context - 1}", "--bind", "batch=2")
            )
            self.assertAlmostEqual(step["time_us"], cycles / 1000)  # at 1000 MHz
            self.assertAlmostEqual(first["time_us"], prefill / 1000)
            self.assertEqual((step["tokens"], first["tokens"]), (2, 1))
            self.assertAlmostEqual(step["tokens_per_second"], 2e9 / cycles)
            self.assertEqual(step["weight_bytes"], params)  # of int8
            # keys and values of 2 sequences, 2 layers: heads x length x head
            self.assertEqual(step["cache_bytes"], 2 * 2 * 2 * KV_WIDTH * (context - 1))
            self.assertEqual(first["cache_bytes"], 0)
        ratio = rows[1, "decode"]["cache_bytes"] / rows[0, "decode"]["cache_bytes"]
        self.assertAlmostEqual(ratio, 63 / 15)
        text = self.good("show", store)
        self.assertIn("Language model, all with batch 2", text)
        self.assertIn("energy a token", text)

    def phases_of(self, models):
        """What `show` says of the phases of such models, and the text that it prints."""
        store, spec = self.dir / f"p{len(list(self.dir.iterdir()))}.sqlite", self.dir / "p.yaml"
        spec.write_text(
            f"base: {ROOT}/configs/64x64.yaml\n"
            "axes: {lat: {field: dram.latency, values: [100]}}\nmodels:\n"
            + "".join(
                f"- {{file: {ROOT}/models/llama_tiny2_decode_dyn_op17.onnx, {model}}}\n"
                for model in models
            )
        )
        self.good(spec, "--store", store)
        shown = json.loads(self.good("show", store, "--json", "-"))
        return {row["phase"]: row for row in shown["phases"]}, self.good("show", store)

    def test_costs_a_token_the_same_however_often_its_model_runs(self):
        model = ROOT / "models/llama_tiny2_decode_dyn_op17.onnx"
        step, longer = (
            self.report_of("64x64", model, "--bind", f"past={past}")["totals"] for past in (9, 40)
        )
        short = "bind: {past: 9}, phase: decode"
        memory = set()
        for models, runs in (
            ([short], 1),
            ([short + ", weight: 5"], 5),
            ([short, short], 2),
        ):
            phases, text = self.phases_of(models)
            row = phases["decode"]
            self.assertEqual((row["runs"], row["tokens"]), (runs, runs))
            self.assertAlmostEqual(row["time_us"], runs * step["cycles"] / 1000)  # at 1000 MHz
            self.assertAlmostEqual(row["time_us_per_run"], step["cycles"] / 1000)
            self.assertAlmostEqual(row["tokens_per_second"], 1e9 / step["cycles"])
            self.assertAlmostEqual(row["energy_pj_per_token"] / step["energy_pj"], 1)
            memory.add((row["weight_bytes"], row["cache_bytes"]))
            self.assertIn(f"{1e9 / step['cycles']:,.1f}", text)
        self.assertEqual(len(memory), 1, memory)
        phases, _ = self.phases_of([short + ", weight: 3", "bind: {past: 40}, phase: decode"])
        cycles = 3 * step["cycles"] + longer["cycles"]
        self.assertAlmostEqual(phases["decode"]["tokens_per_second"], 4e9 / cycles)
        # A part that gives no token is work of the runs that do.
        phases, _ = self.phases_of([short, "bind: {past: 40}, phase: decode, tokens: 0, weight: 2"])
        cycles = step["cycles"] + 2 * longer["cycles"]
        self.assertEqual((phases["decode"]["runs"], phases["decode"]["tokens"]), (1, 1))
        self.assertAlmostEqual(phases["decode"]["time_us_per_run"], cycles / 1000)

    def test_is_an_expression_over_words_an_error(self):
        store, spec = self.dir / "w.sqlite", self.dir / "w.yaml"
        spec.write_text(
            f"base: {ROOT}/configs/64x64.yaml\naxes:\n"
            "  flow: {field: array.dataflows, values: [[weight_stationary], [input_stationary]]}\n"
            "  lat: {field: dram.latency, values: [50, 100]}\n"
            f"models: [{{file: {ROOT}/models/resnet18_op13.onnx}}]\neffort: rule\n"
        )
        self.good(spec, "--store", store)
        for where in ("flow", "!flow", "flow==0", "lat > 60 && flow"):
            self.assertIn("--where: flow has words", self.bad("show", store, "--where", where))
        shown = json.loads(self.good("show", store, "--where", "lat > 60", "--json", "-"))
        self.assertEqual(len(shown["points"]["point"]), 2)
        for words in (("--where", "lat > 60"), ("--where", "((("), ("--pareto", "cycles")):
            self.assertIn("--dump: prints everything", self.bad("show", store, "--dump", *words))

    def test_needs_a_phase_a_network_that_gives_tokens(self):
        spec = self.bound_spec("{past: [8]}", more=", phase: decode, tokens: 0")
        self.assertIn(
            "no network of phase decode gives tokens",
            self.bad(spec, "--store", self.dir / "n.sqlite"),
        )

    def test_is_a_size_that_a_network_cant_have_a_reason_not_an_error(self):
        store = self.dir / "b.sqlite"
        spec = self.bound_spec("{context: [1, 8]}", more=", bind: {past: 8 / (context - 1) - 1}")
        self.assertIn("which is no size", self.bad(spec, "--store", store))
        spec = self.bound_spec("{context: [2, 1]}", more=", bind: {past: 8 / (context - 1) - 1}")
        self.good(spec, "--store", store)
        with sqlite3.connect(store) as db:
            rows = list(db.execute("SELECT context, reason, cycles FROM points ORDER BY point"))
        self.assertEqual([row[0] for row in rows], [2, 2, 1, 1])
        for context, reason, cycles in rows:
            self.assertEqual(cycles is None, context == 1)
            self.assertEqual("past = 8 / (context - 1) - 1 is inf" in (reason or ""), context == 1)

    @unittest.skipUnless(onnx, "python3-onnx isn't installed")
    def test_are_sizes_bound_before_shapes_are_looked_at(self):
        path = self.dir / "together.onnx"
        node, value = helper.make_node, helper.make_tensor_value_info
        graph = helper.make_graph(
            [
                node("Concat", ["past", "new"], ["all"], "all", axis=0),
                node("Add", ["all", "mask"], ["y"]),
            ],
            "together",
            [
                value("past", TensorProto.FLOAT, ["past", 8]),
                value("new", TensorProto.FLOAT, [2, 8]),
                value("mask", TensorProto.FLOAT, ["total", 8]),
            ],
            [value("y", TensorProto.FLOAT, None)],
        )
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)
        spec, store = self.dir / "t.yaml", self.dir / "t.sqlite"
        spec.write_text(
            f"base: {ROOT}/configs/64x64.yaml\nbind: {{past: [6, 30]}}\n"
            f"models: [{{file: {path}, bind: {{total: past + 2}}}}]\n"
        )
        self.good(spec, "--store", store)
        self.assertEqual(self.count(store), 2)

    def test_are_wrong_axes_of_sizes_refused(self):
        for bind, more, words in (
            ("{past: [1, 1.5]}", "", "1.5 is no size"),
            ("{past: [4, 4]}", "", "4 is there twice"),
            ("{nothing: [4]}", ", bind: {past: 4}", "nothing is no symbol of any model"),
            ("{batch: [4]}", "", "decode_dyn_op17.onnx: nobody gave past"),
            ("{past: 4}", "", "bind.past must be a section"),
            ("{w: [1], past: [1]}", "", "bind and axes both name w"),
            ("{past: [1]}", ", bind: {past: pust + 1}", "pust"),
            ("[past]", "", "bind must be a section of symbols"),
        ):
            said = self.bad(self.bound_spec(bind, more=more), "--store", self.dir / "x.sqlite")
            self.assertIn(words, said)
            self.assertIn("bound.yaml:", said)
        spec = self.bound_spec("{past: [1, 2]}")
        spec.write_text(spec.read_text() + "strategy: pareto\n")
        self.assertIn("bind makes different work", self.bad(spec))


def main():
    global KILLS
    if "--kills" in sys.argv:
        at = sys.argv.index("--kills")
        KILLS = int(sys.argv[at + 1])
        del sys.argv[at : at + 2]
    unittest.main()


if __name__ == "__main__":
    main()
