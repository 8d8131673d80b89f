# Records outputs and gradients of image layers of real Keras.
# SPDX-License-Identifier: Apache-2.0
"""Usage: KERAS_BACKEND=jax python record_images.py > image_layers.jsonl

One layer per line, in the format of layers.jsonl: config, inputs, output, cotangent, and the gradient of
sum(float32(output) * cotangent) by the input (null for integers). Translations have a single factor, so nothing is
random.
"""
import itertools
import json
import os
import sys

os.environ["XLA_FLAGS"] = "--xla_allow_excess_precision=false"
import jax
import keras
import numpy as np
from keras import layers

FLOATS = ["float32", "mixed_bfloat16", "mixed_float16"]


def numbers(value):
    """Nested lists; floats with nine significant digits."""
    array = np.asarray(value)
    if array.dtype.kind in "iu":
        return array.tolist()
    rounded = [float(f"{v:.9g}") for v in array.astype("float32").ravel().tolist()]
    return np.array(rounded).reshape(array.shape).tolist()


def cases():
    for method, antialias in itertools.product(["nearest", "bilinear", "bicubic", "lanczos3", "lanczos5"], [False, True]):
        for size in [(3, 4), (9, 11), (7, 4)]:
            yield lambda p, m=method, a=antialias, s=size: layers.Resizing(*s, interpolation=m, antialias=a, dtype=p), (7, 6)
    for name, fmt in itertools.product(["crop_to_aspect_ratio", "pad_to_aspect_ratio"], ["channels_last", "channels_first"]):
        for size in [(4, 9), (9, 3)]:
            args = {name: True, "data_format": fmt, "fill_value": 0.5}
            yield lambda p, s=size, a=args: layers.Resizing(*s, dtype=p, **a), (6, 5)
    for size in [(2, 3), (5, 5), (9, 3), (3, 8)]:
        yield lambda p, s=size: layers.CenterCrop(*s, dtype=p), (6, 5)
    yield lambda p: layers.CenterCrop(3, 2, data_format="channels_first", dtype=p), (6, 5)
    for mode, method in itertools.product(["reflect", "wrap", "constant", "nearest"], ["bilinear", "nearest"]):
        for factors in [((0.3, 0.3), (-0.45, -0.45)), ((-0.9, -0.9), (1.0, 1.0))]:
            args = {"fill_mode": mode, "interpolation": method, "fill_value": 0.25}
            yield lambda p, f=factors, a=args: layers.RandomTranslation(*f, dtype=p, **a), (5, 6)
    yield lambda p: layers.RandomTranslation((0.5, 0.5), 0.0, data_format="channels_first", dtype=p), (5, 6)
    yield lambda p: layers.Normalization(axis=-1, mean=[1.0, 2.0], variance=[4.0, 0.25], dtype=p), (3, 4)
    yield lambda p: layers.Normalization(axis=None, mean=1.5, variance=2.0, invert=True, dtype=p), (3, 4)
    yield lambda p: layers.Normalization(axis=(1, -1), mean=[[1.0], [2.0], [3.0]], variance=[[1.0], [0.25], [2.0]], dtype=p), (3, 4)
    yield lambda p: layers.Rescaling(0.5, offset=-1.0, dtype=p), (3, 4)
    for method in ["nearest", "bilinear", "bicubic", "lanczos3", "lanczos5"]:
        yield lambda p, m=method: layers.UpSampling2D((2, 3), interpolation=m, dtype=p), (3, 4)
    yield lambda p: layers.UpSampling2D((3, 1), interpolation="bilinear", data_format="channels_first", dtype=p), (3, 4)
    yield lambda p: layers.UpSampling3D((2, 1, 3), data_format="channels_first", dtype=p), (3, 4, 2)
    yield lambda p: layers.ZeroPadding2D(((0, 2), (1, 0)), data_format="channels_first", dtype=p), (3, 4)
    yield lambda p: layers.ZeroPadding1D((2, 0), data_format="channels_first", dtype=p), (4,)
    yield lambda p: layers.ZeroPadding3D(1, data_format="channels_first", dtype=p), (2, 1, 2)
    yield lambda p: layers.Cropping2D(((0, 2), (1, 0)), data_format="channels_first", dtype=p), (3, 4)
    yield lambda p: layers.Cropping3D(((0, 1), (1, 0), (1, 1)), data_format="channels_first", dtype=p), (3, 2, 4)
    for size, extents in [(3, (7,)), (5, (3,)), (4, (4,))]:
        yield lambda p, s=size: layers.AdaptiveAveragePooling1D(s, dtype=p), extents
        yield lambda p, s=size: layers.AdaptiveMaxPooling1D(s, dtype=p), extents
    first = {"data_format": "channels_first"}
    for size, args in [((2, 3), {}), (2, first), ((5, 1), {})]:
        yield lambda p, s=size, a=args: layers.AdaptiveAveragePooling2D(s, dtype=p, **a), (5, 4)
        yield lambda p, s=size, a=args: layers.AdaptiveMaxPooling2D(s, dtype=p, **a), (5, 4)
    yield lambda p: layers.AdaptiveAveragePooling3D((2, 1, 3), dtype=p), (3, 4, 2)
    yield lambda p: layers.AdaptiveMaxPooling3D((2, 1, 3), dtype=p, **first), (3, 4, 2)
    for mode, method in itertools.product(["reflect", "wrap", "constant", "nearest"], ["bilinear", "nearest"]):
        args = {"fill_mode": mode, "interpolation": method, "fill_value": 0.25}
        yield lambda p, a=args: layers.RandomRotation((0.11, 0.11), dtype=p, **a), (5, 6)
        yield lambda p, a=args: layers.RandomZoom((0.3, 0.3), (-0.45, -0.45), dtype=p, **a), (5, 6)
    yield lambda p: layers.RandomRotation((-0.3, -0.3), dtype=p, **first), (4, 7)
    yield lambda p: layers.RandomZoom((0.7, 0.7), dtype=p, **first), (4, 7)
    for factor in [-0.3, 0.4]:
        yield lambda p, f=factor: layers.RandomContrast((-abs(f), abs(f)), value_range=(-2, 1.5), dtype=p), (4, 3)
        yield lambda p, f=factor: layers.RandomBrightness((f, f), value_range=(-2, 1), dtype=p, **first), (4, 3)
    for size in [(5, 6), (2, 6), (7, 3), (8, 9)]:
        yield lambda p, s=size: layers.RandomCrop(*s, seed=1, dtype=p), (5, 6)
    yield lambda p: layers.RandomCrop(4, 9, seed=1, dtype=p, **first), (5, 6)


def record(layer, x, random):
    args = {"training": True} if "Random" in type(layer).__name__ else {}
    shape = layer(x, **args).shape
    cotangent = random.standard_normal(shape).astype("float32")

    def loss(x):
        y = layer(x, **args)
        return (y.astype("float32") * cotangent).sum(), y

    if x.dtype == "float32":
        (_, y), gradient = jax.value_and_grad(loss, has_aux=True)(x)
    else:
        (_, y), gradient = loss(x), None
    return {"layer": type(layer).__name__, "config": keras.saving.serialize_keras_object(layer)["config"],
            "policy": layer.dtype_policy.name, "how": "positional", "call": args, "input_names": ["input_0"],
            "input_dtypes": [str(x.dtype)], "inputs": [numbers(x)], "weights": [], "output": numbers(y),
            "output_dtype": str(y.dtype), "cotangent": numbers(cotangent),
            "grad_x": {"inputs": [None if gradient is None else numbers(gradient)], "weights": []}}


def main():
    random = np.random.default_rng(5)
    for i, (make, extents) in enumerate(cases()):
        keras.utils.clear_session()
        layer = make(FLOATS[i % 3])
        first = getattr(layer, "data_format", "") == "channels_first"
        shape = (2, 2, *extents) if first else (2, *extents, 2)
        x = random.standard_normal(shape).astype("float32")
        if i % 5 == 4 and not type(layer).__name__.startswith(("Adaptive", "RandomContrast", "RandomBrightness")):  # these compute in uint8, and wrap
            x = random.integers(0, 256, shape).astype("uint8")
        print(json.dumps(record(layer, x, random), separators=(",", ":")))
    print(f"{i + 1} layers, Keras {keras.__version__}, JAX {jax.__version__}", file=sys.stderr)


main()
