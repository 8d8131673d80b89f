# Records results and gradients of real Keras's operations, activations and losses: python record_ops.py > ops.jsonl
# SPDX-License-Identifier: Apache-2.0
"""Each line is one case: `op` with `args` and the inputs `in` (dtype, shape, values), the result `out`, and, if
applicable, the cotangent of the result and the gradient by each float input (null for the others). Points are at kinks,
ties, zeros and NaN, and dtypes mix integers and bools. JAX backend, each operation by itself. Values are written as
exact numbers. `record_ops.py indexing COUNT SEED` writes this many random cases of gathers, updates, pads and searches
only.
"""
import itertools
import json
import os
import sys

os.environ["KERAS_BACKEND"] = "jax"
os.environ["XLA_FLAGS"] = "--xla_allow_excess_precision=false"
import jax
import keras
import numpy as np
from keras import activations, losses, ops

FLOATS = ["float32", "bfloat16", "float16"]
INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32"]
KINKS = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 3.0, -3.0, 6.0, -6.0, 2.5, -2.5]
NAN = float("nan")
random = np.random.default_rng(10)


def number(v):
    v = float(v)
    return "nan" if v != v else "inf" if v == float("inf") else "-inf" if v == -float("inf") else float(f"{v:.9g}")


def tensor(x):
    dtype = keras.backend.standardize_dtype(x.dtype)
    return {"dtype": dtype, "shape": list(x.shape), "values": [number(v) for v in np.asarray(ops.cast(x, "float32" if "float" in dtype else dtype)).ravel()]}


def loss(args, inputs):
    made = getattr(losses, args["class"])(**{k: v for k, v in args.items() if k != "class"})
    return made(*inputs)


OPS = {
    "loss": loss,
    "activation": lambda args, x: activations.get(args["name"])(x[0]),
    "number": lambda args, x: getattr(ops, args["name"])(*((args["number"], x[0]) if args["left"] else (x[0], args["number"]))),
    "clip": lambda args, x: ops.clip(x[0], args["x_min"], args["x_max"]),
    "meshgrid": lambda args, x: ops.meshgrid(*x, indexing=args["indexing"])[args["which"]],
    "bincount": lambda args, x: ops.bincount(x[0], *x[1:], minlength=args["minlength"]),
}


def record(op, inputs, differentiate=True, **args):
    """Inputs are (dtype, values) with values as nested lists or arrays."""
    xs = [ops.cast(np.asarray(v), dtype) for dtype, v in inputs]
    function = OPS.get(op, lambda args, x: getattr(ops, op)(*x, **args))
    try:
        y = function(args, xs)
    except Exception as error:  # an error of Keras is not a fact about values
        print(op, args, [d for d, _ in inputs], type(error).__name__, error, file=os.sys.stderr)
        return
    case = {"op": op, "args": args, "in": [tensor(x) for x in xs], "out": tensor(y)}
    by = [i for i, x in enumerate(xs) if "float" in str(x.dtype)]
    if differentiate and by and "float" in str(y.dtype):
        cotangent = ops.cast(random.integers(1, 9, y.shape) / 4, y.dtype)
        _, back = jax.vjp(lambda *floats: function(args, [dict(zip(by, floats)).get(i, x) for i, x in enumerate(xs)]), *[xs[i] for i in by])
        gradients = dict(zip(by, back(cotangent)))
        case["cotangent"] = tensor(cotangent)["values"]
        case["gradients"] = [tensor(gradients[i])["values"] if i in gradients else None for i in range(len(xs))]
    print(json.dumps(case))


def activation_cases():
    names = ["relu", "relu6", "leaky_relu", "elu", "selu", "gelu", "silu", "sigmoid", "hard_sigmoid", "tanh", "softplus", "softsign",
             "exponential", "softmax", "log_softmax"]
    for name in names:
        for dtype in FLOATS:
            record("activation", [(dtype, [KINKS])], name=name)
        record("activation", [("float32", [[0.0, NAN, 1.0]])], name=name)
    for name, dtype in itertools.product(["relu", "relu6", "leaky_relu", "elu", "selu", "softplus", "hard_sigmoid", "softsign", "gelu"],
                                         ["int8", "uint8", "int32", "bool"]):
        record("activation", [(dtype, [[0, 1, 3, 6, 7]])], name=name)


def unary_cases():
    for op in ["abs", "sign", "square", "round", "floor", "ceil", "relu", "softplus", "elu"]:
        for dtype in FLOATS:
            record(op, [(dtype, KINKS)])
    for op in ["abs", "sign", "negative", "square", "round", "floor", "ceil", "exp", "relu", "softplus", "gelu", "leaky_relu", "isfinite"]:
        for dtype in INTEGERS + ["bool"]:
            record(op, [(dtype, [0, 1, 2, 5])])
    record("gelu", [("float32", KINKS)], approximate=True)
    record("gelu", [("float32", KINKS)], approximate=False)
    for x_min, x_max in [(0, 6), (-1, 1), (-2.5, 0.5), (1, 1)]:
        for dtype in ["float32", "bfloat16", "int8", "int32", "bool"]:
            record("clip", [(dtype, KINKS if "float" in dtype else [0, 1, 2, 7])], x_min=x_min, x_max=x_max)
    record("clip", [("float32", [NAN, 0.0, 1.0])], x_min=0, x_max=1)


def binary_cases():
    x, y = np.array(KINKS), np.array([0.0, 0.0, 1.0, 1.0, -0.5, -0.5, 3.0, 2.0, 7.0, -6.0, NAN, -3.0])
    for op in ["maximum", "minimum", "add", "subtract", "multiply", "divide"]:
        for dtype in FLOATS:
            record(op, [(dtype, x), (dtype, y)])
        record(op, [("float32", [[1.0], [2.0], [NAN]]), ("float32", [1.0, 2.0, -1.0])])
        for a, b in [("int8", "int8"), ("int8", "uint8"), ("uint8", "uint8"), ("int32", "int16"), ("uint16", "uint16"), ("bool", "bool"),
                     ("bool", "int8"), ("bool", "float16"), ("int32", "bfloat16"), ("bool", "uint32")]:
            record(op, [(a, [0, 1, 1, 0, 3]), (b, [0, 0, 1, 2, 3])])
    for a, b in [("int8", "int8"), ("uint8", "uint8"), ("int16", "int8"), ("int32", "int32"), ("uint32", "uint32"), ("bool", "bool"), ("bool", "int8"),
                 ("int32", "float32"), ("float32", "int32"), ("int8", "float16"), ("float32", "bool")]:
        record("power", [(a, [0, 1, 2, 3, 5, 7, 0]), (b, [0, 3, 6, 4, 1, 2, 5])])
    record("power", [("int32", [-1, -2, -3, 2, 3]), ("int32", [3, 3, 4, 30, 19])])
    record("power", [("float32", [2.0, 0.5, -2.0, -0.5, 3.0, 0.0]), ("float32", [2.0, 0.0, 2.0, 3.0, -1.0, 2.0])])
    for name, dtype, value, left in itertools.product(["add", "subtract", "multiply", "divide"], ["bool", "uint8", "int8", "int32", "float16"],
                                                      [1, 2, 0.5], [False, True]):
        record("number", [(dtype, [1, 3, 2, 1])], name=name, number=value, left=left)


def reduction_cases():
    for op in ["sum", "prod", "max", "min", "mean"]:
        for dtype in INTEGERS + ["bool"]:
            record(op, [(dtype, random.integers(0, 100, (3, 4)))], axis=1)
        record(op, [("bool", [[0, 0], [1, 0], [1, 1]])], axis=[0, 1], keepdims=True)
        for dtype in FLOATS:
            record(op, [(dtype, random.integers(-4, 5, (2, 3, 4)) / 2)], axis=[0, 2])
    for row in [[2.0, 0.5, 3.0], [2.0, 0.0, 3.0], [0.0, 0.0, 3.0], [0.0, 0.0, 0.0], [NAN, 1.0, 2.0], [NAN, NAN, 2.0], [2.0, 2.0, -1.0], [0.0, -0.0, -1.0],
                [1.0, 2.0, 3.0, 0.0, 5.0, 0.5, -1.0], [4.0], [0.0]]:
        for op in ["prod", "max", "min"]:
            record(op, [("float32", row)], axis=0)
    for shape, axis in [((2, 3, 2), [0, 1, 2]), ((3, 5), [0]), ((3, 5), [1]), ((2, 3, 4), [1]), ((2, 3, 4), [0, 2]), ((1, 4), [0])]:
        for op in ["prod", "sum", "mean"]:
            record(op, [("float32", random.integers(-2, 4, shape) / 2)], axis=axis)
        record("prod", [("bfloat16", random.integers(-2, 4, shape) / 2)], axis=axis, keepdims=True)


def matmul_cases():
    shapes = [((3,), (2, 3, 4)), ((2, 4, 3), (3,)), ((3,), (3, 4)), ((3,), (3,)), ((2, 1, 4, 3), (5, 3, 2)), ((4, 3), (3, 2)), ((3,), (2, 2, 3, 4))]
    for a, b in shapes:
        for dtype in ["float32", "bfloat16"]:
            record("matmul", [(dtype, random.integers(-4, 5, a) / 2), (dtype, random.integers(-4, 5, b) / 2)])
        record("matmul", [("int32", random.integers(-9, 9, a)), ("int32", random.integers(-9, 9, b))])
    kinds = INTEGERS + ["bool", "float16", "float32"]
    for a, b in itertools.combinations_with_replacement(kinds, 2):
        record("matmul", [(a, random.integers(0, 100, (3, 5))), (b, random.integers(0, 100, (5, 2)))])


def loss_cases():
    logits = [[0.0, 1.0, -1.0, 0.0], [2.5, 0.0, -30.0, 30.0]]
    labels = [[1.0, 1.0, 0.0, 0.0], [1.0, 0.5, 0.0, 1.0]]
    record("loss", [("float32", labels), ("float32", logits)], **{"class": "BinaryCrossentropy", "from_logits": True})
    record("loss", [("float32", [[1.0], [0.0]]), ("float32", [[0.0], [0.0]])], **{"class": "BinaryCrossentropy", "from_logits": True})
    record("loss", [("float32", labels), ("float32", [[0.0, 1.0, 0.5, 0.25], [1.0, 0.0, 1e-7, 0.75]])], **{"class": "BinaryCrossentropy"})
    record("loss", [("float32", [[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]]), ("float32", [[0.0, 0.0, 0.0], [1.0, 1.0, -1.0]])],
           **{"class": "CategoricalCrossentropy", "from_logits": True})
    record("loss", [("float32", [[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]]), ("float32", [[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]])], **{"class": "CategoricalCrossentropy"})
    for kind, dtype in itertools.product(["uint8", "int32"], ["float32"]):
        record("loss", [(kind, [2, 0]), (dtype, [[0.0, 0.0, 0.0], [1.0, 1.0, -1.0]])], **{"class": "SparseCategoricalCrossentropy", "from_logits": True})
    ties = ([[0.0, 1.0, -1.0, 2.0], [1.5, 0.5, 1.0, 0.0]], [[0.0, 1.0, -1.0, 1.0], [0.5, 0.5, 3.0, 0.0]])
    for name in ["MeanSquaredError", "MeanAbsoluteError", "MeanAbsolutePercentageError", "MeanSquaredLogarithmicError", "Huber", "LogCosh", "Poisson", "KLDivergence",
                 "CosineSimilarity"]:
        for dtype in FLOATS:
            args = {"class": name} | ({"dtype": dtype} if dtype != "float32" and name in ("MeanSquaredError", "LogCosh", "Huber") else {})
            record("loss", [(dtype, ties[0]), (dtype, ties[1])], **args)
    record("loss", [("float32", [[0.0, 0.0, 0.0]]), ("float32", [[1.0, -1.0, 0.5]])], **{"class": "Huber", "delta": 0.5})
    record("loss", [("float32", [[0.25, 0.75], [1.0, 0.5]]), ("float32", [[1.0, 1e-7], [0.0, 1.0]])], **{"class": "KLDivergence"})
    record("loss", [("float32", [[0.25, 0.75]]), ("float32", [[1e-7, 0.0]])], **{"class": "MeanSquaredLogarithmicError"})
    for name in ["Hinge", "SquaredHinge", "CategoricalHinge"]:  # margins of exactly 0
        record("loss", [("float32", [[1.0, -1.0, 1.0, -1.0]]), ("float32", [[1.0, -1.0, 0.5, 2.0]])], **{"class": name})
        record("loss", [("float32", [[1.0, 0.0, 0.0, 1.0]]), ("float32", [[1.0, -1.0, 0.0, 0.5]])], **{"class": name})
    record("loss", [("float32", [[0.0, 1.0, 0.0]]), ("float32", [[1.0, 2.0, 1.0]])], **{"class": "CategoricalHinge"})


def one_of(*choices):
    return choices[random.integers(len(choices))]


def numbers(dtype, shape):
    """Few distinct numbers, so that there are ties; some floats are -0.0, NaN or infinite."""
    if dtype == "bool":
        return random.integers(0, 2, shape)
    x = random.integers(0 if dtype.startswith("u") else -4, 5, shape)
    if "float" not in dtype:
        return x
    x = x / 2
    if random.integers(4) == 0:
        x = np.where(random.integers(0, 6, shape) == 0, one_of(-0.0, NAN, float("inf")), x)
    return x


def indices(shape, extent):
    """Indices, some of them negative or out of bounds."""
    return random.integers(-extent - 2, extent + 3, shape)


def any_dtype():
    return one_of("float32", "float32", "float32", "bfloat16", "float16", "int8", "uint8", "int32", "uint32", "int16", "bool")


def random_take():
    dtype, rank = any_dtype(), random.integers(1, 4)
    axis = int(random.integers(-rank, rank))
    shape = [int(random.integers(1, 5)) for _ in range(rank)]
    at = [one_of(1, extent) for extent in shape]
    x_shape = [one_of(extent, extent, 1) for extent in shape]
    x_shape[axis], at[axis] = shape[axis], int(random.integers(0, 5))
    kind = one_of("int32", "int8", "int32", "uint8")
    named = indices(at, shape[axis])
    record("take_along_axis", [(dtype, numbers(dtype, x_shape)), (kind, np.abs(named) if kind == "uint8" else named)], axis=axis)


def random_slice():
    dtype, rank = any_dtype(), random.integers(1, 4)
    whole = [int(random.integers(1, 6)) for _ in range(rank)]
    box = [int(random.integers(0, extent + 1)) for extent in whole]
    start = random.integers(-7, 8, rank)
    if random.integers(2):
        record("slice", [(dtype, numbers(dtype, whole)), ("int32", start)], shape=box)
    else:
        record("slice_update", [(dtype, numbers(dtype, whole)), ("int32", start), (dtype, numbers(dtype, box))])


def random_scatter():
    dtype, rank = any_dtype(), random.integers(1, 4)
    whole = [int(random.integers(1, 5)) for _ in range(rank)]
    depth, count = int(random.integers(1, rank + 1)), int(random.integers(0, 6))
    named = np.stack([indices([count], extent) for extent in whole[:depth]], -1)
    updates = numbers(dtype, [count] + whole[depth:])
    if random.integers(3) == 0:
        record("scatter", [("int32", named), (dtype, updates)], shape=whole)
        return
    reduction = one_of(None, None, "add", "max", "min", "mul")
    record("scatter_update", [(dtype, numbers(dtype, whole)), ("int32", named), (dtype, updates)], reduction != "mul", reduction=reduction)


def random_segments():
    dtype, op = any_dtype(), one_of("segment_sum", "segment_max", "segment_min", "segment_prod")
    rows, segments = int(random.integers(0, 6)), int(random.integers(1, 5))
    shape = [rows] + [int(random.integers(1, 4)) for _ in range(random.integers(0, 3))]
    record(op, [(dtype, numbers(dtype, shape)), ("int32", random.integers(-2, segments + 2, rows))], op != "segment_prod", num_segments=segments)


def random_search():
    dtype, other = any_dtype(), any_dtype()
    count = int(one_of(0, 1, 2, 5, 64, 65, 130))
    sequence = np.sort(random.integers(0, 9, count)) if "float" not in dtype else np.sort(numbers(dtype, count))
    record("searchsorted", [(dtype, sequence), (other, numbers(other, [2, 3]))], side=one_of("left", "right"))


def random_counts():
    shape = [int(random.integers(1, 3))] * int(random.integers(0, 2)) + [int(random.integers(0, 8))]
    x = random.integers(-1, 5, shape)
    weights = [] if random.integers(2) and len(shape) == 1 else [("float32", numbers("int8", shape))]
    record("bincount", [("int32", x)] + weights, False, minlength=int(random.integers(5, 8)))


def random_cumulative():
    dtype, rank = any_dtype(), random.integers(1, 4)
    shape = [int(random.integers(1, 6)) for _ in range(rank)]
    x = numbers("int8", shape) / 2 if "float" in dtype else numbers(dtype, shape)
    record(one_of("cumprod", "cumprod", "cumsum"), [(dtype, x)],
           axis=one_of(None, int(random.integers(-rank, rank))))


def random_arrangement():
    dtype, rank = any_dtype(), int(random.integers(1, 4))
    shape = [int(random.integers(0 if rank > 1 else 1, 5)) for _ in range(rank)]
    x = (dtype, numbers(dtype, shape))
    if random.integers(3) == 0:
        count = int(random.integers(1, 4))
        xs = [(dtype, numbers(dtype, int(random.integers(1, 4)))) for _ in range(count)]
        record("meshgrid", xs, indexing=one_of("xy", "ij"), which=int(random.integers(count)))
    elif rank > 1 and random.integers(2):
        axes = random.permutation(rank)[:2]
        record("diagonal", [x], offset=int(random.integers(-4, 5)), axis1=int(axes[0]) - one_of(0, rank), axis2=int(axes[1]))
    else:
        mode = one_of("constant", "reflect", "symmetric", "edge", "wrap")
        widths = [[int(random.integers(0, 6)), int(random.integers(0, 6))] for _ in shape]
        record("pad", [x], pad_width=widths, mode=mode, **({"constant_values": 2} if mode == "constant" and random.integers(2) else {}))


def random_indexing(count):
    for number in range(count):
        (random_take, random_slice, random_scatter, random_segments, random_search, random_counts, random_cumulative, random_arrangement)[number % 8]()


def indexing_cases():
    for dtype in FLOATS:
        record("erfinv", [(dtype, [0.0, -0.0, 0.5, -0.5, 0.96875, -0.9921875, 1.0, -1.0, 2.0, NAN])])
        for row in [[2.0, 0.5, 3.0, 0.5], [2.0, 0.0, 3.0, 1.0], [0.0, 2.0, 0.0, 3.0], [-1.0, 0.0, -0.0, 2.0]]:
            record("cumprod", [(dtype, row)], axis=0)
    record("erfinv", [("float32", np.linspace(-0.999999, 0.999999, 41))])
    for reduction in [None, "add", "max", "min"]:  # ties, and indices that occur several times
        record("scatter_update", [("float32", [3.0, 3.0, 1.0, 0.0]), ("int32", [[0], [0], [1], [-2], [4], [-5]]), ("float32", [3.0, 3.0, 2.0, 1.0, 9.0, 9.0])],
               reduction=reduction)
        record("scatter_update", [("bfloat16", np.ones((2, 3))), ("int32", [[1, 2], [1, -1], [0, 3]]), ("float32", 4.0)], reduction=reduction)
        record("scatter_update", [("int8", [[1, 2], [3, 4]]), ("int32", [[1], [1]]), ("int8", [5, 3])], reduction=reduction)
    record("scatter_update", [("bool", [1, 0, 1]), ("int32", [[0], [1]]), ("bool", [0, 1])])
    record("scatter", [("int32", [[[0], [1]], [[0], [-1]]]), ("float32", [[1.0, 2.0], [3.0, 4.0]])], shape=[3])
    record("take_along_axis", [("float32", KINKS), ("int32", [0, -1, 12, -13])], axis=None)
    for op in ["segment_sum", "segment_max", "segment_min", "segment_prod"]:
        record(op, [("float32", [1.0, NAN, 3.0, 3.0, 5.0]), ("int32", [0, 0, 1, 1, 7])], op != "segment_prod", num_segments=3)
    for side in ["left", "right"]:
        record("searchsorted", [("float32", [-0.0, 0.0, 1.0, 1.0, NAN, NAN]), ("float32", [0.0, -0.0, 1.0, NAN, float("inf"), -1.0])], side=side)
    random_indexing(160)


if sys.argv[1:2] == ["indexing"]:
    random = np.random.default_rng(int(sys.argv[3]))
    random_indexing(int(sys.argv[2]))
    sys.exit()
activation_cases()
unary_cases()
binary_cases()
reduction_cases()
matmul_cases()
loss_cases()
indexing_cases()
