#!/usr/bin/python3
"""Networks, reports and names of files that ended the program, took time beyond all measure, or
lost what was there. Usage: robust_test.py ACCSIM [unittest arguments]."""

import os
import pathlib
import resource
import signal
import subprocess
import tempfile
import time
import unittest

from program import ACCSIM, ROOT, run, slowdown
from wire import FLOAT, INT64, attribute, graph, model, node, number, tensor, text, value

HW = ROOT / "configs" / "8x8.yaml"
SECONDS = 5 * slowdown()


def network(nodes, dims, stored=(), outputs=("y",)):
    return model(graph(nodes, [value("x", dims)], [value(o) for o in outputs], stored))


def ints(name, *values):
    return tensor(name, [len(values)], values)


def chain(count, make, first="x", last="y"):
    """Nodes one behind another: make(input, output) of each."""
    names = [first, *(f"t{i}" for i in range(count - 1)), last]
    return [make(a, b) for a, b in zip(names, names[1:])]


class RobustTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)

    def file(self, content, name="net.onnx"):
        path = self.dir / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        return path

    def seconds(self, *words, code=0):
        """Processor time of a command, which ends with this code."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = run(*words)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.assertEqual(done.returncode, code, (words, done.stderr[-500:]))
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def test_are_parts_of_a_column_costed(self):
        # A column isn't contiguous, nor is what is cut out of it; steps are columns, too.
        for step, axis in ((1, 1), (3, 0), (2, 1)):
            stored = [ints("b", 1), ints("e", 2 if axis else 8), ints("a", axis), ints("s", step)]
            size = [8, 4]
            size[axis] = len(range(1, 2 if axis else 8, step))
            cut = node("Slice", ["x", "b", "e", "a", "s"], ["c"])
            if size[0] == 1:
                continue
            stored.append(ints("p", 1, size[0] - 1))
            parts = node("Split", ["c", "p"], ["y", "z"], axis=0)
            path = self.file(network([cut, parts], [8, 4], stored, ("y", "z")))
            self.seconds("--hw", HW, path, "-q")
        stored = [ints("p", 1, 1), ints("b", 0), ints("e", 9), ints("a", 1), ints("s", 2)]
        nodes = [
            node("Split", ["x", "p"], ["l", "r"], axis=2),
            node("Slice", ["r", "b", "e", "a", "s"], ["y"]),
        ]
        self.seconds("--hw", HW, self.file(network(nodes, [1, 16, 2], stored)), "-q")

    def test_do_conversions_behind_a_softmax_end_nothing(self):
        half = 10
        nodes = [
            node("Cast", ["x"], ["a"], to=half),
            node("Mul", ["a", "v"], ["b"]),
            node("Cast", ["b"], ["c"], to=FLOAT),
            node("Softmax", ["c"], ["d"], axis=-1),
            node("Cast", ["d"], ["e"], to=half),
            node("Cast", ["e"], ["y"], to=FLOAT),
        ]
        # The last ones, of those before the softmax or without: each may be part of its rows.
        for first, last in ((3, 5), (3, 6), (2, 5), (0, 6)):
            part = [*nodes[first:last]]
            begin, end = "xabcde"[first], "abcdey"[last - 1]
            inside = half if begin in "ab" else FLOAT
            ends = half if end == "e" else FLOAT
            content = model(
                graph(
                    part,
                    [value(begin, [4, 16], inside)],
                    [value(end, [4, 16], ends)],
                    [tensor("v", [], None, half)],
                )
            )
            path = self.file(content)
            self.seconds("--hw", HW, path, "-q")
            done = run("run", path, "--int8", "--network", "--hw", HW, "--weights", "random:1")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("SNR", done.stdout)

    def test_does_the_host_read_a_view_of_what_the_program_is_given(self):
        nodes = [
            node("Split", ["x", "p"], ["l", "r"], axis=2),
            node("MaxPool", ["r"], ["y"], kernel_shape=[3, 3], pads=[1] * 4, strides=[2, 2]),
            node("Pad", ["r", "w"], ["z"]),
        ]
        stored = [ints("p", 3, 5), ints("w", 0, 0, 1, 1, 0, 0, 1, 1)]
        path = self.file(network(nodes, [1, 1, 8, 8], stored, ("y", "z")))
        words = ["run", path, "--int8", "--network", "--hw", HW, "--weights", "random:1"]
        done = run(*words)
        self.assertIn(done.returncode, (0, 2), done.stderr)
        self.assertEqual(done.returncode == 0, "peak memory" in done.stdout)

    def test_are_long_chains_walked_without_running_out_of_stack(self):
        count = 30_000
        shape = [ints("s", 64, 64)]
        constants = [node("ConstantOfShape", ["s"], ["c"])]
        constants += chain(count, lambda a, b: node("Neg", [a], [b]), "c", "d")
        constants += [node("MatMul", ["x", "d"], ["y"])]
        scores = [node("MatMul", ["x", "k"], ["s0"])]
        scores += chain(count, lambda a, b: node("Mul", [a, "v"], [b]), "s0", "s1")
        scores += [node("Softmax", ["s1"], ["p"], axis=1), node("MatMul", ["p", "k"], ["y"])]
        casts = chain(count, lambda a, b: node("Cast", [a], [b], to=FLOAT), "x", "c")
        casts += [node("Softmax", ["c"], ["y"], axis=1)]
        k = [node("Transpose", ["x"], ["k"], perm=[1, 0])]
        turned = chain(count, lambda a, b: node("Transpose", [a], [b], perm=[1, 0]), "x", "t")
        turned += [*k, node("MatMul", ["x", "k"], ["s"]), node("Softmax", ["s"], ["p"], axis=1)]
        turned += [node("MatMul", ["p", "t"], ["y"])]
        number_v = tensor("v", [], None, FLOAT)
        limits = ("--max-nodes", 10**6, "--max-graph-mib", 1000)
        for name, content in {
            "constants": network(constants, [8, 64], shape),
            "scores": network([*k, *scores], [8, 8], [number_v]),
            "casts": network(casts, [8, 8]),
            "turned": network(turned, [64, 64]),
        }.items():
            with self.subTest(name):
                path = self.file(content)
                self.seconds("inspect", path, "-q", *limits)
                more = ("--key-blocks", 16) if name == "turned" else ()
                self.assertLess(self.seconds("--hw", HW, path, "-q", *limits, *more), 4 * SECONDS)

    def test_does_each_constant_count_once_however_many_ways_lead_to_it(self):
        for levels in (28, 60):
            nodes = [node("ConstantOfShape", ["s"], ["c0"])]
            nodes += [node("Add", [f"c{i}"] * 2, [f"c{i + 1}"]) for i in range(levels)]
            nodes += [node("MatMul", ["x", f"c{levels}"], ["y"])]
            path = self.file(network(nodes, [8, 64], [ints("s", 64, 64)]))
            self.assertLess(self.seconds("inspect", path, "-q"), 1 * slowdown())
            self.assertLess(self.seconds("--hw", HW, path, "-q"), 1 * slowdown())

    def test_does_time_grow_with_the_nodes(self):
        def took(count):
            nodes = chain(count, lambda a, b: node("Mul", [a, "v"], [b]))
            path = self.file(network(nodes, [8, 64], [tensor("v", [64], None, FLOAT)]))
            return min(self.seconds("--hw", HW, path, "-q") for _ in range(2))

        # Twice the nodes took four times as long; the program's start is in both.
        self.assertLess(took(12_000) / took(6_000), 3)

    def test_are_the_outputs_of_a_wide_node_listed(self):
        count = 50_000
        names = [f"o{i}" for i in range(count)]
        path = self.file(network([node("Split", ["x"], names, axis=0)], [count], (), names[:1]))
        self.assertLess(self.seconds("shapes", path, "--json", self.dir / "s.json"), SECONDS)

    def test_is_a_number_beyond_all_an_error_with_its_place(self):
        report = self.file(b'{"schema": "accsim.report/1",\n "totals": 1e400}', "r.json")
        done = run("compare", report, report)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertRegex(done.stderr, r"r\.json: is not JSON: number overflow.* line 2, column 16")

    def test_are_many_members_read_in_time(self):
        members = b",".join(b'"k%d":0' % i for i in range(60_000))
        report = self.file(b'{"schema": "accsim.report/1",' + members + b"}", "r.json")
        self.assertLess(self.seconds("compare", report, report, code=2), SECONDS)
        report = self.file(b'{"schema": "accsim.report/1", "a": 1, "a": 2}', "r.json")
        self.assertIn("an object has 'a' twice", run("compare", report, report).stderr)

    def test_is_a_descriptor_written_to(self):
        log = self.dir / "log"
        for path in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
            log.write_text("before\n")
            with log.open("a") as out:
                command = [ACCSIM, "--hw", HW, ROOT / "models/squeezenet1_1_op13.onnx"]
                command += ["--json", path, "-q"]
                done = subprocess.run([str(w) for w in command], stdout=out, check=False)
            self.assertEqual(done.returncode, 0)
            self.assertRegex(log.read_text(), r'(?s)^before\n\{.*"accsim.report/1".*\}\n$')
        self.assertEqual(list(self.dir.iterdir()), [log])

    def weights_elsewhere(self):
        """Models whose weights lie in a file, and stand where one may not look."""
        place = text(13, text(1, "location") + text(2, "w.bin")) + number(14, 1)
        outside = tensor("w", [2, 2], None, FLOAT) + place
        outside_k = text(5, attribute("value", ("tensor", outside)))
        constant = node("Constant", [], ["w"]) + outside_k
        product = node("MatMul", ["x", "w"], ["y"])
        inner = graph([node("MatMul", ["x", "w"], ["o"])], (), [value("o", [2, 2])], [outside])
        other = graph([node("Identity", ["x"], ["o"])], (), [value("o", [2, 2])])
        branches = {"then_branch": ("graph", inner), "else_branch": ("graph", other)}
        choice = node("If", ["c"], ["y"], **branches)
        inputs = [value("x", [2, 2]), value("c", [], 9)]
        yield "constant", network([constant, product], [2, 2])
        yield "branch", model(graph([choice], inputs, [value("y", [2, 2])]))
        yield "initializer", network([product], [2, 2], [outside])

    def test_are_weights_kept_wherever_they_stand(self):
        for what, content in self.weights_elsewhere():
            for name in ("m.onnx", "model"):
                with self.subTest(f"{what} {name}"):
                    path = self.file(content, name)
                    weights = self.file(bytes(range(16)), "w.bin")
                    for words in (
                        ["--hw", HW, path, "--json", weights],
                        ["inspect", path, "--csv", weights],
                        ["tile", path, "-o", weights, "--tile", "4x4x4"],
                        ["cut", path, "-o", weights, "--until", "y"],
                        ["compare", "--hw", HW, "--hw", "16x16", path, "--json", weights],
                    ):
                        done = run(*words)
                        self.assertEqual(done.returncode, 2, (words, done.stderr))
                        self.assertIn("would be overwritten", done.stderr)
                        self.assertEqual(weights.read_bytes(), bytes(range(16)))

    def test_are_weights_in_the_folder_of_outputs_kept(self):
        content = dict(self.weights_elsewhere())["initializer"].replace(b"w.bin", b"y.npy")
        path = self.file(content, "out/m.onnx")
        weights = self.file(bytes(range(16)), "out/y.npy")
        done = run("run", path, "--output", self.dir / "out")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("could be overwritten", done.stderr)
        self.assertEqual(weights.read_bytes(), bytes(range(16)))

    def test_does_a_store_delete_nothing_that_is_read(self):
        for name in ("foo-wal", "foo-shm", "foo-journal"):
            spec = self.dir / name
            spec.write_text(
                f"base: {HW}\naxes:\n  a: {{field: array.rows, values: [8, 16]}}\n"
                f"models:\n  - {{file: {ROOT}/models/squeezenet1_1_op13.onnx}}\n"
            )
            content = spec.read_text()
            done = run("sweep", spec, "--store", self.dir / "foo")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("would be overwritten", done.stderr)
            self.assertEqual(spec.read_text(), content)
            spec.unlink()
        self.assertEqual(list(self.dir.iterdir()), [])

    def sweep_spec(self):
        return self.file(
            f"base: {HW}\naxes:\n  a: {{field: array.rows, values: [8, 16]}}\nmodels:\n"
            f"  - {{file: {ROOT}/models/squeezenet1_1_op13.onnx}}\neffort: rule\n".encode(),
            "spec.yaml",
        )

    def refuses_store(self, store, kept, *words):
        """What lies beside a store that isn't there yet stays, and the message says so."""
        before = {p: p.read_bytes() for p in self.dir.rglob("*") if p.exists()}
        done = run(*words)
        self.assertEqual((done.returncode, done.stdout), (2, ""), (words, done.stderr))
        self.assertIn(f"accsim: error: {store}: ", done.stderr)
        said = " ".join(done.stderr.split())
        self.assertIn(f"'{kept}' is there", said)
        self.assertIn("move it away, or name another store", said)
        after = {p: p.read_bytes() for p in self.dir.rglob("*") if p.exists()}
        self.assertEqual(after, before)

    def test_is_a_file_beside_a_new_store_kept(self):
        spec, store, link = self.sweep_spec(), self.dir / "foo", self.dir / "link"
        for end in ("-wal", "-shm", "-journal"):
            beside = self.file(b"precious\n", f"foo{end}")
            with self.subTest(end):
                self.refuses_store(store, beside, "sweep", spec, "--store", store)
                store.write_bytes(b"")  # as it is while SQLite makes it, but then so is the other
                self.refuses_store(store, beside, "sweep", spec, "--store", store)
                store.unlink()
                link.symlink_to("foo")
                self.refuses_store(link, beside, "sweep", spec, "--store", link)
                link.unlink()
            beside.unlink()

    def test_is_a_file_beside_a_merged_store_kept(self):
        spec, store = self.sweep_spec(), self.dir / "foo"
        shard = self.dir / "shard.sqlite"
        self.assertEqual(run("sweep", spec, "--store", shard).returncode, 0)
        for end in ("-wal", "-shm", "-journal"):
            beside = self.file(b"precious\n", f"foo{end}")
            self.refuses_store(store, beside, "sweep", "merge", store, shard)
            beside.unlink()

    def test_does_a_store_that_was_just_begun_go_on(self):
        spec, store = self.sweep_spec(), self.dir / "foo"
        # SQLite's own files of a process that was killed before the first page was written.
        for end, content in (
            ("-wal", b""),
            ("-shm", bytes(32768)),
            ("-journal", bytes(512)),
            ("-journal", bytes.fromhex("d9d505f920a163d7") + bytes(504)),
        ):
            with self.subTest(end):
                for begun in (True, False):  # or the store was deleted, and they weren't
                    if begun:
                        store.write_bytes(b"")
                    self.file(content, f"foo{end}")
                    done = run("sweep", spec, "--store", store)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertIn("2 of 2 points stored", done.stdout)
                    self.assertEqual({p.name for p in self.dir.iterdir()}, {"spec.yaml", "foo"})
                    store.unlink()

    def test_is_a_nan_said_where_no_order_is_defined(self):
        nodes = [
            node("Sub", ["x", "x"], ["z"]),
            node("Div", ["z", "z"], ["n"]),
            node("TopK", ["n", "k"], ["y", "i"]),
        ]
        outputs = [value("y"), value("i", dtype=INT64)]
        path = self.file(model(graph(nodes, [value("x", [4, 8])], outputs, [ints("k", 2)])))
        done = run("run", path)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("TopK: isn't defined for an input that has a NaN", done.stderr)

    def test_stays_nothing_of_a_write_that_was_ended(self):
        # At any moment; faults_test has those within a write.
        path = self.file(network(chain(4000, lambda a, b: node("Relu", [a], [b])), [8, 8]))
        target = self.dir / "out.json"
        for kind in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            for wait in (0.01, 0.05, 0.1, 0.2, 0.4):
                command = [str(w) for w in (ACCSIM, "--hw", HW, path, "-q", "--json", target)]
                child = subprocess.Popen(command)
                time.sleep(wait)
                child.send_signal(kind)
                child.wait()
        left = {p.name for p in self.dir.iterdir()} - {"net.onnx", "out.json"}
        self.assertEqual(left, set())


if __name__ == "__main__":
    os.environ.pop("COLUMNS", None)
    unittest.main()
