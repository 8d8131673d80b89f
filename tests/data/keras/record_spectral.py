# Records SpectralNormalization from real Keras: python record_spectral.py > spectral.jsonl
# SPDX-License-Identifier: Apache-2.0
"""JAX backend. Each line: the `config` of the wrapper, `x`, the `weights` before; the `output` outside of training; the
output `called` in training and the weights `after` that call; the weights `trained` by one step of SGD(0.25) on the
mean squared error to zeros from the weights before.
"""
import json
import os

os.environ["KERAS_BACKEND"] = "jax"
import keras
import numpy as np
from keras import layers

random = np.random.default_rng(6)


def numbers(x):
    x = np.asarray(x, "float64")
    return {"shape": list(x.shape), "values": [float(f"{v:.9g}") for v in x.ravel()]}


def cases():
    for policy in ["float32", "mixed_bfloat16", "mixed_float16"]:
        for iterations in [1, 3]:
            yield layers.Dense(3), (4, 5), iterations, policy
            yield layers.Conv2D(2, 3, padding="same"), (2, 4, 5, 3), iterations, policy
        yield layers.Dense(3, kernel_initializer="zeros"), (4, 5), 1, policy
    yield layers.Embedding(7, 3), None, 2, "float32"


def main():
    for layer, shape, iterations, policy in cases():
        inner = type(layer).from_config(layer.get_config() | {"dtype": policy, "name": "inner"})
        wrapper = layers.SpectralNormalization(inner, iterations, dtype=policy, name="wrapper")
        x = random.integers(0, 7, (4, 2)).astype("float32") if shape is None else random.standard_normal(shape).astype("float32")
        model = keras.Sequential([keras.Input(x.shape[1:], dtype="float32"), wrapper])
        before = [0.5 * random.standard_normal(w.shape).astype("float32") * (0 if "zeros" in str(layer.get_config().get("kernel_initializer")).lower() and i == 0 else 1)
                  for i, w in enumerate(model.get_weights())]
        model.set_weights(before)
        row = {"config": keras.saving.serialize_keras_object(wrapper), "x": numbers(x), "weights": [numbers(w) for w in before],
               "paths": [w.name for w in model.weights], "output": numbers(model(x, training=False)), "called": numbers(model(x, training=True)),
               "after": [numbers(w) for w in model.get_weights()]}
        model.set_weights(before)
        model.compile(keras.optimizers.SGD(0.25), "mse", jit_compile=False)
        model.optimizer.loss_scale_factor = None
        model.train_on_batch(x, np.zeros(row["output"]["shape"], "float32"))
        row["trained"] = [numbers(w) for w in model.get_weights()]
        print(json.dumps(row, separators=(",", ":")))


main()
