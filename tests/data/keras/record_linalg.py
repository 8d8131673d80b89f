#!/usr/bin/env python3
# Records results and gradients of real Keras's linear algebra and Fourier transforms: python record_linalg.py > linalg.jsonl
# SPDX-License-Identifier: Apache-2.0
"""Each line: `op` with `args` and the inputs `in`, the results `out`, a cotangent for each, and the gradients by the
inputs. Keras computes them in float64 from the given inputs, and again in the dtype of the inputs: `error` is the
largest difference, relative to the largest number, which is Keras's own error. Vectors that are determined up to their
sign are compared in products that do not depend on it. `record_linalg.py random COUNT SEED` writes this many random
cases.
"""
import json
import os
import sys

os.environ["KERAS_BACKEND"] = "jax"
os.environ["JAX_ENABLE_X64"] = "1"
import jax
import jax.numpy as jnp
import keras
import numpy as np
from keras import ops

NAN = float("nan")
random = np.random.default_rng(42)


def weights(n):
    return np.arange(1, n + 1) / 4


def eigh(x):
    w, v = ops.eigh(x)
    return w, (v * weights(v.shape[-1]).astype(v.dtype)) @ jnp.swapaxes(v, -1, -2)


def svd(x, full_matrices=True, compute_uv=True):
    found = ops.svd(x, full_matrices=full_matrices, compute_uv=compute_uv)
    if not compute_uv:
        return (found,)
    u, s, v = found
    k = s.shape[-1]
    c = weights(k).astype(s.dtype)
    results = [s, (u[..., :k] * c) @ v[..., :k, :]]
    if full_matrices and u.shape[-1] != v.shape[-1]:
        rest = u[..., k:] if u.shape[-1] > k else jnp.swapaxes(v, -1, -2)[..., k:]
        results.append(rest @ jnp.swapaxes(rest, -1, -2))
    return results


OPS = {
    "eigh": eigh,
    "svd": svd,
    "fft": lambda re, im: ops.fft((re, im)),
    "fft2": lambda re, im: ops.fft2((re, im)),
    "ifft2": lambda re, im: ops.ifft2((re, im)),
    "irfft": lambda re, im, **args: ops.irfft((re, im), **args),
    "istft": lambda re, im, **args: ops.istft((re, im), **args),
}


def listed(y):
    return list(y) if isinstance(y, (tuple, list)) else [y]


def number(v):
    v = float(v)
    return "nan" if v != v else "inf" if v == float("inf") else "-inf" if v == -float("inf") else float(f"{v:.12g}")


def plain(x):
    return [number(v) for v in np.asarray(x, "float64").ravel()]


def computed(op, args, xs, cotangents):
    """Results, cotangents and gradients; without gradients if Keras has none."""
    function = lambda *x: listed(OPS.get(op, getattr(ops, op, None))(*x, **args))
    specs = jax.eval_shape(function, *xs)
    if cotangents is None:
        cotangents = [random.integers(1, 9, y.shape) / 4 for y in specs]
    by = [i for i, y in enumerate(specs) if "float" in str(y.dtype)]

    def both(xs, cotangents):
        _, back = jax.vjp(lambda *x: [function(*x)[i] for i in by], *xs)
        return function(*xs), back(cotangents)

    if by:
        try:
            ys, gradients = jax.jit(both)(xs, [jnp.asarray(cotangents[i], specs[i].dtype) for i in by])
            return ys, cotangents, gradients
        except NotImplementedError:
            pass
    return jax.jit(function)(*xs), cotangents, None


def record(op, inputs, dtype="float32", same=False, differentiate=True, **args):
    """`same`: results are those of Keras in the given dtype, not in float64."""
    xs = [jnp.asarray(np.asarray(x), dtype) for x in inputs]
    wide = "float32" if "float" not in dtype or dtype in ("float16", "bfloat16") else dtype
    try:
        narrow, cotangents, narrow_gradients = computed(op, args, [x.astype(wide) for x in xs], None)
        ys, _, gradients = (narrow, 0, narrow_gradients) if same else computed(op, args, [x.astype("float64") for x in xs], cotangents)
    except Exception as error:  # an error of Keras is not a fact about values
        print(op, args, [x.shape for x in xs], type(error).__name__, error, file=sys.stderr)
        return
    if not differentiate:
        gradients = None

    def error(pairs):
        worst = 0.0
        for a, b in pairs:
            a, b = np.asarray(a, "float64"), np.asarray(b, "float64")
            both = np.isfinite(a) & np.isfinite(b)
            if both.any():
                worst = max(worst, float(np.abs(a - b)[both].max() / max(1, np.abs(b)[both].max())))
        return float(f"{worst:.2g}")

    case = {"op": op, "args": {k: number(v) if v in (float("inf"), -float("inf")) else v for k, v in args.items()}, "dtype": dtype, "in": [{"shape": list(x.shape), "values": plain(x)} for x in xs]}
    case["out"] = [{"dtype": str(y.dtype), "shape": list(y.shape), "values": plain(z)} for y, z in zip(narrow, ys)]
    case["error"] = error(zip(narrow, ys))
    if gradients is not None:
        case["cotangents"] = [plain(c) for c in cotangents]
        case["gradients"] = [plain(g) for g in gradients]
        case["gradient_error"] = error(zip(narrow_gradients, gradients))
    print(json.dumps(case, separators=(",", ":")))


def matrix(*shape):
    return np.round(random.standard_normal(shape), 2)


def positive(*shape):
    a = matrix(*shape)
    return np.round(a @ np.swapaxes(a, -1, -2) + 0.5 * np.eye(shape[-1]), 2)


def ill(n, condition):
    q, _ = np.linalg.qr(random.standard_normal((n, n)))
    p, _ = np.linalg.qr(random.standard_normal((n, n)))
    return (q * np.geomspace(1, 1 / condition, n)) @ p


BATCHES = [(), (2,), (2, 3), (1,)]


def square_cases(n, batch, dtype="float32"):
    a, spd = matrix(*batch, n, n), positive(*batch, n, n)
    for upper in (False, True):
        record("cholesky", [spd], dtype, upper=upper)
    if not batch:  # Keras transposes the batch too
        record("cholesky_inverse", [np.linalg.cholesky(spd) if n else spd], dtype)
        record("cholesky_inverse", [np.linalg.cholesky(spd).T if n else spd], dtype, upper=True)
    for op in ("det", "inv", "eigh"):
        record(op, [spd if op == "eigh" else a], dtype)
    record("eigh", [a], dtype)
    record("slogdet", [a], dtype)
    record("logdet", [spd], dtype)
    for columns in (1, 3):
        record("solve", [a, matrix(*batch, n, columns)], dtype)
        record("solve_triangular", [a + 2 * np.eye(n), matrix(*batch, n, columns)], dtype, lower=columns == 1)
    if not batch:
        record("solve", [a, matrix(n)], dtype)
        record("solve_triangular", [a + 2 * np.eye(n), matrix(n)], dtype, lower=True)


def rectangular_cases(m, n, batch, dtype="float32"):
    a = matrix(*batch, m, n)
    record("lu_factor", [a], dtype)
    record("qr", [a], dtype, differentiate=m >= n)
    record("qr", [a], dtype, mode="complete", differentiate=m == n)
    record("svd", [a], dtype, full_matrices=False)
    record("svd", [a], dtype, differentiate=m == n)
    record("svd", [a], dtype, compute_uv=False)
    record("matrix_rank", [a], dtype)
    record("pinv", [a], dtype)
    if not batch:
        record("lstsq", [a, matrix(m)], dtype)
        record("lstsq", [a, matrix(m, 2)], dtype, rcond=0.2)
    record("pinv", [a], dtype, rcond=0.3)


def norm_cases(shape, dtype="float32"):
    x = matrix(*shape) + 0.003  # no element is 0, where the gradients of magnitudes differ
    record("norm", [x], dtype)
    for order in (None, 0, 1, -1, 2, 3, -2, 0.5, float("inf"), float("-inf")):
        record("norm", [x], dtype, ord=order, axis=random.integers(-len(shape), len(shape)).item(), keepdims=bool(random.integers(2)))
    if len(shape) > 1:
        for order in (None, "fro", "nuc", 1, -1, 2, -2, float("inf"), float("-inf")):
            axis = random.permutation(len(shape))[:2].tolist()
            record("norm", [x], dtype, ord=order, axis=tuple(axis), keepdims=bool(random.integers(2)))


def special_cases():
    singular = [[1.0, 2.0], [2.0, 4.0]]
    for op in ("det", "inv", "slogdet", "cholesky"):
        record(op, [singular], same=True, differentiate=False)
        if op != "cholesky":
            record(op, [[[1.0, NAN], [2.0, 4.0]]], same=True, differentiate=False)
        record(op, [np.zeros((3, 3))], same=True, differentiate=False)
    record("det", [[[1.0, 2, 3], [4, 5, 6], [7, 8, 9]]])
    rank_three = matrix(4, 3) @ matrix(3, 4)
    record("det", [rank_three])
    record("cholesky", [[[[2.0, 1], [1, 2]], [[1.0, 2], [2, 1]]]], same=True, differentiate=False)
    for op in ("svd", "pinv", "matrix_rank"):
        record(op, [rank_three], **({"compute_uv": False} if op == "svd" else {}), differentiate=op == "pinv")
        record(op, [np.zeros((3, 2))], **({"compute_uv": False} if op == "svd" else {}), differentiate=False)
    for condition in (1e3, 1e6):
        for op in ("inv", "solve", "pinv", "qr"):
            record(op, [ill(6, condition)] + ([matrix(6, 2)] if op == "solve" else []))
        record("svd", [ill(9, condition)], compute_uv=False)
        record("eigh", [ill(9, condition)])
    record("svd", [1e30 * matrix(3, 3)], compute_uv=False)
    record("svd", [1e-30 * matrix(3, 3)], compute_uv=False)
    record("norm", [np.zeros(3)], same=True, differentiate=False)
    record("norm", [[3, 4]], "int32", differentiate=False)
    record("svd", [[[1, 2], [3, 4]]], "int32", compute_uv=False, differentiate=False)


def fourier_cases(n, batch):
    re, im = matrix(*batch, n), matrix(*batch, n)
    record("fft", [re, im])
    for length in (None, n + 2, max(n - 2, 1)):
        record("rfft", [re], **({"fft_length": length} if length else {}))
        if length or n > 1:
            record("irfft", [re, im], **({"fft_length": length} if length else {}))
    for op in ("fft2", "ifft2"):
        record(op, [matrix(*batch, 3, n), matrix(*batch, 3, n)])


def sequence_cases(n, batch):
    for length, stride, whole, more in ((4, 2, 4, {}), (5, 3, 8, {}), (4, 1, 7, {"window": "hamming"}), (4, 3, 4, {"window": None}),
                                        (6, 2, 8, {"center": False}), (1, 1, 2, {})):
        record("stft", [matrix(*batch, n)], sequence_length=length, sequence_stride=stride, fft_length=whole, **more)
        x = (matrix(*batch, 9, whole // 2 + 1), matrix(*batch, 9, whole // 2 + 1))
        record("istft", x, sequence_length=length, sequence_stride=stride, fft_length=whole, **more)
        record("istft", x, sequence_length=length, sequence_stride=stride, fft_length=whole, length=7, **more)
        record("extract_sequences", [matrix(*batch, n)], sequence_length=length, sequence_stride=stride)


def fixed_transforms():
    global random
    random = np.random.default_rng(43)
    for n, batch in ((1, ()), (2, (2,)), (5, ()), (8, (2,)), (17, ()), (34, ())):
        fourier_cases(n, batch)
    for n in (131, 262, 160):  # a prime, twice a prime, and 16 times 10
        record("fft", [matrix(n), matrix(n)])
    sequence_cases(12, ())
    sequence_cases(9, (2,))


def fixed():
    for batch, n in (((), 1), ((), 3), ((), 5), ((2,), 2), ((2,), 4), ((2, 3), 3), ((2,), 0)):
        square_cases(n, batch)
    for batch, m, n in (((), 4, 4), ((), 5, 3), ((), 3, 5), ((2,), 1, 4), ((2, 3), 4, 1)):
        rectangular_cases(m, n, batch)
    for dtype in ("float16", "bfloat16", "float64"):
        square_cases(3, (2,), dtype)
        rectangular_cases(4, 3, (2,), dtype)
    norm_cases((3, 4), "float16")
    for shape in ((5,), (3, 4), (2, 3, 4), (1, 3)):
        norm_cases(shape)
    special_cases()
    fixed_transforms()


def randoms(count):
    for _ in range(count):
        batch = BATCHES[random.integers(len(BATCHES))]
        m, n = random.integers(1, 20, 2).tolist()
        dtype = ["float32", "float32", "float64", "float16", "bfloat16"][random.integers(5)]
        kind = random.integers(5)
        if kind == 0:
            square_cases(n, batch, dtype)
        elif kind == 1:
            rectangular_cases(m, n, batch, dtype)
        elif kind == 2:
            fourier_cases(random.integers(1, 300).item(), batch)
        elif kind == 3:
            sequence_cases(random.integers(9, 60).item(), batch)
        else:
            norm_cases((*batch, m, n), "float32" if dtype == "float64" else dtype)


if len(sys.argv) > 3:
    random = np.random.default_rng(int(sys.argv[3]))
    randoms(int(sys.argv[2]))
elif len(sys.argv) == 1:
    fixed()
