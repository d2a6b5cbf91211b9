"""How a decoder's weights are stored: floats, or integers with scales before every product."""

import dataclasses
import math

from onnx import TensorProto
from onnx_slim import INT4

FLOATS = {"float16": TensorProto.FLOAT16, "bfloat16": TensorProto.BFLOAT16}
INTEGERS = {"int8": TensorProto.INT8, "int4": INT4}


@dataclasses.dataclass(frozen=True)
class WeightFormat:
    """`integer` is None where weights are of the type that the decoder computes in, `real`. A scale
    serves `group` rows of a column of an integer weight, or with 0 the whole column."""

    real: int = TensorProto.FLOAT16
    integer: int = None
    group: int = 0

    @classmethod
    def parse(cls, text):
        """From float16, bfloat16, int8[:GROUP] or int4[:GROUP]; ValueError says what is wrong."""
        kind, colon, group = text.partition(":")
        if text in FLOATS:
            return cls(real=FLOATS[text])
        if kind in INTEGERS and (not colon or (group.isdigit() and int(group) > 1)):
            return cls(integer=INTEGERS[kind], group=int(group or 0))
        raise ValueError(f"'{text}' isn't float16, bfloat16, int8[:GROUP] or int4[:GROUP]")

    @property
    def opset(self):
        """The first whose operators take these types: scales of groups and integers of four bits
        came with 21, convolutions and Softplus of bfloat16 with 22."""
        return 17 if self == WeightFormat() else 22

    def scale_dims(self, dims):
        """Dims of the scales of a weight whose last two dims are rows and columns."""
        *stack, rows, cols = dims
        return [*stack, math.ceil(rows / self.group) if self.group else 1, cols]
