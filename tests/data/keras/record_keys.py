# Records what NumPy's keys select and replace, and how Keras records them: python record_keys.py > keys.jsonl
# SPDX-License-Identifier: Apache-2.0
"""Each line is one random key on x = 0, 1, 2, ... of `shape`. `key`: in Keras's format. `result`, `elements`: x[key].
`y`: the shape of y = -1, -2, ..., which broadcasts to it; `set` and `add`: x after x[key] = y and x[key] += y.
`unknown`: the shape that Keras infers if the first axis is None; null if Keras rejects the key. JAX backend.
"""
import json
import os
import random

os.environ["KERAS_BACKEND"] = "jax"
import keras
import numpy as np

random.seed(40)
COUNT = 300


def random_bound(extent):
    return None if random.random() < 0.3 else random.randint(-extent - 2, extent + 2)


def random_slice(extent):
    for _ in range(4):  # most empty results are drawn again
        found = slice(random_bound(extent), random_bound(extent), random.choice([None, 1, 1, 2, 3, -1, -1, -2, -3, extent + 5]))
        if range(*found.indices(extent)):
            break
    return found


def random_key(shape):
    named = random.randint(0 if random.random() < 0.1 else 1, len(shape))
    before = random.randint(0, named)
    axes = list(range(before)) + list(range(len(shape) - (named - before), len(shape)))
    items = [random.randrange(-shape[a], shape[a]) if shape[a] and random.random() < 0.35 else random_slice(shape[a]) for a in axes]
    if before < named or random.random() < 0.3:
        items.insert(before, Ellipsis)
    while random.random() < 0.25:
        items.insert(random.randint(0, len(items)), None)
    return items[0] if len(items) == 1 and isinstance(items[0], int) else tuple(items)


def written(item):
    if isinstance(item, tuple):
        return [written(each) for each in item]
    if isinstance(item, slice):
        return {"class_name": "__slice__", "config": {"start": item.start, "stop": item.stop, "step": item.step}}
    return {"class_name": "__ellipsis__", "config": {}} if item is Ellipsis else item


def check_written(shape, key):
    x = keras.Input(batch_shape=shape)
    config = json.loads(keras.Model(x, x[key]).to_json())["config"]
    assert config["layers"][-1]["inbound_nodes"][0]["args"][1] == written(key)


def inferred(shape, key):
    try:
        return keras.KerasTensor((None, *shape[1:]))[key].shape
    except ValueError:
        return None


def random_y(shape):
    kept = [extent if random.random() < 0.7 else 1 for extent in shape]
    return kept[random.choice([0, 0, 0, len(kept), random.randint(0, len(kept))]):]


for i in range(COUNT):
    shape = [random.choice([0, 1, 2, 3, 4, 5] if random.random() < 0.4 else [2, 3, 4]) for _ in range(random.randint(1, 4))]
    key = random_key(shape)
    x = np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape)
    part = x[key]
    y_shape = random_y(part.shape)
    y = -1 - np.arange(int(np.prod(y_shape)), dtype=np.float32).reshape(y_shape)
    replaced, added = x.copy(), x.copy()
    replaced[key] = y
    added[key] += y
    if i % 10 == 0 and 0 not in shape:
        check_written(shape, key)
    row = {"shape": shape, "key": written(key), "result": list(part.shape), "elements": [int(e) for e in np.ravel(part)], "y": y_shape,
           "set": [int(e) for e in np.ravel(replaced)], "add": [int(e) for e in np.ravel(added)], "unknown": inferred(shape, key)}
    print(json.dumps(row))
