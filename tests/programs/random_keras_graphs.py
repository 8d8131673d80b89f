# Random functional models of real Keras.
# SPDX-License-Identifier: Apache-2.0
import keras
import numpy as np
from keras import layers, ops
from random_keras_layers import (
    activation,
    activation_layer,
    areas_2d,
    attention,
    chance,
    convolution,
    dense,
    einsum_dense,
    leave_1d,
    leave_2d,
    leave_3d,
    normalization,
    plain,
    steps_1d,
    volume,
    widen,
)
from random_keras_operations import attention_operation, constants, norms, operation, pad, windows
from random_keras_recurrent import recurrent, recurrent_images

ANY = [
    dense,
    dense,
    einsum_dense,
    activation,
    activation_layer,
    normalization,
    normalization,
    plain,
    operation,
    operation,
    constants,
    norms,
    pad,
]
OF_RANK = {
    2: [dense, dense, widen],
    3: [
        *[convolution, convolution, attention, attention, recurrent, recurrent, recurrent, steps_1d, steps_1d, leave_1d],
        *[windows, attention_operation],
    ],
    4: [convolution, convolution, convolution, areas_2d, areas_2d, areas_2d, leave_2d, recurrent_images, windows, windows],
    5: [volume, volume, leave_3d],
}
LEAVE = {3: leave_1d, 4: leave_2d, 5: leave_3d}
MERGES = [
    layers.Add,
    layers.Subtract,
    layers.Multiply,
    layers.Average,
    layers.Maximum,
    layers.Minimum,
    layers.Concatenate,
]


def grow(draw, x):
    """Applies one random layer to `x`. Results that are too large or empty are discarded."""
    builders = ANY + 2 * OF_RANK[len(x.shape)] + ([chance] if draw.is_random else [])
    policy = draw.of("float32", "mixed_bfloat16", "mixed_float16", "float16", "bfloat16") if draw.chance(0.08) else None
    saved = keras.config.dtype_policy()
    if policy:
        keras.config.set_dtype_policy(policy)
    try:
        y = builders[draw.n(0, len(builders) - 1)](draw, x)
    finally:
        keras.config.set_dtype_policy(saved)
    fits = 2 <= len(y.shape) <= 5 and 0 < np.prod(y.shape[1:]) <= 1500 and all(y.shape[1:])
    return y if fits else x


def join(draw, values):
    """Merges two of the values by a layer."""
    a, b = values[draw.n(0, len(values) - 1)], values[draw.n(0, len(values) - 1)]
    if a.shape != b.shape:
        a, b = flat(draw, a), flat(draw, b)
        b = layers.Dense(a.shape[-1])(b)
    return draw.of(*MERGES)()([a, b])


def flat(draw, x):
    while len(x.shape) > 2:
        x = LEAVE[len(x.shape)](draw, x)
    return x


def entry(draw, batch):
    """A random input: the symbol, the data, and the value with which the model continues."""
    kind = draw.of("vector", "steps", "image", "image", "volume", "ids")
    if kind == "ids":
        length, bound = draw.n(1, 7), draw.n(2, 11)
        symbol = layers.Input((length,), dtype="int32")
        masked = draw.chance(0.5)
        y = layers.Embedding(
            bound,
            draw.n(1, 8),
            mask_zero=masked,
            **draw.some(embeddings_constraint=draw.constraint, embeddings_regularizer=lambda: draw.of("l1", "l2"))
        )(symbol)
        ids = draw.random.integers(0, bound, (batch, length)).astype("int32")
        if masked:
            ids[:, 0] = np.maximum(ids[:, 0], 1)
        return symbol, ids, y
    shape = {
        "vector": (draw.n(1, 16),),
        "steps": (draw.n(1, 9), draw.n(1, 8)),
        "image": (draw.n(1, 9), draw.n(1, 9), draw.n(1, 4)),
        "volume": (draw.n(1, 4), draw.n(1, 4), draw.n(1, 4), draw.n(1, 3)),
    }[kind]
    symbol = layers.Input(shape)
    return symbol, draw.random.standard_normal((batch, *shape)).astype("float32"), symbol


def nested(draw, x):
    """Applies an inner model to `x`, once or twice: functional with one or two outputs, or sequential."""
    units = x.shape[-1]
    if draw.chance(0.3):
        model = keras.Sequential([layers.Input(x.shape[1:]), layers.Dense(units, activation=draw.activation())])
        if draw.chance(0.5):
            model.add(layers.BatchNormalization(epsilon=0.01))
        return model(model(x)) if draw.chance(0.5) else model(x)
    inner = layers.Input(x.shape[1:])
    hidden = layers.Dense(units, activation=draw.activation())(
        grow(draw, layers.Dense(4)(inner)) if units < 2 else inner
    )
    if draw.chance(0.3):
        model = keras.Model(inner, [hidden, normalization(draw, hidden)])
        return layers.Add()(model(x))
    model = keras.Model(inner, hidden)
    x = model(x)
    return model(x) if draw.chance(0.5) else x


def arrange(kind, names, values):
    """`values` as an argument: a list, a tuple, a dict by `names`, or a list with a tuple or a dict in it."""
    if kind.startswith("deep "):
        return [values[0], arrange(kind.removeprefix("deep "), names[1:], values[1:])]
    if kind == "dict":
        return dict(zip(names, values))
    return tuple(values) if kind == "tuple" else list(values)


def several(draw, values):
    """An output of an inner model that takes a structure of two or three of the values. Values with steps carry their
    masks; an output may have one element per step. The model may be called again, with other values."""
    chosen = [values[draw.n(0, len(values) - 1)] for _ in range(draw.of(2, 2, 3))]
    symbols = [layers.Input(value.shape[1:]) for value in chosen]
    names = draw.of(["a", "b", "c"], ["z", "q", "m"])
    kind = draw.of("list", "list", "tuple", "dict", "dict", "deep tuple", "deep dict")
    steps = [symbol for symbol in symbols if len(symbol.shape) == 3]
    hidden = [flat(draw, grow(draw, symbol)) for symbol in symbols]
    outputs = [layers.Dense(draw.n(1, 4))(layers.Concatenate()(hidden)), layers.Dense(3)(hidden[-1])]
    if steps and draw.chance(0.4):
        outputs.append(layers.Dense(2)(steps[0]))
    given, keys = draw.of("one", "list", "dict"), ["v", "u", "w"]
    inner = keras.Model(
        arrange(kind, names, symbols), outputs[0] if given == "one" else arrange(given, keys, outputs)
    )
    results = [inner(arrange(kind, names, chosen))]
    if draw.chance(0.3):
        results.append(inner(arrange(kind, names, [layers.Activation("tanh")(value) for value in chosen])))
    if given == "one":
        return layers.Add()(results) if len(results) > 1 else results[0]
    place = draw.n(0, len(outputs) - 1)
    parts = [result[keys[place] if given == "dict" else place] for result in results]
    return layers.Maximum()(parts) if len(parts) > 1 else parts[0]


def shared(draw, values):
    """Applies one layer to two of the values, and merges the results."""
    a, b = values[draw.n(0, len(values) - 1)], values[draw.n(0, len(values) - 1)]
    if a.shape[-1] != b.shape[-1]:
        return join(draw, values)
    layer = layers.Dense(draw.n(1, 6), activation=draw.activation())
    a, b = layer(a), layer(b)
    return layers.Subtract()([a, b]) if a.shape == b.shape else layers.Concatenate()([flat(draw, a), flat(draw, b)])


def heads_of(draw, end, values):
    """The model's outputs: mostly vectors; sometimes one per step, under the mask of the steps if there is one."""
    steps = [value for value in values if len(value.shape) == 3 and value.shape[1] < 12]
    dtype = lambda: draw.of("float32", "float32", None)  # noqa: E731
    if steps and draw.chance(0.5):
        return [layers.Dense(draw.n(2, 5), dtype=dtype())(draw.of(*steps))] + (
            [layers.Dense(draw.n(2, 5), dtype=dtype())(end)] if draw.chance(0.3) else []
        )
    units = draw.n(2, 5)
    shared = layers.Dense(units, dtype=dtype())
    count = draw.of(1, 1, 1, 2)
    if count == 2 and draw.chance(0.3):  # one layer makes both outputs
        return [shared(end), shared(ops.tanh(end))]
    return [shared(end)] + [layers.Dense(draw.n(2, 5), dtype=dtype())(end) for _ in range(count - 1)]


def random_model(draw, batch):
    """A functional model and the data of its inputs. draw.is_random: the model has layers that are random in training.
    """
    draw.is_random = draw.chance(0.15)
    entries = [entry(draw, batch) for _ in range(draw.of(1, 1, 1, 2))]
    values = [value for _, _, value in entries]
    for _ in range(draw.n(1, 7)):
        at = draw.n(0, len(values) - 1)
        grown = grow(draw, values[at])
        if draw.chance(0.7):
            values[at] = grown
        else:
            values.append(grown)
        if len(values) > 1 and draw.chance(0.25):
            values.append(join(draw, values))
        if draw.chance(0.08):
            values.append(shared(draw, values))
    if draw.chance(0.3):
        values.append(several(draw, values))
    steps = values[-1]
    if draw.chance(0.25):
        values[-1] = nested(draw, flat(draw, values[-1]))
    ends = [flat(draw, value) for value in values]
    end = ends[0] if len(ends) == 1 else layers.Concatenate()(ends)
    heads = heads_of(draw, end, [*values, steps])
    return keras.Model([symbol for symbol, _, _ in entries], heads), [data for _, data, _ in entries]
