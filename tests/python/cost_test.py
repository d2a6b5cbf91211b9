"""Does Python's report equal the command line's?"""

import ast
import json
import pathlib
import pickle
import re
import sys
import tempfile
import unittest

import accsim
from accsim import _options
from support import MODELS, ROOT, main, program

sys.path.insert(0, str(ROOT / "tests" / "app"))
from wire import graph, model, node, tensor, value

MACHINES = ["64x64", "16x16", "64x64-hbm-banked"]
RESNET = MODELS / "resnet18_op13.onnx"


def machine(name):
    return str(ROOT / "configs" / f"{name}.yaml")


class CostTest(unittest.TestCase):
    def test_is_the_json_equal_for_every_model_on_three_machines(self):
        models = sorted(MODELS.glob("*.onnx"))
        self.assertGreater(len(models), 15)
        for path in models:
            model = accsim.Model.load(path, bind={"*": 1})
            for name in MACHINES:
                with self.subTest(model=path.name, machine=name):
                    words = ("--hw", machine(name), path, "--bind", "*=1", "--json", "-")
                    code, out, errors = program(*words)
                    if code != 0:
                        with self.assertRaises(accsim.Error) as caught:
                            accsim.cost(model, machine(name))
                        self.assertEqual(caught.exception.causes, errors)
                        continue
                    report = accsim.cost(model, machine(name))
                    self.assertEqual(report.to_json(), out)

    def test_are_options_those_of_the_command_line(self):
        path = MODELS / "mobilenet_v2_dynbatch_op17.onnx"
        symbol = next(iter(accsim.Model.load(path).bindings))
        _, out, _ = program(
            *("--hw", machine("64x64"), path, "--bind", f"{symbol}=4", "--objective", "energy"),
            *("--dataflow", "ws", "--mapping", "*conv*=n32", "--json", "-"),
        )
        report = accsim.cost(
            path,
            machine("64x64"),
            bind={symbol: 4},
            objective="energy",
            dataflow="ws",
            mapping="*conv*=n32",
        )
        self.assertEqual(report.to_json(), out)

    def test_are_blocks_of_keys_those_of_the_command_line(self):
        path, where = MODELS / "gpt2_small_op17.onnx", machine("64x64")
        read = accsim.Model.load(path, key_blocks="off")
        for keys in (64, "off", "auto", 0, "none", 100_000):
            with self.subTest(keys=keys):
                words = ("--hw", where, path, "--key-blocks", keys, "--effort", "rule")
                code, out, errors = program(*words, "--json", "-")
                if code != 0:
                    for call in (
                        lambda k=keys: accsim.cost(path, where, effort="rule", key_blocks=k),
                        lambda k=keys: accsim.Model.load(path, key_blocks=k),
                        lambda k=keys: accsim.cost(read, where, key_blocks=k),
                    ):
                        with self.assertRaises(accsim.Error) as caught:
                            call()
                        said = [e.removeprefix("--key-blocks: ") for e in caught.exception.causes]
                        self.assertIn(said[0], errors[0])
                    continue
                loaded = accsim.Model.load(path, key_blocks=keys)
                self.assertEqual(accsim.cost(loaded, where, effort="rule").to_json(), out)
                again = accsim.cost(path, where, effort="rule", key_blocks=keys)
                self.assertEqual(again.to_json(), out)
                self.assertEqual(code == 0, keys in (64, "off", "auto"))

    def test_is_an_exported_module_read_as_its_file_is(self):
        for path in (MODELS / "resnet18_op13.onnx", self.padded()):
            file = accsim.cost(path, "64x64").total
            module = accsim._core._load_module(str(path), set(), "module")
            self.assertEqual(accsim.cost(module, "64x64").total.to_dict(), file.to_dict())

    def padded(self):
        """A convolution whose padding is a node of its own, which becomes that of the windows."""
        nodes = [
            node("Pad", ["x", "p"], ["q"], "a"),
            node("Conv", ["q", "w"], ["y"], "b"),
        ]
        stored = [tensor("p", [8], [0, 0, 1, 1, 0, 0, 1, 1])]
        inputs = [value("x", [1, 8, 16, 16]), value("w", [8, 8, 3, 3])]
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name, "padded.onnx")
        path.write_bytes(model(graph(nodes, inputs, [value("y")], stored), opset=13))
        return path

    def test_is_a_model_of_bytes_the_same(self):
        report = accsim.cost(RESNET.read_bytes(), "64x64")
        self.assertEqual(report.total.cycles, accsim.cost(RESNET, "64x64").total.cycles)

    def test_is_csv_the_command_lines(self):
        _, out, _ = program("--hw", machine("64x64"), RESNET, "--csv", "-")
        self.assertEqual(accsim.cost(RESNET, machine("64x64")).to_csv(), out)

    def test_do_rows_and_columns_say_what_the_json_says(self):
        import json

        report = accsim.cost(RESNET, "64x64")
        told = json.loads(report.to_json())
        self.assertEqual(list(report.total.to_dict()), list(told["totals"]))
        self.assertEqual(report.layers.columns, list(told["layers"][0]))
        for key, wanted in told["totals"].items():
            self.assertEqual(report.total[key], wanted)
            self.assertEqual(getattr(report.total, key), wanted)
        for key in report.layers.columns:
            values = [list(v) if isinstance(v, tuple) else v for v in report.layers[key]]
            if key == "input_shapes":
                values = [[list(shape) for shape in shapes] for shapes in values]
            self.assertEqual(values, [layer[key] for layer in told["layers"]], key)
        last = report.layer(-1)
        self.assertEqual(last.name, told["layers"][-1]["name"])
        self.assertEqual(report.layer(last.name).cycles, last.cycles)
        with self.assertRaises(IndexError):
            report.layer(10_000)
        with self.assertRaises(AttributeError):
            report.total.cycels  # noqa: B018  # it is the access that raises

    def test_do_reports_pickle_and_compare(self):
        report = accsim.cost(RESNET, "64x64")
        again = pickle.loads(pickle.dumps(report))
        self.assertEqual(again, report)
        self.assertEqual(hash(again), hash(report))
        self.assertEqual(again.to_json(), report.to_json())
        self.assertEqual(repr(again), repr(report))
        self.assertNotEqual(report, accsim.cost(RESNET, "16x16"))
        self.assertNotEqual(report, 1)

    def test_is_a_damaged_pickle_refused(self):
        state = accsim.cost(RESNET, "64x64").__getstate__()
        for bad in (state[:-1], state + b"x", b"", b"accsim" + state):
            with self.assertRaises(accsim.Error):
                accsim.Report.__new__(accsim.Report).__setstate__(bad)

    def test_does_a_notebook_get_a_table(self):
        html = accsim.cost(RESNET, "64x64")._repr_html_()
        self.assertTrue(html.startswith("<pre"))
        self.assertIn("cycles", html)
        self.assertIn("<!doctype html>", accsim.cost(RESNET, "64x64").to_html().lower())

    def test_does_its_page_say_what_the_programs_page_says_of_a_core(self):
        def data_of(html):
            return json.loads(re.search(r'id="data"[^>]*>(.*?)</script>', html, re.DOTALL)[1])

        for name in MACHINES:
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                target = pathlib.Path(folder) / "page.html"
                code, *_ = program("--hw", machine(name), RESNET, "-q", "--html", target)
                self.assertEqual(code, 0)
                its = data_of(target.read_text())
                mine = data_of(accsim.cost(RESNET, machine(name)).to_html())
                self.assertEqual(mine["core_reason"], its["core_reason"])
                self.assertEqual(mine["core_reason"] != "", name.endswith("banked"))
                self.assertEqual(mine["report"]["totals"], its["report"]["totals"])

    def test_are_errors_those_of_the_command_line(self):
        for path, options, words in (
            (MODELS / "resnet18_op13.onn", {}, []),
            (ROOT / "README.md", {}, []),
            (RESNET, {"bind": {"nonsense": 3}}, ["--bind", "nonsense=3"]),
            (RESNET, {"objective": "speed"}, None),
            (RESNET, {"mapping": ["*=q9"]}, ["--mapping", "*=q9"]),
            (RESNET, {"dataflow": "xs"}, ["--dataflow", "xs"]),
            (RESNET, {"input_shapes": {"nope": (1, 2)}}, ["--input-shape", "nope=1x2"]),
            (RESNET, {"assume": {"nms": 3}}, ["--assume", "nms=3"]),
            (RESNET, {"assume": {"nms": -3}}, ["--assume", "nms=-3"]),
            (RESNET, {"branch": {"choice": "then"}}, ["--branch", "choice=then"]),
            (RESNET, {"branch": {"choice": "both"}}, ["--branch", "choice=both"]),
        ):
            with self.subTest(path=path, options=options):
                with self.assertRaises(accsim.Error) as caught:
                    accsim.cost(path, machine("64x64"), **options)
                self.assertEqual(str(caught.exception), "\n".join(caught.exception.causes))
                again = pickle.loads(pickle.dumps(caught.exception))
                self.assertEqual(again.causes, caught.exception.causes)
                if words is not None:
                    code, _, errors = program("--hw", machine("64x64"), path, *words)
                    self.assertEqual(code, 2)
                    self.assertEqual(caught.exception.causes, errors)

    def test_are_mistyped_options_refused(self):
        with self.assertRaisesRegex(TypeError, "did you mean objective"):
            accsim.cost(RESNET, "64x64", objectiv="energy")
        for call in (
            lambda **k: accsim.Model.load(RESNET, **k),
            lambda **k: accsim.inspect(RESNET, **k),
            lambda **k: accsim.advise(RESNET, "64x64", **k),
            lambda **k: accsim.run(RESNET, **k),
            lambda **k: accsim.verify(RESNET, "8x8", **k),
        ):
            with self.assertRaisesRegex(TypeError, "did you mean bind"):
                call(bnid={"batch": 1})
        with self.assertRaisesRegex(TypeError, "'bind' is no option"):
            accsim.LatencyModel("64x64", bind={"batch": 1})

    def test_are_types_of_options_those_of_the_table(self):
        """Signatures of the compiled part come from the table that reads the options."""
        stub = ast.parse((pathlib.Path(accsim.__file__).parent / "_core.pyi").read_text())

        def keywords(call, of=None):
            body = stub.body
            if of:
                (body,) = (c.body for c in body if isinstance(c, ast.ClassDef) and c.name == of)
            (found,) = (f for f in body if isinstance(f, ast.FunctionDef) and f.name == call)
            texts = {a.arg: ast.unparse(a.annotation) for a in found.args.kwonlyargs}
            return {key: text.replace("collections.abc.", "") for key, text in texts.items()}

        def types(options):
            return {key: ref.__forward_arg__ for key, ref in options.__annotations__.items()}

        self.assertEqual(types(_options.CostOptions), keywords("cost"))
        self.assertEqual(types(_options.LoadOptions), keywords("load", "Model"))
        mapping = keywords("__init__", "LatencyModel")
        self.assertEqual(types(_options.AdviseOptions), types(_options.LoadOptions) | mapping)
        run = keywords("cost") | {"max_memory_mib": "int | None"}
        self.assertLessEqual(types(_options.RunOptions).items(), run.items())


if __name__ == "__main__":
    main()
