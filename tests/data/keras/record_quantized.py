# Records how real Keras quantizes layers, and the results of the quantized layers.
# SPDX-License-Identifier: Apache-2.0
"""Usage: KERAS_BACKEND=jax XLA_FLAGS=--xla_allow_excess_precision=false python record_quantized.py FOLDER

Writes FOLDER/quantized.jsonl and FOLDER/narrow_quantized.jsonl. Each line: `layer`, its `config` and the `input` shape
with which it is built; `mode`, `activations` and `block` of quantize(); `floats`, the weights before; `policy` and
`weights` after; `x`, `output`, and `gradient`: the gradient of sum(output * cotangent) by x. float8 also has `after`:
the weights after two steps of SGD(0.1) on this sum with training=True, and `output_after`. narrow_quantized.jsonl,
whose layers are in 16-bit floats, has only the entries before `x`.
"""
import json
import os
import sys

import jax
import jax.numpy as jnp
import keras
import numpy as np
from keras import layers, quantizers

rng = np.random.default_rng(16)


def listed(x):
    return np.asarray(x).astype("float64").astype("float32").tolist()


def ends(values):
    """The first and last two entries of a history."""
    return values[:2] + values[-2:] if len(values) == 1024 else values


def weights_of(layer):
    return [dict(name=w.name, dtype=w.dtype, trainable=w.trainable, shape=list(w.shape),
                 value=ends(listed(w.value)) if w.ndim == 1 else listed(w.value)) for w in layer.weights]


def drawn(shape):
    return rng.normal(0, 0.5, shape).astype("float32")


def config_of(mode, activations, block):
    if mode == "int8":
        return quantizers.Int8QuantizationConfig(activation_quantizer="default" if activations else None)
    if mode == "int4":
        quantizer = quantizers.AbsMaxQuantizer() if activations else "default"
        return quantizers.Int4QuantizationConfig(activation_quantizer=quantizer, block_size=block)
    return None


def steps_of_float8(layer, x, cotangent, row):
    optimizer = keras.optimizers.SGD(0.1)
    optimizer.build(layer.trainable_variables)
    trainable, state = [v.value for v in layer.trainable_variables], [v.value for v in optimizer.variables]

    def loss(values):
        output, _ = layer.stateless_call(values, [], x, training=True)
        return jnp.sum(output.astype("float32") * cotangent)

    for _ in range(2):
        trainable, state = optimizer.stateless_apply(state, jax.grad(loss)(trainable), trainable)
    for variable, value in zip(layer.trainable_variables, trainable):
        variable.assign(value)
    row.update(after=weights_of(layer), output_after=listed(layer(x)))


def record(layer, shape, mode, activations, block):
    layer.build((None, *shape))
    layer.set_weights([drawn(w.shape) for w in layer.weights])
    floats = weights_of(layer)
    layer.quantize(mode, config=config_of(mode, activations, block))
    lookup = isinstance(layer, layers.Embedding)
    x = rng.integers(0, layer.input_dim, (3, *shape)).astype("int32") if lookup else drawn((3, *shape))
    output = layer(x)
    row = dict(layer=type(layer).__name__, config=keras.saving.serialize_keras_object(layer)["config"], input=list(shape),
               mode=mode, activations=activations, block=block, floats=floats, policy=layer.dtype_policy.name,
               weights=weights_of(layer), x=x.tolist() if lookup else listed(x), output=listed(output),
               output_dtype=str(output.dtype))
    if not lookup:
        cotangent = drawn(output.shape)
        row["cotangent"] = listed(cotangent)
        row["gradient"] = listed(jax.grad(lambda x: jnp.sum(layer(x).astype("float32") * cotangent))(jnp.asarray(x)))
        if mode == "float8":
            steps_of_float8(layer, x, cotangent, row)
    return row


def record_narrow(layer, shape, mode, activations, block):
    layer.build((None, *shape))
    layer.set_weights([drawn(w.shape) for w in layer.weights])
    floats = weights_of(layer)
    layer.quantize(mode, config=config_of(mode, activations, block))
    return dict(layer=type(layer).__name__, config=keras.saving.serialize_keras_object(layer)["config"], input=list(shape),
                mode=mode, activations=activations, block=block, floats=floats, policy=layer.dtype_policy.name,
                weights=weights_of(layer))


def write_narrow(path):
    with open(path, "w") as file:
        for dtype in ("bfloat16", "float16"):
            for maker in (lambda: (layers.Dense(9, dtype=dtype), (37,)), lambda: (layers.Embedding(11, 35, dtype=dtype), (2,)),
                          lambda: (layers.EinsumDense("abc,cde->abde", (None, 3, 5), dtype=dtype), (2, 33))):
                for mode in [("int8", True, None), ("int4", False, None), ("int4", False, 16)]:
                    if mode[0] != "int8" or dtype != "float16":  # Keras rejects this
                        file.write(json.dumps(record_narrow(*maker(), *mode)) + "\n")


def main(folder):
    dense = lambda **more: lambda: (layers.Dense(5, activation="relu", **more), (7,))
    makers = [
        dense(), dense(use_bias=False), lambda: (layers.Dense(6), (2, 4)),
        lambda: (layers.EinsumDense("abc,cd->abd", (None, 5), bias_axes="d"), (3, 6)),
        lambda: (layers.EinsumDense("abc,cde->abde", (None, 2, 3), activation="tanh"), (3, 6)),
        lambda: (layers.EinsumDense("abcd,cde->abe", (None, 5), bias_axes="e"), (2, 3, 4)),
        lambda: (layers.EinsumDense("...x,xy->...y", 5, bias_axes="y"), (2, 6)),
        lambda: (layers.EinsumDense("abc,bcd->abd", (3, 5)), (3, 4)),
    ]
    tables = [lambda: (layers.Embedding(6, 5), (4,)), lambda: (layers.Embedding(3, 8), (2,))]
    modes = [("int8", True, None), ("int8", False, None), ("int4", False, None), ("int4", False, 2), ("int4", False, 128),
             ("int4", True, None)]
    with open(os.path.join(folder, "quantized.jsonl"), "w") as file:
        for maker in makers:
            for mode in modes + [("float8", False, None)]:
                try:
                    row = record(*maker(), *mode)
                except Exception as error:
                    print("left out:", maker()[0].get_config().get("equation"), mode, repr(error)[:150])
                    continue
                file.write(json.dumps(row) + "\n")
        for maker in tables:
            for mode in modes[:5]:
                file.write(json.dumps(record(*maker(), *mode)) + "\n")
    write_narrow(os.path.join(folder, "narrow_quantized.jsonl"))


main(sys.argv[1])
