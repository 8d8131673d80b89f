# Records layers in plain float8 as Keras computes them: record_float8.py > float8.jsonl
# SPDX-License-Identifier: Apache-2.0
import json
import os

os.environ["KERAS_BACKEND"] = "jax"
import keras  # noqa: E402
import numpy  # noqa: E402
from keras import layers  # noqa: E402

LAYERS = [
    ("Conv1D", dict(filters=2, kernel_size=2), (1, 4, 2)),
    ("Conv2D", dict(filters=2, kernel_size=2, padding="same"), (1, 3, 3, 2)),
    ("DepthwiseConv1D", dict(kernel_size=2), (1, 4, 2)),
    ("SeparableConv1D", dict(filters=2, kernel_size=2), (1, 4, 2)),
    ("Dense", dict(units=3, activation="relu"), (2, 4)),
    ("EinsumDense", dict(equation="ab,bc->ac", output_shape=3, bias_axes="c"), (2, 4)),
    ("LayerNormalization", {}, (2, 4)),
    ("AveragePooling1D", dict(pool_size=2), (1, 4, 2)),
    ("MaxPooling1D", dict(pool_size=2), (1, 4, 2)),
    ("Flatten", {}, (1, 2, 2)),
    ("ZeroPadding1D", dict(padding=1), (1, 2, 2)),
    ("Rescaling", dict(scale=0.3, offset=0.1), (2, 4)),
    ("PReLU", {}, (2, 4)),
] + [("Activation", dict(activation=name), (2, 4)) for name in ("silu", "elu", "softsign", "hard_sigmoid", "sigmoid")]


def main():
    rng = numpy.random.default_rng(5)

    def eighths(shape):
        return (rng.integers(-12, 13, shape) / 8).astype("float32")

    for policy in ("float8_e4m3fn", "float8_e5m2"):
        for name, arguments, shape in LAYERS:
            layer = getattr(layers, name)(**arguments, name="layer", dtype=keras.DTypePolicy(policy))
            layer.build(shape)
            weights = [eighths(variable.shape) for variable in layer.weights]
            layer.set_weights(weights)
            x = eighths(shape)
            row = {"config": keras.saving.serialize_keras_object(layer), "shape": shape, "x": x.ravel().tolist()}
            row["weights"] = [weight.ravel().tolist() for weight in weights]
            row["y"] = numpy.asarray(keras.ops.cast(layer(x), "float32")).ravel().tolist()
            row["config"].pop("build_config", None)
            print(json.dumps(row))


main()
