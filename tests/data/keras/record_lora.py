# Records results of real Keras with LoRA and ReversibleEmbedding, in floats and under quantization modes.
# SPDX-License-Identifier: Apache-2.0
"""Usage: KERAS_BACKEND=jax XLA_FLAGS=--xla_allow_excess_precision=false python record_lora.py FOLDER

Writes FOLDER/lora.jsonl and FOLDER/reversible.jsonl. Each line: `layer`, its `config` before it is quantized or
adapted, and the `input` shape with which it is built; `mode`, `activations` and `block` of quantize(), null for floats;
`floats`, the weights before. lora.jsonl also has `rank`, `alpha`, `first` (the first call, "lora" or "quantize"), `a`
and `b`, which are assigned, `weights`: the name, dtype, shape and trainable flag of each; `saved`: the variables in a
file; `x`, `output`; and the `gradients` of sum(output * cotangent) by the trained weights. reversible.jsonl has
`weights`, `rows` for `indices`, and `logits` for `x`, with the `gradient` of sum(logits * cotangent) by x in floats.
"""
import json
import os
import sys

import jax
import jax.numpy as jnp
import keras
import numpy as np
from keras import layers, quantizers

rng = np.random.default_rng(17)


def listed(x):
    return np.asarray(x).astype("float64").astype("float32").tolist()


def drawn(shape):
    return rng.normal(0, 0.5, shape).astype("float32")


def weights_of(layer):
    return [dict(name=w.name, dtype=w.dtype, trainable=w.trainable, shape=list(w.shape), value=listed(w.value))
            for w in layer.weights]


def quantize(layer, mode, activations, block):
    if mode == "int8":
        layer.quantize(mode, config=quantizers.Int8QuantizationConfig(
            activation_quantizer="default" if activations else None))
    if mode == "int4":
        layer.quantize(mode, config=quantizers.Int4QuantizationConfig(
            activation_quantizer=quantizers.AbsMaxQuantizer() if activations else "default", block_size=block))


def built(layer, shape):
    layer.build((None, *shape))
    layer.set_weights([drawn(w.shape) for w in layer.weights])
    return dict(layer=type(layer).__name__, config=keras.saving.serialize_keras_object(layer)["config"], input=list(shape),
                floats=weights_of(layer))


def record_lora(layer, shape, mode, activations, block, first, rank, alpha):
    row = built(layer, shape)
    row.update(mode=mode, activations=activations, block=block, first=first, rank=rank, alpha=alpha)
    steps = dict(lora=lambda: layer.enable_lora(rank, lora_alpha=alpha),
                 quantize=lambda: quantize(layer, mode, activations, block))
    for step in ["lora", "quantize"] if first == "lora" else ["quantize", "lora"]:
        steps[step]()
    kind = "embeddings" if isinstance(layer, layers.Embedding) else "kernel"
    a, b = getattr(layer, f"lora_{kind}_a"), getattr(layer, f"lora_{kind}_b")
    a.assign(drawn(a.shape))
    b.assign(drawn(b.shape))
    saved = {}
    layer.save_own_variables(saved)
    lookup = kind == "embeddings"
    x = rng.integers(0, layer.input_dim, (3, *shape)).astype("int32") if lookup else drawn((3, *shape))
    output = layer(x)
    cotangent = drawn(output.shape)
    values = [v.value for v in layer.trainable_variables]
    others = [v.value for v in layer.non_trainable_variables]
    gradients = jax.grad(lambda v: jnp.sum(layer.stateless_call(v, others, x)[0].astype("float32") * cotangent))(values)
    row.update(a=listed(a.value), b=listed(b.value),
               weights=[{key: each[key] for key in ("name", "dtype", "trainable", "shape")} for each in weights_of(layer)],
               saved=[dict(dtype=str(jnp.asarray(saved[k]).dtype), shape=list(saved[k].shape), value=listed(saved[k]))
                      for k in sorted(saved, key=int)],
               x=x.tolist() if lookup else listed(x), output=listed(output), cotangent=listed(cotangent),
               gradients={v.name: listed(g) for v, g in zip(layer.trainable_variables, gradients)},
               lora_rank=layer.get_config()["lora_rank"], lora_alpha=layer.get_config()["lora_alpha"])
    return row


def record_reversible(layer, mode, activations, block):
    row = built(layer, (3,))
    row.update(mode=mode, activations=activations, block=block)
    if mode:
        quantize(layer, mode, activations, block)
    indices, x = rng.integers(0, layer.input_dim, (2, 3)).astype("int32"), drawn((2, 3, layer.output_dim))
    logits = layer(x, reverse=True)
    cotangent = drawn(logits.shape)
    row.update(policy=layer.dtype_policy.name, weights=weights_of(layer), indices=indices.tolist(),
               rows=listed(layer(indices)), x=listed(x), logits=listed(logits), logits_dtype=str(logits.dtype),
               rows_dtype=str(layer(indices).dtype), cotangent=listed(cotangent))
    if not mode:
        row["gradient"] = listed(jax.grad(lambda x: jnp.sum(layer(x, reverse=True).astype("float32") * cotangent))(
            jnp.asarray(x)))
    return row


def write(path, rows):
    with open(path, "w") as file:
        for row in rows:
            file.write(json.dumps(row) + "\n")


def main(folder):
    makers = [
        lambda: (layers.Dense(5, activation="relu"), (7,)), lambda: (layers.Dense(4, use_bias=False), (2, 3)),
        lambda: (layers.EinsumDense("abc,cde->abde", (None, 2, 3), bias_axes="e"), (3, 6)),
        lambda: (layers.EinsumDense("abcd,cde->abe", (None, 5), bias_axes="e", activation="tanh"), (2, 3, 4)),
        lambda: (layers.EinsumDense("...x,xy->...y", 5), (2, 6)), lambda: (layers.Embedding(6, 5), (4,)),
    ]
    modes = [(None, False, None), ("int8", True, None), ("int8", False, None), ("int4", False, None), ("int4", False, 2),
             ("int4", False, 128)]
    rows = []
    for maker in makers:
        for mode in modes:
            for first in ("lora", "quantize") if mode[0] else ("lora",):
                for rank, alpha in ((2, None), (1, 3.5)):
                    try:
                        rows.append(record_lora(*maker(), *mode, first, rank, alpha))
                    except (AttributeError, TypeError) as error:  # Keras: "..." under a mode
                        print("left out:", maker()[0].name, mode, first, repr(error)[:100])
                    if mode[0] and mode[0] != "int8":
                        break
    rows.append(record_lora(layers.Dense(4, dtype="mixed_bfloat16"), (3,), None, False, None, "lora", 2, 5))
    for layer, shape in ((layers.Conv2D(4, 3, strides=2, activation="relu"), (6, 5, 2)),
                         (layers.Conv2D(6, 2, groups=2, padding="same", use_bias=False), (4, 3, 4)),
                         (layers.Conv1D(3, 2, dilation_rate=2), (7, 2)), (layers.Conv3D(2, 2), (3, 4, 3, 2)),
                         (layers.Conv2D(3, 2, data_format="channels_first"), (2, 4, 5)),
                         (layers.Conv1D(4, 3, dtype="mixed_bfloat16"), (5, 2))):
        for rank, alpha in ((2, None), (1, 3.5)):
            rows.append(record_lora(layer.__class__.from_config(layer.get_config()), shape, None, False, None, "lora", rank, alpha))
    write(os.path.join(folder, "lora.jsonl"), rows)
    rows = []
    for ties in (True, False):
        for more in ({}, dict(logit_soft_cap=0.7), dict(reverse_dtype="bfloat16"), dict(dtype="mixed_bfloat16")):
            rows.append(record_reversible(layers.ReversibleEmbedding(6, 5, tie_weights=ties, **more), None, False, None))
        for mode in modes[1:] + [("int4", True, None)]:
            more = dict(logit_soft_cap=2.0) if mode[2] == 2 else {}
            rows.append(record_reversible(layers.ReversibleEmbedding(6, 5, tie_weights=ties, **more), *mode))
    write(os.path.join(folder, "reversible.jsonl"), rows)


main(sys.argv[1])
