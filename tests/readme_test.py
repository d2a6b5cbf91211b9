#!/usr/bin/python3
"""Do the commands in README.md work, and are the documents that the program makes what it says now?
Runs every line of README's ```sh blocks that starts with build/accsim.

Usage: readme_test.py ACCSIM [--update]. The commands run in a scratch folder that sees the
repository's files, so that what they write doesn't stay. The options in docs/options.md, the
report's schema and the excerpt in docs/inspect.md must be what the program prints; --update
rewrites them.
"""

import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
NO_TOOLS = 3  # exit code of verify where Verilator or a compiler is missing


def commands(text):
    """Lines of sh blocks, continuation lines joined."""
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    return [line for line in lines if line.startswith("build/accsim")]


def inspect_excerpt(output):
    """The first layers, totals, sizes, MACs, bandwidth and activation memory."""
    lines = [line.rstrip() for line in output.splitlines()]
    total = next(i for i, line in enumerate(lines) if line.startswith("total of"))
    ops = next(i for i, line in enumerate(lines) if line.startswith("operators"))
    bandwidth = next(i for i, line in enumerate(lines) if line.startswith("bandwidth"))
    return "\n".join([*lines[:8], "...", *lines[total - 1 : ops + 4], "...", *lines[bandwidth:]])


def whole(_, printed):
    """A file that is what the command prints."""
    return printed


def with_excerpt(text, printed):
    """A page whose excerpt is what the command prints."""
    start = text.index("```\n", text.index("The first of these prints")) + 4
    end = text.index("```\n", start)
    return text[:start] + inspect_excerpt(printed) + "\n" + text[end:]


# Files that are made from what a command prints, wholly or in part.
MADE = [
    ("docs/options.md", "build/accsim options", whole),
    ("docs/report.schema.json", "build/accsim schema", whole),
    ("docs/inspect.md", "build/accsim inspect models/alexnet_op13.onnx", with_excerpt),
]


def check_made(name, make, printed, update):
    """Is the file what it would be made as now?"""
    file = ROOT / name
    old = file.read_text("utf-8")
    new = make(old, printed)
    if old == new:
        return True
    if update:
        file.write_text(new, "utf-8")
        return True
    print(
        f"FAILED: {name} isn't what the program prints now; run:\n"
        "  tests/readme_test.py build/accsim --update"
    )
    return False


class Scratch:
    """A folder that sees machines and networks; commands run there."""

    def __init__(self, accsim, folder):
        self.accsim, self.folder = accsim, folder
        for name in ("configs", "models"):
            (pathlib.Path(folder) / name).symlink_to(ROOT / name)
        # What is printed goes by these.
        unwanted = ("COLUMNS", "CLICOLOR_FORCE")
        self.environment = {k: v for k, v in os.environ.items() if k not in unwanted}
        self.environment["LC_ALL"] = "C.UTF-8"

    def run(self, line):
        """What the command prints; nothing when it fails, which is told."""
        words = shlex.split(line, comments=True)
        done = subprocess.run(
            [str(self.accsim), *words[1:]],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            encoding="utf-8",
            timeout=200,
            check=False,
        )
        if words[1] == "verify" and done.returncode == NO_TOOLS:
            print("skipped", line, done.stderr, sep="\n")
            return ""
        if done.returncode == 0 and (not done.stderr or words[1] == "verify"):
            print("ok    ", line)
            return done.stdout
        print("FAILED", line, f"exit code {done.returncode}", done.stderr, sep="\n")
        return None


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    found = commands((ROOT / "README.md").read_text("utf-8"))
    if not found:
        print("FAILED: no command found", file=sys.stderr)
        return 1
    good = True
    with tempfile.TemporaryDirectory() as folder:
        scratch = Scratch(pathlib.Path(sys.argv[1]).resolve(), folder)
        for line in found:
            good &= scratch.run(line) is not None
        for name, line, make in MADE:
            printed = scratch.run(line)
            good &= bool(printed) and check_made(name, make, printed, "--update" in sys.argv)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
