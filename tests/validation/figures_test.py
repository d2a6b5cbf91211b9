#!/usr/bin/python3
"""Is docs/validation.md what accsim says now, and has no error grown since it was written?

The page begins with the table of sources; the sources' own tables stand further down.
Usage: figures_test.py ACCSIM [--update [--worse]]. --update writes the document; not when the error
of any point has grown or a point has gone, unless --worse says that this is meant."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "validation.md"
BEGIN = "<!-- {}:begin (tests/validation/figures_test.py writes them) -->\n"
END = "<!-- {}:end -->\n"
PARTS = ("summary", "figures")
ROUNDING = 0.05001  # percent: errors are printed with one decimal
ROW = re.compile(
    r"^\| (?P<point>[^|]+) \| [^|]+ \| [^|]+ \| [^|]+ \| (?P<error>[+-]?[\d,.]+) % \| [^|]* \|"
)
# A group of a table's rows: its mean absolute error, its mean error and its worst one.
GROUP = re.compile(
    r"^\| (?P<group>[^|]+) \| \d+ \| (?P<mean>[\d,.]+) % \| [+-]?[\d,.]+ % "
    r"\| (?P<worst>[+-]?[\d,.]+) % \|"
)


def figures(accsim):
    done = subprocess.run(
        [accsim, "validate", "--markdown", "-"], capture_output=True, encoding="utf-8", check=False
    )
    if done.returncode != 0:
        sys.exit(f"FAILED: accsim validate: {done.stderr}")
    return done.stdout


def parts(printed):
    """What accsim prints: the table of sources with what sums it up, and the sources."""
    at = printed.index("### ")
    return dict(zip(PARTS, (printed[:at].rstrip("\n") + "\n", printed[at:])))


def marks(name):
    return BEGIN.format(name), END.format(name)


def written(text):
    """The parts as the page has them."""
    out = {}
    for name in PARTS:
        begin, end = marks(name)
        if text.count(begin) != 1 or text.count(end) != 1:
            sys.exit(f"FAILED: {DOCUMENT} needs the lines {begin!r} and {end!r}")
        out[name] = text.split(begin)[1].split(end)[0]
    return out


def with_parts(text, new):
    """The page with other parts."""
    for name, part in new.items():
        begin, end = marks(name)
        text = text.split(begin)[0] + begin + part + end + text.split(end)[1]
    return text


def errors(text):
    """{(source, point): its error in percent} of the tables."""
    out, source = {}, ""
    for line in text.splitlines():
        if line.startswith("### "):
            source = line[4:]
        elif source and (group := GROUP.match(line)):
            for what in ("mean", "worst"):
                out[source, f"{group['group']}, {what}"] = float(group[what].replace(",", ""))
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
    old, new = written(text), parts(figures(pathlib.Path(sys.argv[1]).resolve()))
    if not errors(new["figures"]):
        sys.exit("FAILED: accsim validate gives no figures")
    grown = growth(old["figures"], new["figures"])
    for line in grown:
        print(f"FAILED: {line}")
    if sys.argv[2:] == ["--update", "--worse"] or sys.argv[2:] == ["--update"] and not grown:
        DOCUMENT.write_text(with_parts(text, new), encoding="utf-8")
        return 0
    if new == old and not grown:
        return 0
    for name in PARTS:
        for line in set(new[name].splitlines()) - set(old[name].splitlines()):
            print(f"now: {line}")
    print(
        "docs/validation.md isn't what accsim says. After a change of the model run:\n"
        "  tests/validation/figures_test.py build/accsim --update\n"
        "and with --worse behind it where errors have grown for a reason."
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
