#!/usr/bin/python3
"""Makes a model with many megabytes of weights in the file, and the same model without them.

  make_big_model.py --megabytes 500 --out DIR

writes DIR/big_500mb_embedded.onnx (weights as raw_data) and DIR/big_500mb_external.onnx (weights
in a file that doesn't exist). Half of the weights belong to convolutions, half to products. The
large file is written piece by piece, so memory stays small. Needs python3-onnx.
"""

import argparse
import pathlib
import sys

from onnx import TensorProto, helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "models" / "exporter"))

import onnx_slim

CHANNELS, WIDTH = 512, 1536  # 9.4 MB a weight tensor each: 512 x 512 x 3 x 3 and 1536 x 1536 floats


def external_model(layers):
    """A chain of `layers` convolutions, a pooling, and as many products."""
    nodes, weights, offset = [], [], 0

    def weight(name, *dims):
        nonlocal offset
        tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=dims)
        offset += onnx_slim.make_absent(tensor, offset)
        weights.append(tensor)
        return name

    def op(kind, inputs, name, **attributes):
        nodes.append(helper.make_node(kind, inputs, [name], name=name, **attributes))
        return name

    x = "input"
    for i in range(layers):
        x = op(
            "Conv",
            [x, weight(f"conv{i}.weight", CHANNELS, CHANNELS, 3, 3)],
            f"conv{i}",
            kernel_shape=[3, 3],
            pads=[1, 1, 1, 1],
        )
        x = op("Relu", [x], f"conv_relu{i}")
    x = op("Flatten", [op("GlobalAveragePool", [x], "pool")], "flat")
    for i in range(layers):
        rows = CHANNELS if i == 0 else WIDTH
        x = op("Gemm", [x, weight(f"fc{i}.weight", WIDTH, rows)], f"fc{i}", transB=1)
        x = op("Relu", [x], f"fc_relu{i}")
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "big",
        [info("input", TensorProto.FLOAT, [1, CHANNELS, 14, 14])],
        [info(x, TensorProto.FLOAT, [1, WIDTH])],
        weights,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def varint(number):
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(number, size):
    """Head of a length-delimited protobuf field."""
    return varint(number << 3 | 2) + varint(size)


def write_embedded(model, path):
    """Writes the model with every external tensor's bytes in place, in protobuf's wire format."""
    block = bytes(range(1, 256)) * 4112  # 1 MiB of what isn't zero, so that no page is shared
    tensors = []  # (head of the GraphProto field, tensor without data, head of raw_data, its size)
    graph_size = 0
    for tensor in model.graph.initializer:
        size = onnx_slim.tensor_bytes(tensor)
        bare = TensorProto(name=tensor.name, data_type=tensor.data_type, dims=tensor.dims)
        data = bare.SerializeToString()
        raw = field(9, size)  # TensorProto.raw_data
        head = field(5, len(data) + len(raw) + size)  # GraphProto.initializer
        tensors.append((head + data + raw, size))
        graph_size += len(head) + len(data) + len(raw) + size
    graph = type(model.graph)()
    graph.CopyFrom(model.graph)
    del graph.initializer[:]
    rest = graph.SerializeToString()
    shell = type(model)()
    shell.CopyFrom(model)
    shell.ClearField("graph")
    with open(path, "wb") as file:
        file.write(shell.SerializeToString())
        file.write(field(7, graph_size + len(rest)) + rest)  # ModelProto.graph
        for head, size in tensors:
            file.write(head)
            while size > 0:
                file.write(block[:size])
                size -= min(size, len(block))


def make(megabytes, out):
    """Writes both files; returns (embedded, external)."""
    layers = max(1, round(megabytes * 1e6 / (4 * (CHANNELS * CHANNELS * 9 + WIDTH * WIDTH))))
    model = external_model(layers)
    out.mkdir(parents=True, exist_ok=True)
    external = out / f"big_{megabytes}mb_external.onnx"
    embedded = out / f"big_{megabytes}mb_embedded.onnx"
    external.write_bytes(model.SerializeToString())
    write_embedded(model, embedded)
    return embedded, external


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--megabytes", type=int, default=500)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out"))
    args = parser.parse_args()
    if args.megabytes < 1:
        parser.error("--megabytes must be at least 1")
    for path in make(args.megabytes, args.out):
        print(f"{path}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
