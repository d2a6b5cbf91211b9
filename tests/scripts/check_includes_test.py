#!/usr/bin/python3
"""Does scripts/check_includes find what it is there to find? Feeds it small trees, good and bad."""

import importlib.machinery
import importlib.util
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "check_includes"
loader = importlib.machinery.SourceFileLoader("check_includes", str(SCRIPT))
loader_spec = importlib.util.spec_from_loader("check_includes", loader)
checker = importlib.util.module_from_spec(loader_spec)
loader.exec_module(checker)

LAYERS = """
sim/base
hw/config  sim/base
sim/graph  sim/base
sim/report sim/graph hw/config
sim/app    sim/report
"""
CMAKE = """
accsim_library(sim/base fmt::fmt)
accsim_library(hw/config sim_base yaml-cpp)
accsim_library(sim/graph sim_base)
accsim_library(sim/report sim_graph hw_config)
target_link_libraries(accsim PRIVATE sim_report CLI11::CLI11)
"""
GOOD = {
    "sim/base/a.h": "#pragma once\n#include <vector>\n#include <fmt/format.h>\n",
    "hw/config/c.h": '#include "sim/base/a.h"\n',
    "hw/config/c.cpp": '#include "hw/config/c.h"\n#include <yaml-cpp/parser.h>\n',
    "sim/graph/g.h": '#include "sim/base/a.h"\n#include <sys/mman.h>\n#include <unistd.h>\n',
    "sim/report/r.cpp": '#include "hw/config/c.h"\n#include "sim/base/a.h"\n'
    "#include <nlohmann/json.hpp>\n",
    "sim/app/parser.cpp": '#include "sim/graph/g.h"\n#include <CLI/CLI.hpp>\n',
}


class CheckIncludes(unittest.TestCase):
    def problems(self, files=None, cmake=CMAKE, text=LAYERS):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, content in {**GOOD, **(files or {})}.items():
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(content)
            (root / "CMakeLists.txt").write_text(cmake)
            return checker.check(root, text)[0]

    def refuses(self, *words, **tree):
        problems = self.problems(**tree)
        self.assertEqual(len(problems), 1, problems)
        for word in words:
            self.assertIn(word, problems[0])

    def test_a_good_tree_has_no_problem(self):
        self.assertEqual(self.problems(), [])

    def test_is_an_include_of_a_later_folder_found_with_its_line(self):
        self.refuses(
            "sim/graph/g.h:2",
            "sim/graph may not see sim/report",
            files={"sim/graph/g.h": '#include <vector>\n# include "sim/report/r.cpp"\n'},
        )

    def test_does_a_folder_see_only_what_its_line_leads_to(self):
        self.refuses(
            "sim/graph may not see hw/config", files={"sim/graph/g.h": '#include "hw/config/c.h"\n'}
        )

    def test_is_a_library_of_one_file_refused_beside_it(self):
        self.refuses(
            "sim/app/help.cpp:1",
            "only sim/app/parser.cpp may include <CLI/CLI.hpp>",
            files={"sim/app/help.cpp": "#include <CLI/CLI.hpp>\n"},
        )

    def test_may_hw_see_nothing_of_sim_but_base(self):
        self.refuses(
            "hw/config may not see sim/graph", files={"hw/config/c.h": '#include "sim/graph/g.h"\n'}
        )
        self.refuses(
            "nothing of sim but sim/base",
            text=LAYERS.replace("hw/config  sim/base", "sim/other\nhw/config  sim/base sim/other"),
        )

    def test_is_every_outside_library_kept_to_its_folders(self):
        for header, owner in [
            ("yaml-cpp/yaml.h", "hw/config"),
            ("nlohmann/json.hpp", "sim/report"),
            ("CLI/CLI.hpp", "sim/app"),
            ("Eigen/Dense", "sim/ref"),
            ("unsupported/Eigen/MatrixFunctions", "sim/ref"),
            ("onnx/onnx_pb.h", "sim/onnx"),
            ("verilated.h", "hw/cosim"),
            ("Vtop.h", "hw/cosim"),
            ("google/protobuf/message.h", "sim/onnx"),
        ]:
            for quotes in ("<>", '""'):
                line = f"#include {quotes[0]}{header}{quotes[1]}\n"
                self.refuses(header, "only", owner, files={"sim/graph/g.h": line})

    def test_is_an_unknown_library_refused(self):
        for header in ["boost/any.hpp", "torch/torch.h", "zlib.h"]:
            self.refuses(header, files={"sim/graph/g.h": f"#include <{header}>\n"})

    def test_are_ways_around_the_rule_closed(self):
        self.refuses("written from the root", files={"sim/graph/g.h": '#include "../report/r.h"\n'})
        self.refuses("written from the root", files={"sim/app/main.cpp": '#include "options.h"\n'})
        self.refuses(
            "no such file", files={"sim/app/main.cpp": '#include "sim/../hw/config/c.h"\n'}
        )
        self.refuses("no such file", files={"sim/app/main.cpp": '#include "sim/base/gone.h"\n'})
        self.refuses("macro", files={"sim/app/main.cpp": "#include HEADER\n"})
        self.refuses("may not see", files={"sim/graph/g.h": "#include <sim/report/r.cpp>\n"})

    def test_is_a_folder_that_the_list_lacks_found(self):
        self.refuses("sim/new isn't in the layer list", files={"sim/new/n.h": ""})

    def test_can_a_line_name_only_earlier_lines(self):
        self.refuses(
            "isn't on an earlier line",
            text=LAYERS.replace("sim/base\nhw/config", "sim/base sim/graph\nhw/config", 1),
        )

    def test_must_cmake_say_the_same(self):
        lines = CMAKE.strip().splitlines()
        self.refuses("another order", cmake="\n".join([lines[0], lines[2], lines[1], *lines[3:]]))
        self.refuses(
            "links sim/graph",
            cmake=CMAKE.replace("sim/graph sim_base", "sim/graph sim_base hw_config"),
        )
        self.assertTrue(self.problems(cmake="\n".join(lines[:2] + lines[3:])))

    def test_is_a_tree_without_sources_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "CMakeLists.txt").write_text(CMAKE)
            self.assertTrue(checker.check(pathlib.Path(folder), LAYERS)[0])


if __name__ == "__main__":
    unittest.main()
