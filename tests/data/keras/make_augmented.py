#!/usr/bin/env python3
# Makes augmented.keras next to this file with real Keras: random image augmentation, and SpectralNormalization.
# SPDX-License-Identifier: Apache-2.0
"""Usage: KERAS_BACKEND=jax make_augmented.py FOLDER

Writes FOLDER/augmented.keras and FOLDER/augmented.json: an input `x` of shape (2, 6, 7, 3) and the model's prediction `y`."""
import json
import os
import sys

import keras
import numpy as np
from keras import layers


def main():
    random = np.random.default_rng(4)
    x = keras.Input((6, 7, 3))
    y = layers.RandomFlip("horizontal", seed=1)(x)
    y = layers.RandomRotation(0.1, "constant", seed=2)(y)
    y = layers.RandomZoom(0.2, (-0.1, 0.3))(y)
    y = layers.RandomShear(0.2, 0.1)(y)
    y = layers.RandomContrast(0.2, value_range=(-4, 4))(y)
    y = layers.RandomBrightness(0.1, value_range=(-4, 4))(y)
    y = layers.CutMix(0.5)(layers.MixUp(0.4)(y))
    y = layers.RandomCrop(6, 7, seed=3)(y)
    y = layers.SpectralNormalization(layers.Conv2D(4, 3, activation="relu"), power_iterations=2)(y)
    y = layers.SpectralNormalization(layers.Dense(3), name="last")(layers.Flatten()(y))
    model = keras.Model(x, y)
    model.set_weights([random.standard_normal(w.shape).astype("float32") for w in model.get_weights()])
    model.save(os.path.join(sys.argv[1], "augmented.keras"))
    data = random.standard_normal((2, 6, 7, 3)).astype("float32")
    row = {"x": data.ravel().tolist(), "y": model.predict(data, verbose=0).ravel().tolist()}
    with open(os.path.join(sys.argv[1], "augmented.json"), "w", encoding="utf-8") as file:
        json.dump(row, file)
        file.write("\n")


main()
