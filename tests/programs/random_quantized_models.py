# Random models of real Keras with layers that can be quantized, their weights, and random steps to perform on them.
# SPDX-License-Identifier: Apache-2.0
import keras
import numpy as np
from keras import layers, quantizers

LOOKUPS = ("Embedding", "ReversibleEmbedding")
ADAPTED = ("Dense", "EinsumDense", "Conv1D", "Conv2D") + LOOKUPS


class Maker:
    """Draws one model. Its layers have names, so that maps and filters can select them."""

    def __init__(self, rng):
        self.rng = rng
        self.count = 0
        self.plain = rng.random() < 0.7  # few layers with their own policies, which a model's quantize() rejects

    def pick(self, *choices):
        return choices[self.rng.integers(len(choices))]

    def extent(self, *more):
        return int(self.pick(1, 2, 3, 5, 7, 8, 16, 17, 24, 33, *more))

    def name(self, kind):
        self.count += 1
        return f"{kind}{self.count}"

    def policy(self):
        """A layer's own policy: mostly none, so that the global policy applies."""
        kinds = [None] * (40 if self.plain else 8) + ["float32", "bfloat16", "mixed_bfloat16", "mixed_float16", "int8_from_float32",
                              "int8_from_mixed_bfloat16", "int4/16_from_float32", "int4/-1_from_float32",
                              "float8_from_float32", "int4/32_from_mixed_bfloat16"]
        return self.pick(*kinds)

    def config(self, policy):
        """A quantization config compatible with the policy, or none."""
        if self.rng.random() < 0.7 or not policy or "int" not in policy:
            return None
        if policy.startswith("int8"):
            return quantizers.Int8QuantizationConfig(activation_quantizer=self.pick("default", None))
        if "/-1" in policy:
            return int4_config(-1, self.rng.random() < 0.5)
        return int4_config(int(policy.split("/")[1].split("_")[0]), False)

    def common(self, kind, lora=True):
        policy = self.policy()
        options = dict(name=self.name(kind), dtype=policy)
        config = self.config(policy)
        if config is not None:
            options["quantization_config"] = config
        if lora and keras.backend.backend() == "numpy" and self.rng.random() < 0.1 and "float8" not in str(policy):
            options["lora_rank"] = self.pick(1, 2, 4)
        return options

    def dense(self, x):
        return layers.Dense(self.extent(130), activation=self.pick(None, "relu", "tanh", "gelu"),
                            use_bias=self.rng.random() < 0.8, **self.common("dense"))(x)

    def einsum(self, x):
        rank, last = len(x.shape), x.shape[-1]
        options = self.common("einsum")
        steps = x.shape[1]
        if rank == 2:
            equation, shape, bias = self.pick(("ab,bc->ac", self.extent(), "c"), ("ab,bcd->acd", (self.extent(), 3), "cd"),
                                              ("ab,bcd->acd", (2, self.extent()), "d"), ("ab,bcd->adc", (self.extent(), 3), "c"),
                                              ("...x,xy->...y", self.extent(), "y"), ("ab,cb->ac", self.extent(), "c"))
        elif rank == 3:
            equation, shape, bias = self.pick(("abc,cd->abd", (steps, self.extent()), "d"),
                                              ("abc,cde->abde", (steps, 2, self.extent()), self.pick("e", "de")),
                                              ("abc,bcd->ad", (self.extent(),), "d"), ("abc,bd->adc", (self.extent(), last), "c"),
                                              ("abc,cd->adb", (self.extent(), steps), None), ("abc,dc->abd", (steps, self.extent()), "d"))
        else:
            equation, shape, bias = self.pick(("abcd,cde->abe", (steps, self.extent()), "e"),
                                              ("abcd,de->abce", (steps, x.shape[2], self.extent()), "e"),
                                              ("abcd,dce->abe", (steps, self.extent()), None))
        return layers.EinsumDense(equation, shape, bias_axes=self.pick(bias, None), activation=self.pick(None, "relu"),
                                  **options)(x)

    def convolution(self, x):
        rank, options = len(x.shape), self.common("conv", lora=False)
        options.pop("quantization_config", None)
        if options["dtype"] and "_from_" in options["dtype"]:
            options["dtype"] = None
        padding = self.pick("same", "valid") if min(x.shape[1:-1]) >= 3 else "same"
        if rank == 3:
            return layers.Conv1D(self.extent(), 3, padding=padding, **options)(x)
        kind = self.pick(layers.Conv2D, layers.Conv2DTranspose, layers.DepthwiseConv2D, layers.SeparableConv2D)
        if kind is layers.DepthwiseConv2D:
            return kind(3, padding=padding, **options)(x)
        return kind(self.extent(), 3, padding=padding, **options)(x)

    def attention(self, x):
        options = dict(name=self.name("attention"), dtype=self.pick(None, None, None, "mixed_bfloat16", "int8_from_float32"))
        if options["dtype"] and "_from_" in options["dtype"] and self.rng.random() < 0.7:
            options["dtype"] = None
        if self.rng.random() < 0.7:
            layer = layers.MultiHeadAttention(self.pick(1, 2, 3), self.pick(2, 4, 8), use_bias=self.rng.random() < 0.7, **options)
        else:
            layer = layers.GroupQueryAttention(self.pick(2, 4, 8), 4, 2, use_bias=self.rng.random() < 0.7, **options)
        return layer(x, x, use_causal_mask=bool(self.rng.random() < 0.5))

    def other(self, x):
        kind = self.pick("norm", "activation", "rms", "batch")
        if kind == "norm":
            return layers.LayerNormalization(name=self.name("norm"))(x)
        if kind == "rms":
            return layers.RMSNormalization(name=self.name("rms"))(x)
        if kind == "batch":
            return layers.BatchNormalization(name=self.name("batch"))(x)
        return layers.Activation(self.pick("relu", "silu"), name=self.name("activation"))(x)

    def step(self, x):
        kinds = [self.dense, self.dense, self.einsum, self.other]
        if len(x.shape) == 3:
            kinds += [self.einsum, self.attention, self.convolution]
        if len(x.shape) == 4:
            kinds += [self.convolution, self.einsum]
        return self.pick(*kinds)(x)

    def inner(self, x):
        """Some layers in an inner model."""
        given = keras.Input(x.shape[1:], dtype=x.dtype)
        y = self.step(self.step(given))
        return keras.Model(given, y, name=self.name("inner"))(x)

    def model(self):
        kind = self.pick("rows", "rows", "steps", "images", "words", "words", "tied")
        if kind in ("words", "tied"):
            steps, rows, width = self.extent(), self.extent(130), self.extent(64)
            x = given = keras.Input((steps,), dtype="int32")
            if kind == "words":
                y = layers.Embedding(rows, width, **self.common("table"))(x)
            else:
                options = self.common("tied", lora=False)
                table = layers.ReversibleEmbedding(rows, width, tie_weights=self.rng.random() < 0.6,
                                                   logit_soft_cap=self.pick(None, None, 3.0), **options)
                y = table(x)
                h = self.step(y)
                if len(h.shape) != 3 or h.shape[1] != steps:
                    h = y
                h = layers.Dense(width, name=self.name("back"))(h)
                return keras.Model(given, table(h, reverse=True), name="net")
        else:
            shape = dict(rows=(self.extent(130, 300),), steps=(self.extent(), self.extent(40)), images=(6, 5, 3))[kind]
            y = given = keras.Input(shape)
        for _ in range(self.rng.integers(1, 5)):
            y = self.inner(y) if self.rng.random() < 0.1 else self.step(y)
        if kind != "tied" and self.rng.random() < 0.5:
            y = self.dense(layers.Flatten(name=self.name("flat"))(y))
        return keras.Model(given, y, name="net")


def int4_config(block, activations):
    return quantizers.Int4QuantizationConfig(
        activation_quantizer=quantizers.AbsMaxQuantizer() if activations else "default", block_size=block)


def draw_weights(model, rng):
    """Gives each weight values of a plausible magnitude, including integers and scales of a quantized policy."""
    scales = {}
    for _, layer in leaves(model):
        mode, is_grouped = getattr(layer, "quantization_mode", None), any(w.name.endswith("_zero") for w in layer.weights)
        for weight in layer.weights if mode in ("int8", "int4") else []:  # scales of blocks multiply, others divide
            scales[weight.path] = (0.02, 0.1) if is_grouped else (100, 400) if mode == "int8" else (6, 25)
    for weight in model.weights:
        shape, name = weight.shape, weight.name
        if "seed" in name or "g_idx" in name:
            continue
        if str(weight.dtype) == "int8":
            low, high = (-8, 8) if name.endswith("zero") else (-127, 128)
            value = rng.integers(low, high, shape).astype("int8")
        elif name.endswith("amax_history"):
            value = np.zeros(shape, "float32")
        elif name.endswith("_scale"):
            value = rng.uniform(*scales.get(weight.path, (0.02, 0.1)), shape)
        elif name.endswith("variance"):
            value = rng.uniform(0.5, 2, shape)
        elif name.endswith(("gamma", "scale")):
            value = rng.uniform(0.5, 1.5, shape)
        else:
            value = rng.normal(0, 0.5, shape)
        weight.assign(np.asarray(value, "float32").astype("int8") if str(weight.dtype) == "int8" else value.astype("float32"))


def leaves(layer, names=""):
    """(names, layer) of the model and all inner layers, as our layers() lists them, without Inputs."""
    yield names, layer
    for part in layer._layers:
        if isinstance(part, (layers.InputLayer, keras.DTypePolicy)) or not isinstance(part, keras.layers.Layer):
            continue
        yield from leaves(part, f"{names}/{part.name}" if names else part.name)


def draw_steps(maker, model):
    rng, pick = maker.rng, maker.pick
    named = {names: layer for names, layer in leaves(model) if names}
    adapted = [names for names, layer in named.items() if type(layer).__name__ in ADAPTED]
    others = list(named)

    def quantize():
        mode = pick("int8", "int8", "int4", "int4", "int4", "float8")
        step = dict(do="quantize", mode=mode)
        if mode == "int8" and rng.random() < 0.4:
            step.update(config="int8", activations=bool(rng.random() < 0.4))
        if mode == "int4":
            if rng.random() < 0.8:
                block = int(pick(-1, -1, 16, 32, 128, 7))
                step.update(config="int4", block=block, activations=bool(block == -1 and rng.random() < 0.5))
        if rng.random() < 0.15:
            step.update(mode=pick("int8", "int4", "float8", "ternary", "gptq", "none", ""))
        if rng.random() < 0.25:
            step.update(layer=pick(*(adapted if adapted and rng.random() < 0.7 else others)))
        elif rng.random() < 0.3:
            step.update(filter=pick("dense", "^einsum", "query|key", "table", "1", "2$"))
        return step

    def lora():
        step = dict(do="lora", layer=pick(*(adapted if adapted and rng.random() < 0.9 else others)), rank=int(pick(1, 2, 4)))
        if rng.random() < 0.4:
            step.update(alpha=float(pick(1.0, 3.5, 8.0)))
        return step

    steps = []
    for _ in range(rng.integers(1, 4)):
        kind = rng.random()
        if kind < 0.6:
            steps.append(quantize())
        elif kind < 0.85:
            steps.append(lora())
        elif kind < 0.93:
            if keras.backend.backend() == "numpy":
                continue
            steps.append(dict(do="train", rate=0.01, count=int(pick(1, 2))))
        else:
            steps.append(dict(do="policy", layer=pick(*others),
                              name=pick("int8_from_float32", "int4/128_from_float32", "float8_from_float32", "float32",
                                        "mixed_bfloat16", "int8_from_mixed_float16")))
        if rng.random() < 0.3:
            steps.append(dict(do="predict"))
    return steps + [dict(do="predict"), dict(do="save")]
