"""The file that onnxruntime-genai's builder writes of a language model of transformers."""

import pathlib
import tempfile

import onnx
import tokenizers
import transformers

# Networks whose architecture the builder knows.
NAMES = ("hf_llama", "hf_qwen3", "hf_gemma3", "hf_phi3")
# Sizes of the dims that the builder leaves open: all words of networks.py's inputs at once, none
# before them, and the size of every head. A cache of a window's size is there from the start.
SIZES = {
    "batch_size": 1,
    "sequence_length": 128,
    "total_sequence_length": 128,
    "past_sequence_length": 0,
    "past_sliding_length": 64,
    "kv_cache_dim": 32,
}


def sizes(path):
    """Sizes of the file's symbolic dims."""
    inputs = onnx.load(path, load_external_data=False).graph.input
    named = {dim.dim_param for i in inputs for dim in i.type.tensor_type.shape.dim}
    return {name: size for name, size in SIZES.items() if name in named}


def save(module, folder):
    """The module and a tokenizer, which the builder reads but whose words matter to nothing."""
    module.save_pretrained(folder)
    words = tokenizers.models.WordLevel({"?": 0, ".": 1}, unk_token="?")
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizers.Tokenizer(words), unk_token="?", eos_token="."
    ).save_pretrained(folder)


def flatten(config):
    """Frequencies of two kinds of layers as configurations had them before transformers 5, which is
    how the builder reads Gemma 3's."""
    kinds = getattr(config, "rope_parameters", {})
    if "sliding_attention" in kinds:
        config.rope_local_base_freq = kinds["sliding_attention"]["rope_theta"]
        config.rope_parameters = kinds["full_attention"]


def build(source, folder):
    """As the builder's command line does: of the model in `source`, in float32, for the CPU."""
    from onnxruntime_genai.models import builder  # imports its own parts as if on the path

    how = ("", str(source), str(folder), "fp32", "cpu", str(folder / "cache"))
    options = builder.parse_extra_options(*how, [])
    flatten(options["hf_details"]["hf_config"])
    builder.create_model(*how, **options)


def write(module, path):
    """Weights in the same file: the builder puts all beside, even shapes and axes."""
    with tempfile.TemporaryDirectory() as name:
        source, folder = pathlib.Path(name, "source"), pathlib.Path(name, "built")
        save(module, source)
        build(source, folder)
        onnx.save(onnx.load(folder / "model.onnx"), path)
