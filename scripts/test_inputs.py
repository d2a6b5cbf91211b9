"""What each test reads: tests/inputs.txt, for scripts/kept and scripts/check."""

import pathlib
import re
import shlex

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = "tests/inputs.txt"
BUILT = {".git", ".venv", ".venv.new", "__pycache__", "node_modules", "build", "out"}


class Row:
    """A test: patterns of files, questions to the program whose answers count, tools, marks."""

    def __init__(self, marks, words):
        self.marks = marks
        self.questions = [word[len("says:") :] for word in words if word.startswith("says:")]
        self.tools = [word[len("tool:") :] for word in words if word.startswith("tool:")]
        self.patterns = [word for word in words if not word.startswith(("says:", "tool:"))]

    def reads(self, path):
        """Is a path, relative to the tree, among what the patterns name?"""
        return any(matches(pattern, path) for pattern in self.patterns)


def matches(pattern, path):
    """`folder/` is all below it; `*` stands for part of one name, `**` for folders."""
    if pattern.endswith("/"):
        return path.startswith(pattern)
    words = {"**/": "(.*/)?", "*": "[^/]*"}
    parts = (words.get(part) or re.escape(part) for part in re.split(r"(\*\*/|\*)", pattern))
    return re.fullmatch("".join(parts), path) is not None


def logical_lines(text):
    """(number, line) without comments; indented lines continue the one before."""
    out = []
    for number, line in enumerate(text.splitlines(), 1):
        line = re.sub(r"(^|\s)#.*", "", line).rstrip()
        if not line:
            continue
        if line[0].isspace() and out:
            out[-1] = (out[-1][0], f"{out[-1][1]} {line.strip()}")
        else:
            out.append((number, line))
    return out


def read_table(root=ROOT):
    """{name: Row} of the table. A line is `NAME [MARK...]: WORD...`; `@NAME: WORD...` names a set,
    which later lines may have among their words. Bad lines are a ValueError."""
    sets, rows = {}, {}
    for number, line in logical_lines((root / TABLE).read_text()):
        head, colon, tail = line.partition(": ")
        names = head.rstrip(":").split()
        if not names or not (colon or head.endswith(":")):
            raise ValueError(f"{TABLE}:{number}: a line is `NAME [MARK...]: WORD...`")
        words = []
        for word in shlex.split(tail):
            if word.startswith("@") and word not in sets:
                raise ValueError(f"{TABLE}:{number}: no set {word} on an earlier line")
            words += sets[word] if word.startswith("@") else [word]
        name, marks = names[0], names[1:]
        if name in sets or name in rows or not set(marks) <= {"kept", "early"}:
            raise ValueError(f"{TABLE}:{number}: {name} is there twice, or a mark isn't known")
        if name.startswith("@"):
            sets[name] = words
        else:
            rows[name] = Row(marks, words)
    return rows


def built(path):
    """Is a path, relative to the tree, made by builds or installs?"""
    return not BUILT.isdisjoint(path.parts)


def files_below(folder):
    for path in sorted(folder.iterdir()):
        if path.name in BUILT:
            continue
        if path.is_dir() and not path.is_symlink():
            yield from files_below(path)
        else:
            yield path


def files_of(root, pattern):
    """The files that a pattern names now. An absolute path is itself."""
    if pattern.endswith("/"):
        folder = root / pattern
        return list(files_below(folder)) if folder.is_dir() else []
    if pathlib.PurePath(pattern).is_absolute() or "*" not in pattern:
        return [p for p in [root / pattern] if p.is_file() or p.is_symlink()]
    found = (p for p in root.glob(pattern) if p.is_file())
    return sorted(p for p in found if not built(p.relative_to(root)))
