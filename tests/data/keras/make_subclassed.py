#!/usr/bin/env python3
# Makes .keras archives of a subclass of keras.Model by real Keras 3, and records its results.
# SPDX-License-Identifier: Apache-2.0
"""Usage: KERAS_BACKEND=jax make_subclassed.py FOLDER

For each policy writes FOLDER/POLICY.keras, a model of a registered class with two steps of training, and a line of
FOLDER/facts.jsonl: a batch, the model's prediction, and the losses of three more steps from the weights of the file.
"""
import json
import os
import sys

import keras
import numpy as np
from keras import layers


@keras.saving.register_keras_serializable("mine")
class Mlp(keras.Model):
    def __init__(self, units=4, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.hidden = layers.Dense(units, activation="relu")
        self.head = layers.Dense(2)

    def call(self, x):
        return self.head(self.hidden(x))

    def get_config(self):
        return {**super().get_config(), "units": self.units}


def main(folder):
    x = np.random.default_rng(0).normal(size=(4, 3)).astype("float32")
    y = np.ones((4, 2), "float32")
    with open(os.path.join(folder, "facts.jsonl"), "w", encoding="utf-8") as file:
        for policy in ("float32", "mixed_float16", "mixed_bfloat16"):
            keras.utils.clear_session()
            keras.utils.set_random_seed(7)
            keras.config.set_dtype_policy(policy)
            model = Mlp(5)
            model.compile(optimizer="adam", loss="mse")
            for _ in range(2):
                model.train_on_batch(x, y)
            model.save(os.path.join(folder, f"{policy}.keras"))
            facts = {"policy": policy, "x": x.tolist(), "y": y.tolist(),
                     "prediction": np.asarray(model.predict(x, verbose=0), "float32").tolist(),
                     "losses": [float(model.train_on_batch(x, y)) for _ in range(3)]}
            file.write(json.dumps(facts) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
