#!/usr/bin/env python3
# Makes .keras files with recorded structures and arrays by real Keras, and records Keras's predictions.
# SPDX-License-Identifier: Apache-2.0
"""Usage: KERAS_BACKEND=jax python make_nested.py FOLDER

Writes FOLDER/<name>.keras for each function below and FOLDER/predictions.jsonl: `file`, `x`, the inputs in the order of
model.inputs, each with its dtype, and `y`, the outputs in the order of model.outputs.
"""
import json
import os
import sys
import zipfile

import keras
import numpy as np
from keras import Input, Model, layers

rng = np.random.default_rng(36)
IDS = np.array([[1, 2, 0, 0], [3, 4, 5, 0]], "int32")


def numbers(*shape):
    return rng.uniform(-1, 1, shape).astype("float32")


def pair(name="pair"):
    a, b = Input((3,), name=f"{name}_z"), Input((3,), name=f"{name}_a")
    return Model([a, b], layers.Dense(2)(layers.Concatenate()([a, b])), name=name)


def twice():
    a, b, inner = Input((3,)), Input((3,)), pair()
    return Model([a, b], layers.Subtract()([inner([a, b]), inner([b, a])])), [numbers(2, 3), numbers(2, 3)]


def dict_by_name():
    a, b = Input((3,)), Input((3,))
    return Model([a, b], pair()({"pair_a": a, "pair_z": b})), [numbers(2, 3), numbers(2, 3)]


def dict_by_key():
    a, b = Input((3,), name="z"), Input((3,), name="a")
    inner = Model({"z": a, "a": b}, {"y": layers.Subtract()([a, b]), "b": layers.Dense(2)(a)}, name="inner")
    p, q = Input((3,), name="p"), Input((3,), name="q")
    out = inner(inputs={"z": p, "a": q})
    return Model({"p": p, "q": q}, {"s": out["y"], "d": out["b"]}), [numbers(2, 3), numbers(2, 3)]


def deep_structure():
    a, b, c = Input((3,)), Input((3,)), Input((3,))
    inner = Model([a, (b, c)], layers.Dense(2)(layers.Add()([a, layers.Multiply()([b, c])])), name="deep")
    p, q = Input((3,)), Input((3,))
    return Model((p, q), inner([p, (q, p)])), [numbers(2, 3), numbers(2, 3)]


def part_of_outputs():
    a, b = Input((3,)), Input((3,))
    inner = Model([a, b], [layers.Dense(2)(a), layers.Add()([a, b]), layers.Dense(1)(b)])
    p, q = Input((3,)), Input((3,))
    out, again = inner([p, q]), inner([q, p])
    return Model([p, q], [out[2], layers.Add()([out[0], again[0]])]), [numbers(2, 3), numbers(2, 3)]


def two_levels():
    a = Input((3,))
    middle = Model([a], pair("deep")([a, layers.Dense(3)(a)]), name="middle")
    p = Input((3,))
    return Model(p, middle([p])), [numbers(2, 3)]


def masked_list():
    u, v = Input((4, 3)), Input((4,))
    inner = Model([u, v], layers.Concatenate()([layers.GlobalAveragePooling1D()(u), v]))
    ids, x = Input((4,), dtype="int32"), Input((4,))
    return Model([ids, x], inner([layers.Embedding(9, 3, mask_zero=True)(ids), x])), [IDS, numbers(2, 4)]


def masked_dict():
    u, v = Input((4, 3), name="u"), Input((4, 3), name="v")
    inner = Model({"u": u, "v": v}, layers.Subtract()([layers.GlobalAveragePooling1D()(u),
                                                      layers.GlobalAveragePooling1D()(v)]))
    ids, x = Input((4,), dtype="int32"), Input((4, 3))
    return Model([ids, x], inner({"v": layers.Embedding(9, 3, mask_zero=True)(ids), "u": x})), [IDS, numbers(2, 4, 3)]


def mask_of_inner_model():
    ids = Input((4,), dtype="int32")
    inner = Model(ids, layers.Embedding(9, 3, mask_zero=True)(ids), name="inner")
    x = Input((4,), dtype="int32")
    return Model(x, layers.GlobalAveragePooling1D()(inner(x))), [IDS]


def masks_by_argument():
    x, m = Input((4, 3)), Input((4,), dtype="bool")
    y = layers.BatchNormalization()(x, mask=m)
    inner = Sequence()
    return Model([x, m], [layers.GlobalAveragePooling1D()(y, m), inner(x, mask=m)]), [
        numbers(2, 4, 3), np.array([[1, 1, 0, 0], [1, 0, 1, 1]], "bool")]


def Sequence():
    return keras.Sequential([Input((4, 3)), layers.Dense(3), layers.GlobalAveragePooling1D()], name="inner")


def masks_of_attention():
    ids, keys = Input((4,), dtype="int32"), Input((4,), dtype="int32")
    first, second = layers.Embedding(9, 3, mask_zero=True), layers.Embedding(9, 3, mask_zero=True)
    return Model([ids, keys], [  # of separate Values, since MultiHeadAttention removes the masks of its inputs
        layers.GlobalMaxPooling1D()(layers.Attention()([first(ids), first(keys)])),
        layers.GlobalAveragePooling1D()(layers.MultiHeadAttention(2, 2)(second(ids), second(keys)))]), [IDS, IDS[::-1]]


def null_mask():
    ids = Input((4,), dtype="int32")
    x = layers.Embedding(9, 6, mask_zero=True)(ids)
    y = layers.LayerNormalization()(layers.Add()([x, layers.MultiHeadAttention(2, 3)(x, x)]))
    return Model(ids, layers.GlobalAveragePooling1D(name="mean")(y)), [IDS]


def rescaling():
    return keras.Sequential([
        Input((2, 3)), layers.Rescaling([1 / 0.229, 1 / 0.224, 1 / 0.225], offset=[-2.1, -2.0, -1.8]),
        layers.Rescaling(np.array([0.5, 0.1, 2.0], "float32"), 1), layers.Rescaling(np.float64(0.3)),
        layers.Rescaling([[1.0, 2.0, 3.0], [4, 5, 6]], np.array(0.1))]), [numbers(2, 2, 3)]


def of_applications():
    model = keras.src.applications.convnext.ConvNeXt(
        depths=[1, 1, 1, 1], projection_dims=[4, 4, 6, 6], name="convnext_small", weights=None, input_shape=(32, 32, 3),
        include_top=False, pooling="avg", weights_name=None)
    x = Input((32, 32, 3))
    y = model(x)
    scale = keras.src.applications.inception_resnet_v2.CustomScaleLayer
    return Model(x, scale(0.17)([y, layers.Dense(6)(y)])), [numbers(1, 32, 32, 3)]


def as_older_files(path):
    """Sets the mask in the call of `mean` to null, as in files up to Keras 3.3.3."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    config = json.loads(members["config.json"])
    for layer in config["config"]["layers"]:
        if layer["name"] == "mean":
            layer["inbound_nodes"][0]["kwargs"]["mask"] = None
    members["config.json"] = json.dumps(config).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def main(folder):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "predictions.jsonl"), "w") as file:
        for make in (twice, dict_by_name, dict_by_key, deep_structure, part_of_outputs, two_levels, masked_list, masked_dict,
                     mask_of_inner_model, masks_by_argument, masks_of_attention, null_mask, rescaling, of_applications):
            keras.utils.clear_session()
            keras.utils.set_random_seed(4)
            model, x = make()
            path = os.path.join(folder, make.__name__ + ".keras")
            model.save(path)
            if make is null_mask:
                as_older_files(path)
            y = keras.saving.load_model(path).predict(dict(zip(sorted("pq"), x)) if make is dict_by_key else x, verbose=0)
            if make is not null_mask:
                first = model.predict(dict(zip(sorted("pq"), x)) if make is dict_by_key else x, verbose=0)
                assert all(np.array_equal(a, b) for a, b in zip(keras.tree.flatten(first), keras.tree.flatten(y)))
            file.write(json.dumps(dict(
                file=make.__name__ + ".keras", x=[dict(dtype=str(each.dtype), values=each.tolist()) for each in x],
                y=[each.tolist() for each in keras.tree.flatten(y)])) + "\n")


main(sys.argv[1])
