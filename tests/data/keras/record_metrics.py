# Records the results of metrics, and the values and gradients of losses, from real Keras.
# SPDX-License-Identifier: Apache-2.0
"""Usage: KERAS_BACKEND=jax python record_metrics.py FOLDER

Writes FOLDER/metrics.jsonl: for each metric its object as Keras saves it, two batches of targets, predictions and, for
some, weights, and the results after each batch. Writes FOLDER/losses.jsonl: for each loss its object, a batch, its
value and the gradient by the predictions. NaN and infinities are strings.
"""
import json
import os
import sys

import jax
import keras
import numpy as np
from keras import losses, metrics

saved = keras.saving.serialize_keras_object
random = np.random.default_rng(11)


def listed(x):
    """Nested lists of numbers rounded to nine digits, which identify a float32."""
    x = np.asarray(x)
    if x.ndim:
        return [listed(each) for each in x]
    if x.dtype.kind in "iub":
        return int(x)
    return float(f"{x:.9g}") if np.isfinite(x) else str(x)


def binary(shape, hard=False):
    """Targets of 0 and 1, and predictions, some of which equal thresholds."""
    predicted = random.random(shape)
    predicted = np.where(random.random(shape) < 0.3, np.round(predicted * 4) / 4, predicted)
    if hard:
        predicted = np.round(predicted * 8) / 8
    return (random.random(shape) < 0.5).astype("float32"), predicted.astype("float32")


def classes(batch, count, shape=()):
    return random.integers(0, count, (batch, *shape)).astype("int32"), random.random((batch, *shape, count)).astype("float32")


def one_hot(batch, count):
    labels, scores = classes(batch, count)
    scores = scores / scores.sum(-1, keepdims=True)
    return np.eye(count, dtype="float32")[labels], scores.astype("float32")


def row(metric, batches):
    record = {"metric": saved(metric), "batches": []}
    for batch in batches:
        true, predicted, *weight = batch
        metric.update_state(true, predicted, weight[0] if weight else None)
        record["batches"].append({"y_true": listed(true), "true_dtype": str(true.dtype), "y_pred": listed(predicted),
                                  "pred_dtype": str(predicted.dtype), "weight": listed(weight[0]) if weight else None,
                                  "results": [listed(r) for r in np.asarray(metric.result(), "float64").reshape(-1)]})
    return record


def weights(*shape):
    return np.round(random.random(shape) * 3, 2).astype("float32")


def at_thresholds():
    thresholds = [None, 0.25, [0.25, 0.5], [0.0, 0.5, 1.0], [0.1, 0.3, 0.35, 0.9]]
    for given in thresholds:
        for kind in (metrics.TruePositives, metrics.FalsePositives, metrics.TrueNegatives, metrics.FalseNegatives):
            yield row(kind(thresholds=given), [binary((9, 2)), (*binary((7, 2)), weights(7))])
        for kind in (metrics.Precision, metrics.Recall):
            yield row(kind(thresholds=given), [binary((9,)), (*binary((7, 1)), weights(7, 1))])
    for kind in (metrics.Precision, metrics.Recall):
        yield row(kind(top_k=2), [one_hot(6, 4), (*one_hot(5, 4), weights(5))])
        yield row(kind(top_k=2, thresholds=0.3), [one_hot(6, 4)])
        yield row(kind(top_k=3, class_id=1), [binary((6, 4), True), (*binary((5, 4), True), weights(5))])
        yield row(kind(class_id=2), [one_hot(6, 4), (*one_hot(5, 4), weights(5))])
        yield row(kind(class_id=-1, thresholds=[0.2, 0.4]), [one_hot(6, 4)])
        yield row(kind(name="shared", dtype="float16"), [binary((6, 3))])
    for kind in (metrics.SensitivityAtSpecificity, metrics.SpecificityAtSensitivity, metrics.PrecisionAtRecall,
                 metrics.RecallAtPrecision):
        for level, options in ((0.5, {}), (0.8, {"num_thresholds": 5}), (0.3, {"num_thresholds": 1}), (0.6, {"class_id": 1}),
                               (0.0, {"num_thresholds": 2}), (1.0, {})):
            yield row(kind(level, **options), [binary((12, 2)), (*binary((9, 2)), weights(9))])


def areas():
    for curve in ("ROC", "PR", "PRGAIN"):
        for method in ("interpolation", "majoring", "minoring"):
            yield row(metrics.AUC(curve=curve, summation_method=method), [binary((12,)), (*binary((9,)), weights(9))])
            yield row(metrics.AUC(num_thresholds=6, curve=curve, summation_method=method),
                      [binary((6, 2)), (*binary((4, 2)), weights(4))])
    yield row(metrics.AUC(thresholds=[0.7, 0.2, 0.25]), [binary((12, 2)), (*binary((9, 2)), weights(9, 2))])
    yield row(metrics.AUC(thresholds=[0.5]), [binary((12, 2))])
    yield row(metrics.AUC(multi_label=True, num_labels=3), [binary((8, 3)), (*binary((5, 3)), weights(5))])
    yield row(metrics.AUC(multi_label=True, curve="PR", label_weights=[0.5, 2.0]), [binary((8, 2))])
    yield row(metrics.AUC(multi_label=True, thresholds=[0.1, 0.8], label_weights=[0.5, 2.0]),
              [binary((8, 2)), (*binary((4, 2)), weights(4))])
    yield row(metrics.AUC(label_weights=[0.5, 2.0, 0.0], num_thresholds=9), [binary((8, 3)), (*binary((4, 3)), weights(4))])
    yield row(metrics.AUC(label_weights=[0.5, 2.0], thresholds=[0.4, 0.45]), [binary((8, 2))])
    true, logits = binary((10, 1))
    yield row(metrics.AUC(from_logits=True), [(true, (logits * 6 - 3).astype("float32"))])


def scores():
    for average in (None, "micro", "macro", "weighted"):
        yield row(metrics.FBetaScore(average=average, beta=2.0), [one_hot(7, 3), (*one_hot(5, 3), weights(5))])
        yield row(metrics.F1Score(average=average, threshold=0.5), [binary((7, 3)), (*binary((5, 3)), weights(5))])
    yield row(metrics.FBetaScore(beta=0.5, threshold=0.25), [binary((7, 2))])
    regression = lambda n, c: (random.normal(size=(n, c)).astype("float32"), random.normal(size=(n, c)).astype("float32"))
    for aggregation in (None, "uniform_average", "variance_weighted_average"):
        yield row(metrics.R2Score(aggregation), [regression(9, 3), (*regression(5, 3), weights(5))])
    yield row(metrics.R2Score(num_regressors=2), [regression(9, 2)])
    yield row(metrics.R2Score(num_regressors=40), [regression(9, 2)])
    same = np.ones((4, 2), "float32")
    yield row(metrics.R2Score(None), [(same, same + 1), regression(3, 2)])
    for kind in (metrics.PearsonCorrelation, metrics.ConcordanceCorrelation):
        yield row(kind(), [regression(5, 6), (*regression(4, 6), weights(4))])
        yield row(kind(axis=0), [regression(5, 2)])


def unions():
    labels = lambda n, c: (random.integers(0, c, n).astype("int32"), random.integers(0, c, n).astype("int32"))
    yield row(metrics.IoU(3, [0, 2]), [labels(20, 3), (*labels(9, 3), random.integers(0, 4, 9).astype("int32"))])
    yield row(metrics.IoU(4, [1], dtype="float32"), [labels(20, 4), (*labels(9, 4), weights(9))])
    yield row(metrics.IoU(4, [0, 1, 2], ignore_class=1), [labels(20, 4)])
    yield row(metrics.IoU(4, [0, 1], sparse_y_pred=False), [classes(12, 4), classes(3, 4, (2,))])
    yield row(metrics.BinaryIoU(threshold=0.3), [binary((12,)), (*binary((4, 3)), random.integers(0, 4, (4, 3)).astype("int32"))])
    yield row(metrics.BinaryIoU([1]), [binary((12,), True)])
    yield row(metrics.MeanIoU(3), [labels(20, 3), labels(6, 5), labels(2, 2)])
    yield row(metrics.MeanIoU(3, ignore_class=0, name="regions"), [labels((4, 5), 3)])
    yield row(metrics.MeanIoU(6), [labels(5, 2)])
    yield row(metrics.OneHotIoU(3, [0, 2]), [one_hot(12, 3), one_hot(5, 3)])
    true = np.eye(3, dtype="float32")[random.integers(0, 3, 8)]
    yield row(metrics.OneHotIoU(3, [1], sparse_y_pred=True), [(true, random.integers(0, 3, 8).astype("int32"))])
    yield row(metrics.OneHotMeanIoU(3), [(random.random((4, 2, 3)).astype("float32"),
                                          random.random((4, 2, 3)).astype("float32"))])


def loss_row(loss, true, predicted, weight=None):
    call = lambda p: loss(true, p, sample_weight=weight)
    value = call(predicted)
    slope = jax.grad(lambda p: call(p).sum())(predicted)
    return {"loss": saved(loss), "y_true": listed(true), "true_dtype": str(true.dtype), "y_pred": listed(predicted),
            "weight": None if weight is None else listed(weight), "value": listed(value), "slope": listed(slope)}


def of_losses():
    for reduction in ("sum_over_batch_size", "sum", "none", "mean_with_sample_weight"):
        one = {"reduction": reduction}
        for loss in (losses.Dice(axis=1, **one), losses.Tversky(alpha=0.3, beta=0.8, axis=(1, 2), **one)):
            yield loss_row(loss, *binary((3, 4, 2)))
            yield loss_row(loss, *binary((3, 4, 2)), weights(3) if loss.name == "tversky" else None)
        for weight in (None, weights(5)):
            inside = lambda pair: (pair[0], np.clip(pair[1], 0.05, 0.95).astype("float32"))
            yield loss_row(losses.BinaryFocalCrossentropy(**one), *inside(binary((5, 3))), weight)
            yield loss_row(losses.CategoricalFocalCrossentropy(**one), *one_hot(5, 3), weight)
            yield loss_row(losses.CategoricalGeneralizedCrossEntropy(0.7, **one), classes(5, 3)[0], one_hot(5, 3)[1], weight)
            rows = random.normal(size=(5, 4)).astype("float32")
            rows = (rows / np.linalg.norm(rows, axis=-1, keepdims=True)).astype("float32")
            yield loss_row(losses.Circle(**one), np.array([0, 1, 0, 1, 1], "int32"), rows, weight)
            yield loss_row(losses.Circle(gamma=4.0, margin=0.25, remove_diagonal=False, **one),
                           np.array([0, 1, 2, 1, 0], "int32"), rows, weight)
    true, logits = binary((5, 3))
    logits = (logits * 6 - 3).astype("float32")
    yield loss_row(losses.Dice(), *binary((3, 4)))
    yield loss_row(losses.Tversky(name="t"), *binary((3, 4)))
    yield loss_row(losses.BinaryFocalCrossentropy(True, 0.4, 1.5, from_logits=True, label_smoothing=0.1), true, logits)
    yield loss_row(losses.BinaryFocalCrossentropy(gamma=0.0, axis=0), true, np.clip(binary((5, 3))[1], 0.1, 0.9).astype("float32"))
    yield loss_row(losses.CategoricalFocalCrossentropy([0.2, 0.5, 0.9], 1.0, True, 0.25), one_hot(5, 3)[0], logits)


def main():
    with open(os.path.join(sys.argv[1], "metrics.jsonl"), "w", encoding="utf-8") as file:
        for record in [*at_thresholds(), *areas(), *scores(), *unions()]:
            print(json.dumps(record, separators=(",", ":")), file=file)
    with open(os.path.join(sys.argv[1], "losses.jsonl"), "w", encoding="utf-8") as file:
        for record in of_losses():
            print(json.dumps(record, separators=(",", ":")), file=file)


main()
