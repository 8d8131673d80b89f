# Converts saved models of real Keras, with their recorded predictions and losses, to lines of JSON.
# SPDX-License-Identifier: Apache-2.0
"""Usage: KERAS_BACKEND=jax python record_cnns.py FOLDER NAME... > cnns.jsonl

FOLDER/NAME contains model.keras, x.npy, y.npy, predict.npy and losses.json: the inputs and targets of one batch, the
predictions of the saved model, and the losses of 20 training steps on this batch. A line has these, the layers in
topological order with config, names of the inputs and weights, and the optimizer and loss with which the model was
compiled. A LeakyReLU is written as a ReLU with its slope.
"""
import json
import os
import sys

import keras
import numpy as np


def numbers(value):
    """Nested lists; floats with nine significant digits."""
    array = np.asarray(value)
    if array.dtype.kind in "iu":
        return array.tolist()
    rounded = [float(f"{v:.9g}") for v in array.astype("float32").ravel().tolist()]
    return np.array(rounded).reshape(array.shape).tolist()


def layers_of(model):
    producers, rows = {}, []
    for layer in model.layers:
        sources = layer._inbound_nodes[0].input_tensors if layer._inbound_nodes else []
        saved = keras.saving.serialize_keras_object(
            keras.layers.ReLU(negative_slope=layer.negative_slope, name=layer.name, dtype=layer.dtype_policy)
            if isinstance(layer, keras.layers.LeakyReLU) else layer)
        rows.append({"class_name": saved["class_name"], "config": saved["config"],
                     "inputs": [producers[id(tensor)] for tensor in sources if id(tensor) in producers],
                     "weights": [numbers(weight) for weight in layer.weights]})
        for tensor in layer._inbound_nodes[0].output_tensors:
            producers[id(tensor)] = layer.name
    return rows


def main(folder, *names):
    for name in names:
        path = lambda file: os.path.join(folder, name, file)
        model = keras.saving.load_model(path("model.keras"))
        with open(path("losses.json"), encoding="utf-8") as file:
            losses = json.load(file)
        compiled = model.get_compile_config()
        shape = lambda value: [None, *value.shape[1:]]
        row = {"name": name, "policy": losses["policy"], "input_shape": shape(np.load(path("x.npy"))), "layers": layers_of(model),
               "optimizer": compiled["optimizer"], "loss": compiled["loss"], "x": numbers(np.load(path("x.npy"))),
               "dtypes": [str(np.load(path(file)).dtype) for file in ("x.npy", "y.npy")],
               "y": numbers(np.load(path("y.npy"))), "predict": numbers(np.load(path("predict.npy"))),
               "losses": losses["losses"]}
        print(json.dumps(row, separators=(",", ":")))


main(*sys.argv[1:])
