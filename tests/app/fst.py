"""Reads the hierarchy of FST files: the names of their signals. The format is that of GTKWave's
fstapi.c, read here once more so that tests don't ask who wrote the file."""

import gzip
import struct

HIERARCHY, HIERARCHY_LZ4, HIERARCHY_LZ4_TWICE = 4, 6, 7
ATTRIBUTE, ATTRIBUTE_END, SCOPE, SCOPE_END = 252, 253, 254, 255


def lz4(data):
    """A block of LZ4, unpacked."""
    out, at = bytearray(), 0

    def length(nibble):
        nonlocal at
        total = nibble
        while nibble == 15:
            total += data[at]
            nibble = 15 if data[at] == 255 else 0
            at += 1
        return total

    while at < len(data):
        token = data[at]
        at += 1
        literals = length(token >> 4)
        out += data[at : at + literals]
        at += literals
        if at >= len(data):
            break
        (offset,) = struct.unpack_from("<H", data, at)
        at += 2
        for _ in range(4 + length(token & 15)):
            out.append(out[-offset])
    return bytes(out)


def hierarchy(data):
    """The block of names, unpacked."""
    at = 0
    while at < len(data):
        kind, length = struct.unpack_from(">BQ", data, at)
        block = data[at + 9 : at + 1 + length]
        at += 1 + length
        if kind not in (HIERARCHY, HIERARCHY_LZ4, HIERARCHY_LZ4_TWICE):
            continue
        (size,) = struct.unpack_from(">Q", block)
        if kind == HIERARCHY:
            out = gzip.decompress(block[8:])
        elif kind == HIERARCHY_LZ4:
            out = lz4(block[8:])
        else:
            out = lz4(lz4(block[16:]))
        assert len(out) == size, "the hierarchy has another size than it says"
        return out
    raise AssertionError("there is no hierarchy")


def names(data):
    """{name with scopes, as the file has it ("a.b.c [7:0]"): bits}."""
    text, at, scopes, out = hierarchy(data), 0, [], {}

    def word():
        nonlocal at
        end = text.index(0, at)
        found = text[at:end].decode()
        at = end + 1
        return found

    def number():
        nonlocal at
        value, shift = 0, 0
        while True:
            byte = text[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(text):
        tag = text[at]
        at += 1
        if tag == SCOPE:
            at += 1
            scopes.append(word())
            word()
        elif tag == SCOPE_END:
            scopes.pop()
        elif tag == ATTRIBUTE:
            at += 2
            word()
            number()
        elif tag != ATTRIBUTE_END:
            at += 1
            name = ".".join([*scopes, word()])
            out[name] = number()
            number()
    return out
