# Random operations of keras.ops between layers, among those that .keras files may contain.
# SPDX-License-Identifier: Apache-2.0
import keras
import numpy as np
from keras import layers, ops


def operation(draw, x):
    last = len(x.shape) - 1
    return draw.of(
        lambda: x + 1.5,
        lambda: 2.0 - x,
        lambda: x * 0.5,
        lambda: x / 2.0,
        lambda: -x,
        lambda: 1.0 / (ops.abs(x) + 1.0),
        lambda: ops.tanh(x),
        lambda: ops.sigmoid(x),
        lambda: ops.exp(-ops.square(x)),
        lambda: ops.log1p(ops.abs(x)),
        lambda: ops.sqrt(ops.abs(x) + 0.5),
        lambda: ops.sin(x),
        lambda: ops.cos(x),
        lambda: ops.erf(x),
        lambda: ops.clip(x, -1.0, 1.0),
        lambda: ops.maximum(x, 0.1),
        lambda: ops.minimum(x, ops.tanh(x)),
        lambda: ops.where(x > 0.1, x, x * 0.1),
        lambda: x - ops.mean(x, axis=-1, keepdims=True),
        lambda: x / (1.0 + ops.std(x, axis=last, keepdims=True)),
        lambda: x - ops.max(x, axis=-1, keepdims=True),
        lambda: ops.cumsum(x, axis=-1),
        lambda: ops.sort(x, axis=last),
        lambda: ops.top_k(x, min(3, x.shape[-1]))[0],
        lambda: ops.flip(x, axis=last),
        lambda: ops.softmax(x, axis=-1),
        lambda: ops.log_softmax(x),
        lambda: ops.logsumexp(x, axis=-1, keepdims=True) + x,
        lambda: ops.gelu(x, approximate=False),
        lambda: ops.concatenate([x, ops.relu(x)], axis=-1),
        lambda: ops.power(ops.abs(x) + 0.5, 1.5),
        lambda: ops.repeat(x, 2, axis=-1),
        lambda: ops.stop_gradient(x) + x,
        lambda: ops.var(x, axis=-1, keepdims=True) + x,
        lambda: ops.tile(x, [1] * last + [2]),
        lambda: x[..., ::-1],
        lambda: x[:, : max(1, x.shape[1] // 2)],
        lambda: ops.arctan(x),
        lambda: ops.celu(x, 2.0),
        lambda: ops.squareplus(x),
        lambda: ops.threshold(x, 0.1, -0.2),
        lambda: ops.roll(x, 1, axis=-1),
        lambda: ops.hypot(x, ops.tanh(x) + 1.0),
        lambda: ops.logaddexp(x, 0.5),
        lambda: ops.log2(ops.abs(x) + 1.0),
        lambda: ops.amax(x, axis=-1, keepdims=True) - x,
        lambda: ops.cast(ops.cast(x, "float16"), x.dtype),
        lambda: ops.sum(x, axis=-1, keepdims=True) * x,
        lambda: ops.expand_dims(x, 1)[:, 0],
        lambda: ops.one_hot(ops.argmax(x, axis=-1), x.shape[-1]) * x,
    )()


def array(draw, *shape):
    """A constant, which the file stores among the arguments of the operation."""
    values = 0.5 * draw.random.standard_normal(shape)
    return values.astype("float32") if draw.chance(0.8) else ops.convert_to_tensor(values.astype("float32"))


def constants(draw, x):
    channels = x.shape[-1]
    return draw.of(
        lambda: x + array(draw, channels),
        lambda: x * array(draw, *x.shape[1:]),
        lambda: ops.subtract(array(draw, channels), x),
        lambda: ops.matmul(x, array(draw, channels, draw.n(1, 6))),
        lambda: ops.maximum(x, array(draw, channels)),
        lambda: ops.where(array(draw, channels) > 0, x, 0.1 * x),
        lambda: ops.take(x, np.array([channels - 1, 0, 0], "int32"), axis=-1),
        lambda: ops.einsum("...i,ij->...j", x, array(draw, channels, draw.n(1, 4))),
    )()


def norms(draw, x):
    channels = x.shape[-1]
    maybe = lambda *shape: draw.of(None, array(draw, *shape))  # noqa: E731
    axis = draw.of(-1, [-1], len(x.shape) - 1)
    epsilon = draw.of(None, 0.01)
    axes = list(range(1, len(x.shape)))

    def moved(mean, variance):
        return (x - mean) / ops.sqrt(variance + 0.1)

    return draw.of(
        lambda: ops.normalize(x + 0.5, axis=-1, epsilon=0.01),
        lambda: ops.normalize(ops.abs(x) + 0.5, axis=draw.of(1, -1), order=draw.of(1, 2, 3)),
        lambda: ops.layer_normalization(x, maybe(channels), maybe(channels), axis=axis, epsilon=0.01),
        lambda: ops.layer_normalization(x, maybe(*x.shape[1:]), maybe(*x.shape[1:]), axis=axes, epsilon=0.01),
        lambda: ops.rms_normalization(x, maybe(channels), axis=draw.of(-1, axes), epsilon=0.01),
        lambda: ops.batch_normalization(
            x,
            array(draw, channels),
            np.abs(np.asarray(array(draw, channels))) + 0.5,
            -1,
            **({"offset": array(draw, channels), "scale": array(draw, channels)} if draw.chance(0.5) else {}),
            epsilon=0.001 if epsilon is None else epsilon,
        ),
        lambda: moved(*ops.moments(x, axes=draw.of([len(x.shape) - 1], axes), keepdims=True)),
    )()


def pad(draw, x):
    mode = draw.of("constant", "constant", "reflect", "symmetric", "edge", "wrap")
    if mode == "symmetric" and keras.backend.backend() == "torch":
        mode = "reflect"  # Keras repeats the edge there
    width = [(0, 0)] + [(draw.n(0, 2), draw.n(0, 2)) for _ in x.shape[1:]]
    return ops.pad(x, width, mode=mode, **({"constant_values": 0.5} if mode == "constant" and draw.chance(0.5) else {}))


def windows(draw, x):
    """Convolutions and pools of (batch, steps, channels) or (batch, height, width, channels)."""
    *sizes, channels = x.shape[1:]
    taps = [draw.n(1, min(3, size)) for size in sizes]
    strides = draw.of(1, 1, 2, tuple(draw.n(1, 2) for _ in sizes))
    shared = {"strides": strides, "padding": draw.of("valid", "same", "SAME")}
    pool = draw.of(min(2, *sizes, 2), tuple(taps))
    filters = draw.n(1, 4)
    kernel = array(draw, *taps, channels, filters)
    return draw.of(
        lambda: ops.max_pool(x, pool, **shared),
        lambda: ops.average_pool(x, pool, **shared),
        lambda: ops.max_pool(x, pool),
        lambda: ops.conv(x, kernel, **shared),
        lambda: ops.conv(x, kernel, dilation_rate=draw.of(1, 2), padding="same"),
        lambda: ops.depthwise_conv(x, array(draw, *taps, channels, 2), **(shared | {"strides": 1})),
        lambda: ops.separable_conv(
            x,
            array(draw, *taps, channels, 1),
            array(draw, *[1] * len(sizes), channels, filters),
            **shared | {"strides": 1},
        ),
    )()


def attention_operation(draw, x):
    """(batch, steps, channels)"""
    heads = ops.expand_dims(layers.Dense(2 * draw.n(1, 3))(x), 2)
    steps = x.shape[1]
    arguments = draw.some(scale=lambda: 0.4, bias=lambda: array(draw, 1, 1, steps, steps))
    return ops.dot_product_attention(heads, ops.tanh(heads), heads, is_causal=draw.chance(0.4), **arguments)[:, :, 0]
