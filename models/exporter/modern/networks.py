"""Networks of today, with random weights: nothing is downloaded. Needs requirements.txt."""

import dataclasses
from collections.abc import Callable

import torch


@dataclasses.dataclass
class Network:
    """How a network is made and exported."""

    build: Callable[[], torch.nn.Module]
    inputs: Callable[[], tuple]
    opset: int = 20
    origin: str = ""
    dynamo: bool = True  # PyTorch's new exporter, or the one through TorchScript
    dynamic_shapes: tuple | None = None  # as torch.onnx.export has them: a dict of axes an input
    options: dict = dataclasses.field(default_factory=dict)  # of accsim


def image(size=224, channels=3, batch=1):
    return lambda: (torch.randn(batch, channels, size, size),)


def words(length=128, vocabulary=1000):
    return lambda: (torch.randint(0, vocabulary, (1, length)),)


class Output(torch.nn.Module):
    """A module of transformers or diffusers, of whose results only one is wanted: `key`."""

    def __init__(self, module, key, **fixed):
        super().__init__()
        self.module, self.key, self.fixed = module, key, fixed

    def forward(self, *inputs):
        return getattr(self.module(*inputs, **self.fixed), self.key)


# ---- torchvision ---------------------------------------------------------------------------------


def vision(name, **options):
    import torchvision.models as tv

    return lambda: tv.get_model(name, weights=None, **options)


class Segmented(torch.nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, x):
        return self.module(x)["out"]


class Detector(torch.nn.Module):
    """torchvision's detectors take a list of images; their results are those behind the NMS."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, x):
        found = self.module([x[0]])[0]
        return found["boxes"], found["scores"], found["labels"]


def segmented(name):
    make = vision(name, weights_backbone=None)
    return lambda: Segmented(make())


def detector(name):
    make = vision(name, weights_backbone=None)
    return lambda: Detector(make())


TORCHVISION = {
    "tv_resnet50": Network(vision("resnet50"), image(), 17, dynamo=False),
    "tv_mobilenet_v3_large": Network(vision("mobilenet_v3_large"), image(), 18),
    "tv_efficientnet_v2_s": Network(vision("efficientnet_v2_s"), image(), 19),
    "tv_convnext_tiny": Network(vision("convnext_tiny"), image(), 21),
    "tv_swin_v2_t": Network(vision("swin_v2_t"), image(256), 20),
    "tv_vit_b_16": Network(vision("vit_b_16"), image(), 23),
    "tv_maxvit_t": Network(vision("maxvit_t"), image(), 18),
    "tv_regnet_y_3_2gf": Network(
        vision("regnet_y_3_2gf"),
        image(batch=2),
        22,
        dynamic_shapes=({0: torch.export.Dim("batch")},),
        options={"bind": {"batch": 2}},
    ),
    "tv_deeplabv3_resnet50": Network(segmented("deeplabv3_resnet50"), image(256), 18),
    "tv_r3d_18": Network(vision("r3d_18"), lambda: (torch.randn(1, 3, 8, 112, 112),), 18),
    "tv_ssdlite320": Network(
        detector("ssdlite320_mobilenet_v3_large"), image(320), 17, dynamo=False
    ),
    "tv_ssd300_vgg16": Network(detector("ssd300_vgg16"), image(300), 17, dynamo=False),
    "tv_retinanet_resnet50": Network(
        detector("retinanet_resnet50_fpn"), image(320), 17, dynamo=False
    ),
    "tv_fasterrcnn_mobilenet": Network(
        detector("fasterrcnn_mobilenet_v3_large_320_fpn"), image(320), 17, dynamo=False
    ),
}

# ---- timm ----------------------------------------------------------------------------------------


def timm_model(name, fused=True, **options):
    def build():
        import timm
        import timm.layers

        timm.layers.set_fused_attn(fused)
        return timm.create_model(name, pretrained=False, **options)

    return build


TIMM = {
    "timm_mobilenetv4_small": Network(timm_model("mobilenetv4_conv_small"), image(), 18),
    "timm_efficientformerv2_s0": Network(timm_model("efficientformerv2_s0"), image(), 18),
    "timm_fastvit_t8": Network(timm_model("fastvit_t8"), image(256), 20),
    "timm_convnextv2_atto": Network(timm_model("convnextv2_atto"), image(), 21),
    "timm_eva02_tiny": Network(timm_model("eva02_tiny_patch14_224"), image(), 22),
    "timm_mobilevit_s": Network(timm_model("mobilevit_s"), image(256), 19),
    "timm_mixer_s32": Network(timm_model("mixer_s32_224"), image(), 18),
    "timm_hiera_tiny": Network(timm_model("hiera_tiny_224", fused=False), image(), 20),
    "timm_repvit_m0_9": Network(timm_model("repvit_m0_9"), image(), 20),
    "timm_ghostnetv2_100": Network(timm_model("ghostnetv2_100"), image(), 18),
    "timm_coatnet_nano": Network(timm_model("coatnet_nano_rw_224"), image(), 18),
    "timm_xcit_nano": Network(timm_model("xcit_nano_12_p16_224"), image(), 18),
    "timm_sequencer2d_s": Network(timm_model("sequencer2d_s"), image(), 17, dynamo=False),
    "timm_volo_d1": Network(timm_model("volo_d1_224"), image(), 18),
}

# ---- transformers --------------------------------------------------------------------------------


def hugging(model, config, key, fixed=None, **sizes):
    def build():
        import transformers

        made = getattr(transformers, config)(**sizes)
        made._attn_implementation = "eager"
        module = getattr(transformers, model)(made)
        module.pooler = None  # reads what isn't asked for
        return Output(module, key, **(fixed or {}))

    return build


_NO_CACHE = {"use_cache": False}
_SMALL = {
    "vocab_size": 1000,
    "hidden_size": 256,
    "num_hidden_layers": 2,
    "num_attention_heads": 8,
    "intermediate_size": 688,
}
_GROUPED = {**_SMALL, "num_key_value_heads": 2}

TRANSFORMERS = {
    "hf_bert_base": Network(hugging("BertModel", "BertConfig", "last_hidden_state"), words(), 20),
    "hf_distilbert": Network(
        hugging("DistilBertModel", "DistilBertConfig", "last_hidden_state"), words(), 18
    ),
    "hf_deberta_v2": Network(
        hugging(
            "DebertaV2Model",
            "DebertaV2Config",
            "last_hidden_state",
            relative_attention=True,
            pos_att_type=["p2c", "c2p"],
            **_SMALL,
        ),
        words(),
        20,
    ),
    "hf_gpt2": Network(
        hugging("GPT2LMHeadModel", "GPT2Config", "logits", _NO_CACHE, n_layer=4), words(), 18
    ),
    "hf_llama": Network(
        hugging("LlamaForCausalLM", "LlamaConfig", "logits", _NO_CACHE, **_GROUPED),
        words(),
        23,
        dynamic_shapes=(({1: torch.export.Dim("sequence")},),),
        options={"bind": {"sequence": 128}},
    ),
    "hf_qwen3": Network(
        hugging("Qwen3ForCausalLM", "Qwen3Config", "logits", _NO_CACHE, head_dim=32, **_GROUPED),
        words(),
        21,
    ),
    "hf_gemma3": Network(
        hugging(
            "Gemma3ForCausalLM",
            "Gemma3TextConfig",
            "logits",
            _NO_CACHE,
            head_dim=32,
            sliding_window=64,
            **_GROUPED,
        ),
        words(),
        20,
    ),
    "hf_phi3": Network(
        hugging("Phi3ForCausalLM", "Phi3Config", "logits", _NO_CACHE, pad_token_id=0, **_GROUPED),
        words(),
        22,
    ),
    "hf_t5_encoder": Network(
        hugging("T5EncoderModel", "T5Config", "last_hidden_state", num_layers=4), words(), 18
    ),
    "hf_whisper_encoder": Network(
        lambda: whisper_encoder(), lambda: (torch.randn(1, 80, 3000),), 20
    ),
    "hf_wav2vec2": Network(
        hugging("Wav2Vec2Model", "Wav2Vec2Config", "last_hidden_state", num_hidden_layers=4),
        lambda: (torch.randn(1, 16000),),
        18,
    ),
    "hf_segformer": Network(
        hugging("SegformerForSemanticSegmentation", "SegformerConfig", "logits"), image(256), 18
    ),
    "hf_dinov2_small": Network(
        hugging(
            "Dinov2Model",
            "Dinov2Config",
            "last_hidden_state",
            hidden_size=384,
            num_attention_heads=6,
        ),
        image(),
        20,
    ),
    "hf_clip_vision": Network(
        hugging("CLIPVisionModel", "CLIPVisionConfig", "last_hidden_state"), image(), 19
    ),
    "hf_mamba": Network(
        hugging(
            "MambaForCausalLM",
            "MambaConfig",
            "logits",
            _NO_CACHE,
            vocab_size=1000,
            hidden_size=128,
            num_hidden_layers=2,
        ),
        words(16),
        18,
    ),
}


def whisper_encoder():
    import transformers

    config = transformers.WhisperConfig(d_model=384, encoder_layers=4, encoder_attention_heads=6)
    config._attn_implementation = "eager"
    return Output(transformers.WhisperModel(config).get_encoder(), "last_hidden_state")


# ---- diffusers -----------------------------------------------------------------------------------


def diffusers_model(name, **sizes):
    def build():
        import diffusers

        return Output(getattr(diffusers, name)(**sizes), "sample")

    return build


def vae_decoder():
    import diffusers

    module = diffusers.AutoencoderKL(
        block_out_channels=(64, 128, 128),
        down_block_types=("DownEncoderBlock2D",) * 3,
        up_block_types=("UpDecoderBlock2D",) * 3,
    )
    return torch.nn.Sequential(module.post_quant_conv, module.decoder)


DIFFUSERS = {
    "diffusers_unet2d": Network(
        diffusers_model(
            "UNet2DConditionModel",
            sample_size=32,
            block_out_channels=(64, 128, 256),
            down_block_types=("CrossAttnDownBlock2D", "CrossAttnDownBlock2D", "DownBlock2D"),
            up_block_types=("UpBlock2D", "CrossAttnUpBlock2D", "CrossAttnUpBlock2D"),
            cross_attention_dim=256,
        ),
        lambda: (torch.randn(1, 4, 32, 32), torch.tensor([10.0]), torch.randn(1, 77, 256)),
        18,
    ),
    "diffusers_vae_decoder": Network(vae_decoder, image(32, 4), 20),
    "diffusers_dit": Network(
        diffusers_model("DiTTransformer2DModel", num_layers=2, sample_size=16),
        lambda: (torch.randn(1, 4, 16, 16), torch.tensor([10]), torch.tensor([3])),
        18,
    ),
    "diffusers_sd3": Network(
        diffusers_model("SD3Transformer2DModel", num_layers=2, sample_size=32),
        lambda: (
            torch.randn(1, 16, 32, 32),
            torch.randn(1, 77, 4096),
            torch.randn(1, 2048),
            torch.tensor([10.0]),
        ),
        20,
    ),
}

# ---- ultralytics ---------------------------------------------------------------------------------


def yolo(config, task="detect"):
    def build():
        from ultralytics import YOLO

        module = YOLO(config, task=task).model.fuse().eval()
        for part in module.modules():
            if hasattr(part, "export"):
                part.export, part.format, part.dynamic = True, "onnx", False
        return module

    return build


class YoloWithNms(torch.nn.Module):
    """A detector with its suppression inside, as exporters with `nms=True` write it."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, x):
        import torchvision

        found = self.module(x)[0].transpose(0, 1)
        centre, size = found[:, :2], found[:, 2:4]
        corners = torch.cat((centre - size / 2, centre + size / 2), 1)
        scores, classes = found[:, 4:].max(1)
        kept = torchvision.ops.nms(corners, scores, 0.45)
        return corners[kept], scores[kept], classes[kept]


ULTRALYTICS = {
    "yolo11n": Network(yolo("yolo11n.yaml"), image(640), 19),
    "yolov8n_seg": Network(yolo("yolov8n-seg.yaml", "segment"), image(320), 17, dynamo=False),
    "yolov10n": Network(yolo("yolov10n.yaml"), image(320), 18),
    "yolo11n_nms": Network(
        lambda: YoloWithNms(yolo("yolo11n.yaml")()), image(320), 17, dynamo=False
    ),
    "rtdetr_l": Network(yolo("rtdetr-l.yaml"), image(320), 17, dynamo=False),
}

# ---- control flow --------------------------------------------------------------------------------


class Choice(torch.nn.Module):
    """torch.cond: a dear branch of two products, a cheap one of one."""

    def __init__(self):
        super().__init__()
        self.wide, self.narrow = torch.nn.Linear(64, 256), torch.nn.Linear(256, 64)
        self.plain = torch.nn.Linear(64, 64)

    def forward(self, x):
        return torch.cond(
            x.sum() > 0,
            lambda v: self.narrow(torch.relu(self.wide(v))),
            lambda v: self.plain(v),
            (x,),
        )


CONTROL = {
    "torch_cond": Network(Choice, lambda: (torch.ones(16, 64),), 20, options={"branch": "then"}),
}

NETWORKS = {
    name: dataclasses.replace(network, origin=origin)
    for origin, group in (
        ("torchvision", TORCHVISION),
        ("timm", TIMM),
        ("transformers", TRANSFORMERS),
        ("diffusers", DIFFUSERS),
        ("ultralytics", ULTRALYTICS),
        ("PyTorch", CONTROL),
    )
    for name, network in group.items()
}
