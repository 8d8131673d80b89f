# Makes .keras files with GPTQ and AWQ kernels by real Keras, and records Keras's predictions.
# SPDX-License-Identifier: Apache-2.0
"""Usage: KERAS_BACKEND=jax python make_calibrated.py FOLDER

Writes FOLDER/<name>.keras for each mode below and FOLDER/predictions.jsonl: `file`, `x`, `output`. The integers,
scales, zero points and groups are random instead of calibrated. Keras 3.15.1 omits the zero points from its files,
which it then cannot read; the files here have them. The nightly builds of Keras 3.16 lay out the variables differently:
run with one of these, the script writes FOLDER/nightly_<name>.keras, and appends to FOLDER/predictions.jsonl.
"""
import json
import os
import sys

import keras
import numpy as np
from keras import layers, quantizers

rng = np.random.default_rng(18)
NIGHTLY = "dev" in keras.__version__


def calibrate(layer, mode, bits):
    layer.quantize(mode, config=getattr(quantizers, f"{mode.upper()}Config")(
        dataset=None, tokenizer=None, weight_bits=bits, group_size=4))
    packed = layer.quantized_kernel
    packed.assign(rng.integers(0, 256 if NIGHTLY or bits in (4, 8) else 2 ** bits, packed.shape))
    layer.kernel_scale.assign(rng.uniform(0.01, 0.1, layer.kernel_scale.shape))
    layer.kernel_zero.assign(rng.integers(0, 2 ** bits, layer.kernel_zero.shape))
    layer.g_idx.assign(rng.integers(0, layer.kernel_scale.shape[0 if NIGHTLY else 1], layer.g_idx.shape))
    if mode == "awq":
        layer.awq_scales.assign(rng.uniform(0.5, 2.0, layer.awq_scales.shape))
    if NIGHTLY:
        del layer._kernel
        layer.calibration_pending = False
    else:
        setattr(layer, f"is_{mode}_calibrated", True)
        layer._get_kernel_with_merged_lora = lambda: (None, None, layer.kernel_zero)


def main(folder):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "predictions.jsonl"), "a" if NIGHTLY else "w") as file:
        for mode, bits in [("gptq", 4), ("gptq", 2), ("gptq", 8), ("awq", 4)]:
            keras.utils.set_random_seed(bits)
            model = keras.Sequential([
                layers.Input((3, 6)), layers.Dense(7, activation="relu", name="hidden"),
                layers.EinsumDense("abc,cde->abde", (None, 2, 3), bias_axes="de", name="heads"),
                layers.EinsumDense("abcd,cde->abe", (None, 6), name="back"), layers.Dense(2, name="out")])
            for layer in model.layers[:3]:
                calibrate(layer, mode, bits)
            x = rng.normal(size=(2, 3, 6)).astype("float32")
            name = f"{'nightly_' if NIGHTLY else ''}{mode}{bits}.keras"
            model.save(os.path.join(folder, name))
            again = keras.saving.load_model(os.path.join(folder, name))
            assert np.array_equal(model.predict(x, verbose=0), again.predict(x, verbose=0))
            file.write(json.dumps(dict(file=name, x=x.tolist(), output=model.predict(x, verbose=0).tolist())) + "\n")


main(sys.argv[1])
