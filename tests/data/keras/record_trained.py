# Records nets that train a few steps in real Keras: record_trained.py FIRST COUNT > K; record_trained.py --exact K > trained.jsonl
# SPDX-License-Identifier: Apache-2.0
"""Each line is one net under a policy or a policy map, with a loss, an optimizer and all of its numbers: Keras's
results (JAX, op by op) before training, the losses of the steps, and the weights after them. `noise` is the change of
each of these, relative to its largest number, when inputs and weights change by half a unit in the last place of the
narrowest dtype. `exact` is the same computed in float64 from the same numbers (in a separate run, since JAX's promotion
rules differ when 64 bits are enabled).
"""
import json
import os
import random
import sys

EXACT = sys.argv[1] == "--exact"
os.environ["KERAS_BACKEND"] = "jax"
os.environ["JAX_ENABLE_X64"] = "1" if EXACT else "0"
import keras
import numpy as np
from keras import layers, losses, optimizers

POLICIES = ["float32", "float32", "float16", "bfloat16"] + ["mixed_float16", "mixed_bfloat16"] * 2
DTYPES = [None] * 6 + ["float32", "mixed_float16", "mixed_bfloat16", "float16", "bfloat16"]
ACTIVATIONS = ["relu", "tanh", "sigmoid", "gelu", "silu", "elu", "linear", "softplus"]
KINDS = ["Dense"] * 3 + ["LayerNormalization", "GroupNormalization", "BatchNormalization", "RMSNormalization", "Rescaling"]
ULP = {"bfloat16": 2.0**-9, "float16": 2.0**-12, "float32": 2.0**-24}
LOSSES = {"mse": losses.MeanSquaredError, "mae": losses.MeanAbsoluteError, "huber": losses.Huber,
          "cce": lambda: losses.CategoricalCrossentropy(from_logits=True, label_smoothing=0.1),
          "scce": lambda: losses.SparseCategoricalCrossentropy(from_logits=True),
          "bce": lambda: losses.BinaryCrossentropy(from_logits=True)}
OPTIMIZERS = {"SGD": {"momentum": 0.9}, "RMSprop": {"momentum": 0.5}, "Adam": {}, "AdamW": {"weight_decay": 0.05}, "Lion": {}, "Adagrad": {},
              "Adadelta": {}, "Adamax": {}, "Nadam": {}, "Adafactor": {}, "Ftrl": {}, "Lamb": {}}
NARROW = ["SGD", "RMSprop", "Lion", "Adagrad", "Adadelta", "Ftrl"]  # also compute in a narrow variable's dtype


def draw(rng, number, last):
    kind = "Dense" if last else rng.choice(KINDS)
    args = {"name": f"l{number}", "dtype": rng.choice(DTYPES)}
    extra = {}
    if kind == "Dense":
        args |= {"units": 3 if last else rng.choice([6, 8]), "activation": "linear" if last else rng.choice(ACTIVATIONS),
                 "use_bias": rng.random() < 0.8}
        args["kernel_l2"] = rng.choice([0.0, 0.0, 0.0, 0.02])
        extra = {"kernel_regularizer": keras.regularizers.L2(args["kernel_l2"])} if args["kernel_l2"] else {}
    elif kind == "GroupNormalization":
        args["groups"] = 2
    elif kind == "Rescaling":
        args |= {"scale": rng.choice([0.5, 3.3]), "offset": 0.25}
    own = {k: v for k, v in args.items() if k != "kernel_l2"} | ({"dtype": "float64"} if EXACT else {})
    layer = getattr(layers, kind)(**own, **extra)
    return layer, {"class": kind} | args


def choose_optimizer(rng, narrow):
    kind = rng.choice(NARROW if narrow else list(OPTIMIZERS))
    args = {"learning_rate": rng.choice([0.1, 0.01])} | OPTIMIZERS[kind]
    way = rng.random()
    if way < 0.15:
        args["clipnorm"] = 0.5
    elif way < 0.3:
        args["global_clipnorm"] = 0.5
    elif way < 0.4:
        args["clipvalue"] = 0.1
    elif way < 0.5:
        args |= {"use_ema": True, "ema_momentum": 0.7, "ema_overwrite_frequency": 2}
    elif way < 0.6:
        args["gradient_accumulation_steps"] = 2
    return kind, args


def targets(values, loss, batch):
    if loss == "scce":
        return values.integers(0, 3, (batch,)).astype("int32")
    if loss == "cce":
        return np.eye(3, dtype="float32")[values.integers(0, 3, (batch,))]
    if loss == "bce":
        return values.integers(0, 2, (batch, 3)).astype("float32")
    return values.standard_normal((batch, 3)).astype("float32")


def numbers(x):
    flat = np.asarray(keras.ops.cast(x, "float64" if EXACT else "float32")).ravel()
    return [float(f"{v:.9g}") if np.isfinite(v) else str(v) for v in flat]


def apart(a, b):
    a, b = (np.array([float(v) for v in each]) for each in (a, b))
    if not (np.isfinite(a) == np.isfinite(b)).all():
        return 1e9
    finite = np.isfinite(b)
    return float(np.max(np.abs(a - b)[finite], initial=0.0) / max(np.max(np.abs(b)[finite], initial=0.0), 1e-3))


def net(seed, recorded=None):
    rng, values = random.Random(seed), np.random.default_rng(seed)
    policy = base = rng.choice(POLICIES)
    depth, loss, steps, batch = rng.randint(1, 3), rng.choice(list(LOSSES)), rng.choice([1, 2, 4]), rng.choice([4, 6])
    rules = [[rng.choice([f"net/l{i}", f".*/l{i}"]), rng.choice([d for d in DTYPES if d])] for i in range(depth) if rng.random() < 0.15]
    if rules:
        policy = keras.dtype_policies.DTypePolicyMap(base, {key: keras.dtype_policies.get(value) for key, value in rules})
    keras.config.set_dtype_policy("float64" if EXACT else policy)
    drawn = [draw(rng, i, i == depth) for i in range(depth + 1)]
    model = keras.Sequential([keras.Input((8,))] + [layer for layer, _ in drawn], name="net")
    xs = [values.standard_normal((batch, 8)).astype("float32") for _ in range(steps)]
    ys = [targets(values, loss, batch) for _ in range(steps)]
    sample_weight = values.choice([0.0, 0.5, 1.0, 2.0], (batch,)).astype("float32") if rng.random() < 0.25 else None
    for w in model.weights:
        value = values.standard_normal(w.shape) * 0.3 + (w.name in ("gamma", "scale"))
        w.assign((np.abs(value) + 0.5 if w.name == "moving_variance" else value).astype("float32"))
    start = [np.asarray(keras.ops.cast(w.value, "float32")) for w in model.weights]
    if recorded:
        start = [np.array([float(v) for v in w["value"]]).reshape(w["shape"]) for w in recorded["weights"]]
    dtypes = {layer.compute_dtype for layer in model.layers} | {w.dtype for w in model.weights}
    narrowest = next((d for d in ULP if d in dtypes), None)
    kept = [w["dtype"] for w in recorded["weights"]] if recorded else [w.dtype for w in model.weights]
    kind, args = choose_optimizer(rng, any(d != "float32" for d in kept))

    def run(moved):
        shift = np.random.default_rng(seed + 1)

        def move(x):
            return x if not moved else (x * (1 + ULP[narrowest] * shift.choice([-1, 1], x.shape))).astype("float32")

        for w, value in zip(model.weights, start):
            w.assign(move(value))
        inputs = [move(x) for x in xs]
        model.compile(getattr(optimizers, kind)(**args), LOSSES[loss](), run_eagerly=True, jit_compile=False)
        result = {"inference": numbers(model(inputs[0])), "losses": []}
        for x, y in zip(inputs, ys):
            result["losses"].append(float(model.train_on_batch(x, y, sample_weight=sample_weight)))
        scaled = isinstance(model.optimizer, optimizers.LossScaleOptimizer)
        return result | {"after": [numbers(w.value) for w in model.weights], "iterations": int(np.asarray(model.optimizer.iterations)),
                         "scale": float(np.asarray(model.optimizer.dynamic_scale)) if scaled else None}

    if recorded:
        exact = run(False)
        return recorded | {"exact": {key: exact[key] for key in ("inference", "losses", "after")}}
    found, moved = run(False), run(True)
    noise = {"inference": apart(moved["inference"], found["inference"]), "losses": apart(moved["losses"], found["losses"]),
             "after": [apart(a, b) for a, b in zip(moved["after"], found["after"])]}
    return {"seed": seed, "policy": base, "rules": rules, "batch": batch, "loss": loss, "layers": [a for _, a in drawn],
            "optimizer": kind, "arguments": args, "narrowest": narrowest, "xs": [numbers(x) for x in xs],
            "ys": [numbers(y) for y in ys], "sample_weight": None if sample_weight is None else numbers(sample_weight),
            "weights": [{"path": w.path, "shape": list(w.shape), "dtype": w.dtype, "value": numbers(v)}
                        for w, v in zip(model.weights, start)],
            "dtype": str(model(xs[0]).dtype), "noise": noise} | found


if EXACT:
    keras.config.set_floatx("float64")
    with open(sys.argv[2], encoding="utf-8") as file:
        for line in file:
            print(json.dumps(net(json.loads(line)["seed"], json.loads(line))), flush=True)
else:
    for seed in range(int(sys.argv[1]), int(sys.argv[1]) + int(sys.argv[2])):
        try:
            print(json.dumps(net(seed)), flush=True)
        except TypeError as error:  # Keras cannot train some combinations of an optimizer, a policy and a loss scale
            print(seed, str(error).split("\n", 1)[0], file=sys.stderr)
