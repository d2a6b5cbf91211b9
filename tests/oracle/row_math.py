"""The vector unit's row operations, after the words of docs/vector-arithmetic.md.

It shares nothing with hw/golden/row_math.cpp: integers are Python's, of any size, and `Widths`
refuses each that doesn't fit into the width that the contract states for it. Section names in the
docstrings are those of the document.
"""

import math
from fractions import Fraction
from typing import Any

Json = dict[str, Any]


class TooWide(Exception):
    """A value that the contract's width can't hold."""


def fits(value: int, bits: int, signed: bool = False) -> int:
    """The value, if a register of so many bits holds it."""
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    if not low <= value <= high:
        raise TooWide(f"{value} in {bits} bits")
    return value


def half_away(value: float) -> int:
    """Section "Notation": to the nearest integer, halves away from zero; of constants."""
    size = math.floor(abs(Fraction(value)) + Fraction(1, 2))
    return -size if value < 0 else size


class Rules:
    """Rules and numbers of the contract. row_math_test.py overrides them one by one."""

    reach = 22.5
    parts = 4094
    gone = 4096
    beta_bits = 20
    variance_bits = 14

    def rs(self, value: int, shift: int) -> int:
        """Section "Notation"."""
        if not (abs(value) < 1 << 62 and 0 <= shift <= 62):
            raise TooWide(f"rs of {value}, {shift}")
        size = (2 * abs(value) + (1 << shift)) >> (shift + 1)
        return -size if value < 0 else size

    def clip(self, value: int, low: int = -128, high: int = 127) -> int:
        return max(low, min(high, value))

    def fixed_scale(self, real: float, bits: int = 31) -> tuple[int, int]:
        """Section "Notation"."""
        if real == 0:
            return 0, 0
        exponent = math.frexp(real)[1]  # 2^(e-1) <= |real| < 2^e
        shift = min(bits - exponent, 62)
        multiplier = half_away(math.ldexp(real, shift))
        if abs(multiplier) == 1 << bits:
            multiplier, shift = multiplier // 2, shift - 1
        return fits(multiplier, bits + 1, signed=True), fits(shift, 6)

    def recip(self, numerator: int, divisor: int) -> int:
        """Section "Notation"."""
        if fits(numerator, 31) < 1 << 30 or fits(divisor, 32) < 1 << 31:
            raise TooWide(f"recip of {numerator}, {divisor}")
        return fits((numerator << 31) // divisor, 31)

    def root(self, value: int) -> int:
        return fits(math.isqrt(fits(value, 64)), 32)


class Softmax(Rules):
    """Section "Softmax"."""

    def constants(self, case: Json) -> None:
        s, t, o = case["input"], case["mask"], case["output"]
        self.a, self.b, self.q, unit = 1, 0, 0, s
        if t:
            reach = min(self.reach, 255 * (s + t))
            p = math.floor(s * self.parts / reach)
            unit = s / p if p >= 1 else reach / self.parts
            most = max(s / unit, t / unit)
            self.q = max(q for q in range(16) if most * 2**q <= 65535)
            self.a = fits(half_away(s / unit * 2**self.q), 16)
            self.b = fits(half_away(t / unit * 2**self.q), 16)
        self.unit = unit
        one = 1 << 30
        self.coarse = [fits(half_away(one * math.exp(-64 * high * unit)), 31) for high in range(64)]
        self.fine = [fits(half_away(one * math.exp(-low * unit)), 31) for low in range(64)]
        self.k = math.frexp(1 / o)[1] - 1
        self.c = min(half_away(math.ldexp(1 / o, 30 - self.k)), (1 << 31) - 1)

    def exponential(self, d: int) -> int:
        if d == self.gone:
            return 0
        product = fits(self.coarse[d >> 6] * self.fine[d & 63], 61)
        return fits((product + (1 << 29)) >> 30, 31)

    def run(self, case: Json) -> list[int]:
        self.constants(case)
        row, masks = case["row"], case["masks"] or [0] * len(case["row"])
        u = [fits(self.a * x + self.b * m, 25, signed=True) for x, m in zip(row, masks)]
        top = max(u)
        half = (1 << self.q) >> 1
        d = [min(fits(top - each + half, 25) >> self.q, self.gone) for each in u]
        total = fits(sum(self.exponential(each) for each in d), 47)
        w = total.bit_length()
        divisor = total >> (w - 32) if w >= 32 else total << (32 - w)
        reciprocal = self.recip(self.c, divisor)
        f = min(29 + w - self.k, 62)
        out = []
        for each in d:
            product = fits(self.exponential(each) * reciprocal, 61)
            out.append(self.clip(self.rs(product, f) + case["zero"]))
        self.sum = (top, w, divisor)
        return out


class Logarithm(Rules):
    """Section "Logarithm of the sum", behind the elements of a softmax."""

    pieces = 64

    def entry(self, j: int) -> int:
        return fits(half_away(math.ldexp(math.log2(1 + j / self.pieces), 16)), 17)

    def run(self, case: Json) -> list[int]:
        softmax = Softmax()
        out = softmax.run(case)
        top, w, d = softmax.sum
        row = softmax.unit / 2**softmax.q / case["log_scale"]
        one = math.log(2) / 2**16 / case["log_scale"]
        shift = min(self.fixed_scale(max(row, one))[1], 50)
        mu, ml = (fits(half_away(math.ldexp(each, shift)), 31) for each in (row, one))
        a, b = d >> 25 & 63, d >> 15 & 1023
        rise = self.entry(a + 1) - self.entry(a)
        g = fits(((w - 31) << 16) + self.entry(a) + ((rise * b + 512) >> 10), 21)
        value = fits(top * mu, 56, signed=True) + fits(g * ml, 52)
        value += fits(case["log_zero"] << shift, 64, signed=True)
        return [*out, self.clip(self.rs(value, shift))]


class Norm(Rules):
    """Section "Normalisation"."""

    def run(self, case: Json) -> list[int]:
        row, n = case["row"], len(case["row"])
        log = math.ceil(math.log2(n))
        g = 30 - -(-log // 2)
        epsilon = case["epsilon"] * (n / case["input"]) * (n / case["input"]) * 2.0**14
        eps = fits(half_away(epsilon), 63)
        v = [fits(x - case["input_zero"], 9, signed=True) for x in row]
        first = fits(sum(v), 25, signed=True)
        squares = fits(sum(each * each for each in v), 32)
        mean = first if case["centred"] else 0
        variance = fits(fits(n * squares, 48) - fits(mean * mean, 48), 48)
        wide = fits(max((variance << self.variance_bits) + eps, 1), 63)
        j = (64 - wide.bit_length()) // 2
        reciprocal = self.recip(1 << 30, self.root(wide << (2 * j)))
        f = max(54 - g - j, 0)
        out = []
        for i, each in enumerate(v):
            away = fits(n * each - mean, 25, signed=True)
            unit = fits(self.rs(away * reciprocal, f), 32, signed=True)
            gamma, shift_of_beta = case["channels"][i // case["per"]]
            steps = math.ldexp(shift_of_beta / case["output"], self.beta_bits)
            beta = fits(half_away(steps), 32, signed=True)
            scale = math.ldexp(gamma / case["output"], self.beta_bits - g)
            mult, shift = self.fixed_scale(scale, 25)
            scaled = self.rs(fits(unit * mult, 57, signed=True), shift) + beta
            out.append(self.clip(self.rs(scaled, self.beta_bits) + case["zero"], case["low"]))
        return out


class Reduction(Rules):
    """Section "Sums and means"."""

    def mean_scale(self, n: int) -> tuple[int, int]:
        shift = 30 + n.bit_length() - 1
        return fits(-(-(1 << shift) // n), 31), shift

    def run(self, case: Json) -> list[int]:
        n = len(case["row"])
        mean = case["op"] == "mean"
        mult, shift = self.mean_scale(n) if mean else self.fixed_scale(case["scale"])
        total = fits(sum(x - case["input_zero"] for x in case["row"]), 25, signed=True)
        return [self.clip(self.rs(total * mult, shift) + case["zero"])]


OPERATIONS = {
    "softmax": Softmax,
    "logarithm": Logarithm,
    "norm": Norm,
    "mean": Reduction,
    "scaled_sum": Reduction,
}
