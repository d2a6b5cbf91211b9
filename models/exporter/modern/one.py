"""Exports one network and counts its MACs: one.py NAME FOLDER. Writes FOLDER/NAME.onnx without
weights, and FOLDER/NAME.json: how it was exported, and the MACs that PyTorch counts."""

import json
import pathlib
import sys
import time

import networks
import onnx
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode

MOST_BYTES = 1024  # of constants that stay in the file: shapes, axes, scales


def drop_weights(model):
    """Weights become data of a file that isn't there, as in models/."""
    graphs = [model.graph]
    for graph in graphs:
        for tensor in graph.initializer:
            if len(tensor.raw_data) <= MOST_BYTES and tensor.data_location != 1:
                continue
            drop(tensor)
        for node in graph.node:
            for attribute in node.attribute:
                graphs += [attribute.g] if attribute.HasField("g") else list(attribute.graphs)
                if attribute.HasField("t") and len(attribute.t.raw_data) > MOST_BYTES:
                    drop(attribute.t)
            for prop in list(node.metadata_props):
                if prop.key == "pkg.torch.onnx.stack_trace":  # lines and paths of the sources
                    node.metadata_props.remove(prop)
    for function in model.functions:
        for node in function.node:
            del node.metadata_props[:]


def drop(tensor):
    tensor.ClearField("raw_data")
    del tensor.external_data[:]
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="weights.bin")


class Counter(FlopCounterMode):
    """FlopCounterMode, and beside it what it counts of operands none of which comes from the
    inputs: such results are constants, which an exporter may store."""

    def __init__(self, inputs):
        super().__init__(display=False, custom_mapping={torch.ops.aten.mkldnn_rnn_layer: rnn_flops})
        self.varying = {id(x) for x in inputs}
        self.alive = list(inputs)  # no other tensor may get the id of one that has gone
        self.constant = 0

    def _count_flops(self, func_packet, out, args, kwargs):
        before = self.counted()
        out = super()._count_flops(func_packet, out, args, kwargs)
        if any(id(x) in self.varying for x in tree_leaves((args, kwargs))):
            results = [x for x in tree_leaves(out) if isinstance(x, torch.Tensor)]
            self.varying |= {id(x) for x in results}
            self.alive += results
        else:
            self.constant += self.counted() - before
        return out

    def counted(self):
        return sum(self.flop_counts.get("Global", {}).values())  # which get_total_flops() makes


def rnn_flops(x, w, r, *_, out_shape=None, **__):
    """Of a layer of an LSTM: steps, batch and inputs by the gates' weights, and by the states'."""
    return 2 * x[0] * x[1] * (w[0] * w[1] + r[0] * r[1])


def pytorch_macs(module, inputs):
    """MACs of a run, which FlopCounterMode counts as two operations each; attention as the products
    that it is. All, and those of constants alone."""
    counter = Counter(inputs)
    with torch.no_grad(), counter, sdpa_kernel(SDPBackend.MATH):
        module(*inputs)
    return counter.get_total_flops() // 2, counter.constant // 2


def export(network, module, inputs, path):
    with torch.no_grad():
        if not network.dynamo:
            torch.onnx.export(module, inputs, path, opset_version=network.opset, dynamo=False)
            return
        program = torch.onnx.export(
            module,
            inputs,
            opset_version=network.opset,
            dynamo=True,
            dynamic_shapes=network.dynamic_shapes,
        )
        program.save(path, external_data=True)


def main():
    name, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    network = networks.NETWORKS[name]
    torch.manual_seed(0)
    torch.backends.mha.set_fastpath_enabled(False)  # of which the counter knows nothing
    module, inputs = network.build().eval().requires_grad_(False), network.inputs()
    macs, constant = pytorch_macs(module, inputs)
    path = folder / f"{name}.onnx"
    start = time.monotonic()
    export(network, module, inputs, str(path))
    seconds = time.monotonic() - start
    model = onnx.load(path, load_external_data=False)
    drop_weights(model)
    onnx.save(model, path)
    pathlib.Path(f"{path}.data").unlink(missing_ok=True)
    opset = next(o.version for o in model.opset_import if o.domain == "")
    facts = {"macs": macs, "constant_macs": constant, "opset": opset}
    facts["nodes"] = len(model.graph.node)
    facts["parameters"] = sum(p.numel() for p in module.parameters())
    facts["seconds"] = round(seconds, 1)
    (folder / f"{name}.json").write_text(json.dumps(facts, indent=1) + "\n")


if __name__ == "__main__":
    main()
