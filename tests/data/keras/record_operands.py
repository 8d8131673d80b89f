# Records the result dtype of each binary operation in real Keras: python record_operands.py > operands.jsonl
# SPDX-License-Identifier: Apache-2.0
"""Each line is one operation: `op`, and in `dtypes`, for each left operand, the dtypes of the results with the operands
in `right`. An operand is a tensor of a dtype, or one of the Python numbers 2, 2.0 and true. null: Keras raises an
error, or both are numbers. JAX backend.
"""
import json
import os

os.environ["KERAS_BACKEND"] = "jax"
import keras
from keras import ops

DTYPES = ["float32", "bfloat16", "float16", "int8", "uint8", "int16", "uint16", "int32", "uint32", "bool"]
NUMBERS = {"2": 2, "2.0": 2.0, "true": True}
OPS = ["add", "subtract", "multiply", "divide", "divide_no_nan", "power", "maximum", "minimum", "floor_divide", "mod", "hypot", "logaddexp",
       "arctan2", "equal", "less", "logical_and", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift",
       "where", "clip"]


def operand(kind):
    return NUMBERS[kind] if kind in NUMBERS else ops.ones((2,), kind)


def result(op, a, b):
    if op == "where":
        return ops.where(ops.ones((2,), "bool"), a, b)
    if op == "clip":
        return ops.clip(a, b, b)
    return getattr(ops, op)(a, b)


def dtype_of(op, a, b):
    try:
        return keras.backend.standardize_dtype(result(op, operand(a), operand(b)).dtype)
    except Exception:  # Keras has no such operation
        return None


for op in OPS:
    kinds = DTYPES + list(NUMBERS)
    table = {a: [dtype_of(op, a, b) if a in DTYPES or b in DTYPES else None for b in kinds] for a in kinds}
    print(json.dumps({"op": op, "right": kinds, "dtypes": table}, separators=(",", ":")))
