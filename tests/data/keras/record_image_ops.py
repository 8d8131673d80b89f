# Records results and gradients of real Keras's operations on images: python record_image_ops.py > image_ops.jsonl
# SPDX-License-Identifier: Apache-2.0
"""Each line is one case: `op` with `args` and the inputs `in` (dtype, shape, values), the result `out`, its cotangent,
and the gradient by each float input if the result is a float. JAX backend, each operation by itself.
`record_image_ops.py COUNT SEED` writes this many random cases.
"""
import json
import os
import sys

os.environ["KERAS_BACKEND"] = "jax"
os.environ["XLA_FLAGS"] = "--xla_allow_excess_precision=false"
import jax
import keras
import numpy as np
from keras import ops

FILLS = ["reflect", "wrap", "constant", "nearest", "mirror"]
random = np.random.default_rng(43)


def tensor(x):
    dtype = keras.backend.standardize_dtype(x.dtype)
    values = np.asarray(ops.cast(x, "float32" if "float" in dtype else dtype)).ravel()
    return {"dtype": dtype, "shape": list(x.shape), "values": [float(f"{float(v):.9g}") for v in values]}


def record(op, inputs, **args):
    """Inputs are (dtype, array)."""
    xs = [ops.cast(np.asarray(v), dtype) for dtype, v in inputs]
    function = lambda *x: getattr(ops.image, op)(*x, **args)
    y = function(*xs)
    case = {"op": op, "args": args, "in": [tensor(x) for x in xs], "out": tensor(y)}
    if "float" in str(y.dtype) and all("float" in str(x.dtype) for x in xs):
        cotangent = ops.cast(random.integers(1, 9, y.shape) / 4, y.dtype)
        _, back = jax.vjp(function, *xs)
        case["cotangent"] = tensor(cotangent)["values"]
        case["gradients"] = [tensor(g)["values"] for g in back(cotangent)]
    print(json.dumps(case, separators=(",", ":")))


def one_of(*choices):
    return choices[random.integers(len(choices))]


def pixels(shape):
    dtype = one_of("float32", "float32", "bfloat16", "float16", "uint8", "int32")
    if "float" in dtype:
        return dtype, random.standard_normal(shape)
    return dtype, random.integers(0, 256, shape)


def images(format=None, channels=None):
    """(dtype, values), with or without a batch."""
    height, width, channels = int(random.integers(1, 6)), int(random.integers(1, 6)), channels or int(random.integers(1, 4))
    shape = [height, width, channels] if format != "channels_first" else [channels, height, width]
    return pixels(([int(random.integers(1, 4))] if random.integers(4) else []) + shape)


def away_from_steps(x, step):
    """Coordinates that no rounding moves to another pixel."""
    return np.where(np.abs(x / step - np.round(x / step)) < 0.05, x + 0.13 * step, x)


def random_affine():
    format = one_of("channels_last", "channels_first")
    x = images(format)
    batch = x[1].shape[0] if x[1].ndim == 4 else 1
    table = np.zeros((batch, 8))
    table[:, [0, 4]] = random.uniform(-2, 2, (batch, 2))
    table[:, [1, 3]] = random.uniform(-1, 1, (batch, 2))
    table[:, [2, 5]] = random.uniform(-6, 6, (batch, 2))
    args = dict(interpolation=one_of("bilinear", "bilinear", "nearest"), fill_mode=one_of(*FILLS), fill_value=one_of(0, 0.5, 3), data_format=format)
    if args["interpolation"] == "nearest":  # gradients at an infinite slope are not facts
        table = np.round(table * 8) / 8 + np.array([0, 0, 1 / 32, 0, 0, 1 / 32, 0, 0])
    if min(x[1].shape[-3:]) == 1 and args["fill_mode"] == "mirror":
        args["fill_mode"] = "reflect"
    record("affine_transform", [x, ("float32", table if x[1].ndim == 4 or random.integers(2) else table[0])], **args)


def random_perspective():
    format = one_of("channels_last", "channels_first")
    x = images(format)
    height, width = x[1].shape[-3:-1] if format == "channels_last" else x[1].shape[-2:]
    if min(height, width) == 1:
        return
    corners = np.array([[0, 0], [width - 1, 0], [0, height - 1], [width - 1, height - 1]], "float32")
    shape = (4, 2) if x[1].ndim == 3 else (x[1].shape[0], 4, 2)
    start, end = (corners + random.uniform(-0.3, 0.3, shape) for _ in range(2))
    record("perspective_transform", [x, ("float32", start), ("float32", end)], interpolation="bilinear", fill_value=one_of(0, 2), data_format=format)


def random_map():
    rank = int(random.integers(1, 4))
    shape = [int(random.integers(2, 5)) for _ in range(rank)]
    places = away_from_steps(random.uniform(-9, 9, [rank] + [int(random.integers(1, 5)) for _ in range(random.integers(1, 3))]), 0.5)
    record("map_coordinates", [pixels(shape), ("float32", places)], order=int(random.integers(0, 2)), fill_mode=one_of(*FILLS), fill_value=one_of(0, 1.5, 7))


def random_patches():
    format, padding = one_of("channels_last", "channels_first"), one_of("valid", "same")
    rank, channels, batch = one_of(2, 2, 3), int(random.integers(1, 4)), [] if random.integers(3) == 0 else [int(random.integers(1, 3))]
    extents = [int(random.integers(3, 7)) for _ in range(rank)]
    size = [int(random.integers(1, 4)) for _ in range(rank)]
    strides = one_of(None, [int(random.integers(1, 4)) for _ in range(rank)])
    dilation = one_of(1, 1, 2) if strides and max(strides) == 1 and all(2 * (s - 1) < e for s, e in zip(size, extents)) else 1
    shape = batch + (extents + [channels] if format == "channels_last" else [channels] + extents)
    record("extract_patches", [pixels(shape)], size=size, strides=strides, dilation_rate=dilation, padding=padding, data_format=format)


def random_margins():
    format = one_of("channels_last", "channels_first")
    x = images(format)
    extents = x[1].shape[-3:-1] if format == "channels_last" else x[1].shape[-2:]
    op = one_of("crop_images", "pad_images")
    noun = "cropping" if op == "crop_images" else "padding"
    args = {"data_format": format}
    for (low, high, target), extent in zip([("top", "bottom", "target_height"), ("left", "right", "target_width")], extents):
        before = int(random.integers(0, extent if noun == "cropping" else 4))
        after = int(random.integers(0, extent - before if noun == "cropping" else 4))
        given = {f"{low}_{noun}": before, f"{high}_{noun}": after, target: extent + (before + after) * (-1 if noun == "cropping" else 1)}
        del given[one_of(*given)]
        args |= given
    record(op, [x], **args)


def random_gray():
    format = one_of("channels_last", "channels_first")
    record("rgb_to_grayscale", [images(format, one_of(1, 3, 3))], data_format=format)


def main():
    global random
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 240
    if len(sys.argv) > 2:
        random = np.random.default_rng(int(sys.argv[2]))
    kinds = [random_affine, random_map, random_patches, random_affine, random_margins, random_perspective, random_map, random_gray]
    for number in range(count):
        kinds[number % len(kinds)]()


main()
