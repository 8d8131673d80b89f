# Records random stacks of layers under random policies from real Keras: python record_nets.py COUNT > nets.jsonl
# SPDX-License-Identifier: Apache-2.0
"""Each line is one net: its layers, weights and inputs, and Keras's results op by op (JAX, eager): the outputs of
inference and of training, the loss and the weights after one step of SGD. Values of narrow floats are written as
float32.
"""
import json
import os
import random
import sys

os.environ["KERAS_BACKEND"] = "jax"
import keras
import numpy as np
from keras import layers

FLOATS = ["float32", "float16", "bfloat16"]
POLICIES = FLOATS + ["mixed_float16", "mixed_bfloat16"] * 2
ACTIVATIONS = ["relu", "tanh", "sigmoid", "gelu", "silu", "softmax", "linear", "elu", "softplus", "selu", "leaky_relu", "relu6",
               "hard_sigmoid", "exponential", "softsign", "log_softmax"]
LAYERS = ["Dense", "Dense", "Dense", "LayerNormalization", "GroupNormalization", "BatchNormalization", "RMSNormalization",
          "UnitNormalization", "Activation", "Softmax", "ReLU", "Rescaling"]


def dense(rng, dtype, last):
    args = {"units": 3 if last else rng.choice([4, 6, 8]), "activation": "linear" if last else rng.choice(ACTIVATIONS)}
    args["use_bias"] = rng.random() < 0.8
    args["autocast"] = rng.random() < 0.8
    penalties = {name: rng.choice([0.0, 0.0, 0.02]) for name in ("kernel_regularizer", "activity_regularizer")}
    layer = layers.Dense(dtype=dtype, **args, **{k: keras.regularizers.L2(v) if v else None for k, v in penalties.items()})
    return layer, args | penalties


def draw(rng, last):
    kind = "Dense" if last else rng.choice(LAYERS)
    dtype = rng.choice([None, None] + POLICIES)
    if kind == "Dense":
        layer, args = dense(rng, dtype, last)
    else:
        args = {}
        if kind == "GroupNormalization":
            args = {"groups": 2}
        elif kind == "Activation":
            args = {"activation": rng.choice(ACTIVATIONS)}
        elif kind == "Rescaling":
            args = {"scale": rng.choice([0.5, 1 / 255.0, 3.3]), "offset": 0.25}
        layer = getattr(layers, kind)(dtype=dtype, **args)
    return layer, {"class": kind, "dtype": dtype} | args


def numbers(x):
    return [float(f"{v:.9g}") for v in np.asarray(keras.ops.cast(x, "float32")).ravel()]


def net(seed):
    rng, values = random.Random(seed), np.random.default_rng(seed)
    policy = rng.choice(POLICIES)
    keras.config.set_dtype_policy(policy)
    features, batch = rng.choice([4, 8, 12]), rng.choice([3, 5])
    drawn = [draw(rng, False) for _ in range(rng.randint(1, 4))] + [draw(rng, True)]
    model = keras.Sequential([keras.Input((features,))] + [layer for layer, _ in drawn])
    x = values.standard_normal((batch, features)).astype("float32")
    y = values.standard_normal((batch, 3)).astype("float32")
    for w in model.weights:
        value = values.standard_normal(w.shape) * 0.3 + (w.name in ("gamma", "scale"))
        w.assign((np.abs(value) + 0.5 if w.name == "moving_variance" else value).astype("float32"))
    start = [keras.ops.copy(w.value) for w in model.weights]
    rate = rng.choice([0.1, 0.01])
    model.compile(optimizer=keras.optimizers.SGD(rate), loss="mse", run_eagerly=True, jit_compile=False)
    inference = model(x)
    training = model(x, training=True)
    for w, value in zip(model.weights, start):
        w.assign(value)
    loss = float(model.train_on_batch(x, y))
    return {"seed": seed, "policy": policy, "features": features, "batch": batch, "learning_rate": rate,
            "layers": [args for _, args in drawn], "x": numbers(x), "y": numbers(y),
            "weights": [{"name": w.name, "shape": list(w.shape), "dtype": w.dtype, "value": numbers(v), "after": numbers(w.value)}
                        for w, v in zip(model.weights, start)],
            "dtype": str(inference.dtype), "inference": numbers(inference), "training": numbers(training), "loss": loss,
            "optimizer": type(model.optimizer).__name__}


for seed in range(int(sys.argv[1])):
    print(json.dumps(net(seed)), flush=True)
