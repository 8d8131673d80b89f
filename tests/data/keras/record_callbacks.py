# Records the order in which real Keras calls callbacks, and their params: python record_callbacks.py > callbacks.jsonl
# SPDX-License-Identifier: Apache-2.0
"""Each line is one run of a Dense(1) compiled with `steps_per_execution`, on arrays of six rows in batches of two, with
the other arguments in `arguments`. `validated`: fit() has validation data of four rows, in batches of one row. `calls`:
each method that was called, with the number of its epoch or batch. `params`: the callback's params in each of these
calls. JAX backend.
"""
import json
import os

os.environ["KERAS_BACKEND"] = "jax"
import keras
import numpy as np

X, Y = np.ones((6, 3), "float32"), np.ones((6, 1), "float32")
RUNS = [("fit", {"epochs": 2}), ("fit", {"epochs": 2, "validated": True}), ("fit", {"epochs": 0}),
        ("fit", {"epochs": 5, "initial_epoch": 3, "steps_per_epoch": 2}), ("evaluate", {}), ("evaluate", {"steps": 2}), ("predict", {}),
        ("predict", {"steps": 1})]


class Recorder(keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.calls, self.seen = [], []


def method(name):
    def record(self, *args, logs=None):
        self.calls.append(" ".join([name] + [str(each) for each in args if isinstance(each, int)]))
        self.seen.append({key: self.params[key] for key in ("epochs", "steps", "verbose")})

    return record


for name in [f"{run}_{part}{end}" for run in ("train", "test", "predict") for part in ("", "batch_") for end in ("begin", "end")]:
    setattr(Recorder, "on_" + name, method(name))
for name in ("epoch_begin", "epoch_end"):
    setattr(Recorder, "on_" + name, method(name))

for steps_per_execution in (1, 2):
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse", steps_per_execution=steps_per_execution)
    for run, arguments in RUNS:
        recorder = Recorder()
        given = {"batch_size": 2, "verbose": 0, "callbacks": [recorder], **arguments}
        if given.pop("validated", False):
            given.update(validation_data=(X[:4], Y[:4]), validation_batch_size=1)
        getattr(model, run)(*([X] if run == "predict" else [X, Y]), **given)
        assert all(each == recorder.seen[0] for each in recorder.seen)
        print(json.dumps({"run": run, "steps_per_execution": steps_per_execution, "arguments": arguments, "calls": recorder.calls,
                          "params": recorder.seen[0]}))
