#!/usr/bin/python3
"""Writes the ONNX files of models/: the structure of networks, without their weights.

  export.py --out DIR resnet50 bert_base --opset 13 17      from torchvision and PyTorch
  export.py --out DIR --decoder llama-3-8b                  a language model, without PyTorch
  export.py --out DIR --decoder DIR/config.json             the same, from its published config
  export.py --out DIR --decoder 80,8192,64,8,28672,128256   layers, hidden size, heads, key/value
                                                            heads, feed-forward, vocabulary
  export.py --list                                          the networks and language models

The first kind needs torch and torchvision (Debian: python3-torch, python3-torchvision), both need
onnx (python3-onnx). Tensors over 1 KiB become external data in a file that doesn't exist: costing
needs their shapes only.
"""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import config
import decoder
import experts
import onnx_slim
import weights


def write(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    print(f"{path}: {len(data):,} bytes")


def export_decoder(args):
    name, size = config.find(args.decoder)
    form = weights.WeightFormat.parse(args.weights)
    if args.layers is not None:
        size = size.cut(args.layers)
        name += f"_{args.layers}layers"
    if args.latent == "absorbed" and size.absorbed() != size:
        size = size.absorbed()
        name += "_absorbed"
    if args.weights != "float16":
        name += "_" + args.weights.replace(":", "g")
    if size.experts and args.experts != "uniform":
        name += f"_{args.experts}"
    chunked = args.scan == "chunks" and any(layer.mixer.chunks for layer in size.plan)
    name += "_chunks" if chunked else ""
    model = decoder.build_decoder(size, form, args.experts, args.scan)
    write(args.out / f"{name}_op{form.opset}.onnx", model.SerializeToString())
    print(f"{size.params():,} parameters")


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n\n")[0],
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=__doc__.split("\n\n", 1)[1],
    )
    parser.add_argument("networks", nargs="*", metavar="NETWORK", help="names that --list shows")
    parser.add_argument(
        "--out",
        type=pathlib.Path,
        default=pathlib.Path("out/models"),
        help="folder to write to (default: %(default)s)",
    )
    parser.add_argument("--opset", type=int, nargs="+", default=[17], help="default: 17")
    parser.add_argument(
        "--variant",
        choices=["folded", "bn", "nofold"],
        default="folded",
        help="folded: BatchNorm into Conv, constants computed; bn: BatchNorm kept, "
        "nothing computed; nofold: constants not computed",
    )
    parser.add_argument(
        "--decoder",
        metavar="MODEL",
        help="a name that --list shows, a config.json, or layers,hidden,heads,kv_heads,ffn,vocab",
    )
    parser.add_argument(
        "--weights",
        default="float16",
        metavar="FORMAT",
        help="of a decoder: float16, bfloat16, int8[:GROUP] or int4[:GROUP], GROUP rows to a scale "
        "(default: all of a column); default: %(default)s",
    )
    parser.add_argument("--layers", type=int, metavar="N", help="only a decoder's first N layers")
    parser.add_argument(
        "--experts",
        choices=experts.FORMS,
        default="uniform",
        help="of a decoder with experts: as many tokens for all at work, or counts by expert, by "
        "accsim's --assume; default: %(default)s",
    )
    parser.add_argument(
        "--latent",
        choices=["expanded", "absorbed"],
        default="expanded",
        help="of latent attention: keys and values are made of the whole cache, or queries go to "
        "the latent space; default: %(default)s",
    )
    parser.add_argument(
        "--scan",
        choices=decoder.SCANS,
        default="steps",
        help="of Mamba 2 and the delta rule: a step for each token, or products in chunks of a "
        "prompt; default: %(default)s",
    )
    parser.add_argument("--list", action="store_true", help="list networks and decoders and stop")
    return parser, parser.parse_args()


def main():
    parser, args = parse_arguments()
    if args.decoder:
        try:
            export_decoder(args)
        except ValueError as error:
            parser.error(f"--decoder: {error}")
    if args.decoder and not (args.networks or args.list):
        return 0
    if args.list:
        print("\n".join(f"--decoder {name}" for name in sorted(config.named())))
    try:
        import torch_export
    except ImportError as error:
        sys.exit(
            f"export.py: {error}; install python3-torch and python3-torchvision, "
            "or use --decoder, which doesn't need them"
        )
    if args.list:
        print("\n".join(sorted(torch_export.NETWORKS)))
        return 0
    unknown = sorted(set(args.networks) - set(torch_export.NETWORKS))
    if unknown or not args.networks:
        parser.error(f"unknown network: {', '.join(unknown)}" if unknown else "name a network")
    for name in args.networks:
        for opset in args.opset:
            data = onnx_slim.slim_bytes(torch_export.export(name, opset, args.variant))
            suffix = "" if args.variant == "folded" else f"_{args.variant}"
            write(args.out / f"{name}{suffix}_op{opset}.onnx", data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
