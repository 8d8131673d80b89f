# Random layers and operations of real Keras, among those that .keras files may contain.
# SPDX-License-Identifier: Apache-2.0
import keras
import numpy as np
from keras import layers, ops

ACTIVATIONS = [
    None,
    "relu",
    "gelu",
    "silu",
    "tanh",
    "sigmoid",
    "softplus",
    "elu",
    "selu",
    "leaky_relu",
    "relu6",
    "softmax",
    "hard_sigmoid",
    "hard_silu",
    "mish",
    "softsign",
    "exponential",
    "log_softmax",
    "celu",
    "squareplus",
    "sparse_plus",
    "soft_shrink",
    "hard_shrink",
    "tanh_shrink",
    "hard_tanh",
    "log_sigmoid",
    "linear",
]
POLICIES = ["float32"] * 4 + ["mixed_bfloat16"] * 3 + ["mixed_float16"] * 3 + ["bfloat16", "float16", "float64"]


class Draw:
    """Random choices, all determined by a seed."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)

    def of(self, *options):
        return options[self.random.integers(len(options))]

    def chance(self, p):
        return bool(self.random.random() < p)

    def n(self, low, high):
        return int(self.random.integers(low, high + 1))

    def sizes(self, rank, low, high):
        return self.n(low, high) if self.chance(0.5) else tuple(self.n(low, high) for _ in range(rank))

    def activation(self):
        """Without tanh_shrink in narrow floats: for small x, x - tanh(x) is less than a rounding of x. In Keras it is
        0, and its gradient consists of roundings, whose signs Lion would follow."""
        narrow = keras.config.dtype_policy().compute_dtype in ("float16", "bfloat16")
        found = self.of(*ACTIVATIONS)
        return "tanh" if narrow and found == "tanh_shrink" else found

    def some(self, **options):
        """Each of the arguments with a probability of 0.3."""
        return {name: make() for name, make in options.items() if self.chance(0.3)}

    def initializer(self):
        make = self.of(
            keras.initializers.RandomNormal, keras.initializers.RandomUniform, keras.initializers.TruncatedNormal
        )
        return make(*((-0.4, 0.4) if make is keras.initializers.RandomUniform else (0.0, 0.3)), seed=self.n(0, 99))

    def regularizer(self):
        return self.of(
            keras.regularizers.L1(0.01),
            keras.regularizers.L2(0.02),
            keras.regularizers.L1L2(0.01, 0.02),
            keras.regularizers.OrthogonalRegularizer(0.01),
        )

    def constraint(self):
        return self.of(
            keras.constraints.MaxNorm(1.0),
            keras.constraints.NonNeg(),
            keras.constraints.UnitNorm(),
            keras.constraints.MinMaxNorm(0.2, 1.0),
        )

    def weights(self, rank=2, bias=True):
        """Arguments of a layer with a kernel."""
        found = self.some(kernel_initializer=self.initializer, kernel_constraint=self.constraint)
        if rank == 2:
            found |= self.some(kernel_regularizer=self.regularizer)
        if bias:
            found |= self.some(
                use_bias=lambda: False, bias_initializer=self.initializer, bias_constraint=self.constraint
            )
            found |= {"bias_regularizer": draw_plain_regularizer(self)} if self.chance(0.2) else {}
        found |= {"activity_regularizer": "l2"} if self.chance(0.05) else {}
        return found


def draw_plain_regularizer(draw):
    return draw.of("l1", "l2", keras.regularizers.L1L2(0.02, 0.01))


def padding(draw, causal=False):
    return draw.of("valid", "same", "causal") if causal else draw.of("valid", "same")


# ---- of any rank: the last axis is the channels


def dense(draw, x):
    return layers.Dense(draw.n(1, 12), activation=draw.activation(), **draw.weights())(x)


def einsum_dense(draw, x):
    letters = "abcde"[: len(x.shape) - 1]
    if len(x.shape) == 2 or (draw.chance(0.5) and len(x.shape) == 3):
        inner = letters[1:]
        equation, shape = f"a{inner}x,xy->a{inner}y", (*x.shape[1:-1], draw.n(1, 9))
        return layers.EinsumDense(equation, shape, bias_axes=draw.of(None, "y"), activation=draw.activation())(x)
    inner = letters[1:]
    equation = f"a{inner}x,xyz->a{inner}yz"
    out = (*x.shape[1:-1], draw.n(1, 3), draw.n(1, 4))
    y = layers.EinsumDense(equation, out, bias_axes=draw.of(None, "yz", "z"))(x)
    return layers.Reshape((*x.shape[1:-1], -1))(y)


def activation(draw, x):
    return layers.Activation(draw.activation() or "relu")(x)


def activation_layer(draw, x):
    make = draw.of(layers.ReLU, layers.LeakyReLU, layers.ELU, layers.PReLU, layers.Softmax)
    if make is layers.ReLU:
        return make(
            **draw.some(max_value=lambda: draw.of(1.0, 6.0), negative_slope=lambda: 0.1, threshold=lambda: 0.2)
        )(x)
    if make is layers.PReLU:
        shared = [a for a in range(1, len(x.shape) - 1) if draw.chance(0.5)] or None
        return make(alpha_initializer=draw.initializer(), shared_axes=shared)(x)
    if make is layers.Softmax:
        return make(axis=draw.of(-1, 1, *([(1, 2)] if len(x.shape) > 2 else [])))(x)
    return make(draw.of(0.1, 0.3))(x)


def normalization(draw, x):
    make = draw.of(
        layers.LayerNormalization,
        layers.BatchNormalization,
        layers.RMSNormalization,
        layers.UnitNormalization,
        layers.GroupNormalization,
    )
    channels = x.shape[-1]
    if make is layers.GroupNormalization:
        arguments = draw.some(center=lambda: False, scale=lambda: False, gamma_initializer=draw.initializer)
        return make(draw.of(*[g for g in (1, 2, 3, -1) if g < 0 or channels % g == 0]), epsilon=0.01, **arguments)(x)
    if make is layers.LayerNormalization:
        axis = draw.of(-1, list(range(1, len(x.shape))))
        return make(axis=axis, epsilon=0.01, **draw.some(center=lambda: False, scale=lambda: False))(x)
    if make is layers.BatchNormalization:
        arguments = draw.some(
            center=lambda: False,
            scale=lambda: False,
            momentum=lambda: 0.6,
            axis=lambda: 1,
            beta_regularizer=lambda: draw_plain_regularizer(draw),
            gamma_constraint=draw.constraint,
            moving_mean_initializer=draw.initializer,
        )
        layer = make(epsilon=0.01, **arguments)
        layer.trainable = not draw.chance(0.15)  # frozen: moving statistics in training too
        return layer(x)
    if make is layers.RMSNormalization:
        return make(axis=draw.of(-1, list(range(1, len(x.shape)))), epsilon=0.01)(x)
    return make(axis=draw.of(-1, 1))(x + 0.5)


def plain(draw, x):
    return draw.of(
        lambda: layers.Rescaling(draw.of(0.5, 2.0), draw.of(0.0, 0.25))(x),
        lambda: layers.Identity()(x),
        lambda: layers.Dropout(0.0)(x),
        lambda: layers.Normalization(
            axis=-1,
            mean=draw.random.standard_normal(x.shape[-1]).tolist(),
            variance=draw.random.uniform(0.5, 2, x.shape[-1]).tolist(),
            invert=draw.chance(0.3),
        )(x),
        lambda: layers.ActivityRegularization(l1=0.001, l2=0.002)(x),
    )()


def chance(draw, x):
    """Layers that are random only in training: their models are not trained."""
    last = len(x.shape)
    makes = [layers.Dropout, layers.GaussianNoise, layers.GaussianDropout, layers.AlphaDropout]
    makes += {3: [layers.SpatialDropout1D], 4: [layers.SpatialDropout2D], 5: [layers.SpatialDropout3D]}.get(last, [])
    return draw.of(*makes)(draw.of(0.2, 0.5))(x)


# ---- steps and images


def convolution(draw, x):
    """(batch, steps, channels) or (batch, height, width, channels)."""
    *sizes, channels = x.shape[1:]
    kernel = tuple(draw.n(1, min(4, size)) for size in sizes)
    strides = draw.of(1, 1, 2, 3)
    fits = strides == 1 and all(2 * (taps - 1) < size for taps, size in zip(kernel, sizes))
    shared = {"strides": strides, "padding": padding(draw), "activation": draw.activation()}
    kind = draw.of("Conv", "Conv", "SeparableConv", "DepthwiseConv", "Transpose")
    if kind == "Transpose":
        return getattr(layers, f"Conv{len(sizes)}DTranspose")(draw.n(1, 5), kernel, **shared)(x)
    shared["dilation_rate"] = draw.n(1, 2) if fits else 1
    make = getattr(layers, f"{kind}{len(sizes)}D")
    if kind == "Conv":
        groups = draw.of(*[g for g in (1, 1, 1, 2, 3) if channels % g == 0])
        shared["padding"] = padding(draw, causal=len(sizes) == 1)
        return make(groups * draw.n(1, 6), kernel, groups=groups, **shared, **draw.weights(len(sizes) + 2))(x)
    filters = [draw.n(1, 6)] if kind == "SeparableConv" else []
    return make(*filters, kernel, depth_multiplier=draw.n(1, 2), **shared)(x)


# ---- (batch, steps, channels)


def attention(draw, x):
    heads, width = draw.n(1, 3), draw.n(1, 6)
    kind = draw.n(0, 4)
    causal = draw.chance(0.4)
    calls = {"use_causal_mask": causal}
    if draw.chance(0.2):  # the keys that each query sees
        calls["attention_mask"] = ops.matmul(x, ops.swapaxes(x, 1, 2)) > draw.of(-1.0, 0.0)
    if kind == 0:
        arguments = draw.some(
            value_dim=lambda: draw.n(1, 5),
            use_bias=lambda: False,
            output_shape=lambda: draw.n(1, 7),
            kernel_regularizer=lambda: draw_plain_regularizer(draw),
            kernel_constraint=draw.constraint,
            bias_initializer=draw.initializer,
        )
        memory = layers.Dense(draw.n(1, 6))(x) if draw.chance(0.3) else x
        key = {"key": layers.Dense(draw.n(1, 6))(x)} if draw.chance(0.2) else {}
        return layers.MultiHeadAttention(heads, width, **arguments)(x, memory, **key, **calls)
    if kind == 1:
        arguments = draw.some(use_bias=lambda: False, kernel_initializer=draw.initializer)
        return layers.GroupQueryAttention(width, heads * 2, heads, **arguments)(x, x, **calls)
    if kind == 4:
        return layers.PositionEmbedding(x.shape[1])(x) + x if hasattr(layers, "PositionEmbedding") else x
    if kind == 2:
        query = layers.Dense(x.shape[-1], activation="tanh")(x)
        return layers.Attention(**draw.some(use_scale=lambda: True, score_mode=lambda: "concat"))(
            [query, x], use_causal_mask=causal
        )
    query = layers.Dense(x.shape[-1], activation="tanh")(x)
    return layers.AdditiveAttention(use_scale=draw.chance(0.5))([query, x], use_causal_mask=causal)


def steps_1d(draw, x):
    steps = x.shape[1]
    return draw.of(
        lambda: layers.MaxPooling1D(draw.n(1, min(3, steps)), strides=draw.of(None, 1, 2), padding=padding(draw))(x),
        lambda: layers.AveragePooling1D(draw.n(1, min(3, steps)), strides=draw.of(None, 1, 2), padding=padding(draw))(
            x
        ),
        lambda: layers.UpSampling1D(draw.n(1, 2))(x),
        lambda: layers.ZeroPadding1D((draw.n(0, 2), draw.n(0, 2)))(x),
        lambda: layers.Cropping1D((0, 1) if steps > 1 else 0)(x),
        lambda: layers.Masking(mask_value=0.0)(ops.relu(x)),
        lambda: layers.AdaptiveAveragePooling1D(draw.n(1, steps))(x),
        lambda: layers.AdaptiveMaxPooling1D(draw.n(1, steps))(x),
        lambda: layers.Permute((2, 1))(x),
        lambda: ops.transpose(x, [0, 2, 1]),
        lambda: ops.matmul(x, ops.swapaxes(x, 1, 2)),
        lambda: ops.einsum("bij,bkj->bik", x, x),
        lambda: layers.Dot(axes=2, normalize=draw.chance(0.5))([x, x]),
        lambda: ops.moveaxis(x, 1, 2),
    )()


def leave_1d(draw, x):
    return draw.of(
        lambda: layers.GlobalAveragePooling1D()(x),
        lambda: layers.GlobalMaxPooling1D()(x),
        lambda: layers.GlobalAveragePooling1D(keepdims=True)(x)[:, 0],
        lambda: layers.GlobalMaxPooling1D(data_format="channels_first")(x),
        lambda: layers.Flatten()(x),
        lambda: ops.mean(x, axis=1),
        lambda: x[:, -1],
        lambda: x[:, 0],
        lambda: layers.Reshape((-1,))(x),
    )()


# ---- images


def areas_2d(draw, x):
    height, width = x.shape[1:3]
    pool = (draw.n(1, min(3, height)), draw.n(1, min(3, width)))
    return draw.of(
        lambda: layers.MaxPooling2D(pool, strides=draw.of(None, 1, 2), padding=padding(draw))(x),
        lambda: layers.AveragePooling2D(pool, strides=draw.of(None, 1, 2), padding=padding(draw))(x),
        lambda: layers.UpSampling2D(draw.n(1, 2), interpolation=draw.of("nearest", "bilinear"))(x),
        lambda: layers.ZeroPadding2D(((draw.n(0, 1), draw.n(0, 2)), (draw.n(0, 1), draw.n(0, 2))))(x),
        lambda: layers.Cropping2D(((0, int(height > 1)), (0, int(width > 1))))(x),
        lambda: layers.Permute((2, 1, 3))(x),
        lambda: layers.CenterCrop(max(1, height - 1), max(1, width - 1))(x),
        lambda: layers.Resizing(draw.n(1, 6), draw.n(1, 6), interpolation=draw.of("nearest", "bilinear"))(x),
        lambda: layers.AdaptiveAveragePooling2D((draw.n(1, height), draw.n(1, width)))(x),
        lambda: layers.AdaptiveMaxPooling2D((draw.n(1, height), draw.n(1, width)))(x),
        lambda: layers.MultiHeadAttention(draw.n(1, 2), draw.n(1, 3), attention_axes=draw.of(1, 2, (1, 2)))(x, x),
        lambda: layers.Dot(axes=(3, 3))([x, x]) if height * width < 30 else x,
    )()


def leave_2d(draw, x):
    return draw.of(
        lambda: layers.GlobalAveragePooling2D()(x),
        lambda: layers.GlobalMaxPooling2D()(x),
        lambda: layers.Flatten()(x),
        lambda: ops.mean(x, axis=[1, 2]),
        lambda: ops.max(x, axis=(1, 2)),
        lambda: layers.Reshape((-1, x.shape[-1]))(x),
    )()


# ---- volumes and vectors


def volume(draw, x):
    size = min(x.shape[1:4])
    return draw.of(
        lambda: layers.Conv3D(draw.n(1, 4), draw.n(1, min(2, size)), strides=draw.n(1, 2), padding=padding(draw))(x),
        lambda: layers.Conv3DTranspose(draw.n(1, 3), draw.n(1, 2), padding=padding(draw))(x),
        lambda: layers.MaxPooling3D(min(2, size), padding=padding(draw))(x),
        lambda: layers.AveragePooling3D(min(2, size), padding=padding(draw))(x),
        lambda: layers.UpSampling3D(2)(x),
        lambda: layers.ZeroPadding3D(1)(x),
    )()


def leave_3d(draw, x):
    return draw.of(
        lambda: layers.GlobalAveragePooling3D()(x),
        lambda: layers.GlobalMaxPooling3D()(x),
        lambda: layers.Reshape((x.shape[1], -1, x.shape[-1]))(x),
    )()


def widen(draw, x):
    return draw.of(
        lambda: layers.RepeatVector(draw.n(1, 3))(x),
        lambda: layers.Reshape((x.shape[1], 1))(x),
        lambda: ops.expand_dims(x, 1),
        lambda: ops.stack([x, ops.tanh(x)], axis=1),
    )()
