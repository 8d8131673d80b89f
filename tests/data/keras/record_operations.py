#!/usr/bin/env python3
# Records models with one operation between layers: the configs that Keras writes to files, inputs and predictions.
# SPDX-License-Identifier: Apache-2.0
"""Usage: KERAS_BACKEND=jax record_operations.py > operations.jsonl

Each line: `config` as in the config.json of a .keras file, the input `x` with its `shape`, and for each output its
`shape` and numbers, `y`. The operations are those with windows, normalizations, pads, attention, gathers and updates,
linear algebra and Fourier transforms, and those with constant arrays.
"""

import json

import keras
import numpy as np
from keras import layers, ops

random = np.random.default_rng(20)


def array(*shape):
    return np.round(random.standard_normal(shape), 2).astype("float32")


def integers(values):
    return np.array(values, "int32")


def image(f, shape=(5, 4, 2)):
    return shape, f


def gram(x):
    return ops.matmul(x, ops.swapaxes(x, -1, -2)) + np.eye(x.shape[-2], dtype="float32")


def float32(case):
    return (*case, "float32")


CASES = [
    image(lambda x: ops.conv(x, array(3, 2, 2, 3), strides=(1, 2), padding="SAME")),
    image(lambda x: ops.conv(x, array(2, 2, 2, 4), padding="valid", dilation_rate=2)),
    image(lambda x: ops.conv(x, array(2, 2, 5, 2), data_format="channels_first")),
    image(lambda x: ops.conv(x, array(3, 2, 4), 2, "same"), (6, 2)),
    image(lambda x: ops.depthwise_conv(x, array(2, 2, 2, 2), strides=2, padding="same")),
    image(lambda x: ops.separable_conv(x, array(2, 3, 2, 2), array(1, 1, 4, 3), padding="same")),
    image(lambda x: ops.max_pool(x, 2, 2)),
    image(lambda x: ops.max_pool(x, (3, 2), strides=1, padding="SAME")),
    image(lambda x: ops.max_pool(x, 2, strides=2, data_format="channels_first"), (3, 6)),
    image(lambda x: ops.average_pool(x, (2, 3), strides=(1, 2), padding="same")),
    image(lambda x: ops.average_pool(x, 2, 2), (6, 2)),
    image(lambda x: ops.pad(x, 1), (3, 2)),
    image(lambda x: ops.pad(x, (1, 2)), (3, 2)),
    image(lambda x: ops.pad(x, ((0, 0), (2, 0), (1, 3)), constant_values=1.5), (3, 2)),
    image(lambda x: ops.pad(x, ((0, 0), (2, 1), (5, 4)), mode="reflect"), (3, 3)),
    image(lambda x: ops.pad(x, ((0, 0), (2, 1), (5, 7)), mode="symmetric"), (3, 3)),
    image(lambda x: ops.pad(x, ((0, 0), (2, 1), (0, 3)), mode="edge"), (3, 2)),
    image(lambda x: ops.pad(x, ((0, 0), (2, 5), (1, 0)), mode="wrap"), (3, 2)),
    image(lambda x: ops.pad(x, ((0, 0), (1, 2)), mode="reflect"), (1,)),
    image(lambda x: ops.normalize(x)),
    image(lambda x: ops.normalize(x, axis=(1, 2), epsilon=0.01)),
    image(lambda x: ops.normalize(x, axis=1, order=1)),
    image(lambda x: ops.normalize(x, axis=-1, order=3)),
    image(lambda x: ops.batch_normalization(x, array(2), np.abs(array(2)) + 0.5, -1)),
    image(lambda x: ops.batch_normalization(x, array(5), np.abs(array(5)) + 0.5, 1, array(5), array(5), 0.1)),
    image(lambda x: ops.layer_normalization(x), (3, 6)),
    image(lambda x: ops.layer_normalization(x, array(2), array(2), epsilon=0.01)),
    image(lambda x: ops.layer_normalization(x, array(5, 2), None, axis=(1, -1), epsilon=0.01)),
    image(lambda x: ops.layer_normalization(x, array(2), axis=-1, rms_scaling=True, epsilon=0.01)),
    image(lambda x: ops.rms_normalization(x)),
    image(lambda x: ops.rms_normalization(x, array(2), axis=(2, 3), epsilon=0.01)),
    image(lambda x: list(ops.moments(x, axes=[1, 2]))),
    image(lambda x: list(ops.moments(x, axes=[-1], keepdims=True))),
    image(lambda x: ops.dot_product_attention(x, x, x)),
    image(lambda x: ops.dot_product_attention(x, x, x, bias=array(4, 5, 5), scale=0.3, is_causal=True)),
    image(lambda x: ops.dot_product_attention(x, x, x, mask=array(5, 5) > -0.5)),
    image(lambda x: x + array(4, 2)),
    image(lambda x: ops.subtract(array(2), x)),
    image(lambda x: ops.matmul(x, ops.convert_to_tensor(array(2, 3)))),
    image(lambda x: ops.where(array(4, 2) > 0, x, -x)),
    image(lambda x: ops.take(x, np.array([3, 0, 0], "int32"), axis=2)),
    image(lambda x: ops.matmul(x, array(70, 3)), (2, 70)),
    image(lambda x: ops.take_along_axis(x, integers([[[[1, -1, 0]]]]), axis=-1), (3, 2, 2)),
    image(lambda x: ops.take_along_axis(x, ops.argmax(x, axis=1, keepdims=True), axis=1), (4, 3)),
    image(lambda x: ops.slice(x, (0, 1, 0), (2, 2, 2)), (4, 3)),
    image(lambda x: ops.slice(x, integers([0, 3, -2]), (2, 2, 2)), (4, 3)),
    image(lambda x: ops.slice(x, (0, ops.size(x) - 23, 1), (2, 2, 2)), (4, 3)),
    image(lambda x: ops.slice_update(x, (0, 5, -2), array(2, 2, 2)), (4, 3)),
    image(lambda x: ops.slice_update(x, integers([0, 1, 1]), ops.slice(x, [0, 0, 0], [2, 2, 2])), (4, 3)),
    image(lambda x: ops.scatter_update(x, integers([[1, 0], [1, -1], [7, 0]]), array(3, 3)), (4, 3)),
    image(lambda x: ops.scatter_update(x, integers([[1, 0], [1, 0]]), array(2, 3), reduction="max"), (4, 3)),
    image(lambda x: ops.scatter(integers([[3], [3]]), x, (4, 2, 3)), (2, 3)),
    image(lambda x: ops.segment_sum(x, integers([1, 1]), num_segments=3), (2, 3)),
    image(lambda x: ops.segment_max(x, integers([1, 0]), 2, sorted=False), (2, 3)),
    image(lambda x: ops.searchsorted(np.sort(array(70)), x, side="right"), (4,)),
    image(lambda x: ops.diagonal(x, 1, 1, 2), (3, 4, 2)),
    image(lambda x: list(ops.meshgrid(x, x, indexing="ij")), ()),
    image(lambda x: ops.cumprod(x, axis=1), (4, 2)),
    image(lambda x: ops.cumsum(x, axis=-1), (4, 2)),
    image(lambda x: ops.erfinv(x * 0.25), (4, 2)),
    image(lambda x: ops.copy(x), (4, 2)),
    image(lambda x: ops.image.resize(x, (3, 7))),
    image(lambda x: ops.image.resize(x, (4, 3), interpolation="bicubic", antialias=True, crop_to_aspect_ratio=True), (9, 5, 2)),
    image(lambda x: ops.image.resize(x, (4, 4), interpolation="nearest", pad_to_aspect_ratio=True, fill_value=0.5, data_format="channels_first"), (2, 3, 7)),
    *map(float32, [
        image(lambda x: ops.cholesky(gram(x)), (3, 3)),
        image(lambda x: ops.cholesky(gram(x), upper=True), (2, 3, 3)),
        image(lambda x: [ops.det(x), ops.inv(gram(x)), ops.logdet(gram(x)), *ops.slogdet(x)], (3, 3)),
        image(lambda x: ops.eigh(gram(x))[0], (4, 4)),
        image(lambda x: list(ops.lu_factor(x)), (4, 4)),
        image(lambda x: [*ops.qr(x), *ops.qr(x, mode="complete")], (4, 3)),
        image(lambda x: ops.solve(gram(x), x), (3, 3)),
        image(lambda x: ops.solve_triangular(ops.cholesky(gram(x)), x, lower=True), (3, 3)),
        image(lambda x: [ops.svd(x, compute_uv=False), ops.matrix_rank(x), ops.matrix_rank(x, tol=1.0)], (4, 3)),
        image(lambda x: [ops.pinv(x), ops.pinv(x, rcond=0.5)], (4, 3)),
        image(lambda x: [ops.norm(x, axis=(1, 2)), ops.norm(x, ord="nuc", axis=(1, 2)), ops.norm(x, ord=1, axis=(2, 1), keepdims=True)], (4, 3)),
        image(lambda x: list(ops.fft((x, 2 * x))), (3, 5)),
        image(lambda x: [*ops.fft2((x, 2 * x)), *ops.ifft2((x, x))], (3, 4)),
        image(lambda x: [*ops.rfft(x), ops.irfft(ops.rfft(x, fft_length=8), fft_length=6), ops.irfft((x, x))], (3, 5)),
        image(lambda x: ops.extract_sequences(x, 3, 2), (9,)),
        image(lambda x: list(ops.stft(x, 3, 2, 4)), (9,)),
        image(lambda x: list(ops.stft(x, 4, 1, 4, window=None, center=False)), (9,)),
        image(lambda x: ops.istft(ops.stft(x, 4, 1, 4, window="hamming"), 4, 1, 4, length=9, window="hamming"), (9,)),
    ]),
    *map(float32, [
        image(lambda x: ops.image.affine_transform(x, np.array([[0.9, 0.2, 0.3, -0.1, 1.1, 0.7, 0, 0]] * 2, "float32"), fill_mode="reflect")),
        image(lambda x: ops.image.affine_transform(x, np.array([[1.2, 0.1, 0.3, -0.4, 0.8, 0.6, 0, 0]] * 2, "float32"), "nearest", fill_value=0.5, data_format="channels_first")),
        image(lambda x: ops.image.perspective_transform(x, np.array([[[0, 0], [3, 0.5], [0, 4], [3, 4]]] * 2, "float32"), np.array([[[0.5, 0], [3, 0], [0, 4], [2.5, 4]]] * 2, "float32"), fill_value=1.0)),
        image(lambda x: ops.image.map_coordinates(x, np.abs(array(4, 3, 2)), 1, fill_mode="mirror")),
        image(lambda x: ops.image.map_coordinates(x, array(4, 3), 0, fill_value=2)),
        image(lambda x: ops.image.extract_patches(x, 2)),
        image(lambda x: ops.image.extract_patches(x, (2, 3), strides=1, padding="same")),
        image(lambda x: ops.image.extract_patches_3d(x, 2, strides=(1, 2, 1), data_format="channels_first"), (2, 3, 4, 3)),
        image(lambda x: ops.image.crop_images(x, top_cropping=1, bottom_cropping=2, left_cropping=1, target_width=2)),
        image(lambda x: ops.image.pad_images(x, top_padding=1, target_height=9, left_padding=0, right_padding=2, data_format="channels_first"), (2, 3, 4)),
        image(lambda x: ops.image.rgb_to_grayscale(x), (3, 2, 3)),
    ]),
]


def main():
    for number, (shape, f, *only) in enumerate(CASES):
        for dtype in only or ("float32", "bfloat16", "float16")[: 3 if number % 3 == 0 else 1]:
            if dtype == "float16" and "dot_product_attention" in f.__code__.co_names:
                continue  # JAX has no such product on the CPU
            keras.utils.clear_session()
            symbol = layers.Input(shape, dtype="float32")
            model = keras.Model(symbol, f(ops.cast(symbol, dtype) if dtype != "float32" else symbol))
            x = array(2, *shape)
            found = model.predict(x, verbose=0)
            found = [np.asarray(each, "float64") for each in (found if isinstance(found, list) else [found])]
            row = {
                "dtype": dtype,
                "config": json.loads(model.to_json()),
                "shape": list(x.shape),
                "x": x.ravel().tolist(),
                "y": [{"shape": list(each.shape), "y": each.ravel().tolist()} for each in found],
            }
            rounded = json.loads(json.dumps(row), parse_float=lambda text: float(f"{float(text):.9g}"))
            print(json.dumps(rounded, separators=(",", ":")))


if __name__ == "__main__":
    main()
