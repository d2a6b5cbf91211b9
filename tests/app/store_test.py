#!/usr/bin/python3
"""Stores of sweeps from strangers: nothing that they hold is executed. Usage: store_test.py ACCSIM
[unittest arguments]."""

import contextlib
import pathlib
import resource
import shutil
import sqlite3
import tempfile
import unittest

from program import ROOT, run, slowdown

SPEC = f"""
base: {ROOT}/configs/8x8.yaml
axes:
  act_kib: {{field: buffers.activation.kib, values: [16, 32]}}
models:
  - {{file: {ROOT}/models/squeezenet1_1_op13.onnx}}
effort: rule
"""

# What is wrong with a store, and the SQL that makes it so. With writable_schema any text may stand
# in the schema.
HOSTILE = {
    "a view in a table's place": "ALTER TABLE layers RENAME TO real; "
    "CREATE VIEW layers AS SELECT * FROM real;",
    "a view more": "CREATE VIEW more AS SELECT * FROM points, points, points;",
    "a trigger": "CREATE TRIGGER t AFTER INSERT ON points BEGIN DELETE FROM layers; END;",
    "a table more": "CREATE TABLE more (x);",
    "a computed column": "ALTER TABLE points ADD COLUMN x AS (hex(config));",
    "a default that is computed": "CREATE TABLE p2 (span INTEGER PRIMARY KEY, owner TEXT NOT NULL "
    "DEFAULT (hex(randomblob(9)))); DROP TABLE claims; ALTER TABLE p2 RENAME TO claims;",
    "an index": "CREATE INDEX i ON layers (hex(layer));",
    "a table less": "DROP TABLE bounds;",
    "statements behind a table": "PRAGMA writable_schema=ON; UPDATE sqlite_master SET sql = sql || "
    "'; ATTACH ''VICTIM'' AS v; CREATE TABLE v.gotcha (x)' WHERE name = 'claims';",
    "statements in a table's place": "PRAGMA writable_schema=ON; UPDATE sqlite_master SET sql = "
    "'CREATE TABLE claims (span); ATTACH ''VICTIM'' AS v; CREATE TABLE v.gotcha (x)' "
    "WHERE name = 'claims';",
    # Whoever looks whether a file is intact looks at these, too: seconds for each row.
    "a check on a column": "INSERT INTO claims VALUES (100, 'a'), (101, 'b'), (102, 'c');"
    "PRAGMA writable_schema=ON; UPDATE sqlite_master SET sql = "
    "'CREATE TABLE claims (span INTEGER PRIMARY KEY, owner TEXT NOT NULL "
    "CHECK(length(hex(randomblob(300000000)))>0))' WHERE name = 'claims';",
    "a check on a table": "PRAGMA writable_schema=ON; UPDATE sqlite_master SET sql = replace(sql, "
    "'traffic_bytes INTEGER)', 'traffic_bytes INTEGER, CHECK(length(hex(randomblob(300000000)))))')"
    " WHERE name = 'points';",
    "a check on what describes it": "PRAGMA writable_schema=ON; UPDATE sqlite_master SET sql = "
    "replace(sql, 'value TEXT NOT NULL', 'value TEXT NOT NULL "
    "CHECK(length(hex(randomblob(300000000))))') WHERE name = 'meta';",
}


def add_meeting_tree(path, table, levels=3):
    """Makes a table's root a page whose branches all lead to one page, and so on: a few pages with
    600 rows to the power of `levels`. The file format: https://www.sqlite.org/fileformat.html."""
    db = sqlite3.connect(path)
    (root,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", [table]).fetchone()
    db.close()
    content = bytearray(path.read_bytes())
    size = int.from_bytes(content[16:18], "big")
    pages = len(content) // size
    content += content[(root - 1) * size : root * size]  # a leaf: its places count from its begin
    for level in range(levels):
        child = (pages + 1 + level).to_bytes(4, "big")
        count = (size - 12) // 7
        cells = b"".join(child + b"\x7f" for _ in range(count))  # keys up to 127
        begin = size - len(cells)
        head = b"\x05\0\0" + count.to_bytes(2, "big") + begin.to_bytes(2, "big") + b"\0" + child
        places = b"".join((begin + 5 * i).to_bytes(2, "big") for i in range(count))
        page = (head + places).ljust(begin, b"\0") + cells
        if level == levels - 1:
            content[(root - 1) * size : root * size] = page
        else:
            content += page
    content[28:32] = (len(content) // size).to_bytes(4, "big")
    path.write_bytes(content)


class StoreTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.dir = pathlib.Path(folder.name)
        cls.spec = cls.dir / "spec.yaml"
        cls.spec.write_text(SPEC)
        cls.good = cls.dir / "good.sqlite"
        done = run("sweep", cls.spec, "--store", cls.good)
        assert done.returncode == 0, done.stderr

    def seconds(self):
        """Processor time of all commands until now."""
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    def changed(self, sql):
        """A copy of the good store after some SQL."""
        path = pathlib.Path(tempfile.mkdtemp(dir=self.dir)) / "store.sqlite"
        shutil.copy(self.good, path)
        db = sqlite3.connect(path)
        db.executescript(sql)
        db.close()
        return path

    def commands(self, store):
        """Every command that opens a store, with what it may write."""
        out = self.dir / "out"
        yield "sweep", "show", store
        yield "sweep", "show", store, "--html", out / "page.html"
        yield "sweep", "show", store, "--dump"
        yield "sweep", "merge", out / "merged.sqlite", store
        yield "sweep", self.spec, "--store", store
        yield "serve", "--store", store

    def test_is_a_good_store_taken_by_each_of_them(self):
        for words in list(self.commands(self.good))[:-1]:  # serve would go on
            shutil.rmtree(self.dir / "out", ignore_errors=True)
            (self.dir / "out").mkdir()
            done = run(*words)
            self.assertEqual((done.returncode, done.stderr), (0, ""), words)

    def test_is_nothing_of_a_foreign_store_executed(self):
        victim = self.dir / "victim.sqlite"
        for what, sql in HOSTILE.items():
            with self.subTest(what):
                store = self.changed(sql.replace("VICTIM", str(victim)))
                for words in self.commands(store):
                    shutil.rmtree(self.dir / "out", ignore_errors=True)
                    (self.dir / "out").mkdir()
                    before = self.seconds()
                    done = run(*words)
                    self.assertLess(self.seconds() - before, 1 * slowdown(), words)
                    self.assertEqual(done.returncode, 2, (words, done.stdout, done.stderr))
                    self.assertIn(str(store), done.stderr, words)
                    self.assertEqual(done.stdout, "", words)
                    self.assertEqual(list((self.dir / "out").iterdir()), [], words)
                self.assertFalse(victim.exists())

    def test_is_a_point_that_the_grid_has_not_refused(self):
        for number in (-1, 2, 2**63 - 1):
            store = self.changed(f"UPDATE points SET point = {number} WHERE point = 1")
            for words in self.commands(store):
                (self.dir / "out").mkdir(exist_ok=True)
                done = run(*words)
                self.assertEqual(done.returncode, 2, (words, done.stderr))
                self.assertIn(f"no such point as point {number} has", done.stderr)

    def test_is_a_small_file_of_endless_rows_refused(self):
        for table in ("points", "axes"):
            store = self.changed("")
            add_meeting_tree(store, table)
            for words in self.commands(store):
                with self.subTest(table=table, words=words):
                    (self.dir / "out").mkdir(exist_ok=True)
                    before = self.seconds()
                    done = run(*words)
                    self.assertLess(self.seconds() - before, 2 * slowdown())
                    self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                    self.assertRegex(done.stderr, f"^accsim: error: {store}: is (no store|damaged)")

    def test_is_a_store_taken_by_a_link_while_its_log_is_long(self):
        """Steps are limited by bytes, and SQLite's log lies beside what a link leads to."""
        store, link = self.changed(""), self.dir / "link.sqlite"
        link.unlink(missing_ok=True)
        link.symlink_to(store)
        with contextlib.closing(sqlite3.connect(store)) as open_store:
            open_store.execute("PRAGMA journal_mode = WAL")
            open_store.execute("PRAGMA wal_autocheckpoint = 0")
            open_store.execute(
                "WITH RECURSIVE n(x) AS (SELECT 0 UNION ALL SELECT x + 1 FROM n WHERE x < 500000) "
                "INSERT INTO layers SELECT 0, x, '', '', '', '', 0, 0, 0, 0, 0 FROM n"
            )
            open_store.commit()
            self.assertGreater(pathlib.Path(f"{store}-wal").stat().st_size, 5_000_000)
            for path in (store, link):
                done = run("sweep", "show", path)
                self.assertEqual((done.returncode, done.stderr), (0, ""), path)
                done = run("sweep", self.spec, "--store", path)
                self.assertEqual((done.returncode, done.stderr), (0, ""), path)

    def test_are_large_stores_far_below_the_limit(self):
        # Rows as small as they can be take most steps for their bytes.
        store = self.changed(
            "WITH RECURSIVE n(x) AS (SELECT 0 UNION ALL SELECT x + 1 FROM n WHERE x < 1000000) "
            "INSERT INTO claims SELECT x + 1000, '' FROM n;"
            "WITH RECURSIVE n(x) AS (SELECT 0 UNION ALL SELECT x + 1 FROM n WHERE x < 500000) "
            "INSERT INTO layers SELECT 0, x, '', '', '', '', 0, 0, 0, 0, 0 FROM n;"
        )
        for words in list(self.commands(store))[:-1]:  # serve would go on
            shutil.rmtree(self.dir / "out", ignore_errors=True)
            (self.dir / "out").mkdir()
            done = run(*words)
            self.assertEqual((done.returncode, done.stderr), (0, ""), words)


if __name__ == "__main__":
    unittest.main()
