#!/usr/bin/env python3
# Opens .keras files with real Keras and compares predictions, losses and optimizer state with those recorded with them.
# SPDX-License-Identifier: Apache-2.0
"""Usage: keras_opens_ours.py FOLDER     (a folder of write_keras_files)

Prints a line for each model and exits 1 if one cannot be opened or differs.
"""
import json
import os
import pathlib
import sys

os.environ.setdefault("KERAS_BACKEND", "jax")
os.environ.setdefault("XLA_FLAGS", "--xla_allow_excess_precision=false")  # every cast of a policy is performed
import keras  # noqa: E402
import numpy as np  # noqa: E402

TOLERANCES = {"float32": 2e-6, "mixed_float16": 3e-3}  # for predictions; others: bfloat16


def distance(found, expected):
    found, expected = np.asarray(found, "float64"), np.asarray(expected, "float64")
    return np.abs(found - expected).max() / max(np.abs(expected).max(), 1e-30)


def check(folder):
    facts = json.loads((folder / "facts.json").read_text())
    tolerance = TOLERANCES.get(facts["policy"], 2e-2)
    keras.config.set_dtype_policy(facts["policy"])
    model = keras.models.load_model(folder / "model.keras")
    x = [np.load(file) for file in sorted(folder.glob("x_*.npy"))]
    y = np.load(folder / "y.npy")
    state = [np.load(folder / f"optimizer_{i}.npy") for i in range(len(list(folder.glob("optimizer_*.npy"))))]
    found = model.optimizer.variables
    problems = []
    if len(found) != len(state):
        problems.append(f"{len(found)} variables of the optimizer, expected {len(state)}")
    for variable, expected in zip(found, state):
        if not np.array_equal(np.asarray(variable.value, "float32"), expected):
            problems.append(f"the optimizer's {variable.path} differs")
    predicted = distance(model.predict(x if len(x) > 1 else x[0], verbose=0), np.load(folder / "predict.npy"))
    if not predicted <= tolerance:
        problems.append(f"predictions differ by {predicted:.1e}, expected {tolerance:.1e} at most")
    loss = model.test_on_batch(x if len(x) > 1 else x[0], y, return_dict=True)["loss"]
    if not abs(loss - facts["test_loss"]) <= tolerance * abs(facts["test_loss"]):
        problems.append(f"the loss is {loss}, expected {facts['test_loss']}")
    model.train_on_batch(x if len(x) > 1 else x[0], y)
    print(f"{folder.name:24} {len(state):3} optimizer variables, predictions differ by {predicted:.1e}: "
          + ("; ".join(problems) if problems else "as ours"))
    return not problems


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folders = sorted(path.parent for path in pathlib.Path(sys.argv[1]).glob("*/facts.json"))
    results = [check(folder) for folder in folders]
    print(f"Keras {keras.__version__}: {sum(results)} of {len(results)} models")
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
