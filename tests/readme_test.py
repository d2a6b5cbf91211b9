#!/usr/bin/python3
"""Do the commands in README.md work? Runs every line of a ```sh block that starts with build/accsim.

Usage: readme_test.py ACCSIM [--update]. The commands run in a scratch folder that sees the
repository's files, so that what they write doesn't stay. The excerpt in the README must be what the
first command prints; --update rewrites it.
"""

import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
README = ROOT / "README.md"


def commands(text):
    """Lines of sh blocks, continuation lines joined."""
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    return [line for line in lines if line.startswith("build/accsim")]


def excerpt(output):
    """The head of the report, its first layers, totals and summary."""
    lines = [line.rstrip() for line in output.splitlines()]
    total = next(i for i, line in enumerate(lines) if line.startswith("total of"))
    blank = len(lines) - 1 - lines[::-1].index("")  # the summary follows the last empty line
    return "\n".join([*lines[:12], "...", *lines[total - 2:total + 14], "...", *lines[blank + 1:]])


def check_excerpt(output, update):
    """0 when the README's excerpt is the output's, else 1."""
    text = README.read_text()
    start = text.index("```\n", text.index("The first prints")) + 4
    end = text.index("\n```", start)
    if text[start:end] == excerpt(output):
        return 0
    if update:
        README.write_text(text[:start] + excerpt(output) + text[end:])
        return 0
    print("FAILED: the README's excerpt isn't what the command prints now; after a change of the "
          "model run:\n  tests/readme_test.py build/accsim --update")
    return 1


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    accsim = pathlib.Path(sys.argv[1]).resolve()
    found = commands(README.read_text())
    failures = 0
    first_output = None
    with tempfile.TemporaryDirectory() as scratch:
        for folder in ("configs", "models"):
            (pathlib.Path(scratch) / folder).symlink_to(ROOT / folder)
        for line in found:
            words = shlex.split(line, comments=True)
            done = subprocess.run([str(accsim), *words[1:]], cwd=scratch, capture_output=True,
                                  text=True, timeout=60)
            first_output = first_output or done.stdout
            good = done.returncode == 0 and not done.stderr
            print("ok    " if good else "FAILED", line)
            if not good:
                failures += 1
                print(f"exit code {done.returncode}\n{done.stderr}")
    if not found:
        print("FAILED: no command found", file=sys.stderr)
        return 1
    if not failures:
        failures += check_excerpt(first_output, "--update" in sys.argv)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
