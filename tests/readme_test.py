#!/usr/bin/python3
"""Do the commands in README.md work? Runs every line of a ```sh block that starts with
build/accsim.

Usage: readme_test.py ACCSIM [--update]. The commands run in a scratch folder that sees the
repository's files, so that what they write doesn't stay. The excerpt and the picture in the README
and the options in docs/options.md must be what the program prints; --update rewrites them.
"""

import html
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
README = ROOT / "README.md"


FONT = '"DejaVu Sans Mono", Menlo, Consolas, monospace'


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
    return "\n".join(
        [*lines[:13], "...", *lines[total - 2 : total + 14], "...", *lines[blank + 1 :]]
    )


def inspect_excerpt(output):
    """The first layers, totals, sizes, MACs, bandwidth and activation memory."""
    lines = [line.rstrip() for line in output.splitlines()]
    total = next(i for i, line in enumerate(lines) if line.startswith("total of"))
    ops = next(i for i, line in enumerate(lines) if line.startswith("operators"))
    bandwidth = next(i for i, line in enumerate(lines) if line.startswith("bandwidth"))
    return "\n".join([*lines[:8], "...", *lines[total - 1 : ops + 4], "...", *lines[bandwidth:]])


def picture(output):
    """The excerpt of a report as a picture of a terminal: text that scales and can be searched."""
    lines = excerpt(output).splitlines()
    width, height = 7.22 * max(map(len, lines)) + 32, 16 * len(lines) + 32
    rows = "\n".join(
        f'<text x="16" y="{28 + 16 * i}">{html.escape(line)}</text>' for i, line in enumerate(lines)
    )
    return f"""<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" role="img"
  viewBox="0 0 {width:.0f} {height}">
<title>The report of ResNet-50 on a 64 x 64 array, shortened</title>
<style>
  rect {{ fill: #fbfbf8; stroke: #d0d0c8 }}
  text {{ font: 12px {FONT}; fill: #22262a; white-space: pre }}
  @media (prefers-color-scheme: dark) {{
    rect {{ fill: #16191d; stroke: #3a4048 }}
    text {{ fill: #d8dce0 }}
  }}
</style>
<rect x="0.5" y="0.5" width="{width - 1:.0f}" height="{height - 1}" rx="6"/>
{rows}
</svg>
"""


# What stands before an excerpt, its command, and how it is cut from what the command prints.
EXCERPTS = [
    ("The first of these prints", "build/accsim inspect models/alexnet_op13.onnx", inspect_excerpt),
]
# Files that are made whole from what a command prints.
MADE = [
    ("docs/report.svg", "build/accsim --hw configs/64x64.yaml models/resnet50_op17.onnx", picture),
    ("docs/options.md", "build/accsim options", str),
    ("docs/report.schema.json", "build/accsim schema", str),
]


def check_excerpt(anchor, printed, update):
    """0 when the README's excerpt is what was printed, else 1."""
    text = README.read_text()
    start = text.index("```\n", text.index(anchor)) + 4
    end = text.index("```\n", start)
    if text[start:end] == printed + "\n":
        return 0
    if update:
        README.write_text(text[:start] + printed + "\n" + text[end:])
        return 0
    print(
        f"FAILED: the README's excerpt after '{anchor}' isn't what the command prints now; after a "
        "change of the model run:\n  tests/readme_test.py build/accsim --update"
    )
    return 1


def check_made(name, made, update):
    """0 when the file is what it would be made as now, else 1."""
    file = ROOT / name
    if file.is_file() and file.read_text() == made:
        return 0
    if update:
        file.write_text(made)
        return 0
    print(
        f"FAILED: {name} isn't what the program prints now; run:\n"
        "  tests/readme_test.py build/accsim --update"
    )
    return 1


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    accsim = pathlib.Path(sys.argv[1]).resolve()
    found = commands(README.read_text())
    failures = 0
    outputs = {}
    # What is printed goes by these.
    environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "CLICOLOR_FORCE")}
    environment["LC_ALL"] = "C.UTF-8"
    with tempfile.TemporaryDirectory() as scratch:
        for folder in ("configs", "models"):
            (pathlib.Path(scratch) / folder).symlink_to(ROOT / folder)
        for line in found:
            words = shlex.split(line, comments=True)
            done = subprocess.run(
                [str(accsim), *words[1:]],
                cwd=scratch,
                env=environment,
                capture_output=True,
                encoding="utf-8",
                timeout=60,
                check=False,
            )
            outputs[line.strip()] = done.stdout
            good = done.returncode == 0 and not done.stderr
            print("ok    " if good else "FAILED", line)
            if not good:
                failures += 1
                print(f"exit code {done.returncode}\n{done.stderr}")
    if not found:
        print("FAILED: no command found", file=sys.stderr)
        return 1
    if not failures:
        for anchor, command, cut in EXCERPTS:
            failures += check_excerpt(anchor, cut(outputs[command]), "--update" in sys.argv)
        for name, command, make in MADE:
            failures += check_made(name, make(outputs[command]), "--update" in sys.argv)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
