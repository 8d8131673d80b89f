# Records the sort results of real Keras: python record_sorts.py > sorts.jsonl
# SPDX-License-Identifier: Apache-2.0
"""Each line is one call: `op` with `args`, x (dtype, shape, values), the results `out`, and for sort and top_k of
floats the gradient by x for the cotangents 1, 2, 3, ... in_top_k has `targets` too. Rows have ties, zeros of both
signs, NaN and infinities; those of top_k have no -0, which JAX orders after 0 there. JAX backend.
"""
import itertools
import json
import os

os.environ["KERAS_BACKEND"] = "jax"
import jax
import keras
import numpy as np
from keras import ops

random = np.random.default_rng(42)
FLOATS, INTEGERS = ["float32", "float16", "bfloat16"], ["int8", "uint8", "int16", "uint16", "int32", "uint32", "bool"]


def number(v):
    v = float(v)
    return v if np.isfinite(v) else str(v)


def tensor(x):
    dtype = keras.backend.standardize_dtype(x.dtype)
    wide = np.asarray(ops.cast(x, "float32") if "float" in dtype else x).astype(np.float64)
    return {"dtype": dtype, "shape": list(x.shape), "values": [number(v) for v in wide.ravel()]}


def record(op, x, targets=None, **args):
    case = {"op": op, "args": args, "x": tensor(x)}
    operands = (x,)
    if targets is not None:
        case["targets"] = list(map(int, targets.ravel()))
        operands = (targets, x)
    out = getattr(ops, op)(*operands, **args)
    out = out if isinstance(out, (list, tuple)) else [out]
    case["out"] = [tensor(y) for y in out]
    if op in ("sort", "top_k") and "float" in str(x.dtype) and out[0].size:
        cotangent = ops.cast(np.arange(1.0, out[0].size + 1).reshape(out[0].shape), x.dtype)
        first = lambda x: (lambda y: y[0] if op == "top_k" else y)(getattr(ops, op)(x, **args))
        case["gradient"] = tensor(jax.vjp(first, x)[1](cotangent)[0])["values"]
    print(json.dumps(case))


def row(dtype, *shape, zeros=(0.0, -0.0)):
    """Few distinct numbers."""
    if dtype == "bool":
        return ops.cast(random.integers(0, 2, shape), dtype)
    if dtype in INTEGERS:
        low, high = (np.iinfo(dtype).min, np.iinfo(dtype).max)
        return ops.cast(random.choice(np.array([0, 1, 3, low, high, high - 1], dtype), shape), dtype)
    numbers = np.array([*zeros, 1.0, -1.0, 2.5, np.nan, np.inf, -np.inf, 2.0**-24, -(2.0**-24)], np.float32)
    return ops.cast(random.choice(numbers, shape), dtype)


for dtype in FLOATS + INTEGERS:
    for shape, axis in (((3, 40), -1), ((5, 4, 3), 1), ((7, 2), 0), ((2, 5), None), ((2, 1), -1), ((0, 4), 0), ((1,), 0)):
        for op in ("sort", "argsort"):
            record(op, row(dtype, *shape), axis=axis)
    for shape, k in (((3, 40), 3), ((3, 40), 40), ((2, 3, 9), 9), ((90,), 5), ((2, 4), 0), ((3, 1), 1)):
        record("top_k", row(dtype, *shape, zeros=(0.0,)), k=k)
record("argsort", ops.cast(2.0, "float32"), axis=-1)
for dtype, k in itertools.product(FLOATS, (0, 1, 3, 6, 9)):
    record("in_top_k", row(dtype, 8, 6), targets=np.array([0, 5, 2, -1, -6, 6, -7, 3]), k=k)
