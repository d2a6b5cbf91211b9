"""Quantised forms of a network, made by ONNX Runtime's own quantiser.

Needs the packages of requirements.txt beside this file.
"""

import pathlib
import sys
import tempfile

import onnx
import onnx.version_converter
from onnxruntime import quantization as ort
from onnxruntime.quantization import matmul_nbits_quantizer as nbits

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "onnxruntime"))

import weights

U8, S8 = ort.QuantType.QUInt8, ort.QuantType.QInt8
QDQ, QOPERATOR = ort.QuantFormat.QDQ, ort.QuantFormat.QOperator
SAMPLES = 2


class Samples(ort.CalibrationDataReader):
    """Random inputs, from which the quantiser measures the ranges of activations."""

    def __init__(self, model, bindings):
        self.left = [weights.inputs(model, bindings, 10 + i) for i in range(SAMPLES)]

    def get_next(self):
        return self.left.pop() if self.left else None


def static(source, target, bindings, **options):
    """With scales that are measured beforehand, of a network that is prepared as the quantiser's
    manual asks: shapes inferred, constants folded. Weights of 7 bits: with 8 the instructions of
    older processors, which ONNX Runtime then takes, clip sums of two products."""
    samples = Samples(onnx.load(source, load_external_data=False), bindings)
    with tempfile.TemporaryDirectory() as folder:
        prepared = str(pathlib.Path(folder) / "prepared.onnx")
        ort.quant_pre_process(source, prepared, skip_symbolic_shape=True)
        ort.quantize_static(prepared, target, samples, reduce_range=True, **options)


def dynamic(source, target, **options):
    """With scales that a run finds; results of the runtime's own operators are floats."""
    extra = {"DefaultTensorType": onnx.TensorProto.FLOAT}
    ort.quantize_dynamic(source, target, reduce_range=True, extra_options=extra, **options)


def blocks(source, target, bits, style, operators=("MatMul",)):
    """Weights of `bits` bits with a scale a block of 32, the rest floats."""
    model = onnx.load(source)
    if style == QDQ or "Gather" in operators:  # which the quantiser writes for opset 21
        model = onnx.version_converter.convert_version(model, 21)
    config = nbits.DefaultWeightOnlyQuantConfig(
        block_size=32,
        is_symmetric=bits == 8,
        quant_format=style,
        bits=bits,
        op_types_to_quantize=operators,
    )
    quantiser = nbits.MatMulNBitsQuantizer(model, bits=bits, block_size=32, algo_config=config)
    quantiser.process()
    onnx.save(quantiser.model.model, target)


FORMS = {
    "qdq": lambda s, t, b: static(
        s, t, b, quant_format=QDQ, per_channel=True, activation_type=S8, weight_type=S8
    ),
    "qdq_u8": lambda s, t, b: static(
        s, t, b, quant_format=QDQ, per_channel=False, activation_type=U8, weight_type=U8
    ),
    "qoperator": lambda s, t, b: static(
        s, t, b, quant_format=QOPERATOR, per_channel=True, activation_type=U8, weight_type=S8
    ),
    "qoperator_u8": lambda s, t, b: static(
        s, t, b, quant_format=QOPERATOR, per_channel=False, activation_type=U8, weight_type=U8
    ),
    "qdq_16": lambda s, t, b: static(
        s, t, b, quant_format=QDQ, activation_type=ort.QuantType.QUInt16, weight_type=S8
    ),
    "qdq_4": lambda s, t, b: static(
        s, t, b, quant_format=QDQ, activation_type=S8, weight_type=ort.QuantType.QInt4
    ),
    "dynamic": lambda s, t, b: dynamic(s, t, per_channel=True, weight_type=S8),
    "dynamic_u8": lambda s, t, b: dynamic(s, t, weight_type=U8),
    "blocks4": lambda s, t, b: blocks(s, t, 4, QOPERATOR),
    "blocks8": lambda s, t, b: blocks(s, t, 8, QOPERATOR),
    "blocks4_rows": lambda s, t, b: blocks(s, t, 4, QOPERATOR, ("MatMul", "Gather")),
    "blocks4_qdq": lambda s, t, b: blocks(s, t, 4, QDQ),
}


def quantise(source, form, target, bindings=None):
    """Writes the form of the network of floats in the file `source` to `target`; `bindings`: of
    its symbolic dims."""
    FORMS[form](str(source), str(target), bindings or {})
