# Records outputs, states and gradients of recurrent layers and their wrappers from real Keras.
# SPDX-License-Identifier: Apache-2.0
"""Usage: KERAS_BACKEND=jax python record_recurrent.py > recurrent_layers.jsonl

One layer per line, in the format of layers.jsonl, each case under three policies. The inputs are the sequence, then as
many initial states as `call` has in "states", then the mask if "mask" is true. Cotangents are those of all outputs.
"""
import json
import os
import sys

os.environ["XLA_FLAGS"] = "--xla_allow_excess_precision=false"
import jax
import keras
import numpy as np
from keras import layers

FLOATS = ["float32", "mixed_bfloat16", "mixed_float16"]
BATCH, STEPS, FEATURES, UNITS = 3, 5, 2, 3


def numbers(value):
    """Nested lists; floats with nine significant digits."""
    array = np.asarray(value)
    if array.dtype.kind in "iub":
        return array.astype("int32").tolist()
    rounded = [float(f"{v:.9g}") for v in array.astype("float32").ravel().tolist()]
    return np.array(rounded).reshape(array.shape).tolist()


class Case:
    """A layer made by make(dtype=policy, name=...), and its call."""

    def __init__(self, make, states=(), mask=False, training=False, extents=(FEATURES,), steps=STEPS):
        self.make, self.states, self.mask, self.training = make, states, mask, training
        self.extents, self.steps = extents, steps


def of(cls, *positional, **args):
    return lambda **base: cls(*positional, **args, **base)


def runners():
    """The cases of each layer that runs one cell of UNITS units."""
    for cls, count in [(layers.SimpleRNN, 1), (layers.LSTM, 2), (layers.GRU, 1)]:
        plain = [(UNITS,)] * count
        yield Case(of(cls, UNITS))
        yield Case(of(cls, UNITS, return_sequences=True, return_state=True), states=plain)
        yield Case(of(cls, UNITS, return_state=True), mask=True)
        yield Case(of(cls, UNITS, return_sequences=True, return_state=True), states=plain, mask=True)
        yield Case(of(cls, UNITS, return_sequences=True, go_backwards=True, zero_output_for_mask=True), mask=True)
        yield Case(of(cls, UNITS, go_backwards=True, zero_output_for_mask=True, return_state=True), mask=True)
        yield Case(of(cls, UNITS, return_sequences=True, unroll=True, return_state=True), states=plain, mask=True)
        yield Case(of(cls, UNITS, unroll=True, go_backwards=True), mask=True)
        split = {} if cls is layers.SimpleRNN else {"use_cudnn": False}  # the other one fails without a bias in 16 bits
        yield Case(of(cls, UNITS, use_bias=False, activation="relu", bias_initializer="ones", **split))
        yield Case(of(cls, UNITS, bias_initializer="ones", recurrent_dropout=0.25, dropout=0.5, return_sequences=True))
    yield Case(of(layers.LSTM, UNITS, recurrent_activation="hard_sigmoid", unit_forget_bias=False, go_backwards=True))
    yield Case(of(layers.LSTM, 2, return_sequences=True), steps=20)
    for bias in [True, False]:
        yield Case(of(layers.GRU, UNITS, reset_after=False, use_bias=bias, bias_initializer="ones"))
    yield Case(of(layers.GRU, UNITS, reset_after=False, recurrent_dropout=0.5))


def stacks():
    def stack(cells, **args):
        return lambda dtype, name: layers.RNN([c(n, dtype=dtype) for c, n in cells], dtype=dtype, name=name, **args)

    three = [(layers.LSTMCell, 3), (layers.SimpleRNNCell, 2), (layers.GRUCell, 4)]
    yield Case(stack(three[:2], return_sequences=True, return_state=True))
    yield Case(lambda dtype, name: layers.RNN(layers.GRUCell(3, dtype=dtype), zero_output_for_mask=True, dtype=dtype, name=name), mask=True)
    yield Case(stack(three, return_state=True), states=[(3,), (3,), (2,), (4,)])
    yield Case(stack(three, return_sequences=True, return_state=True), mask=True)
    yield Case(stack(three, go_backwards=True, unroll=True, return_sequences=True))


def both():
    for mode in ["concat", "sum", "ave", "mul", None]:
        for cls in [layers.LSTM, layers.SimpleRNN]:
            yield Case(lambda dtype, name, c=cls, m=mode: layers.Bidirectional(c(2, return_sequences=True, dtype=dtype), merge_mode=m, dtype=dtype, name=name), mask=cls is layers.LSTM)
    yield Case(lambda dtype, name: layers.Bidirectional(layers.GRU(2, dtype=dtype), dtype=dtype, name=name), mask=True)
    yield Case(lambda dtype, name: layers.Bidirectional(layers.LSTM(2, return_state=True, dtype=dtype), dtype=dtype, name=name), states=[(2,)] * 4)
    yield Case(lambda dtype, name: layers.Bidirectional(layers.GRU(2, return_sequences=True, return_state=True, dtype=dtype), merge_mode=None, dtype=dtype, name=name), states=[(2,)] * 2)
    yield Case(lambda dtype, name: layers.Bidirectional(layers.LSTM(2, go_backwards=True, dtype=dtype), backward_layer=layers.GRU(3, dtype=dtype), dtype=dtype, name=name))


def steps():
    def each(make, **args):
        return Case(lambda dtype, name: layers.TimeDistributed(make(dtype), dtype=dtype, name=name), **args)

    yield each(lambda p: layers.Dense(3, activation="tanh", dtype=p))
    yield each(lambda p: layers.Conv1D(2, 3, dtype=p), extents=(6, 2))
    yield each(lambda p: layers.LayerNormalization(dtype=p), extents=(4,))
    yield each(lambda p: layers.BatchNormalization(dtype=p), training=True)
    yield each(lambda p: layers.BatchNormalization(dtype=p), mask=True)
    yield each(lambda p: layers.Dense(2, dtype="float32"), mask=True)
    yield each(lambda p: layers.Flatten(dtype=p), extents=(2, 3))


def convolutions():
    yield Case(of(layers.ConvLSTM1D, 2, 3), extents=(6, 2))
    yield Case(of(layers.ConvLSTM1D, 2, 3, padding="same", return_sequences=True, return_state=True, use_bias=False), extents=(4, 2), states=[(4, 2)] * 2)
    yield Case(of(layers.ConvLSTM1D, 2, 2, dilation_rate=2, recurrent_dropout=0.5, go_backwards=True), extents=(5, 2))
    yield Case(of(layers.ConvLSTM2D, 2, (2, 3), strides=(2, 1), bias_initializer="ones"), extents=(4, 5, 2), steps=3)
    yield Case(of(layers.ConvLSTM2D, 2, 2, padding="same", return_sequences=True, unit_forget_bias=False), extents=(3, 2, 1), steps=3)
    yield Case(of(layers.ConvLSTM3D, 1, 2, padding="same", return_state=True), extents=(2, 2, 3, 1), steps=3)


def nested(cell, states):
    """The states in the structure that the cell of an RNN takes."""
    if not isinstance(cell, layers.StackedRNNCells):
        return list(states)
    states = list(states)
    return [[states.pop(0) for _ in keras.tree.flatten(c.state_size)] for c in cell.cells]


def record(case, policy, random):
    layer = case.make(dtype=policy, name="layer")
    x = random.standard_normal((BATCH, case.steps, *case.extents)).astype("float32")
    given = [random.standard_normal((BATCH, *shape)).astype("float32") for shape in case.states]
    mask = random.random((BATCH, case.steps)) < 0.6
    mask[0, 0], mask[1, -1] = False, False

    def run(x, states):
        args = {"training": case.training}
        if case.mask:
            args["mask"] = mask
        if states:
            args["initial_state"] = nested(getattr(layer, "cell", None), states)
        return keras.tree.flatten(layer(x, **args))

    run(x, given)
    for variable in layer.weights:
        spread = random.standard_normal(variable.shape)
        variable.assign(np.abs(spread) + 0.5 if "variance" in variable.path else 0.6 * spread)
    weights = [{"name": v.path, "dtype": v.dtype, "trainable": v.trainable, "value": numbers(v.value)} for v in layer.weights]
    cotangents = [random.standard_normal(y.shape).astype("float32") for y in run(x, given)]
    for variable, saved in zip(layer.weights, weights):
        variable.assign(np.array(saved["value"]))
    values = [v.value for v in layer.non_trainable_variables]

    def loss(x, states, trained):
        pairs = list(zip(layer.trainable_variables, trained)) + list(zip(layer.non_trainable_variables, values))
        with keras.StatelessScope(pairs) as scope:
            outputs = run(x, states)
        updates = [scope.get_current_value(v) for v in layer.non_trainable_variables if "seed" not in v.path]
        return sum((y.astype("float32") * c).sum() for y, c in zip(outputs, cotangents)), (outputs, updates)

    trained = [v.value for v in layer.trainable_variables]
    (_, (outputs, updates)), gradients = jax.value_and_grad(loss, argnums=(0, 1, 2), has_aux=True)(x, given, trained)
    inputs = [x, *given] + ([mask] if case.mask else [])
    row = {"layer": type(layer).__name__, "config": keras.saving.serialize_keras_object(layer)["config"], "policy": policy,
           "call": {"training": case.training, "states": len(given), "mask": case.mask},
           "input_dtypes": ["float32"] * (1 + len(given)) + ["bool"] * case.mask, "inputs": [numbers(i) for i in inputs],
           "weights": weights, "output": [numbers(y) for y in outputs], "output_dtype": [str(y.dtype) for y in outputs],
           "cotangent": [numbers(c) for c in cotangents],
           "grad_x": {"inputs": [numbers(g) for g in [gradients[0], *gradients[1]]], "weights": [numbers(g) for g in gradients[2]]}}
    if case.training:
        row["non_trainable_after"] = [numbers(u) for u in updates]
    return row


def main():
    random = np.random.default_rng(42)
    count = 0
    for make in [runners, stacks, both, steps, convolutions]:
        for case in make():
            for policy in FLOATS:
                keras.utils.clear_session()
                keras.config.set_dtype_policy(policy)  # also the policy of stacked cells
                print(json.dumps(record(case, policy, random), separators=(",", ":")))
                count += 1
    print(f"{count} layers, Keras {keras.__version__}, JAX {jax.__version__}", file=sys.stderr)


main()
