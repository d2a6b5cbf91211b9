"""Can what a model may ask for at most be raised in Python as on the command line?"""

import pathlib
import sys
import tempfile
import unittest

import accsim
from support import MODELS, ROOT, main, program

sys.path.insert(0, str(ROOT / "tests" / "app"))
from wire import INT64, graph, model, node, tensor, value

MACHINE = str(ROOT / "configs" / "8x8.yaml")
TRIPS, EACH = 100, 30
# The Loop itself; an iteration is a step, and so is each node of its body.
STEPS = 1 + TRIPS * (1 + EACH + 1)


def loop(name="l"):
    """x through a Loop of TRIPS iterations of EACH nodes, and one that makes the condition."""
    names = ["i", *(f"q{k}" for k in range(EACH - 1)), "o"]
    body = graph(
        [
            *(node("Relu", [a], [b], name) for a, b in zip(names, names[1:])),
            node("Identity", ["c"], ["d"]),
        ],
        [value("k", [], INT64), value("c", [], 9), value("i")],
        [value("d", [], 9), value("o")],
    )
    nodes = [node("Loop", ["n", "", "x"], ["y"], "l", body=("graph", body))]
    stored = [tensor("n", [], [TRIPS])]
    return model(graph(nodes, [value("x", [2])], [value("y")], stored), opset=17)


def products(count):
    """As many products, each of another shape."""
    nodes = [node("MatMul", [f"a{i}", f"b{i}"], [f"y{i}"]) for i in range(count)]
    inputs = [value(f"a{i}", [8, 1 + i]) for i in range(count)]
    inputs += [value(f"b{i}", [1 + i, 8]) for i in range(count)]
    return model(graph(nodes, inputs, [value(f"y{i}") for i in range(count)]), opset=17)


def flat(rank):
    nodes = [node("Relu", ["x"], ["y"])]
    return model(graph(nodes, [value("x", [1] * rank)], [value("y")]), opset=17)


# By keyword: a model, a limit that it is beyond, one that it is within.
LIMITS = {
    "max_nodes": (loop(), STEPS - 2, STEPS - 1),  # the main graph's own node isn't counted
    "max_graph_mib": (loop("n" * 1000), 1, 64),
    "max_rank": (flat(70), 64, 70),
}


class LimitsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)

    def written(self, data):
        path = self.dir / "model.onnx"
        path.write_bytes(data)
        return path

    def both(self, call, words, option, keyword, limit):
        """What the call says of a limit, and the command line of its option: None, or causes."""
        code, _, errors = program(*words, option, limit)
        self.assertEqual(code == 0, not errors)
        try:
            call(**{keyword: limit})
        except accsim.Error as error:
            self.assertEqual(error.causes, errors)
            return errors
        self.assertEqual(errors, [])
        return None

    def test_is_each_of_a_graph_taken_by_every_call(self):
        path = self.dir / "model.onnx"
        by_rule = ["--effort", "rule"]
        calls = {
            "load": (lambda **k: accsim.Model.load(path, **k), ["shapes", path]),
            "cost": (lambda **k: accsim.cost(path, MACHINE, **k), ["--hw", MACHINE, path]),
            "inspect": (lambda **k: accsim.inspect(path, **k), ["inspect", path]),
            "advise": (
                lambda **k: accsim.advise(path, MACHINE, effort="rule", **k),
                ["advise", "--hw", MACHINE, path, *by_rule],
            ),
        }
        for keyword, (data, few, enough) in LIMITS.items():
            path.write_bytes(data)
            option = "--" + keyword.replace("_", "-")
            for name, (call, words) in calls.items():
                with self.subTest(keyword=keyword, call=name):
                    said = self.both(call, words, option, keyword, few)
                    self.assertIn(f"{option} N takes N", said[0])
                    self.assertIsNone(self.both(call, words, option, keyword, enough))

    def test_do_calls_without_them_have_the_command_lines(self):
        path = self.written(flat(70))
        with self.assertRaisesRegex(accsim.Error, "has 70 dims, at most 64 are taken"):
            accsim.Model.load(path)
        path = self.written(products(1001))
        _, _, errors = program("--hw", MACHINE, path)
        with self.assertRaises(accsim.Error) as caught:
            accsim.cost(path, MACHINE)
        self.assertEqual(caught.exception.causes, errors)
        self.assertIn("needs 1001 different programs, at most 1000", errors[0])

    def test_are_programs_counted(self):
        read = accsim.Model.load(self.written(products(5)))
        with self.assertRaisesRegex(accsim.Error, "needs 5 different programs, at most 4"):
            accsim.cost(read, MACHINE, max_programs=4)
        self.assertEqual(
            accsim.cost(read, MACHINE, max_programs=5).to_json(),
            accsim.cost(read, MACHINE).to_json(),
        )

    def test_does_a_run_take_them(self):
        path = self.written(loop())
        with self.assertRaisesRegex(accsim.Error, "--max-nodes N takes N"):
            accsim.run(path, max_nodes=STEPS - 2)
        outputs = accsim.run(path, max_nodes=STEPS - 1)
        self.assertEqual(list(outputs), ["y"])
        large = self.written(
            model(
                graph(
                    [node("Add", ["x", "x"], ["y"])],
                    [value("x", [1 << 19])],
                    [value("y")],
                ),
                opset=17,
            )
        )
        with self.assertRaisesRegex(accsim.Error, "--max-memory-mib N"):
            accsim.run(large, max_memory_mib=3)  # x and y take 2 MiB each
        self.assertEqual(accsim.run(large, max_memory_mib=8)["y"].shape, (1 << 19,))

    def test_does_a_sweep_read_a_model_as_it_was_read(self):
        for keyword, (data, _, enough) in LIMITS.items():
            with self.subTest(keyword=keyword):
                limit = enough + 1
                read = accsim.Model.load(self.written(data), **{keyword: limit})
                self.assertEqual(read.limits, {keyword: limit})
                store = accsim.sweep("8x8", axes={"dram.latency": [50, 60]}, models=[read])
                self.assertEqual(len(store.points()), 2)
        self.assertEqual(accsim.Model.load(self.written(flat(2))).limits, {})

    def test_is_a_sweep_of_what_it_cannot_read_so_refused(self):
        for name, words in (
            ("resnet18_op13", {"input_shapes": {"input": (1, 3, 256, 256)}}),
            ("gpt2_small_op17", {"key_blocks": 64}),
        ):
            (keyword,) = words
            read = accsim.Model.load(MODELS / f"{name}.onnx", **words)
            with self.assertRaisesRegex(accsim.Error, f"loaded with {keyword} can't be swept"):
                accsim.sweep("8x8", axes={"dram.latency": [50]}, models=[read])
        strange = [node("Strange", ["x"], ["y"])]
        unknown = self.written(
            model(graph(strange, [value("x", [4])], [value("y", [4])]), opset=17)
        )
        read = accsim.Model.load(unknown, allow_unsupported=True)
        store = accsim.sweep("8x8", axes={"dram.latency": [50]}, models=[read])
        self.assertEqual(len(store.points()), 1)
        with self.assertRaisesRegex(accsim.Error, "Strange"):
            accsim.sweep("8x8", axes={"dram.latency": [50]}, models=[unknown])

    def test_are_wrong_ones_refused(self):
        path = self.written(flat(2))
        for keyword, least, most in (
            ("max_nodes", 0, 10**9),
            ("max_graph_mib", 1, 2**20),
            ("max_rank", 1, 10**9),
            ("max_programs", 1, 10**9),
        ):
            option = "--" + keyword.replace("_", "-")
            for limit in (least - 1, most + 1, 10**30):
                with self.subTest(keyword=keyword, limit=limit):
                    code, _, errors = program("--hw", MACHINE, path, option, limit)
                    self.assertEqual(code, 2)
                    self.assertIn(option, errors[0])
                    with self.assertRaisesRegex(
                        accsim.Error,
                        f"{option}: {limit} is not a whole number from {least} to {most}",
                    ):
                        accsim.cost(path, MACHINE, **{keyword: limit})
            accsim.cost(path, MACHINE, **{keyword: most})
            with self.assertRaisesRegex(TypeError, f"{option} takes a whole number"):
                accsim.cost(path, MACHINE, **{keyword: "9"})
        with self.assertRaisesRegex(TypeError, "did you mean max_nodes"):
            accsim.cost(path, MACHINE, max_node=3)


if __name__ == "__main__":
    main()
