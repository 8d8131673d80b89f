#!/usr/bin/env python3
# Records second gradients of real Keras's factorizations: python record_linalg_second.py > linalg_second.jsonl
# SPDX-License-Identifier: Apache-2.0
"""Each line: `op` with `args` and the input `in`, and `second`, the gradient by the input of the sum of w times the
gradient of the sum of w times the results, where the weights w depend on the index of an element (`weights`). All in
float64, except norms, which Keras computes in float32. Vectors that are determined up to their sign are compared in
products that do not depend on it (record_linalg.py).
"""
import json
import os

os.environ["KERAS_BACKEND"] = "jax"
os.environ["JAX_ENABLE_X64"] = "1"
import jax
import jax.numpy as jnp
import numpy as np
from keras import ops

random = np.random.default_rng(45)


def weights(x):
    return jnp.sin(jnp.arange(x.size, dtype=x.dtype) + 1).reshape(x.shape)


def scaled(v):
    return v * (jnp.arange(v.shape[-1], dtype=v.dtype) + 1) / 4


def eigh(x):
    w, v = ops.eigh(x)
    return [w, scaled(v) @ jnp.swapaxes(v, -1, -2)]


def svd(x, compute_uv=True):
    if not compute_uv:
        return [ops.svd(x, compute_uv=False)]
    u, s, v = ops.svd(x, full_matrices=False)
    return [s, scaled(u) @ v]


OPS = {"eigh": eigh, "svd": svd, "pinv": lambda x: [ops.pinv(x)], "norm": lambda x, **args: [ops.norm(x, **args)]}


def record(op, shape, **args):
    x = jnp.asarray(np.round(random.standard_normal(shape), 2))
    inner = lambda z: sum(jnp.sum(weights(y) * y) for y in OPS[op](z, **args))
    second = jax.grad(lambda z: jnp.sum(weights(z) * jax.grad(inner)(z)))(x)
    plain = lambda y: [float(f"{v:.12g}") for v in np.asarray(y).ravel()]
    print(json.dumps({"op": op, "args": args, "in": {"shape": shape, "values": plain(x)}, "second": plain(second)}, separators=(",", ":")))


for n, batch in ((1, []), (2, []), (3, [2]), (5, [])):
    record("eigh", [*batch, n, n])
for shape in ([3, 3], [4, 2], [2, 4], [2, 3, 2], [1, 1]):
    record("svd", shape)
    record("svd", shape, compute_uv=False)
    record("pinv", shape)
for order in ("nuc", 2, -2):
    record("norm", [3, 2], ord=order, axis=(0, 1))
