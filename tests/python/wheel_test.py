#!/usr/bin/python3
"""Is the Python package whole? Makes the wheel as scripts/package does, installs it into a fresh
environment and runs the tests of this folder there.

Usage: wheel_test.py ACCSIM BUILD_FOLDER [unittest arguments]. Runs on .venv's Python, which has who
reads tables; on another one the wheel is for that."""

import os
import pathlib
import re
import shutil
import sys
import tempfile
import tomllib
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from commands import run  # noqa: E402

HERE = ROOT / "tests" / "python"
MOST_BYTES = 15_000_000
SYSTEM = {"libstdc++", "libm", "libgcc_s", "libc", "ld-linux-x86-64", "ld-linux-aarch64"}
ACCSIM = BUILD = None  # set by main


def contents(wheel):
    """Names of the package's own files, without the libraries that make it self-contained."""
    with zipfile.ZipFile(wheel) as file:
        names = file.namelist()
    return {name for name in names if name.startswith("accsim/") and not name.endswith("/")}


class WheelTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.dir = pathlib.Path(cls.folder.name).resolve()
        cls.env = {**os.environ}
        cls.env["PIP_NO_CACHE_DIR"] = "1"
        # pip asks rustc for its version, and that of rustup writes its settings.
        cls.env["RUSTUP_HOME"] = str(cls.dir / "rustup")
        cls.env["PATH"] = f"{pathlib.Path(sys.prefix) / 'bin'}:{os.environ['PATH']}"
        cls.wheel = cls.made()
        cls.venv = cls.dir / "v"
        cls.good(sys.executable, "-m", "venv", cls.venv)
        cls.python = cls.venv / "bin" / "python"
        cls.good(cls.python, "-m", "pip", "install", "--no-index", "--no-deps", "-q", cls.wheel)
        (cls.package,) = cls.venv.glob("lib/python3*/site-packages/accsim")

    @classmethod
    def good(cls, *command, **kwargs):
        done = run(*command, env=cls.env, **kwargs)
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
        return done.stdout

    @classmethod
    def made(cls):
        out = cls.dir / "made"
        words = ["--build", BUILD, "--python", sys.executable, "-o", out]
        cls.good(ROOT / "scripts" / "package", "wheel", *words)
        return next(out.glob("*.whl"))

    def in_venv(self, name, python=None, **env):
        done = run(
            python or self.python,
            HERE / name,
            ACCSIM,
            cwd=self.dir,
            env={**self.env, **env},
        )
        if done.returncode == 77:
            self.skipTest(done.stdout.strip())
        self.assertEqual(done.returncode, 0, f"{name}:\n{done.stdout}\n{done.stderr}")
        self.assertNotIn("Ran 0 tests", done.stderr)
        print(done.stdout, end="")

    def beside_other_packages(self, name):
        """In the Python that runs this, which has them."""
        package = next(self.venv.glob("lib/python3*/site-packages"))
        self.in_venv(name, python=sys.executable, PYTHONPATH=str(package))

    def test_is_the_wheel_small(self):
        self.assertLess(self.wheel.stat().st_size, MOST_BYTES)
        self.assertIn("manylinux", self.wheel.name)

    def test_does_it_need_libraries_beside_the_systems(self):
        package = next(self.venv.glob("lib/python3*/site-packages/accsim"))
        for binary in [package / "bin" / "accsim", *package.glob("_core*.so")]:
            needed = re.findall(r"=> (/\S+)", self.good("ldd", binary))
            self.assertTrue(needed)
            outside = [n for n in needed if not n.startswith(str(package.parent))]
            names = {pathlib.Path(n).name.partition(".so")[0] for n in outside}
            self.assertLessEqual(names, SYSTEM)

    def test_does_pip_install_what_the_wheel_has(self):
        """`pip install .` is configured and its files are put in place, of what the wheel's build
        has made; PIP_BUILDS=1 builds all of it."""
        if os.environ.get("PIP_BUILDS") == "1":
            pip = [sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps"]
            self.good(*pip, "--no-index", "-q", "-w", self.dir / "pip", ROOT, cwd=self.dir)
            (wheel,) = (self.dir / "pip").glob("*.whl")
            self.assertEqual(contents(wheel), contents(self.wheel))
            return
        with (ROOT / "pyproject.toml").open("rb") as file:
            settings = tomllib.load(file)["tool"]["scikit-build"]
        words = [f"-D{name}={value}" for name, value in settings["cmake"]["define"].items()]
        words += ["-DSKBUILD=2", f"-DPython_EXECUTABLE={sys.executable}"]
        tree, prefix = self.dir / "tree", self.dir / "prefix"
        self.good("cmake", "-G", "Ninja", "-S", ROOT, "-B", tree, *words)
        planned = self.good("ninja", "-C", tree, "-t", "commands", *settings["build"]["targets"])
        for word in ("sim_advise.dir", "python/src/module.cpp", "stubgen", "sim/app/cli.cpp"):
            self.assertIn(word, planned)
        (module,) = self.package.glob("_core*.so")
        for file, place in (
            (ACCSIM, "accsim"),
            (module, f"python/accsim/{module.name}"),
            (self.package / "_core.pyi", "python/_core.pyi"),
        ):
            (tree / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, tree / place)
        for component in settings["install"]["components"]:
            self.good("cmake", "--install", tree, "--prefix", prefix, "--component", component)
        installed = {f"accsim/{p.relative_to(prefix)}" for p in prefix.rglob("*") if p.is_file()}
        python = {f"accsim/{p.name}" for p in (ROOT / "python" / "accsim").iterdir() if p.is_file()}
        self.assertEqual(installed | python, contents(self.wheel))

    def test_is_the_program_on_the_path(self):
        model = ROOT / "models" / "resnet18_op13.onnx"
        done = run(self.venv / "bin" / "accsim", "--hw", "64x64", model, cwd=self.dir)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("64 x 64 array", done.stdout)

    def test_does_the_program_hold_what_verify_needs(self):
        env = {**self.env, "PATH": str(self.venv / "bin")}
        cache = self.dir / "cache"
        done = run(
            *(self.venv / "bin" / "accsim", "verify", "--hw", "8x8", "--gemm", "8x8x8"),
            *("--cache", cache),
            env=env,
        )
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        self.assertIn("verilator", done.stdout + done.stderr)

    def test_do_reports_equal_those_of_the_program(self):
        self.in_venv("cost_test.py")

    def test_are_machines_checked_as_files_are(self):
        self.in_venv("machine_test.py")

    def test_do_the_other_commands_answer(self):
        self.in_venv("commands_test.py")

    def test_can_limits_be_raised(self):
        self.beside_other_packages("limits_test.py")  # runs give numpy's arrays

    def test_does_it_behave_under_load(self):
        self.in_venv("load_test.py")

    def test_do_other_packages_read_its_tables(self):
        self.beside_other_packages("tables_test.py")

    def test_do_modules_of_pytorch_cost(self):
        if os.environ.get("TORCH_TESTS") != "1":
            self.skipTest("TORCH_TESTS=1 runs it, where Debian's python3-torch is")
        self.beside_other_packages("torch_test.py")

    def test_are_calls_of_modules_held_against_pytorchs(self):
        self.beside_other_packages("golden_test.py")

    def test_do_the_notebooks_run(self):
        self.beside_other_packages("notebooks_test.py")

    def test_does_it_say_that_torch_is_missing(self):
        (self.dir / "net.pt").write_bytes(b"PK")
        words = ["--hw", "64x64", "net.pt", "--example", "1x3x224x224"]
        done = run(self.venv / "bin" / "accsim", *words, cwd=self.dir)
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"{self.python} has no torch: pip install torch", done.stderr)

    def test_does_it_keep_to_the_stable_abi(self):
        package = next(self.venv.glob("lib/python3*/site-packages/accsim"))
        (module,) = package.glob("_core*.so")
        if not module.name.endswith(".abi3.so"):
            self.skipTest(f"{module.name} is of one Python's version; 3.12 has the stable ABI")
        done = run(sys.executable, "-m", "abi3audit", "--strict", "-v", self.wheel, cwd=self.dir)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("cp312-abi3", self.wheel.name)

    def test_do_other_simulators_read_what_it_writes(self):
        package = next(self.venv.glob("lib/python3*/site-packages"))
        self.in_venv("adapters_test.py", python=sys.executable, PYTHONPATH=str(package))

    def test_do_single_shapes_cost_what_networks_of_them_cost(self):
        self.in_venv("latency_test.py")

    def test_are_its_types_good(self):
        package = next(self.venv.glob("lib/python3*/site-packages"))
        files = sorted(HERE.glob("typed_*.py"))
        checked = [package / "accsim", *files]
        mypy = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", self.dir / "mypy"]
        for what in (["-p", "accsim"], files):
            done = run(*mypy, "--python-executable", self.python, *what, env=self.env, cwd=self.dir)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        (self.dir / "pyrightconfig.json").write_text('{"typeCheckingMode": "standard"}')
        done = run(
            *(sys.executable, "-m", "pyright", "--pythonpath", self.python),
            *checked,
            env={**self.env, "PYRIGHT_PYTHON_GLOBAL_NODE": "on"},
            cwd=self.dir,
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    ACCSIM, BUILD = (pathlib.Path(sys.argv.pop(1)).resolve() for _ in range(2))
    unittest.main()
