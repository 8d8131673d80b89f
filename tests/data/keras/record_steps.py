# Records models with a custom compute_loss() that train a few steps in real Keras: record_steps.py > steps.jsonl
# SPDX-License-Identifier: Apache-2.0
"""Each line is a small variational autoencoder under a policy. Its compute_loss() needs neither targets nor a loss of
compile(), and its noise is an input. The line has the weights before, the batches, and Keras's results (JAX): the loss
and the scale of each step, and the weights after the last one. Under mixed_float16 one batch overflows. A weight has a
penalty, which such a loss omits.
"""
import json
import os

os.environ["KERAS_BACKEND"] = "jax"
import keras
import numpy as np
from keras import layers, ops

STEPS, BATCH, SPIKE = 5, 8, 2


class VAE(keras.Model):
    def __init__(self):
        super().__init__(name="vae")
        self.hidden = layers.Dense(6, activation="tanh", kernel_regularizer=keras.regularizers.L2(0.5), name="hidden")
        self.mean = layers.Dense(2, name="mean")
        self.log_var = layers.Dense(2, name="log_var")
        self.back = layers.Dense(6, activation="tanh", name="back")
        self.image = layers.Dense(8, name="image")

    def encode(self, image):
        h = self.hidden(image)
        return self.mean(h), self.log_var(h)

    def decode(self, z):
        return self.image(self.back(z))

    def call(self, x):
        mean, log_var = self.encode(x[0])
        return self.decode(mean + ops.exp(0.5 * log_var) * x[1])

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        mean, log_var = self.encode(x[0])
        image = self.decode(mean + ops.exp(0.5 * log_var) * x[1])
        reconstruction = ops.mean(ops.sum(ops.square(x[0] - image), axis=1))
        kl = -0.5 * (1 + log_var - ops.square(mean) - ops.exp(log_var))
        return reconstruction + ops.mean(ops.sum(kl, axis=1))


def numbers(x):
    return [float(f"{v:.9g}") for v in np.asarray(ops.cast(x, "float32")).ravel()]


def record(policy):
    keras.config.set_dtype_policy(policy)
    values = np.random.default_rng(7)
    model = VAE()
    xs = [[values.standard_normal((BATCH, 8)).astype("float32"), values.standard_normal((BATCH, 2)).astype("float32")] for _ in range(STEPS)]
    if policy == "mixed_float16":
        xs[SPIKE][0] *= 30
    model(xs[0])
    for w in model.weights:
        w.assign(values.standard_normal(w.shape) * 0.3)
    before = [{"path": w.path, "shape": list(w.shape), "value": numbers(w.value)} for w in model.weights]
    model.compile(keras.optimizers.SGD(0.05, momentum=0.9))
    steps = []
    for x in xs:
        loss = float(model.train_on_batch(x))
        scaled = isinstance(model.optimizer, keras.optimizers.LossScaleOptimizer)
        steps.append({"x": [numbers(each) for each in x], "loss": loss,
                      "scale": float(np.asarray(model.optimizer.dynamic_scale)) if scaled else None})
    test = float(model.test_on_batch(xs[0]))
    return {"policy": policy, "batch": BATCH, "weights": before, "steps": steps, "test": test,
            "iterations": int(np.asarray(model.optimizer.iterations)), "after": [numbers(w.value) for w in model.weights]}


for policy in ["float32", "mixed_bfloat16", "mixed_float16", "float16"]:
    print(json.dumps(record(policy)))
