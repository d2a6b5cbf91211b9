#!/usr/bin/python3
"""Do the exporter's language models compute? Small ones of every architecture, with random weights.

Usage: decoder_runs_test.py ACCSIM. Exit code 77 (skipped) without python3-onnx.
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy
    import onnx
    import onnx.checker
    import onnx.shape_inference
except ImportError:
    print("skipped: python3-onnx isn't installed", file=sys.stderr)
    sys.exit(77)

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / "models" / "exporter"), str(HERE)]

import config  # noqa: E402
import decoder  # noqa: E402
from decoder_steps import TINY, bindings, tiny  # noqa: E402

ACCSIM = None  # set by main


def routing(experts, count):
    """Values and --bind of a routing in which every token goes to the same experts."""
    active = experts.per_token
    rows, numbers = numpy.arange(count), numpy.arange(active)
    mine = numpy.tile(rows, (active, 1))
    if experts.on_input:  # rows are of tokens and their experts
        mine = mine * active + numbers[:, None]
    back = numbers[None] * count + rows[:, None]
    bound = {"active_experts": active, "tokens_per_expert": count}
    return {"expert_rows": mine, "token_rows": back[None]}, bound


def step_inputs(size, first, count):
    """Values and --bind of tokens `first` and on behind a cache of one position that no token sees
    (a cache has at least one) and of those before them."""
    ids = numpy.array([[3, 7, 1, 9, 4, 2]])[:, first : first + count]
    if not any(layer.mixer.cached for layer in size.plan):
        return {"input_ids": ids}, {"sequence": count}
    rows = numpy.arange(first, first + count)
    back = rows[:, None] - numpy.arange(-1, first + count)[None, :]
    seen = (back >= 0) & (back <= rows[:, None])
    near = seen & (back < max(size.windows))
    values = {"input_ids": ids, "position_ids": rows[None]}
    bound = bindings(size, count, first + 1, first + 1)
    for mask, name, total in (
        (seen, "attention_mask", "total"),
        (near, "window_mask", "total_window"),
    ):
        if total in bound:
            values[name] = numpy.where(mask, 0, -60000).astype("float16")[None, None]
    if size.experts:
        rows, counts = routing(size.experts, count)
        values |= rows
        bound |= counts
    return values, bound


def with_zeros(model):
    """The model with weights of zeros in the file."""
    whole = onnx.ModelProto()
    whole.CopyFrom(model)
    for tensor in whole.graph.initializer:
        length = next(int(e.value) for e in tensor.external_data if e.key == "length")
        del tensor.external_data[:]
        tensor.data_location = onnx.TensorProto.DEFAULT
        tensor.raw_data = bytes(length)
    return whole


class Runs(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)

    def run_step(self, path, values, bound, folder):
        """The outputs of a run with random weights, always the same."""
        out = self.dir / folder
        words = [word for name, n in bound.items() for word in ("--bind", f"{name}={n}")]
        for name, value in values.items():
            file = self.dir / f"{folder}.{name}.npy"
            numpy.save(file, value)
            words += ["--input", f"{name}={file}"]
        command = [str(ACCSIM), "run", str(path), "--weights", "random:1", "--output", str(out)]
        done = subprocess.run(
            command + words, capture_output=True, text=True, timeout=60, check=False
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""), folder)
        return {file.stem: numpy.load(file) for file in out.glob("*.npy")}

    def logits(self, size, name, scan="steps", parts=((0, 5), (0, 3), (3, 2))):
        """Of the tokens of the first part, and of the last part behind those of the second."""
        model = decoder.build_decoder(size, scan=scan)
        path = self.dir / f"{name}.onnx"
        path.write_bytes(model.SerializeToString())
        empty = {}
        for value in model.graph.input:
            if value.name.startswith("past"):
                dims = [d.dim_value or 1 for d in value.type.tensor_type.shape.dim]
                empty[value.name] = numpy.zeros(dims, "float16")
        outputs, past = [], empty
        for first, count in parts:
            values, bound = step_inputs(size, first, count)
            if scan == "chunks":
                chunk = parts[1][1]
                values["chunk_mask"] = numpy.triu(numpy.full((chunk, chunk), -60000.0), 1)
                values["chunk_mask"] = values["chunk_mask"].astype("float16")
                bound["chunk"] = chunk
            if first:
                present = outputs[-1]
                past = {key: present[key.replace("past", "present")] for key in past}
            values.update({key: v.astype("float16") for key, v in past.items()})
            outputs.append(self.run_step(path, values, bound, f"{name}.{first}.{count}"))
        return tuple(outputs[i]["logits"].astype("float32") for i in (0, 2))

    def sizes(self):
        for kind in TINY:
            size = config.from_config(tiny(kind))
            yield kind, size
            if size.absorbed() != size:
                yield f"{kind} absorbed", size.absorbed()

    def test_are_tokens_behind_a_cache_what_they_are_in_one_run(self):
        for name, size in self.sizes():
            whole, later = self.logits(size, name)
            # Sums may be taken in another order: some dozens of roundings of 2 ** -11, relative.
            allowed = 64 * 2**-11 * abs(whole).max()
            self.assertTrue(numpy.isfinite(whole).all(), name)
            self.assertLess(abs(whole[:, 3:] - later).max(), allowed, name)
            self.assertGreater(abs(whole[:, 1:3] - later).max(), allowed, name)

    def test_are_scans_in_chunks_what_they_are_in_steps(self):
        parts = ((0, 6), (0, 3), (3, 3))
        for name, size in self.sizes():
            if not any(layer.mixer.chunks for layer in size.plan):
                continue
            steps, _ = self.logits(size, name, parts=parts)
            whole, later = self.logits(size, f"{name}.chunks", "chunks", parts)
            allowed = 64 * 2**-11 * abs(steps).max()
            self.assertLess(abs(whole - steps).max(), allowed, name)
            self.assertLess(abs(later - steps[:, 3:]).max(), allowed, name)
            self.assertGreater(abs(later - steps[:, :3]).max(), allowed, name)

    def test_are_graphs_valid_onnx(self):
        for name, size in self.sizes():
            for form in (("uniform", "steps"), ("separate", "chunks")):
                model = decoder.build_decoder(size, form=form[0], scan=form[1])
                onnx.checker.check_model(with_zeros(model), full_check=True)
                onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True)
                inside = onnx.shape_inference.infer_shapes(model).graph.value_info
                self.assertGreater(len(inside), 20, (name, form))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    ACCSIM = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
