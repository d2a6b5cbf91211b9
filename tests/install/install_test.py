#!/usr/bin/python3
"""Does an installed accsim work, alone and under other programs?

Installs the build folder into an empty prefix and builds the consumer program of this folder
against it, and once more with the source tree as a part of the consumer's project. Both must print
the total that the program itself reports.

Usage: install_test.py ACCSIM CMAKE BUILD_FOLDER BUILD_TYPE WERROR CXX_FLAGS [unittest arguments].
Type, whether warnings are errors (1, 0) and flags are those of the build folder, so that a
compiler cache knows the sources already.
"""

import json
import os
import pathlib
import re
import shutil
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from commands import give_runtime, run, unity  # noqa: E402

CONSUMER = pathlib.Path(__file__).resolve().parent / "consumer"
MODEL = ROOT / "models" / "resnet18_op13.onnx"
ACCSIM = CMAKE = BUILD = TYPE = WERROR = FLAGS = None  # set by main


class InstallTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.dir = pathlib.Path(cls.folder.name).resolve()
        cls.prefix = cls.dir / "prefix"
        done = run(CMAKE, "--install", BUILD, "--prefix", cls.prefix)
        assert done.returncode == 0, done.stderr
        cls.program = cls.prefix / "bin" / "accsim"
        cls.data = cls.prefix / "share" / "accsim"

    def good(self, *command, **kwargs):
        done = run(*command, **kwargs)
        self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr[-2000:])
        return done.stdout

    def consumer(self, build, *options):
        """Builds the consumer in a folder; that folder."""
        self.good(
            CMAKE,
            "-G",
            "Ninja",
            "-S",
            CONSUMER,
            "-B",
            build,
            f"-DCMAKE_BUILD_TYPE={TYPE}",
            f"-DCMAKE_CXX_FLAGS_{TYPE.upper()}={FLAGS}",
            "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
            *options,
        )
        self.good(CMAKE, "--build", build, "--target", "consumer", "--parallel", "2")
        return build

    def check_total(self, consumer):
        machine = self.data / "configs" / "64x64.yaml"
        report = json.loads(self.good(ACCSIM, "--hw", machine, MODEL, "--json", "-"))
        printed = self.good(consumer / "consumer", machine, MODEL, cwd=self.dir)
        self.assertGreater(int(printed), 0)
        self.assertEqual(int(printed), report["totals"]["cycles"])

    def test_does_find_package_give_the_same_total(self):
        build = self.consumer(self.dir / "package", f"-DCMAKE_PREFIX_PATH={self.prefix}")
        commands = (build / "compile_commands.json").read_text()
        self.assertNotIn(str(ROOT / "sim"), commands)
        self.assertNotIn(f"-I{ROOT} ", commands + " ")
        self.check_total(build)
        programs = ["c_consumer", "c_static_consumer"]
        self.good(CMAKE, "--build", build, "--target", *programs)
        machine = self.data / "configs" / "8x8.yaml"
        for program in programs:
            printed = self.good(build / program, machine, MODEL, cwd=self.dir)
            self.assertEqual(printed, "all is as computed here\n")

    def test_does_add_subdirectory_give_the_same_total(self):
        # Beside the build folder and with its options the sources are what a compiler cache knows.
        known = BUILD.parent == ROOT / "build"
        place = BUILD.parent / f"consumer-{BUILD.name}" if known else self.dir / "subproject"
        options = [f"-D{name}={value}" for name, value in unity(BUILD).items()]
        options += ["--fresh", f"-DACCSIM_TREE={ROOT}", f"-DACCSIM_WERROR={WERROR}"]
        build = self.consumer(place, *options)
        commands = json.loads((build / "compile_commands.json").read_text())
        main = [c["command"] for c in commands if c["file"].endswith("consumer/main.cpp")]
        self.assertEqual(len(main), 1)
        for word in ("-Wconversion", "-Werror"):
            self.assertNotIn(word, main[0], "accsim's warnings reach its users")
        self.check_total(build)

    def libraries(self):
        """The folder that has accsim.pc, and an environment that finds the C interface."""
        (file,) = self.prefix.rglob("accsim.pc")
        folder = file.parent.parent
        return folder, {
            **os.environ,
            "PKG_CONFIG_PATH": str(file.parent),
            "LD_LIBRARY_PATH": str(folder),
        }

    def test_do_the_programs_of_the_page_on_the_c_interface_work(self):
        page = (ROOT / "docs" / "c-abi.md").read_text("utf-8")
        _, environment = self.libraries()
        folder = self.dir / "page"
        folder.mkdir()
        ran, printed = 0, ""
        for found in re.finditer(r"^```(\w*)\n(.*?)^```$", page, re.M | re.S):
            language, block = found.groups()
            if language == "text":
                for line in block.splitlines():
                    self.assertIn(line, printed)
            elif language:
                name = re.findall(r"`(\w+\.\w+)`", page[: found.start()])[-1]
                (folder / name).write_text(block)
            elif "verilator" not in block or shutil.which("verilator"):
                printed = self.good("bash", "-euc", block, cwd=folder, env=environment)
                ran += 1
            else:
                break
        self.assertGreaterEqual(ran, 1)

    def test_does_the_shared_library_export_its_version_and_its_functions_alone(self):
        folder, _ = self.libraries()
        library = folder / "libaccsim.so"
        version = re.search(
            r"ACCSIM_ABI_VERSION (\d+)", (self.prefix / "include" / "accsim.h").read_text()
        )[1]
        dynamic = self.good("readelf", "-d", library)
        self.assertIn(f"[libaccsim.so.{version}]", dynamic)
        symbols = self.good("nm", "-D", "--defined-only", library).splitlines()
        self.assertTrue(all(" T accsim_" in line for line in symbols), symbols[:20])

    def test_does_the_installed_program_cost_what_the_built_one_does(self):
        command = ["--hw", self.data / "configs" / "64x64.yaml", MODEL, "--json", "-"]
        self.assertEqual(
            self.good(self.program, *command, cwd=self.dir),
            self.good(ACCSIM, *command, cwd=self.dir),
        )

    def test_are_licence_and_documents_installed(self):
        documents = self.prefix / "share" / "doc" / "accsim"
        for name in ("LICENSE", "README.md", "CHANGELOG.md", "docs/inspect.md"):
            self.assertTrue((documents / name).is_file(), name)
        self.assertTrue((self.data / "configs" / "hw.schema.json").is_file())

    def test_does_the_installed_program_ask_for_torch(self):
        net = self.dir / "net.pt"
        net.write_bytes(b"PK")
        bare = self.dir / "bare"  # Python without what is installed beside it
        bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S -E "$@"\n')
        bare.chmod(0o755)
        words = ["--hw", "8x8", net, "--example", "1", "--python", bare]
        done = run(self.program, *words, cwd=self.dir, env={**os.environ, "COLUMNS": "500"})
        self.assertEqual(done.returncode, 2)
        self.assertIn("has no torch: pip install torch", done.stderr)

    def test_are_manual_pages_and_completions_installed(self):
        share = self.prefix / "share"
        for name in ("accsim", "accsim-inspect", "accsim-sweep-show", "accsim-hw-check"):
            page = (share / "man/man1" / f"{name}.1").read_text()
            self.assertIn(f'.TH "{name.upper()}"'.replace("-", "\\-"), page)
        for name, word in (
            ("bash-completion/completions/accsim", "complete -F _accsim accsim"),
            ("zsh/site-functions/_accsim", "#compdef accsim"),
            ("fish/vendor_completions.d/accsim.fish", "complete -c accsim"),
        ):
            self.assertIn(word, (share / name).read_text())

    def test_does_a_name_lead_to_a_machine_of_the_installed_ones(self):
        for folder, name in (("configs", "mine"), ("configs/known", "my-tpu")):
            text = (self.data / "configs" / "8x8.yaml").read_text()
            file = self.data / folder / f"{name}.yaml"  # the tree has no such one
            file.write_text(text.replace('"8x8"', f'"installed {name}"'))
            self.addCleanup(file.unlink)
            words = ["--hw", name, MODEL, "--json", "-"]
            report = json.loads(self.good(self.program, *words, cwd=self.dir))
            self.assertEqual(report["hw"]["name"], f"installed {name}")
            self.assertEqual(report["hw"]["file"], name)

    @unittest.skipUnless(shutil.which("verilator"), "there is no verilator")
    def test_does_verify_use_the_installed_rtl_only(self):
        home = self.dir / "home"
        cores = home / ".cache/accsim/verilated"
        give_runtime(BUILD, cores)
        environment = {**os.environ, "HOME": str(home)}
        environment.pop("XDG_CACHE_HOME", None)
        command = [
            self.program,
            "verify",
            "--gemm",
            "8x8x8",
            "--hw",
            self.data / "configs" / "8x8.yaml",
        ]
        self.good(*command, cwd=self.dir, env=environment)
        self.assertTrue(list(cores.glob("*/core.so")))
        # Without them it fails and names the place; the tree it was built from is no substitute.
        rtl = self.data / "rtl"
        away = rtl.rename(self.dir / "rtl-away")
        try:
            done = run(*command, cwd=self.dir, env=environment)
        finally:
            away.rename(rtl)
        self.assertEqual(done.returncode, 3 if done.stdout else 2, done.stderr)
        self.assertIn(str(rtl), done.stdout + done.stderr)


if __name__ == "__main__":
    if len(sys.argv) < 7:
        sys.exit(__doc__)
    ACCSIM, CMAKE, BUILD = (pathlib.Path(sys.argv.pop(1)).resolve() for _ in range(3))
    TYPE, WERROR, FLAGS = (sys.argv.pop(1) for _ in range(3))
    unittest.main()
