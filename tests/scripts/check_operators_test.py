#!/usr/bin/python3
"""Does scripts/check_operators find what it is there to find? Feeds it small trees."""

import importlib.machinery
import importlib.util
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True

ROOT = pathlib.Path(__file__).resolve().parents[2]
loader = importlib.machinery.SourceFileLoader(
    "check_operators", str(ROOT / "scripts" / "check_operators")
)
checker = importlib.util.module_from_spec(
    importlib.util.spec_from_loader("check_operators", loader)
)
loader.exec_module(checker)

GOOD = {
    "sim/operators/pool/pool_operators.cpp": "constexpr OpRow kRows[] = {\n"
    '    {.name = "MaxPool"},\n    {.name = "Relu",\n     .since = 6},\n};\n',
    "sim/operators/pool/pool_rules.cpp": "Error bad(const Node& node) {\n"
    '  return {fmt::format("{}: {}", node.op_type, what), ""};\n}\n'
    "// op_type is only printed\n",
    "sim/operators/op_table.h": "inline const OpRow* find_op(const Node& node) {\n"
    "  return find_op(node.domain, node.op_type);\n}\n",
    "sim/operators/names.h": 'inline constexpr char kRelu[] = "Relu";\n',
    "sim/ref/pooling.cpp": "constexpr KernelRow kPoolingKernels[] = {\n"
    '    {"MaxPool", max_pool},\n    {"Relu", unary<Relu, 1>, kMicrosoft},\n};\n',
    "sim/lower/lower.cpp": '// "MaxPool" is a pooling\n/* and "Relu" isn\'t */\n'
    'auto a = "MaxPooling", b = "say \\"Relu\\"";\nchar c = \'"\';\n',
    "hw/golden/golden.cpp": 'auto a = "relu";\n',
}


class CheckOperators(unittest.TestCase):
    def problems(self, files=None):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder).resolve()
            for name, content in {**GOOD, **(files or {})}.items():
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(content)
            return checker.check(root)[0]

    def refuses(self, files, *words):
        problems = self.problems(files)
        self.assertEqual(len(problems), 1, problems)
        for word in words:
            self.assertIn(word, problems[0])

    def test_are_rows_kernels_comments_and_other_words_let_be(self):
        self.assertEqual(self.problems(), [])

    def test_is_a_name_outside_of_the_table_found(self):
        for path in ("sim/lower/lower.cpp", "sim/run/run.h", "hw/golden/golden.cpp"):
            self.refuses(
                {path: '\nif (node.op_type == "Relu") merge();\n'}, f"{path}:2", '"Relu"', "row"
            )

    def test_is_a_name_in_a_list_of_names_found(self):
        self.refuses(
            {"sim/analyse/kinds.cpp": 'constexpr std::array k = {\n    "Conv",\n    "MaxPool"};\n'},
            "kinds.cpp:3",
        )

    def test_is_a_name_in_a_kernel_file_found_outside_of_the_registration(self):
        text = GOOD["sim/ref/pooling.cpp"]
        self.refuses(
            {"sim/ref/pooling.cpp": text + 'bool f() { return op == "MaxPool"; }\n'},
            "pooling.cpp:5",
        )
        other = 'constexpr Row kRows[] = {\n    {"Relu", relu},\n};\n'
        self.refuses({"sim/ref/attributes.cpp": other}, "attributes.cpp:2")

    def test_is_a_registration_in_another_folder_found(self):
        self.refuses(
            {"sim/lower/kernels.cpp": 'constexpr KernelRow kKernels[] = {{"Relu", relu}};\n'},
            "kernels",
        )

    def test_is_a_name_found_in_a_rule(self):
        text = GOOD["sim/operators/pool/pool_rules.cpp"]
        path = "sim/operators/pool/pool_rules.cpp"
        self.refuses({path: text + 'if (name == "Relu") clip();\n'}, f"{path}:5", '"Relu"')
        kinds = 'constexpr Kind kKinds[] = {\n    {"MaxPool", 1},\n};\n'
        rows = GOOD["sim/operators/pool/pool_operators.cpp"]
        self.refuses({"sim/operators/pool/pool_operators.cpp": rows + kinds}, "operators.cpp:7")

    def test_is_a_rule_found_that_asks_which_operator_it_is_for(self):
        path = "sim/operators/norm/norm_rules.cpp"
        for rule in (
            "const bool last = node.node().op_type == op::kRelu;\n",
            "const bool last = node.node().op_type != name;\n",
            "if (node.op_type.starts_with(prefix)) return ok();\n",
            "const std::string_view op = node.node().op_type;\n",
            "const auto kind = std::ranges::find(kKinds, node.op_type, &Kind::op);\n",
            'fail(fmt::format("no"));\nswitch (hash(node.op_type)) {}\n',
        ):
            self.refuses({path: f"// a rule\n{rule}"}, f"{path}:", "op_type", "parameter")
        # Outside of the rules it is for those who write or show graphs.
        self.assertEqual(self.problems({"sim/report/show.cpp": "out += node.op_type;\n"}), [])

    def test_is_a_constant_of_no_row_found(self):
        for wrong in ('kRelu[] = "Rule"', 'kMaxPool[] = "Relu"'):
            text = f"inline constexpr char {wrong};\n"
            self.refuses({"sim/operators/names.h": text}, "names.h", "no row")

    def test_is_a_tree_without_rows_an_error(self):
        self.refuses({"sim/operators/pool/pool_operators.cpp": "\n"}, "no row")

    def test_has_the_tree_no_problem(self):
        problems, names = checker.check(ROOT)
        self.assertEqual(problems, [])
        self.assertGreater(names, 150)


if __name__ == "__main__":
    unittest.main()
