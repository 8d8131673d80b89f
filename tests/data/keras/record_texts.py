# Records the sequences that real Keras reads from text archives: python record_texts.py > texts.jsonl
# SPDX-License-Identifier: Apache-2.0
"""Makes the archives and the JSON files of texts/, which have the format of Keras's files and few, random sequences.
Each line is one call: `dataset` is imdb or reuters, `arguments` those of load_data(); then the result. JAX backend.
"""
import json
import os
import random
import sys

os.environ["KERAS_BACKEND"] = "jax"
import numpy as np
from keras.src.datasets import imdb, reuters

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "texts")


def sequences(count):
    lists = [[random.choice((1, 2, 5, 40, 255, 256, 70000)) for _ in range(random.randint(1, 12))] for _ in range(count)]
    array = np.empty(count, dtype=object)
    array[:] = lists
    return array


def labels(count, classes):
    return np.array([random.randrange(classes) for _ in range(count)], dtype="int64")


random.seed(3)
np.savez(os.path.join(FOLDER, "imdb.npz"), x_train=sequences(23), y_train=labels(23, 2), x_test=sequences(9), y_test=labels(9, 2))
np.savez_compressed(os.path.join(FOLDER, "reuters.npz"), x=sequences(31), y=labels(31, 46))
for name in ("imdb", "reuters"):
    with open(os.path.join(FOLDER, name + "_word_index.json"), "w", encoding="utf-8") as file:
        json.dump({"fawn": 34701, "the": 1, name: 7, "d'\u00e9t\u00e9": 3}, file)
for module in (imdb, reuters):
    module.get_file = lambda fname, **_: os.path.join(FOLDER, fname)

SHARED = [{}, {"num_words": 50}, {"skip_top": 6}, {"maxlen": 8}, {"seed": 7}, {"start_char": None}, {"oov_char": None, "num_words": 60, "skip_top": 5},
          {"index_from": 0, "start_char": None}, {"index_from": 10, "seed": 0}]
for module, calls in ((imdb, SHARED), (reuters, SHARED + [{"test_split": 0.0}, {"test_split": 0.5}])):
    for arguments in calls:
        (x_train, y_train), (x_test, y_test) = module.load_data(**arguments)
        print(json.dumps({"dataset": module.__name__.split(".")[-1], "arguments": arguments, "x_train": list(x_train), "y_train": [int(y) for y in y_train],
                          "x_test": list(x_test), "y_test": [int(y) for y in y_test]}, separators=(",", ":")))
