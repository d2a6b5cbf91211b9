#!/usr/bin/python3
"""Do the packages of scripts/package work where nothing else is?

Makes all three of a build folder. Tarball and .deb are put into roots of a file system that hold
what they ask for and no more, the wheel into a fresh virtual environment. Each must cost ResNet-50
as the folder's own program does.

Usage: package_test.py ACCSIM BUILD_FOLDER [unittest arguments], on .venv's Python. Exit code 77
when this user may not have a root of its own; what needs none has run then."""

import hashlib
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
import clean_root  # noqa: E402
from commands import run  # noqa: E402

MODEL = ROOT / "models" / "resnet50_op17.onnx"
JOB = ("--hw", "64x64", MODEL.name, "--json", "-")
PYTHON_JOB = f"""import accsim
print(accsim.cost({MODEL.name!r}, "64x64").to_json(), end="")"""
SCRIPT = ROOT / "scripts" / "package"
MOST_BYTES = 64 << 20
COMPILERS = re.compile(
    r"(.*-)?(cc|c\+\+|gcc|g\+\+|clang|clang\+\+|ld|as|cmake|python3?)(-?[\d.]+)?"
)
SHARED = (
    "share/accsim/configs/64x64.yaml",
    "share/accsim/configs/known/tpu-v4.yaml",
    "share/accsim/rtl/accsim.f",
    "share/accsim/hw/cosim/rtl_abi.h",
    "share/accsim/hw/cosim/model/rtl_model.cc",
)
DOCUMENTED = (
    *SHARED,
    "share/man/man1/accsim.1",
    "share/man/man1/accsim-verify.1",
    "share/bash-completion/completions/accsim",
    "share/zsh/site-functions/_accsim",
    "share/fish/vendor_completions.d/accsim.fish",
    "share/doc/accsim/LICENSE",
    "share/doc/accsim/docs/tutorial.md",
)
LICENSED = ("fmt", "yaml-cpp", "sqlite3", "xxhash", "cli11", "eigen3", "jemalloc")
LICENCES = {
    "page.txt",
    *(f"lib{name}-dev.txt" for name in LICENSED),
    "nlohmann-json3-dev.txt",
}
ACCSIM = BUILD = None  # set by main


def setUpModule():
    """Makes the packages and what the folder's program says of ResNet-50."""
    folder = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(folder.cleanup)
    Packages.dir = pathlib.Path(folder.name).resolve()
    Packages.out = Packages.dir / "three of them" / "packages"
    done = run(SCRIPT, "--build", BUILD, "-o", Packages.out)
    assert done.returncode == 0, done.stdout + done.stderr
    Packages.said = done.stdout
    (Packages.dir / MODEL.name).symlink_to(MODEL)
    done = run(ACCSIM, *JOB, cwd=Packages.dir)
    assert done.returncode == 0, done.stderr
    Packages.expected = done.stdout


class Packages(unittest.TestCase):
    maxDiff = 2000

    def the(self, pattern):
        """The one package of this name."""
        (file,) = self.out.glob(pattern)
        return file

    def root(self):
        folder = tempfile.TemporaryDirectory(dir=self.dir)
        self.addCleanup(folder.cleanup)
        root = pathlib.Path(folder.name)
        root.chmod(0o755)
        shutil.copy(MODEL, root)
        return root

    def check_cost(self, done):
        """The report is the expected one, to the byte: it doesn't say where the machine lies."""
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(json.loads(done.stdout)["totals"]["cycles"], 0)
        self.assertEqual(done.stdout, self.expected)

    def check_bare(self, root):
        found = [p for p in root.rglob("*bin/*") if COMPILERS.fullmatch(p.name)]
        self.assertEqual(found, [])

    def check_files(self, prefix, names, licences):
        missing = [name for name in names if not (prefix / name).is_file()]
        self.assertEqual(missing, [])
        self.assertEqual({file.name for file in licences.iterdir()}, LICENCES)
        self.assertEqual([*prefix.rglob("*.a"), *prefix.rglob("*.cmake")], [])


class Made(Packages):
    def test_are_there_three_of_at_most_64_mb_with_their_sums(self):
        files = sorted(file for file in self.out.iterdir() if file.name != "SHA256SUMS")
        self.assertEqual(sorted(file.suffix for file in files), [".deb", ".gz", ".whl"])
        for file in files:
            self.assertLessEqual(file.stat().st_size, MOST_BYTES, file.name)
            self.assertIn(str(file), self.said)
        sums = {f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}" for file in files}
        self.assertEqual(set((self.out / "SHA256SUMS").read_text().splitlines()), sums)
        self.assertEqual([path.name for path in self.out.parent.iterdir()], ["packages"])

    def test_does_the_wheel_cost_the_same_in_python_and_as_a_program(self):
        venv = self.dir / "venv"
        wheel = self.the("*.whl")
        self.assertIn("manylinux", wheel.name)
        pip = [venv / "bin" / "python", "-m", "pip", "install", "--no-index", "--no-deps", "-q"]
        for command in ([sys.executable, "-m", "venv", venv], [*pip, wheel]):
            done = run(*command)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        env = {"PATH": str(venv / "bin"), "HOME": "/nowhere"}
        self.assertIsNone(shutil.which("cc", path=env["PATH"]))
        command = [venv / "bin" / "python", "-c", PYTHON_JOB]
        (package,) = venv.glob("lib/python3*/site-packages/accsim")
        self.check_cost(run(*command, cwd=self.dir, env=env))
        self.check_cost(run(venv / "bin" / "accsim", *JOB, cwd=self.dir, env=env))
        self.assertTrue((package / "share/accsim/licences/nanobind.txt").is_file())
        (package / "share/accsim/licences/nanobind.txt").unlink()
        self.check_files(package, SHARED, package / "share/accsim/licences")


class Clean(Packages):
    def tarball(self):
        """A root with the C and C++ libraries and the unpacked tarball; the tarball's folder."""
        root = self.root()
        clean_root.with_runtime_only(root, ACCSIM)
        (root / "opt").mkdir()
        done = run("tar", "-xf", self.the("*.tar.gz"), "-C", root / "opt")
        self.assertEqual(done.returncode, 0, done.stderr)
        (top,) = (root / "opt").iterdir()
        return root, top

    def test_does_the_tarball_cost_the_same_where_only_libc_and_libstdcxx_are(self):
        root, top = self.tarball()
        self.check_bare(root)
        program = f"/opt/{top.name}/bin/accsim"
        done = clean_root.inside(root, program, *JOB)
        self.check_cost(done)
        self.check_files(top, DOCUMENTED, top / "share/doc/accsim/licences")
        shutil.rmtree(top / "lib")  # its own libraries: nothing else brings them
        done = clean_root.inside(root, program, *JOB)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("cannot open shared object file", done.stderr)

    def test_does_the_tarballs_name_say_what_its_files_ask_of_libc_and_libstdcxx(self):
        _, top = self.tarball()
        asked = {"GLIBC": [], "GLIBCXX": []}
        for file in [top / "bin" / "accsim", *top.glob("lib/accsim/*.so*")]:
            needs = run("readelf", "-VW", file).stdout
            for name, number in re.findall(r"Name: (GLIBC|GLIBCXX)_([\d.]+) ", needs):
                asked[name].append([int(part) for part in number.split(".")])
        latest = {name: ".".join(map(str, max(numbers))) for name, numbers in asked.items()}
        ending = f"-glibc{latest['GLIBC']}-glibcxx{latest['GLIBCXX']}.tar.gz"
        self.assertTrue(self.the("*.tar.gz").name.endswith(ending), ending)

    def test_does_the_deb_cost_the_same_where_only_its_dependencies_are(self):
        root, deb = self.root(), self.the("*.deb")
        clean_root.empty_debian(root)
        done = clean_root.dpkg(root, "--install", deb)
        self.assertNotEqual(done.returncode, 0, "dpkg took it without what it depends on")
        self.assertIn("depends on libc6", done.stderr)
        clean_root.dpkg(root, "--purge", "accsim")
        depends = run("dpkg-deb", "-f", deb, "Depends").stdout
        clean_root.with_packages(root, clean_root.closure(depends))
        done = clean_root.dpkg(root, "--install", deb)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.check_bare(root)
        done = clean_root.inside(root, "/usr/bin/accsim", *JOB)
        self.check_cost(done)
        self.check_files(root / "usr", DOCUMENTED, root / "usr/share/doc/accsim/licences")
        done = clean_root.dpkg(root, "--purge", "accsim")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        left = [str(path) for path in root.rglob("*accsim*")]
        self.assertEqual(left, [])


class Failing(Packages):
    def fail(self, *words, **env):
        """A run that must fail and leave nothing; what it says."""
        out = self.dir / "nothing" / "packages"
        done = run(SCRIPT, "-o", out, *words, env={**os.environ, **env})
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertFalse(out.parent.exists())
        self.assertEqual(list(self.dir.glob(".packages-*")), [])
        return done.stderr

    def test_is_nothing_there_when_the_last_one_fails(self):
        python = self.dir / "broken python"
        python.write_text("#!/bin/sh\necho no module of mine\nexit 1\n")
        python.chmod(0o755)
        said = self.fail("--build", BUILD, "--python", python, "tar", "wheel")
        self.assertIn("no module of mine", said)

    def test_does_it_say_what_to_install(self):
        tools = self.dir / "tools"
        tools.mkdir()
        (tools / "git").symlink_to(shutil.which("git"))
        said = self.fail("--build", BUILD, "deb", PATH=str(tools))
        self.assertIn("no dpkg-shlibdeps (Debian: dpkg-dev)", said)
        self.assertIn("no cpack (Debian: cmake)", said)

    def test_is_a_folder_without_a_program_refused(self):
        self.assertIn(f"{self.dir} has no accsim", self.fail("--build", self.dir, "tar"))

    def test_does_it_know_what_the_pages_tell_it(self):
        described = run(SCRIPT, "--help").stdout
        told = 0
        for page in ("releasing.md", "python.md"):
            for words in re.findall(
                r"scripts/package\b([^\n`]*)", (ROOT / "docs" / page).read_text()
            ):
                for option in re.findall(r"--[a-z]+", words):
                    self.assertIn(option, described, page)
                    told += 1
        self.assertGreater(told, 1)

    def test_is_an_unknown_kind_refused(self):
        self.assertIn("'rpm' is no kind: tar, deb, wheel", self.fail("--build", BUILD, "rpm"))

    def test_do_the_packages_of_before_stay(self):
        out = self.dir / "before"
        out.mkdir()
        (out / "SHA256SUMS").write_text("of before\n")
        done = run(SCRIPT, "-o", out, "--build", BUILD, "--python", "/bin/false", "wheel")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(
            [(p.name, p.read_text()) for p in out.iterdir()], [("SHA256SUMS", "of before\n")]
        )


class Release(Packages):
    """What --release refuses, in a small tree of its own."""

    def tree(self, number="1.2.3", cited="1.2.3", section="1.2.3", tag="v1.2.3", changed=False):
        """What the script says of a tree that says so, with --release and without."""
        folder = tempfile.TemporaryDirectory(dir=self.dir)
        self.addCleanup(folder.cleanup)
        root = pathlib.Path(folder.name)
        (root / "scripts").mkdir()
        shutil.copy(SCRIPT, root / "scripts")
        (root / "CMakeLists.txt").write_text(f"project(accsim VERSION {number} LANGUAGES CXX)\n")
        (root / "CHANGELOG.md").write_text(f"# Changelog\n\n## [{section}] - 2030-01-01\n")
        (root / "CITATION.cff").write_text(f"title: x\nversion: {cited}\nlicense: x\n")
        git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-C", root]
        for words in ("init -q", "add -A", "commit -q -m x", f"tag {tag}"):
            done = run(*git, *words.split())
            self.assertEqual(done.returncode, 0, done.stderr)
        if changed:
            (root / "CHANGELOG.md").write_text("")
        words = [root / "scripts" / "package", "--build", root, "tar"]
        strict, loose = run(*words, "--release"), run(*words)
        self.assertEqual((strict.returncode, loose.returncode), (2, 2))  # it has no program
        self.assertIn("has no accsim", strict.stderr)
        self.assertNotIn("error: no release", loose.stderr)
        return re.findall(r"error: no release: (.*)", strict.stderr)

    def test_is_a_tree_with_its_version_everywhere_a_release(self):
        self.assertEqual(self.tree(), [])

    def test_is_what_is_not_committed_seen(self):
        said = self.tree(changed=True)
        self.assertEqual(said[0], "what is not committed (1): CHANGELOG.md")

    def test_are_versions_that_differ_seen(self):
        self.assertEqual(self.tree(tag="v1.2.2"), ["the commit hasn't got the tag v1.2.3"])
        self.assertEqual(
            self.tree(section="Unreleased"), ["CHANGELOG.md hasn't got a section [1.2.3]"]
        )
        self.assertEqual(self.tree(cited="1.2"), ["CITATION.cff is of another version than 1.2.3"])
        self.assertEqual(len(self.tree(number="1.2")), 3)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    ACCSIM, BUILD = (pathlib.Path(sys.argv.pop(1)).resolve() for _ in range(2))
    reason = clean_root.why_not()
    if reason:
        Clean = unittest.skip(reason)(Clean)
        print(f"skipped: {reason}", file=sys.stderr)
    good = unittest.main(exit=False).result.wasSuccessful()
    sys.exit(1 if not good else 77 if reason else 0)
