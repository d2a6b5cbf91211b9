"""A Scan over tokens, whose state is an input and an output of the graph as a cache is."""

from onnx import helper


class Step:
    """Collects the nodes of one step; tensors have short names of their own."""

    def __init__(self, b, name):
        self.b, self.name, self.nodes = b, name, []

    def op(self, kind, inputs, output, **attributes):
        path = f"/{self.name}/step/{output}"
        self.nodes.append(helper.make_node(kind, inputs, [output], name=path, **attributes))
        return output

    def graph(self, state, tokens, out):
        """`tokens`: (name, dims) of what a token brings; `out`: dims of what it takes, `y`."""

        def value(label, dims):
            return helper.make_tensor_value_info(label, self.b.real, ["batch", *dims])

        inputs = [value("h", state), *(value(*token) for token in tokens)]
        outputs = [value("h_next", state), value("y", out)]
        return helper.make_graph(self.nodes, f"{self.name}/step", inputs, outputs)


def scan(b, tokens, name, layer, state, body):
    """y of all tokens, [batch, sequence, ...]. `tokens`: what they bring, [batch, sequence, ...];
    `state`: its dims; `body`: of the Step."""
    past = b.input(f"past_state_{layer}", b.real, ["batch", *state])
    present = b.output(f"present_state_{layer}", ["batch", *state])
    node = helper.make_node(
        "Scan",
        [past, *tokens],
        [present, f"{name}/y"],
        name=f"/{name}/scan",
        body=body,
        num_scan_inputs=len(tokens),
        scan_input_axes=[1] * len(tokens),
        scan_output_axes=[1],
    )
    b.nodes.append(node)
    return f"{name}/y"
