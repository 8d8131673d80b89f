# Records the configs of layers, and weights trained under constraints, from real Keras.
# SPDX-License-Identifier: Apache-2.0
"""Usage: KERAS_BACKEND=jax python record_layers.py FOLDER

Writes FOLDER/layer_configs.jsonl: unbuilt layers, as keras.saving.serialize_keras_object returns them. Writes
FOLDER/constraints.jsonl: for each constraint its config, weights and their projections; for each optimizer the kernel
after each of several updates under a constraint; for each setting of ReLU its values and slopes.
"""
import itertools
import json
import os
import sys

import jax
import keras
import numpy as np
from keras import constraints, initializers, layers, optimizers, regularizers

saved = keras.saving.serialize_keras_object


def listed(x):
    """Null for NaN, which JSON lacks."""
    return [None if np.isnan(v) else v for v in np.asarray(x, "float64").reshape(-1).tolist()]


def images():
    first = dict(data_format="channels_first")
    return [
        layers.ZeroPadding1D(), layers.ZeroPadding1D((1, 2), **first), layers.ZeroPadding2D(), layers.ZeroPadding2D((1, 2)),
        layers.ZeroPadding2D(((1, 2), (0, 3)), name="p"), layers.ZeroPadding3D(2, **first), layers.Cropping1D(),
        layers.Cropping1D(2), layers.Cropping2D(), layers.Cropping2D(((1, 2), (0, 3)), **first), layers.Cropping3D(),
        layers.Permute((2, 1)), layers.Permute((3, 1, 2), dtype="float16"), layers.RepeatVector(3), layers.UpSampling1D(),
        layers.UpSampling1D(3), layers.UpSampling2D(), layers.UpSampling2D((2, 3), **first, interpolation="bilinear"),
        layers.UpSampling3D(), layers.UpSampling3D((1, 2, 3), **first), layers.Resizing(4, 5),
        layers.Resizing(4, 5, "lanczos3", pad_to_aspect_ratio=True, fill_value=0.5, antialias=True, **first),
        layers.CenterCrop(2, 3), layers.CenterCrop(2, 3, **first, dtype="bfloat16"), layers.RandomFlip(),
        layers.RandomFlip("vertical", seed=3), layers.RandomTranslation(0.25, (-0.125, 0.5)),
        layers.RandomTranslation((-0.5, 0.5), 0.25, fill_mode="constant", interpolation="nearest", seed=4, fill_value=2.0),
        layers.Normalization(), layers.Normalization(axis=None, mean=3.0, variance=2.0, invert=True),
        layers.Normalization(axis=(1, -1), mean=[[1.0, 2.0], [3.0, 4.0]], variance=[[1.0, 0.5], [0.25, 4.0]]),
        layers.SpatialDropout1D(0.5), layers.SpatialDropout1D(0.25, seed=3), layers.SpatialDropout2D(0.5, "channels_first"),
        layers.SpatialDropout3D(0.0), layers.GlobalMaxPooling1D(), layers.GlobalMaxPooling2D(keepdims=True),
        layers.GlobalMaxPooling3D(**first), layers.GlobalAveragePooling1D(**first), layers.GlobalAveragePooling2D(),
        layers.GlobalAveragePooling3D(keepdims=True, dtype="mixed_float16"),
    ]


def windows():
    first = dict(data_format="channels_first")
    kernel = dict(kernel_initializer="he_normal", bias_initializer=initializers.Constant(0.5), kernel_regularizer="l2",
                  bias_regularizer=regularizers.L1(0.25), kernel_constraint=constraints.MaxNorm(2.0, axis=[0, 1, 2]),
                  bias_constraint="non_neg")
    depthwise = dict(depthwise_initializer="he_uniform", depthwise_regularizer="l1", depthwise_constraint="non_neg")
    return [
        layers.Conv1D(2, 3), layers.Conv1D(4, 5, padding="causal", dilation_rate=2, groups=2, name="c"), layers.Conv2D(3, 3),
        layers.Conv2D(4, (3, 5), strides=(2, 1), padding="same", **first, activation="relu", dtype="mixed_float16", **kernel),
        layers.Conv2D(2, 1, use_bias=False, activity_regularizer="l2", trainable=False), layers.Conv3D(6, (1, 2, 3), groups=3),
        layers.Conv1DTranspose(3, 4, strides=2, output_padding=1), layers.Conv2DTranspose(3, 3, padding="same", **kernel),
        layers.Conv2DTranspose(3, (2, 3), strides=(3, 2), output_padding=(2, 0)), layers.Conv3DTranspose(2, 2, **first),
        layers.DepthwiseConv1D(3), layers.DepthwiseConv2D((3, 1), 2, "same", 4, activation="gelu", **depthwise),
        layers.SeparableConv1D(4, 3, dilation_rate=2), layers.SeparableConv2D(
            4, (2, 3), depth_multiplier=2, pointwise_initializer="ones", pointwise_regularizer="l2", **first, **depthwise),
        layers.MaxPooling1D(), layers.MaxPooling2D(3, 2, "same"), layers.MaxPooling3D((1, 2, 3), **first),
        layers.AveragePooling1D(4, strides=1), layers.AveragePooling2D((2, 3)), layers.AveragePooling3D(2, dtype="bfloat16"),
    ]


def merges():
    return [layers.Subtract(), layers.Average(name="mean"), layers.Maximum(dtype="mixed_float16"), layers.Minimum(),
            layers.Dot(1), layers.Dot((2, -1), normalize=True, activity_regularizer="l2")]


def activations():
    return [layers.LeakyReLU(), layers.LeakyReLU(0.5, name="leak"), layers.PReLU(), layers.PReLU(
        initializers.Constant(0.25), regularizers.L1(0.5), "non_neg", shared_axes=[1, 2]), layers.PReLU(shared_axes=1),
            layers.ELU(), layers.ELU(0.5, dtype="bfloat16")]


def plain():
    return [layers.Identity(), layers.Identity(name="same", dtype="mixed_float16"), layers.ActivityRegularization(),
            layers.ActivityRegularization(0.25, 0.5, trainable=False), layers.GaussianDropout(0.25), layers.GaussianDropout(
                0.5, seed=3, dtype="bfloat16"), layers.AlphaDropout(0.25), layers.AlphaDropout(
                    0.5, noise_shape=(None, 1), seed=4), layers.AdaptiveAveragePooling1D(3), layers.AdaptiveMaxPooling1D(
                        (4,), data_format="channels_first"), layers.AdaptiveAveragePooling2D(2), layers.AdaptiveMaxPooling2D(
                            (3, 2)), layers.AdaptiveAveragePooling3D((1, 2, 3)), layers.AdaptiveMaxPooling3D(
                                2, activity_regularizer="l2", data_format="channels_first")]


def recurrent():
    cell = dict(kernel_initializer="he_normal", recurrent_initializer=initializers.Orthogonal(0.5, seed=3),
                bias_initializer=initializers.Constant(0.5), kernel_regularizer="l2", recurrent_regularizer="l1",
                bias_regularizer=regularizers.L1(0.25), kernel_constraint=constraints.MaxNorm(2.0),
                recurrent_constraint="non_neg", bias_constraint="unit_norm", dropout=0.25, recurrent_dropout=1.5)
    run = dict(return_sequences=True, return_state=True, go_backwards=True, stateful=True, unroll=True, zero_output_for_mask=True)
    every = []
    for name in ["SimpleRNN", "LSTM", "GRU"]:
        made, part = getattr(layers, name), getattr(layers, name + "Cell")
        gates = {} if name == "SimpleRNN" else {"recurrent_activation": "hard_sigmoid", "seed": 7}
        every += [part(3), part(2, "relu", use_bias=False, name="c", dtype="bfloat16", **gates, **cell), made(3),
                  made(2, "relu", use_bias=False, name="r", trainable=False, dtype="mixed_float16", **gates, **cell, **run)]
    return every + [
        layers.LSTM(4, unit_forget_bias=False, activity_regularizer="l2"), layers.GRU(4, reset_after=False), layers.GRUCell(1, reset_after=False),
        layers.RNN(layers.LSTMCell(3)), layers.RNN([layers.GRUCell(2), layers.SimpleRNNCell(1, seed=5)], name="stack", **run),
        layers.StackedRNNCells([layers.LSTMCell(2), layers.LSTMCell(3)], dtype="mixed_bfloat16"),
        layers.Bidirectional(layers.LSTM(2, name="a")), layers.Bidirectional(layers.GRU(2, return_sequences=True), merge_mode=None, name="b"),
        layers.Bidirectional(layers.GRU(2), "ave", backward_layer=layers.LSTM(2, go_backwards=True), dtype="float16"),
        layers.TimeDistributed(layers.Dense(2, "relu")), layers.TimeDistributed(layers.Conv1D(2, 3), name="t", trainable=False),
        layers.ConvLSTM1D(2, 3), layers.ConvLSTM2D(2, (2, 3), strides=(1, 2), padding="same", data_format="channels_first", dtype="float16", **cell),
        layers.ConvLSTM2D(2, 3, dilation_rate=2, recurrent_activation="tanh", unit_forget_bias=False, activity_regularizer="l1", seed=2,
                          return_sequences=True, return_state=True, go_backwards=True, stateful=True), layers.ConvLSTM3D(1, 2)]


def augmentation():
    first = dict(data_format="channels_first")
    return [
        layers.RandomRotation(0.25), layers.RandomRotation((-0.5, 0.125), "constant", "nearest", seed=4, fill_value=2.0, **first),
        layers.RandomZoom(0.5), layers.RandomZoom((-0.5, 0.25), 0.125, fill_mode="wrap", seed=3, dtype="mixed_float16"),
        layers.RandomShear((0.25, 0.5), (0.0, 1.0)), layers.RandomShear((0.25, 0.5), (0.125, 0.25), "nearest", "nearest", fill_value=0.5, seed=1, **first),
        layers.RandomContrast(0.25), layers.RandomContrast((0.125, 0.5), value_range=(0, 1), seed=7, **first),
        layers.RandomBrightness(0.25), layers.RandomBrightness((-0.5, 0.125), value_range=(1, 0), dtype="bfloat16"),
        layers.RandomCrop(2, 3, seed=5), layers.RandomCrop(4, 4, seed=0, name="c", **first),
        layers.MixUp(), layers.MixUp(0.5, "channels_first", seed=2), layers.CutMix(), layers.CutMix((0.25, 0.5), seed=3),
        layers.SpectralNormalization(layers.Dense(3, name="d")),
        layers.SpectralNormalization(layers.Conv2D(2, 3, name="k"), power_iterations=3, name="s", dtype="mixed_float16"),
    ]


def configs():
    kernel = dict(kernel_initializer=initializers.HeNormal(seed=3), kernel_regularizer=regularizers.L1L2(0.25, 0.5),
                  kernel_constraint=constraints.MaxNorm(1.5, axis=[0, 1]), bias_constraint="non_neg")
    affine = dict(beta_initializer=initializers.Constant(0.5), gamma_initializer=initializers.TruncatedNormal(1.0, 0.25),
                  beta_regularizer="l1", gamma_regularizer=regularizers.L2(0.125), beta_constraint="unit_norm",
                  gamma_constraint=constraints.MinMaxNorm(0.5, 2.0, 0.75, axis=0))
    return [
        layers.Dense(3), layers.Dense(4, "gelu", use_bias=False, name="d", trainable=False, dtype="mixed_float16"),
        layers.Dense(5, activation="swish", activity_regularizer=regularizers.L2(0.5), dtype="bfloat16", **kernel),
        layers.Dense(2, kernel_initializer="lecun_uniform", bias_initializer=initializers.RandomNormal(0.5, 2.0, seed=9),
                     bias_regularizer=regularizers.L1(0.75)),
        layers.Embedding(7, 3), layers.Embedding(9, 2, embeddings_initializer=initializers.RandomUniform(-1.0, 1.0),
                                                 embeddings_regularizer="l2", embeddings_constraint="max_norm",
                                                 activity_regularizer="l1"),
        layers.LayerNormalization(), layers.LayerNormalization(axis=[1, 2], epsilon=0.5, center=False, **affine),
        layers.LayerNormalization(rms_scaling=True, dtype="float64"),
        layers.GroupNormalization(), layers.GroupNormalization(groups=-1, axis=1, scale=False, **affine),
        layers.BatchNormalization(), layers.BatchNormalization(
            axis=1, momentum=0.5, epsilon=0.25, scale=False, moving_mean_initializer="ones",
            moving_variance_initializer=initializers.Constant(4.0), **affine),
        layers.RMSNormalization(), layers.RMSNormalization(axis=[1, 2], epsilon=0.5), layers.UnitNormalization(),
        layers.UnitNormalization(axis=[1, 2], dtype="mixed_bfloat16"),
        layers.Dropout(0.25), layers.Dropout(0.5, noise_shape=(None, 1, 3), seed=11), layers.GaussianNoise(0.5, seed=2),
        layers.Activation("relu"), layers.Activation("linear"), layers.Activation("log_softmax", dtype="float16"),
        layers.ReLU(), layers.ReLU(6.0, 0.25, 0.5), layers.Softmax(), layers.Softmax(axis=[1, 2]), layers.Flatten(),
        layers.Flatten(data_format="channels_first"), layers.Reshape((2, 3)), layers.Reshape((-1, 4)),
        layers.Rescaling(0.5), layers.Rescaling(0.25, offset=-1.0, dtype="float64"), layers.Add(), layers.Multiply(),
        layers.Concatenate(), layers.Concatenate(axis=1, name="joined"),
        layers.InputLayer((4, None), batch_size=8, dtype="int32", name="tokens"), layers.InputLayer((3,)),
    ] + images() + windows() + merges() + activations() + plain() + recurrent() + augmentation()


def projections(random):
    every = [constraints.MaxNorm(), constraints.MaxNorm(0.5, axis=1), constraints.MaxNorm(1.0, axis=[0, 1]),
             constraints.NonNeg(), constraints.UnitNorm(), constraints.UnitNorm(axis=-1), constraints.MinMaxNorm(),
             constraints.MinMaxNorm(0.5, 0.75, 0.5, axis=1), constraints.MinMaxNorm(1.0, 2.0)]
    for constraint, dtype in itertools.product(every, ["float32", "float16", "bfloat16"]):
        weight = random.normal(size=(4, 3))
        weight[:, 1] = 0.0
        weight = keras.ops.cast(weight, dtype)
        yield {"kind": "projection", "constraint": saved(constraint), "dtype": dtype, "weight": listed(weight),
               "result": listed(constraint(weight))}


def updates(random):
    shared = [{}, {"use_ema": True, "ema_momentum": 0.5, "ema_overwrite_frequency": 2}, {"gradient_accumulation_steps": 2}]
    for (name, constraint), args in itertools.product(
            itertools.product(["SGD", "Adam", "RMSprop"], [constraints.MaxNorm(0.75), constraints.NonNeg(),
                                                           constraints.MinMaxNorm(0.5, 0.75, 0.5, axis=1)]), shared):
        optimizer = getattr(optimizers, name)(0.125, **args)
        variable = keras.Variable(random.normal(size=(3, 2)).astype("float32"))
        variable.constraint = constraint
        gradients = random.normal(size=(5, 3, 2)).astype("float32")
        row = {"kind": "updates", "optimizer": saved(optimizer), "constraint": saved(constraint),
               "weight": listed(variable), "gradients": [listed(g) for g in gradients], "after": []}
        for gradient in gradients:
            optimizer.apply([gradient], [variable])
            row["after"].append(listed(variable))
        yield row


def relus():
    x = np.array([-7, -2.5, -0.5, -0.0, 0.0, 0.25, 1, 1.5, 3.5, 6, 8.5, np.inf, -np.inf, np.nan], "float32")
    for most, slope, threshold in itertools.product([None, 0.0, 1.5, 6.0], [0.0, 0.25], [0.0, 1.0]):
        layer = layers.ReLU(most, slope, threshold)
        slopes = jax.vmap(jax.grad(lambda v: layer(v[None])[0]))(x)
        texts = lambda values: [str(float(v)) for v in values]
        yield {"kind": "relu", "layer": saved(layer), "x": texts(x), "y": texts(layer(x)), "slopes": texts(slopes)}


def main():
    random = np.random.default_rng(7)
    with open(os.path.join(sys.argv[1], "layer_configs.jsonl"), "w", encoding="utf-8") as file:
        for layer in configs():
            print(json.dumps(saved(layer), separators=(",", ":")), file=file)
    with open(os.path.join(sys.argv[1], "constraints.jsonl"), "w", encoding="utf-8") as file:
        for row in itertools.chain(projections(random), updates(random), relus()):
            print(json.dumps(row, separators=(",", ":")), file=file)


main()
