# Random recurrent layers and wrappers of real Keras.
# SPDX-License-Identifier: Apache-2.0
import keras
from keras import layers

BOUNDED = ["tanh", "tanh", "sigmoid", "softsign", "relu6", "hard_tanh", None]
GATES = ["sigmoid", "sigmoid", "hard_sigmoid", "tanh"]
COUNTS = {"SimpleRNN": 1, "LSTM": 2, "GRU": 1}  # number of states


def makeable(draw):
    """An initializer that replaces the orthogonal one, which JAX cannot compute in 16 bits."""
    narrow = keras.config.dtype_policy().variable_dtype in ("float16", "bfloat16")
    return {"recurrent_initializer": draw.initializer()} if narrow else {}


def cell_arguments(draw, name):
    found = {"activation": draw.of(*BOUNDED)}
    found |= draw.some(
        use_bias=lambda: False,
        bias_initializer=draw.initializer,
        kernel_initializer=draw.initializer,
        recurrent_regularizer=lambda: draw.of("l1", "l2"),
        recurrent_constraint=draw.constraint,
        bias_constraint=draw.constraint,
    )
    found |= makeable(draw)
    if name != "SimpleRNN":
        found |= {"recurrent_activation": draw.of(*GATES)}
    if name == "LSTM":
        found |= draw.some(unit_forget_bias=lambda: False)
    if name == "GRU":
        found |= draw.some(reset_after=lambda: False)
    if draw.is_random:
        found |= draw.some(dropout=lambda: 0.25, recurrent_dropout=lambda: 0.5)
    return found


def run_arguments(draw):
    names = ("return_sequences", "go_backwards", "unroll", "zero_output_for_mask")
    return {name: True for name in names if draw.chance(0.4)}


def runner(draw, name, runs):
    # Keras's other implementation of a GRU fails without a bias in 16 bits.
    path = {} if name == "SimpleRNN" else {"use_cudnn": False}
    return getattr(layers, name)(draw.n(1, 6), **cell_arguments(draw, name), **runs, **path)


def name_of(draw):
    return draw.of(*COUNTS)


def cell(draw):
    name = name_of(draw)
    return getattr(layers, name + "Cell")(draw.n(1, 5), **cell_arguments(draw, name))


def with_states(draw, x):
    """The states of one layer initialize another one."""
    name, units = name_of(draw), draw.n(1, 5)
    make = getattr(layers, name)
    _, *states = make(units, return_state=True, **makeable(draw))(x)
    return make(units, return_sequences=draw.chance(0.5), **makeable(draw))(x, initial_state=states)


def recurrent(draw, x):
    """Of (batch, steps, channels)."""
    return draw.of(
        lambda: runner(draw, name_of(draw), run_arguments(draw))(x),
        lambda: runner(draw, name_of(draw), run_arguments(draw))(x),
        lambda: with_states(draw, x),
        lambda: layers.RNN([cell(draw) for _ in range(draw.n(2, 3))], **run_arguments(draw))(x),
        lambda: layers.RNN(cell(draw), **run_arguments(draw))(x),
        lambda: both(draw, x),
        lambda: layers.TimeDistributed(layers.Dense(draw.n(1, 6), activation=draw.of(*BOUNDED)))(x),
        lambda: layers.TimeDistributed(layers.LayerNormalization(epsilon=0.01))(x),
    )()


def both(draw, x):
    made = layers.Bidirectional(
        runner(draw, name_of(draw), run_arguments(draw) | {"go_backwards": False}), merge_mode=draw.of("concat", "concat", "sum", "ave", "mul", None)
    )(x)
    return layers.Add()(list(made)) if isinstance(made, (list, tuple)) else made


def recurrent_images(draw, x):
    """Of (batch, steps, width, channels)."""
    width = x.shape[2]
    return draw.of(
        lambda: layers.ConvLSTM1D(
            draw.n(1, 3),
            draw.n(1, min(3, width)),
            padding=draw.of("valid", "same"),
            strides=draw.n(1, 2),
            return_sequences=draw.chance(0.5),
            **draw.some(go_backwards=lambda: True, use_bias=lambda: False, unit_forget_bias=lambda: False),
        )(x),
        lambda: layers.TimeDistributed(layers.Conv1D(draw.n(1, 4), draw.n(1, min(3, width))))(x),
        lambda: layers.TimeDistributed(layers.GlobalMaxPooling1D())(x),
        lambda: layers.TimeDistributed(layers.Flatten())(x),
    )()
