#!/usr/bin/env python3
# Gives integers and narrow floats to layers of real Keras under random policies; compares results with Halftone's.
# SPDX-License-Identifier: Apache-2.0
"""Usage: random_integer_inputs.py PROGRAM FOLDER SEED COUNT     (PROGRAM: layers_of_integers)

A layer that computes in floats must give the result of Keras's layer for floats of the same values; any other layer the
result of Keras's layer for the integers. A quantized layer must keep the dtype of its outputs. Prints a line for each
difference, and exits 1 if there are any; the cases remain in FOLDER.
"""
import json
import os
import pathlib
import subprocess
import sys

os.environ.setdefault("KERAS_BACKEND", "jax")
import keras  # noqa: E402
import numpy as np  # noqa: E402
from keras import layers  # noqa: E402

POLICIES = ("float32", "mixed_bfloat16", "bfloat16", "mixed_float16", "float16")
INTEGERS = ("bool", "uint8", "int8", "int32")
INPUTS = INTEGERS + ("float16", "float32")
# Layers that compute integers in the compute dtype, though in Keras differences and sums wrap, the result has floatx,
# or the result is truncated to integers.
IN_COMPUTE_DTYPE = ("Softmax", "Average", "Attention", "AdditiveAttention", "PReLU", "RMSNormalization")
ACTIVATIONS = ("relu", "relu6", "leaky_relu", "elu", "selu", "gelu", "silu", "sigmoid", "hard_sigmoid", "hard_silu", "hard_tanh",
               "hard_shrink", "soft_shrink", "tanh_shrink", "celu", "glu", "mish", "log_sigmoid", "squareplus", "sparse_plus",
               "sparse_sigmoid", "tanh", "softplus", "softsign", "softmax", "log_softmax", "linear")


class Case:
    def __init__(self, rng):
        self.rng = rng
        self.policy = self.pick(*POLICIES)
        self.dtype = self.pick(*INPUTS)
        self.mode = None
        keras.utils.clear_session()
        keras.utils.set_random_seed(int(rng.integers(1 << 30)))
        keras.config.set_dtype_policy(self.policy)
        self.layer, shapes = self.draw()
        self.inputs = [self.values(shape) for shape in shapes]

    def pick(self, *choices):
        return choices[self.rng.integers(len(choices))]

    def values(self, shape):
        if self.dtype in INTEGERS:
            low, high = {"bool": (0, 2), "uint8": (0, 256), "int8": (-128, 128), "int32": (-300, 300)}[self.dtype]
            return self.rng.integers(low, high, shape).astype(self.dtype)
        return self.rng.normal(0, 2, shape).astype(self.dtype)

    def draw(self):
        batch, steps, width = (int(n) for n in self.rng.integers((1, 2, 1), (4, 6, 5)))
        width *= 2  # glu halves it
        one = (batch, steps, width)
        kind = self.pick("plain", "activation", "two", "attention", "quantized", "quantized", "norm", "pool")
        if kind == "activation":
            return layers.Activation(self.pick(*ACTIVATIONS)), [one]
        if kind == "two":
            return self.pick(layers.Average, layers.Add, layers.Subtract, layers.Multiply, layers.Maximum, layers.Minimum)(), \
                [one, one]
        if kind == "attention":
            made = self.pick(lambda: layers.Attention(score_mode=self.pick("dot", "concat"), use_scale=bool(self.rng.integers(2))),
                             lambda: layers.AdditiveAttention(use_scale=bool(self.rng.integers(2))),
                             lambda: layers.MultiHeadAttention(2, 3), lambda: layers.GroupQueryAttention(2, 2, 1))()
            return made, [one, one]
        if kind == "quantized":
            self.mode = self.pick("int8", "int4", "float8", "int4/2")
            dense = layers.Dense(3, autocast=bool(self.rng.integers(4)))
            return self.pick(dense, layers.EinsumDense("abc,cd->abd", (None, 3), bias_axes="d")), [one]
        if kind == "norm":
            return self.pick(layers.LayerNormalization(), layers.GroupNormalization(2), layers.RMSNormalization(),
                             layers.BatchNormalization()), [one]
        if kind == "pool":
            return self.pick(layers.AveragePooling1D(2), layers.GlobalAveragePooling1D(), layers.GlobalMaxPooling1D(),
                             layers.MaxPooling1D(2)), [one]
        return self.pick(layers.Softmax(self.pick(-1, 1)), layers.ReLU(), layers.ReLU(max_value=6.0),
                         layers.ReLU(negative_slope=0.1, threshold=self.pick(0.0, 1.0)), layers.LeakyReLU(), layers.ELU(),
                         layers.PReLU(alpha_initializer="ones"), layers.Rescaling(0.5), layers.Flatten(), layers.Identity(),
                         layers.Permute((2, 1)), layers.Reshape((-1,)),
                         layers.Dense(3), layers.Conv1D(3, 1), layers.UpSampling1D(2), layers.ZeroPadding1D(1)), [one]

    def call(self, dtype):
        """Keras's result for the inputs in a dtype, or the class of the error."""
        tensors = [keras.ops.cast(keras.ops.convert_to_tensor(x), dtype) for x in self.inputs]
        try:
            name = type(self.layer).__name__
            if name in ("MultiHeadAttention", "GroupedQueryAttention", "GroupQueryAttention"):
                return self.layer(*tensors)
            return self.layer(tensors if len(tensors) > 1 else tensors[0])
        except (TypeError, ValueError) as error:
            return type(error).__name__

    def write(self, folder):
        folder.mkdir(parents=True)
        compute = keras.dtype_policies.get(self.policy).compute_dtype
        floats = self.call(compute)
        self.given = self.call(self.dtype) if self.dtype in INTEGERS else floats
        self.floats = floats
        self.compute = compute
        (folder / "policy.txt").write_text(self.policy)
        (folder / "layer.json").write_text(json.dumps(keras.saving.serialize_keras_object(self.layer)))
        for i, x in enumerate(self.inputs):
            np.save(folder / f"x_{i}.npy", x)
        for i, weight in enumerate(self.layer.get_weights()):
            np.save(folder / f"w_{i}.npy", np.asarray(weight, "float32"))
        if self.mode:
            (folder / "mode.txt").write_text(self.mode.split("/")[0])

    def problems(self, folder):
        if (folder / "failed.txt").exists():
            text = (folder / "failed.txt").read_text()
            return [] if "float16" in self.policy and "int8" in text else [f"failed: {text[:150]}"]
        before = (folder / "before.txt").read_text().strip()
        if isinstance(self.floats, str):
            return []
        if before.startswith("error"):
            return [] if isinstance(self.given, str) else [before[:200]]
        found = []
        name = type(self.layer).__name__
        in_compute = self.dtype in INTEGERS and name in IN_COMPUTE_DTYPE
        reference = self.floats
        if not isinstance(self.given, str) and not in_compute:
            if "int" in str(self.given.dtype) or self.given.dtype == bool:
                reference = self.given
            elif before != str(self.given.dtype):
                found.append(f"dtype {before}, Keras {self.given.dtype}")
        if in_compute and before != self.compute:
            found.append(f"dtype {before}, expected {self.compute}")
        found += self.compare(np.load(folder / "before.npy"), reference, "before")
        if self.mode:
            after = (folder / "after.txt").read_text().strip()
            if after != before:
                found.append(f"{self.mode} changes {before} to {after}")
            elif not np.isfinite(np.load(folder / "after.npy")).all() and np.isfinite(np.load(folder / "before.npy")).all():
                found.append(f"{self.mode} gives numbers that are not finite")
        return found

    def compare(self, ours, reference, what):
        theirs = np.asarray(keras.ops.cast(reference, "float32"))
        if ours.shape != theirs.shape:
            return [f"{what}: shape {ours.shape}, Keras {theirs.shape}"]
        narrow = {"bfloat16": 5e-2, "float16": 1e-2}.get(self.compute, 1e-4)
        if self.dtype == "float16":
            narrow = max(narrow, 1e-2)
        size = np.nanmax(np.abs(np.where(np.isfinite(theirs), theirs, 0)), initial=1e-3)
        same = (np.abs(ours - theirs) <= narrow * size) | (ours == theirs) | ~np.isfinite(theirs)
        return [] if same.all() else [f"{what}: {ours[~same][:3]}, Keras {theirs[~same][:3]}"]


def main():
    program, folder, seed, count = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    cases = []
    for i in range(count):
        case = Case(np.random.default_rng((seed, i)))
        case.write(folder / str(i))
        cases.append(case)
    subprocess.run([program, folder], check=True)
    bad = errors = integers = 0
    for i, case in enumerate(cases):
        integers += case.dtype in INTEGERS
        errors += isinstance(case.given, str)
        for problem in case.problems(folder / str(i)):
            bad += 1
            print(f"{i}: {type(case.layer).__name__} {case.layer.get_config().get('activation', '')} of {case.dtype} under "
                  f"{case.policy}: {problem}")
    print(f"{count} layers, {integers} of integers or bools, {errors} that Keras cannot call: {bad} differences")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
