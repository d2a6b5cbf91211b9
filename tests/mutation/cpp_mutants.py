"""Mutants of C++: where a file can be changed, by libclang's tree of it, and the file with all that
were drawn, each behind a switch (cpp/mutant.h): one build has them all.

A mutant is an expression or a statement: [start, end) of the file in bytes, what it was, what it
becomes, and the kind of change.
"""

import dataclasses
import re

from clang import cindex

K = cindex.CursorKind
BINARY = {
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "==": "!=",
    "!=": "==",
    "&&": "||",
    "||": "&&",
    "+": "-",
    "-": "+",
    "*": "+",
    "/": "*",
    "%": "+",
    "<<": ">>",
    ">>": "<<",
    "+=": "-=",
    "-=": "+=",
    "*=": "+=",
}
RELATIONAL = {"<", "<=", ">", ">=", "==", "!="}
LOGICAL = {"&&", "||"}
# What only says that something is wrong: without it the program does the same.
ASSERTIONS = {"check", "broken", "format"}
CONSTANT = re.compile(rb"\b(constexpr|consteval|static_assert)\b")
STATEMENTS = (K.CALL_EXPR, K.BINARY_OPERATOR, K.COMPOUND_ASSIGNMENT_OPERATOR, K.UNARY_OPERATOR)
INTEGER = re.compile(rb"[0-9]+\Z")


@dataclasses.dataclass(frozen=True, order=True)
class Mutant:
    file: str  # relative to the tree
    start: int
    end: int
    kind: str
    line: int
    was: str  # what is mutated, in one line
    becomes: str
    code: str  # the expression with the switch: {on} is the condition
    nth: int = 0  # of its kind, with this text, in the file

    def key(self):
        """What the mutant is called in lists: it stays when other lines come and go."""
        return f"{self.file}: {self.kind}: {self.was} -> {self.becomes} #{self.nth}"


def one_line(text):
    return " ".join(re.sub(r"//[^\n]*", "", text.decode()).split())


class Finder:
    def __init__(self, root, file):
        self.file = str(file.relative_to(root))
        self.source = file.read_bytes()
        self.found = []

    def add(self, kind, cursor, becomes, code, shown=None):
        """`code` has {on}; other braces of C++ come by replace() and not by format()."""
        start, end = cursor.extent.start.offset, cursor.extent.end.offset
        was = one_line(shown if shown is not None else self.source[start:end])
        self.found.append(
            Mutant(self.file, start, end, kind, cursor.extent.start.line, was, becomes, code)
        )

    def text(self, cursor):
        return self.source[cursor.extent.start.offset : cursor.extent.end.offset]

    def binary(self, cursor):
        parts = list(cursor.get_children())
        if len(parts) != 2:
            return
        left, right = parts
        between = self.source[left.extent.end.offset : right.extent.start.offset]
        operator = between.decode().strip()
        other = BINARY.get(operator)
        if other is None:
            return
        kind = "relational" if operator in RELATIONAL else "arithmetic"
        kind = "logical" if operator in LOGICAL else kind
        a, b = self.text(left).decode(), self.text(right).decode()
        becomes = f"{a} {other} {b}"
        code = f"({{on}} ? ({a} {other} {b}) : ({a} {operator} {b}))"
        self.add(kind, cursor, one_line(becomes.encode()), code)

    def literal(self, cursor):
        text = self.text(cursor)
        if not INTEGER.match(text):
            return
        value = int(text)
        other = 0 if value == 1 else value + 1
        # The text around says which of the many numbers of a file it is.
        start = self.source.rfind(b"\n", 0, cursor.extent.start.offset) + 1
        end = self.source.find(b"\n", cursor.extent.end.offset)
        shown = self.source[start:end]
        at = cursor.extent.start.offset - start
        becomes = shown[:at] + str(other).encode() + shown[at + len(text) :]
        self.add("constant", cursor, one_line(becomes), f"({{on}} ? {other} : {value})", shown)

    def extremum(self, cursor):
        text = self.text(cursor).decode()
        for word, other in (("std::max", "std::min"), ("std::min", "std::max")):
            if text.startswith(word):
                becomes = other + text[len(word) :]
                code = f"({{on}} ? {becomes} : {text})"
                self.add("extremum", cursor, one_line(becomes.encode()), code)

    def negate(self, statement):
        parts = list(statement.get_children())
        if not parts or parts[0].kind in (K.DECL_STMT, K.VAR_DECL):
            return
        head = self.source[statement.extent.start.offset : parts[0].extent.start.offset]
        if re.sub(rb"\s", b"", head) != b"if(":
            return  # with a declaration in front, or constexpr
        text = self.text(parts[0]).decode()
        becomes = f"!({one_line(text.encode())})"
        self.add("condition", parts[0], becomes, f"({{on}} ? !({text}) : bool({text}))")

    def drop(self, statement):
        if statement.kind not in STATEMENTS:
            return
        after = self.source[statement.extent.end.offset :].lstrip()
        if after.startswith(b";"):
            text = self.text(statement).decode()
            self.add("dropped", statement, "", f"if (!{{on}}) {text}")

    def constant(self, cursor):
        """Must it be known to the compiler? Then there is no switch."""
        if cursor.kind in (K.STATIC_ASSERT, K.ENUM_CONSTANT_DECL, K.TEMPLATE_TYPE_PARAMETER):
            return True
        if cursor.kind == K.TEMPLATE_NON_TYPE_PARAMETER:
            return True
        if cursor.kind in (K.VAR_DECL, K.FUNCTION_DECL, K.CXX_METHOD, K.FUNCTION_TEMPLATE):
            bodies = [c for c in cursor.get_children() if c.kind == K.COMPOUND_STMT]
            end = bodies[0].extent.start if bodies else cursor.extent.end
            head = self.source[cursor.extent.start.offset : end.offset]
            return CONSTANT.search(head) is not None
        if cursor.kind == K.DECL_STMT:
            return CONSTANT.match(self.text(cursor)) is not None
        return False

    def walk(self, cursor, parent):
        if self.constant(cursor):
            return
        if cursor.kind == K.CALL_EXPR and cursor.spelling in ASSERTIONS:
            return
        children = list(cursor.get_children())
        if cursor.kind in (K.BINARY_OPERATOR, K.COMPOUND_ASSIGNMENT_OPERATOR):
            self.binary(cursor)
        elif cursor.kind == K.INTEGER_LITERAL:
            self.literal(cursor)
        elif cursor.kind == K.CALL_EXPR:
            self.extremum(cursor)
        elif cursor.kind == K.IF_STMT:
            self.negate(cursor)
        if cursor.kind == K.COMPOUND_STMT:
            for child in children:
                if child.spelling not in ASSERTIONS:
                    self.drop(child)
        if cursor.kind == K.CASE_STMT:
            children = children[1:]
        for child in children:
            self.walk(child, cursor)

    def run(self, unit):
        name = unit.spelling
        for cursor in unit.cursor.get_children():
            file = cursor.location.file
            if file is not None and file.name == name:
                self.walk(cursor, unit.cursor)
        return number(sorted(set(self.found)))


def number(mutants):
    """Equal texts of a file are told apart by their order."""
    seen, out = {}, []
    for m in mutants:
        what = (m.file, m.kind, m.was, m.becomes)
        seen[what] = seen.get(what, 0) + 1
        out.append(dataclasses.replace(m, nth=seen[what]))
    return out


def find(root, file, flags):
    """All mutants of a file; its includes must be found with these flags."""
    unit = cindex.Index.create().parse(str(file), args=["-x", "c++", *flags])
    errors = [d for d in unit.diagnostics if d.severity >= cindex.Diagnostic.Error]
    if errors:
        raise ValueError(f"{file}: {errors[0]}")
    return Finder(root, file).run(unit)


def draw(candidates, count, rng):
    """That many of them, none inside of another."""
    pool = list(candidates)
    rng.shuffle(pool)
    taken = []
    for m in pool:
        if len(taken) == count:
            break
        if all(m.file != t.file or m.end <= t.start or t.end <= m.start for t in taken):
            taken.append(m)
    return sorted(taken)


def rewrite(source, mutants):
    """The file with the switches of `mutants`, {number: mutant}; and which lines each takes."""
    out, at, lines = b"", 0, {}
    for i, m in sorted(mutants.items(), key=lambda item: item[1].start):
        out += source[at : m.start]
        first = out.count(b"\n") + 1
        out += m.code.replace("{on}", f"::accsim_mutant::on({i})").encode()
        lines[i] = range(first, out.count(b"\n") + 2)
        at = m.end
    return out + source[at:], lines
