#!/usr/bin/env python3
# Makes the .keras archives next to this file with real Keras 3, and records Keras's facts about their layers.
# SPDX-License-Identifier: Apache-2.0
"""Usage: KERAS_BACKEND=jax make_archives.py FOLDER

Writes FOLDER/<name>.keras for each model below and FOLDER/layers.jsonl: one object a model with the path, class, policy
and dtypes of each layer as the session that made it has them. Containers and inputs are left out; a path is null where
Keras gives the layer none (layers without a build of their own).
"""
import json
import os
import sys

import keras
from keras import layers


@keras.saving.register_keras_serializable("house")
class Residual(layers.Layer):
    """A layer that contains another one, which appears in its config."""

    def __init__(self, inner, **kwargs):
        super().__init__(**kwargs)
        self.inner = inner

    def build(self, shape):
        self.inner.build(shape)

    def call(self, x):
        return x + self.inner(x)

    def get_config(self):
        return {**super().get_config(), "inner": keras.saving.serialize_keras_object(self.inner)}


@keras.saving.register_keras_serializable("house")
class SelfAttention(layers.Layer):
    """A layer that calls an attention layer with its input as all three arguments."""

    def __init__(self, attention, **kwargs):
        super().__init__(**kwargs)
        self.attention = attention

    def build(self, shape):
        self.attention.build(shape, shape)

    def call(self, x):
        return self.attention(x, x)

    def get_config(self):
        return {**super().get_config(), "attention": keras.saving.serialize_keras_object(self.attention)}


def sequential():
    keras.config.set_dtype_policy("mixed_bfloat16")
    net = keras.Sequential([
        layers.Input((4,)),
        layers.Dense(3, activation="relu", dtype="mixed_float16", name="encoder_0"),
        layers.Dense(3, dtype="mixed_float16", name="encoder_1"),
        layers.LayerNormalization(dtype="float32", name="norm"),
        layers.Dense(2, name="head")], name="net")
    net.compile("sgd", "mse")
    return net


def scaled():
    keras.config.set_dtype_policy("mixed_float16")
    return keras.Sequential([
        layers.Input((4,)),
        layers.Dense(3, name="first"),
        layers.BatchNormalization(name="norm"),
        layers.Dense(2, activation="softmax", name="last")], name="scaled")


def functional():
    keras.config.set_dtype_policy("mixed_float16")
    left, right = layers.Input((4,), name="left"), layers.Input((4,), name="right")
    shared = layers.Dense(4, name="shared")
    tower = keras.Sequential([layers.Input((4,)), layers.Dense(4, name="dense"), layers.ReLU(name="relu")], name="tower")
    a, b = shared(left), tower(shared(right))
    joined = layers.Add(name="joined")([a, b]) * 2.0
    team = layers.Softmax(name="team", dtype="float32")(layers.Dense(3, name="logits")(joined))
    net = keras.Model([left, right], [layers.Dense(1, name="priority")(joined), team], name="tickets")
    net.compile(keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD()), ["mse", "mse"])
    return net


def nested():
    keras.config.set_dtype_policy("float32")
    inner = keras.Sequential([layers.Input((4,)), layers.Dense(4, name="dense")], name="inner")
    x = layers.Input((4,), name="x")
    graph = keras.Model(x, layers.Dense(4, name="plain")(x), name="graph")
    return keras.Sequential([layers.Input((4,)), inner, graph, layers.Dense(2, name="dense")], name="outer")


def wrapped():
    keras.config.set_dtype_policy("float32")
    return keras.Sequential([
        layers.Input((3, 4)),
        layers.Bidirectional(layers.LSTM(2, return_sequences=True, name="lstm"), name="both"),
        layers.TimeDistributed(layers.Dense(4, dtype="mixed_bfloat16", name="dense"), name="each"),
        Residual(layers.Dense(4, name="dense"), name="residual")], name="wrapped")


def mapped():
    keras.config.set_dtype_policy("float32")
    policies = keras.dtype_policies.DTypePolicyMap("mixed_bfloat16", {
        "mapped/first": keras.DTypePolicy("float32"), "mapped/never": keras.DTypePolicy("float16")})
    net = keras.Sequential([
        layers.Input((4,)),
        layers.Dense(4, dtype=policies, name="first"),
        layers.Dense(4, dtype=policies, name="second"),
        layers.Dense(4, name="quantized")], name="mapped")
    net.get_layer("quantized").quantize("int8")
    return net


def attending():
    """Attention at the top level, in an inner model, in a custom layer and under a map, with projections of several
    policies."""
    keras.config.set_dtype_policy("mixed_bfloat16")
    policies = keras.dtype_policies.DTypePolicyMap("mixed_bfloat16", {
        "mapped/query": keras.DTypePolicy("float32"), "mapped/attention_.*": keras.DTypePolicy("mixed_float16")})
    inner = keras.Sequential([layers.Input((5, 8)), Residual(layers.Dense(8, name="mix"), name="residual"),
                              SelfAttention(layers.MultiHeadAttention(2, 4, dtype="float32", name="heads"), name="self")],
                             name="block")
    x, memory = layers.Input((5, 8), name="x"), layers.Input((7, 6), name="memory")
    y = inner(layers.MultiHeadAttention(2, 4, value_dim=3, dropout=0.1, name="cross")(x, memory))
    y = layers.GroupQueryAttention(4, 4, 2, dtype="mixed_float16", name="grouped")(y, y)
    y = layers.MultiHeadAttention(2, 4, use_gate=True, dtype=policies, name="mapped")(y, y, key=y)
    return keras.Model([x, memory], layers.Dense(1, dtype="float32", name="head")(y), name="attending")


CONTAINERS = (layers.InputLayer, keras.Sequential, keras.src.models.functional.Functional)


def main(folder):
    facts = []
    for make in (sequential, scaled, functional, nested, wrapped, mapped, attending):
        net = make()
        net.save(os.path.join(folder, make.__name__ + ".keras"))
        seen = []
        for layer in net._flatten_layers(include_self=False):
            if not isinstance(layer, CONTAINERS) and not any(layer is known for known in seen):
                seen.append(layer)
        facts.append({"file": make.__name__ + ".keras", "keras": keras.__version__, "layers": sorted((
            {"path": layer.path, "name": layer.name, "class": type(layer).__name__,
             "policy": layer.dtype_policy.name,
             "compute": layer.compute_dtype, "variable": layer.variable_dtype}
            for layer in seen), key=lambda fact: (fact["path"] or fact["name"], fact["class"]))})
    with open(os.path.join(folder, "layers.jsonl"), "w", encoding="utf-8") as file:
        for fact in facts:
            file.write(json.dumps(fact) + "\n")


main(sys.argv[1])
