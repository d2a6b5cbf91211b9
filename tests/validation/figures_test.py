#!/usr/bin/python3
"""Is docs/validation.md what accsim says now, and has no error grown since it was written?

Usage: figures_test.py ACCSIM [--update [--worse]]. --update writes the document; not when the error
of any point has grown or a point has gone, unless --worse says that this is meant."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "validation.md"
BEGIN = "<!-- figures:begin (tests/validation/figures_test.py writes them) -->\n"
END = "<!-- figures:end -->\n"
ROUNDING = 0.05001  # percent: errors are printed with one decimal
ROW = re.compile(
    r"^\| (?P<point>[^|]+) \| [^|]+ \| [^|]+ \| [^|]+ \| (?P<error>[+-]?[\d,.]+) % \| [^|]* \|"
)


def figures(accsim):
    done = subprocess.run(
        [accsim, "validate", "--markdown", "-"], capture_output=True, encoding="utf-8", check=False
    )
    if done.returncode != 0:
        sys.exit(f"FAILED: accsim validate: {done.stderr}")
    return done.stdout


def split(text):
    """What stands before the figures, they themselves, and what stands behind them."""
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        sys.exit(f"FAILED: {DOCUMENT} needs the lines {BEGIN!r} and {END!r}")
    before, rest = text.split(BEGIN)
    old, behind = rest.split(END)
    return before, old, behind


def errors(text):
    """{(source, point): its error in percent} of the tables."""
    out, source = {}, ""
    for line in text.splitlines():
        if line.startswith("### "):
            source = line[4:]
        elif source and (row := ROW.match(line)):
            out[source, row["point"]] = float(row["error"].replace(",", ""))
    return out


def growth(old, new):
    """A sentence for each point whose error has grown, or that has gone."""
    out = []
    now = errors(new)
    for key, before in errors(old).items():
        name = f"{key[1]} of {key[0]}"
        if key not in now:
            out.append(f"{name} has gone")
        elif abs(now[key]) > abs(before) + ROUNDING:
            out.append(f"the error of {name} has grown: {before} % was, {now[key]} % is")
    return out


def main():
    if len(sys.argv) < 2 or sys.argv[2:] not in ([], ["--update"], ["--update", "--worse"]):
        sys.exit(__doc__)
    text = DOCUMENT.read_text(encoding="utf-8")
    before, old, behind = split(text)
    new = figures(pathlib.Path(sys.argv[1]).resolve())
    if not errors(new):
        sys.exit("FAILED: accsim validate gives no figures")
    grown = growth(old, new)
    for line in grown:
        print(f"FAILED: {line}")
    if sys.argv[2:] == ["--update", "--worse"] or sys.argv[2:] == ["--update"] and not grown:
        DOCUMENT.write_text(before + BEGIN + new + END + behind, encoding="utf-8")
        return 0
    if new == old and not grown:
        return 0
    for line in set(new.splitlines()) - set(old.splitlines()):
        print(f"now: {line}")
    print(
        "docs/validation.md isn't what accsim says. After a change of the model run:\n"
        "  tests/validation/figures_test.py build/accsim --update\n"
        "and with --worse behind it where errors have grown for a reason."
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
