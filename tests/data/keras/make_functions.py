#!/usr/bin/env python3
# Makes a .keras archive with a user-defined activation and loss by real Keras 3, and records its results.
# SPDX-License-Identifier: Apache-2.0
"""Usage: KERAS_BACKEND=jax make_functions.py FOLDER

Writes FOLDER/functions.keras, a model with an activation registered by a package, an unregistered activation, and a
registered loss, and FOLDER/facts.json: an input, its prediction, and the loss for targets of 0.
"""
import json
import os
import sys

import keras
import numpy as np


@keras.saving.register_keras_serializable("mine")
def scaled_tanh(x):
    return 1.5 * keras.ops.tanh(x * 0.5)


def doubled(x):
    return 2.0 * x


@keras.saving.register_keras_serializable("mine")
def cubes(y_true, y_pred):
    return keras.ops.mean(keras.ops.abs(y_true - y_pred) ** 3, -1)


def main(folder):
    keras.utils.set_random_seed(7)
    model = keras.Sequential([
        keras.Input((3,)),
        keras.layers.Dense(2, activation=scaled_tanh, name="hidden"),
        keras.layers.Activation(doubled, name="doubled"),
    ])
    model.compile(optimizer="sgd", loss=cubes)
    model.save(os.path.join(folder, "functions.keras"))
    x = np.array([[0.5, -1.0, 2.0]], "float32")
    facts = {"x": x.tolist(), "prediction": model.predict(x, verbose=0).tolist(),
             "loss": model.evaluate(x, np.zeros((1, 2)), verbose=0)}
    with open(os.path.join(folder, "facts.json"), "w", encoding="utf-8") as file:
        file.write(json.dumps(facts) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
