"""Builds and runs bench_cocotb.py by cocotb's runner, in a process of its own for ../run.

    cocotb_run.py SIMULATOR FOLDER build NAME=VALUE...   # parameters of dot_array
    cocotb_run.py SIMULATOR FOLDER test RESULTS +NAME=VALUE...   # of bench_cocotb.py

Exit code 1 when the test fails. RESULTS: the file that cocotb writes (JUnit's XML)."""

import sys
import warnings
from pathlib import Path

with warnings.catch_warnings():  # that the runner may change: requirements.txt pins cocotb
    warnings.simplefilter("ignore")
    from cocotb.runner import get_results, get_runner

HERE = Path(__file__).resolve().parent
RTL = HERE.parent / "rtl"
TOP = "dot_array"


def build(simulator, folder, *parameters):
    get_runner(simulator).build(
        verilog_sources=[RTL / name for name in (RTL / "dot_array.f").read_text().split()],
        hdl_toplevel=TOP,
        parameters=dict(word.split("=") for word in parameters),
        build_args=["-O3"] if simulator == "verilator" else [],
        build_dir=folder,
    )
    return 0


def test(simulator, folder, results, *plusargs):
    sys.path.append(str(HERE))  # the runner hands it on
    file = get_runner(simulator).test(
        test_module="bench_cocotb",
        hdl_toplevel=TOP,
        hdl_toplevel_lang="verilog",
        build_dir=folder,
        test_dir=Path(results).parent,
        results_xml=results,
        plusargs=plusargs,
    )
    tests, failed = get_results(file)
    return 0 if tests == 1 and not failed else 1


if __name__ == "__main__":
    name, place, action, *words = sys.argv[1:]
    sys.exit({"build": build, "test": test}[action](name, Path(place), *words))
