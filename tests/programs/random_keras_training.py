# Random optimizers, losses, metrics and sample weights, with which real Keras compiles a model.
# SPDX-License-Identifier: Apache-2.0
import keras
import numpy as np


def optimizer(draw, has_narrow_variables):
    """Keras computes Adam's step sizes in the dtype of the variables; in 16 bits beta_2 may be 1 and epsilon 0."""
    make = (
        draw.of("SGD", "Lion", "Adagrad")
        if has_narrow_variables
        else draw.of(
            "SGD",
            "SGD",
            "Adam",
            "AdamW",
            "Adamax",
            "Nadam",
            "RMSprop",
            "Adagrad",
            "Adadelta",
            "Ftrl",
            "Lion",
            "Adafactor",
            "Lamb",
            "Muon",
        )
    )
    rate = draw.of(0.01, 0.003, keras.optimizers.schedules.ExponentialDecay(0.01, 2, 0.5))
    if make == "Nadam" and keras.config.dtype_policy().name == "mixed_float16":
        make = "Adam"  # with loss scaling Keras does not advance the product of Nadam's momenta
    arguments = draw.some(weight_decay=lambda: 0.01, use_ema=lambda: True)
    arguments |= draw.of({}, {}, {"clipnorm": 0.5}, {"clipvalue": 0.1}, {"global_clipnorm": 0.7})
    if make == "SGD":
        arguments |= draw.some(momentum=lambda: 0.9)
        arguments |= {"nesterov": True} if "momentum" in arguments and draw.chance(0.5) else {}
    if make in ("Adam", "AdamW"):
        arguments |= draw.some(amsgrad=lambda: True)
    if make == "RMSprop":
        arguments |= draw.some(centered=lambda: True, momentum=lambda: 0.5)
    if arguments.get("use_ema"):
        arguments |= draw.some(ema_momentum=lambda: 0.5, ema_overwrite_frequency=lambda: draw.of(1, 2))
    elif draw.chance(0.15):
        arguments["gradient_accumulation_steps"] = draw.of(2, 3)
    made = getattr(keras.optimizers, make)(rate, **arguments)
    scales = draw.chance(0.05) and keras.config.dtype_policy().name == "float32" and make in ("SGD", "RMSprop")
    return keras.optimizers.LossScaleOptimizer(made, initial_scale=16.0, dynamic_growth_steps=2) if scales else made


def loss(draw, shape):
    """A loss, and targets for a head of `shape`: the batch and possibly steps before the units."""
    *outer, units = shape
    classes = draw.random.integers(0, units, outer)
    real = draw.random.standard_normal(shape).astype("float32")
    hot = np.eye(units, dtype="float32")[classes]
    signs = np.sign(real).astype("float32")
    positive = np.abs(real) + 0.1
    losses = keras.losses
    logits = {"from_logits": True}
    return draw.of(
        lambda: (
            losses.SparseCategoricalCrossentropy(**logits, **draw.some(ignore_class=lambda: 0)),
            classes.astype("int32"),
        ),
        lambda: ("sparse_categorical_crossentropy", classes.astype(draw.of("int32", "int64"))),
        lambda: (losses.CategoricalCrossentropy(**logits, label_smoothing=draw.of(0.0, 0.1)), hot),
        lambda: (losses.BinaryCrossentropy(**logits, label_smoothing=draw.of(0.0, 0.2)), hot),
        lambda: (
            losses.BinaryFocalCrossentropy(**logits, apply_class_balancing=draw.chance(0.5), gamma=draw.of(1, 2.5)),
            hot,
        ),
        lambda: (
            losses.CategoricalFocalCrossentropy(**logits, alpha=draw.of(0.25, 0.6), label_smoothing=draw.of(0, 0.1)),
            hot,
        ),
        lambda: ("mse", real),
        lambda: ("mae", real),
        lambda: (losses.Huber(delta=draw.of(0.5, 1.0)), real),
        lambda: ("log_cosh", real),
        lambda: (losses.CosineSimilarity(), real),
        lambda: ("hinge", signs),
        lambda: ("squared_hinge", signs),
        lambda: ("categorical_hinge", hot),
        lambda: (losses.MeanSquaredError(reduction=draw.of("sum", "mean_with_sample_weight", "mean")), real),
        lambda: (losses.MeanAbsolutePercentageError(), positive),
        lambda: (losses.MeanSquaredLogarithmicError(), positive),
        lambda: (losses.Tversky(alpha=0.3, beta=0.6), hot) if len(shape) == 2 else ("mse", real),
        lambda: (losses.Dice(), hot) if len(shape) == 2 else ("mae", real),
    )()


def metrics(draw, chosen, units):
    name = chosen if isinstance(chosen, str) else chosen.name
    all_of = keras.metrics
    usual = {
        "categorical_crossentropy": [
            "accuracy",
            all_of.TopKCategoricalAccuracy(k=2),
            all_of.OneHotMeanIoU(num_classes=units),
            all_of.CategoricalCrossentropy(from_logits=True),
            all_of.CategoricalHinge(),
        ],
        "sparse_categorical_crossentropy": [
            "accuracy",
            all_of.SparseTopKCategoricalAccuracy(k=2),
            all_of.SparseCategoricalCrossentropy(from_logits=True),
            all_of.MeanIoU(num_classes=units, sparse_y_pred=False),
        ],
        "binary_crossentropy": [
            "accuracy",
            all_of.Precision(thresholds=draw.of(0.0, 0.3)),
            all_of.Recall(top_k=draw.of(None, 1)),
            all_of.F1Score(average=draw.of("macro", "micro", "weighted")),
            all_of.FalsePositives(thresholds=0.2),
            all_of.BinaryIoU(target_class_ids=[0, 1], threshold=0.2),
        ],
    }
    others = ["mse", "mae", all_of.RootMeanSquaredError(), all_of.CosineSimilarity(), all_of.LogCoshError()]
    several = usual.get(name, others)
    return [several[i] for i in draw.random.permutation(len(several))[: draw.n(1, 2)]] if draw.chance(0.6) else []
