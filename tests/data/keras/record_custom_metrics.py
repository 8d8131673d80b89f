# Records the results of user-defined metrics in real Keras, under four policies.
# SPDX-License-Identifier: Apache-2.0
"""Usage: KERAS_BACKEND=jax python record_custom_metrics.py FOLDER

Writes FOLDER/custom_metrics.jsonl. A row with "metric" has the object as Keras saves it, the policy that is its dtype,
two batches of targets, predictions in the policy's compute dtype and, for some, weights, and the result after each
batch. A row with "evaluate" has the logs of a model of this policy, and of two epochs of fit(). Writes
FOLDER/archives/metrics_registered.keras and metrics_plain.keras: models compiled with such a class, and with an
unregistered class and an unregistered function. The rows with "archive" have their logs.
"""
import json
import os
import sys

import keras
import numpy as np
from keras import ops

random = np.random.default_rng(23)
policies = ["float32", "mixed_float16", "mixed_bfloat16", "bfloat16"]
register = keras.saving.register_keras_serializable("golden")


class Base(keras.metrics.Metric):
    def make(self, name, initializer="zeros", **kwargs):
        return self.add_variable(shape=kwargs.pop("shape", ()), initializer=initializer, name=name, **kwargs)


@register
class Specificity(Base):
    def __init__(self, threshold=0.5, name="specificity", **kwargs):
        super().__init__(name=name, **kwargs)
        self.threshold = threshold
        self.negatives, self.found = self.make("negatives"), self.make("found")

    def update_state(self, y_true, y_pred, sample_weight=None):
        negative = ops.equal(y_true, 0)
        below = ops.logical_and(negative, ops.less(y_pred, self.threshold))
        self.negatives.assign_add(ops.sum(ops.cast(negative, self.dtype)))
        self.found.assign_add(ops.sum(ops.cast(below, self.dtype)))

    def result(self):
        return ops.divide_no_nan(self.found, self.negatives)

    def get_config(self):
        return {**super().get_config(), "threshold": self.threshold}


@register
class Bias(Base):
    def __init__(self, name="bias", **kwargs):
        super().__init__(name=name, **kwargs)
        self.total, self.count = self.make("total"), self.make("count")

    def update_state(self, y_true, y_pred, sample_weight=None):
        p = ops.cast(y_pred, self.dtype)
        error = p - ops.cast(y_true, self.dtype)
        weight = ops.ones_like(p) if sample_weight is None else ops.cast(sample_weight, self.dtype)
        weight = weight if len(weight.shape) == len(p.shape) else ops.expand_dims(weight, -1)
        self.total.assign_add(ops.sum(error * weight))
        self.count.assign_add(ops.sum(ops.broadcast_to(weight, p.shape)))

    def result(self):
        return ops.divide_no_nan(self.total, self.count)


@register
class Largest(Base):
    def __init__(self, name="largest", **kwargs):
        super().__init__(name=name, **kwargs)
        self.largest = self.make("largest", keras.initializers.Constant(-4.0))

    def update_state(self, y_true, y_pred, sample_weight=None):
        self.largest.assign(ops.maximum(self.largest, ops.max(ops.cast(y_pred, self.dtype))))

    def reset_state(self):
        self.largest.assign(-4.0)

    def result(self):
        return self.largest * 2.0


@register
class Misses(Base):
    def __init__(self, name="misses", **kwargs):
        super().__init__(name=name, **kwargs)
        self.misses = self.make("misses", dtype="int32", shape=(2,))

    def update_state(self, y_true, y_pred, sample_weight=None):
        wrong = ops.not_equal(ops.greater(y_pred, 0.5), ops.equal(y_true, 1))
        over = ops.logical_and(wrong, ops.equal(y_true, 0))
        self.misses.assign_add(ops.stack([ops.sum(ops.cast(wrong, "int32")), ops.sum(ops.cast(over, "int32"))]))

    def result(self):
        return self.misses[0] - self.misses[1]


class Doubled(Bias):  # not registered
    def __init__(self, name="doubled", **kwargs):
        super().__init__(name=name, **kwargs)

    def result(self):
        return 2.0 * super().result()


def misplaced(y_true, y_pred):
    return ops.cast(ops.not_equal(ops.greater(y_pred, 0.5), ops.equal(y_true, 1)), "float32")


def listed(x):
    x = np.asarray(x)
    if x.ndim:
        return [listed(each) for each in x]
    return int(x) if x.dtype.kind in "iub" else float(f"{float(x):.9g}")


def batch(rows, dtype):
    true = (random.random((rows, 1)) < 0.4).astype("float32")
    return true, ops.cast(np.round(random.random((rows, 1)) * 64) / 64, dtype)


def metric_rows():
    for policy in policies:
        compute = keras.dtype_policies.get(policy).compute_dtype
        for kind, options in ((Specificity, {}), (Specificity, {"threshold": 0.75, "name": "strict"}), (Bias, {}),
                              (Largest, {}), (Misses, {})):
            metric = kind(dtype=policy, **options)
            row = {"metric": keras.saving.serialize_keras_object(metric), "policy": policy, "dtype": str(metric.dtype),
                   "batches": []}
            for rows in (24, 9):
                true, predicted = batch(rows, compute)
                weight = np.round(random.random(rows) * 4) / 4 if kind is Bias and rows == 9 else None
                metric.update_state(true, predicted, *([] if weight is None else [weight.astype("float32")]))
                row["batches"].append({"y_true": listed(true), "y_pred": listed(ops.cast(predicted, "float32")),
                                       "weight": None if weight is None else listed(weight),
                                       "result": listed(metric.result())})
            yield row


def model_rows():
    x = np.round(random.normal(size=(22, 3)) * 8) / 8
    y = (random.random((22, 1)) < 0.5).astype("float32")
    weight = np.round(random.random(22) * 4) / 4
    kernel, bias = np.round(random.normal(size=(3, 1)) * 8) / 8, np.array([0.125])
    for policy in policies:
        keras.config.set_dtype_policy(policy)
        model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1, activation="sigmoid")])
        model.set_weights([kernel, bias])
        model.compile("sgd", "mse", metrics=[Specificity(), Largest(), Misses(), Specificity(0.75, name="strict")],
                      weighted_metrics=[Bias()], jit_compile=False)
        logs = model.evaluate(x, y, sample_weight=weight, batch_size=8, verbose=0, return_dict=True)
        model.compile(keras.optimizers.SGD(0.25), "mse", metrics=[Specificity(), Largest(), Misses()], jit_compile=False,
                      auto_scale_loss=False)
        history = model.fit(x, y, batch_size=8, epochs=2, shuffle=False, verbose=0, validation_data=(x[:6], y[:6])).history
        yield {"evaluate": {k: listed(v) for k, v in logs.items()}, "policy": policy, "x": listed(x), "y": listed(y),
               "weight": listed(weight), "kernel": listed(kernel), "bias": listed(bias),
               "fit": {k: listed(v) for k, v in history.items()}}
    keras.config.set_dtype_policy("float32")


def archive_rows():
    x, y = np.round(random.normal(size=(9, 3)) * 8) / 8, (random.random((9, 1)) < 0.5).astype("float32")
    for name, given in (("metrics_registered", [Specificity(0.75, name="strict"), Specificity()]), ("metrics_plain", [Doubled(), misplaced])):
        model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1, activation="sigmoid", name="head")], name="net")
        model.set_weights([np.round(random.normal(size=(3, 1)) * 8) / 8, np.array([0.125])])
        model.compile("sgd", "mse", metrics=given, jit_compile=False)
        logs = model.evaluate(x, y, batch_size=4, verbose=0, return_dict=True)
        model.save(os.path.join(sys.argv[1], "archives", name + ".keras"))
        yield {"archive": name, "logs": {k: listed(v) for k, v in logs.items()}, "x": listed(x), "y": listed(y)}


with open(os.path.join(sys.argv[1], "custom_metrics.jsonl"), "w", encoding="utf-8") as file:
    for record in [*metric_rows(), *model_rows(), *archive_rows()]:
        print(json.dumps(record, separators=(",", ":")), file=file)
