#!/usr/bin/env python3
# Makes random models with real Keras, and compares predictions, losses and trained weights with ours.
# SPDX-License-Identifier: Apache-2.0
"""Usage: random_keras_models.py PROGRAM FOLDER [--seed S] [--count N] [--seconds T]

Each model is saved in FOLDER/SEED with data, and Keras predicts, tests and trains a few batches. PROGRAM does the same
with the file. A number may differ by a few roundings of the model's narrowest dtype, or by several times the change in
Keras's result if its weights change by such a rounding. Differences are printed, and their folders remain; the exit
code is 1 if there are any.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time
import warnings
import zipfile

os.environ.setdefault("KERAS_BACKEND", "jax")
os.environ.setdefault(
    "XLA_FLAGS",
    "--xla_allow_excess_precision=false --xla_backend_optimization_level=0 " "--xla_llvm_disable_expensive_passes=true",
)
warnings.filterwarnings("ignore")
import keras  # noqa: E402
import numpy as np  # noqa: E402
from random_keras_graphs import random_model  # noqa: E402
from random_keras_layers import POLICIES, Draw  # noqa: E402
from random_keras_training import loss, metrics, optimizer  # noqa: E402

if keras.backend.backend() == "jax":
    # The gradient of abs at 0 is 0 here, as in TensorFlow and PyTorch, but 1 with JAX: an L1 penalty of the zeros that
    # NonNeg leaves differs. Adafactor's row and column means then change the other weights too.
    import jax
    from jax.interpreters import ad

    ad.defjvp(jax.lax.abs_p, lambda g, x: jax.numpy.real(g * jax.numpy.conj(jax.numpy.sign(x))))

STEPS = 3
# The maximum error relative to the largest number, by the narrowest dtype in the model's file.
ROUNDINGS = {"bfloat16": 0.03, "float16": 0.004, "float32": 3e-5}
ULPS = {"bfloat16": 2.0**-8, "float16": 2.0**-11, "float32": 2.0**-23}


def narrowest(model):
    text = model.to_json()
    return next(dtype for dtype in ("bfloat16", "float16", "float32") if dtype in text or dtype == "float32")


def make(seed, folder):
    """Writes model.keras, its data and facts.json."""
    draw = Draw(seed)
    keras.utils.clear_session()
    keras.utils.set_random_seed(seed)
    policy = draw.of(*POLICIES)
    keras.config.set_dtype_policy(policy)
    batch = draw.of(1, 2, 5, 8)
    model, x = random_model(draw, batch)
    chosen = [loss(draw, (batch, *head.shape[1:])) for head in model.outputs]
    narrow = any(variable.dtype in ("float16", "bfloat16") for variable in model.trainable_variables)
    with_metrics = [metrics(draw, each, head.shape[-1]) for (each, _), head in zip(chosen, model.outputs)]
    model.compile(
        optimizer(draw, narrow),
        [each for each, _ in chosen],
        **{draw.of("metrics", "metrics", "weighted_metrics"): with_metrics},
        loss_weights=draw.of(None, [draw.of(0.5, 2.0) for _ in chosen]),
    )
    weights, class_weight = [], None
    if draw.chance(0.25):
        # One weight per step, if the head has steps: Keras would broadcast sample weights along the steps.
        weights = [
            draw.random.uniform(0.0, 2.0, (batch, *head.shape[1:-1])).astype("float32") for head in model.outputs
        ]
    elif len(chosen) == 1 and chosen[0][1].dtype.kind == "i" and draw.chance(0.3):
        class_weight = {i: float(draw.of(0.5, 1.0, 3.0)) for i in range(model.outputs[0].shape[-1])}
    folder.mkdir(parents=True)
    for stem, arrays in (("x", x), ("y", [y for _, y in chosen]), ("weights", weights)):
        for i, array in enumerate(arrays):
            np.save(folder / f"{stem}_{i}.npy", array)
    # Kernels and biases that are not zeros, gammas that are not ones, and statistics that have changed.
    trained = {id(variable) for variable in model.trainable_variables}
    for variable in model.variables:
        if "float" not in str(variable.dtype):
            continue
        noise = 0.05 * draw.random.standard_normal(variable.shape)
        noise = noise if id(variable) in trained else np.abs(noise)
        variable.assign(keras.ops.cast(np.asarray(numbers(variable.value)) + noise, variable.dtype))
    model.save(folder / "model.keras")
    # With batch_size, evaluate, predict and two epochs of fit instead of single batches. The last batch may be partial.
    facts = {
        "policy": policy,
        "narrowest": narrowest(model),
        "steps": 0 if draw.is_random else STEPS,
        "batch_size": draw.of(2, 3) if draw.chance(0.25) else None,
        "class_weight": class_weight,
    }
    (folder / "facts.json").write_text(json.dumps(facts))


def numbers(array):
    return np.asarray(
        keras.ops.convert_to_numpy(keras.ops.cast(array, "float64" if "64" in str(array.dtype) else "float32")),
        "float64",
    )


def arrays_of(folder, stem):
    return [np.load(file) for file in sorted(folder.glob(f"{stem}_*.npy"))]


def one_or_all(arrays):
    return arrays[0] if len(arrays) == 1 else arrays


def logs(found):
    return {name: float(value) for name, value in found.items()}


def load(folder, name):
    keras.utils.clear_session()
    keras.config.set_dtype_policy(json.loads((folder / "facts.json").read_text())["policy"])
    return keras.models.load_model(folder / name)


def run(model, facts, x, y, weights):
    size = facts["batch_size"]
    classes = {int(name): weight for name, weight in (facts["class_weight"] or {}).items()} or None
    if size:
        quiet = {"batch_size": size, "verbose": 0}
        predicted = model.predict(x, **quiet)
        tested = model.evaluate(x, y, sample_weight=weights, return_dict=True, **quiet)
        if facts["steps"]:
            history = model.fit(
                x, y, sample_weight=weights, class_weight=classes, epochs=2, shuffle=False, **quiet
            ).history
        trained = [{name: each[i] for name, each in history.items()} for i in range(2)] if facts["steps"] else []
    else:
        predicted = model.predict_on_batch(x)
        tested = model.test_on_batch(x, y, weights, return_dict=True)
        trained = [
            model.train_on_batch(x, y, weights, class_weight=classes, return_dict=True) for _ in range(facts["steps"])
        ]
    predicted = predicted if isinstance(predicted, list) else [predicted]
    return {
        "predict": [np.asarray(each, "float64") for each in predicted],
        "test": logs(tested),
        "train": [logs(each) for each in trained],
    }


def keras_results(folder, ulp=0.0, seed=0):
    """What Keras predicts, tests and trains from the file, with weights that are off by up to an ulp."""
    model = load(folder, "model.keras")
    random = np.random.default_rng(seed)
    if ulp:
        for variable in model.trainable_variables:
            off = numbers(variable.value) * (1 + ulp * random.uniform(-1, 1, variable.shape))
            variable.assign(keras.ops.cast(off, variable.dtype))
    x, y, weights = (arrays_of(folder, stem) for stem in ("x", "y", "weights"))
    if ulp:
        x = [
            each * (1 + ulp * random.uniform(-1, 1, each.shape)).astype("float32") if each.dtype == "float32" else each
            for each in x
        ]
    x, y, weights = one_or_all(x), one_or_all(y), one_or_all(weights) if weights else None
    results = run(model, json.loads((folder / "facts.json").read_text()), x, y, weights)
    results["after"] = [numbers(variable.value) for variable in model.variables]
    results["optimizer"] = [numbers(variable.value) for variable in model.optimizer.variables]
    results["paths"] = [variable.path for variable in model.variables]
    return results


def our_results(folder):
    found = json.loads((folder / "ours.json").read_text())
    if "error" in found:
        return found
    model = load(folder, "after.keras")
    return {
        "predict": [each.astype("float64") for each in arrays_of(folder, "predict")],
        "test": logs(found["test"]),
        "train": [logs(each) for each in found.get("train") or []],
        "after": [numbers(v.value) for v in model.variables],
        "optimizer": [numbers(v.value) for v in model.optimizer.variables],
    }


def distance(found, expected, scale=None):
    """The largest difference, relative to the largest expected number (or to `scale`)."""
    found, expected = np.asarray(found, "float64"), np.asarray(expected, "float64")
    if found.shape != expected.shape:
        return float("inf")
    finite = np.isfinite(expected)
    if not np.array_equal(finite, np.isfinite(found)):
        return float("inf")
    if not finite.any():
        return 0.0
    scale = max(np.abs(expected[finite]).max(), 1e-3) if scale is None else scale
    return float(np.abs(found - expected)[finite].max() / scale)


def parts(results):
    """(name, numbers) of everything compared."""
    for i, each in enumerate(results["predict"]):
        yield f"prediction {i}", each
    for name, number in results["test"].items():
        yield f"test {name}", number
    for step, entries in enumerate(results["train"]):
        for name, number in entries.items():
            yield f"step {step} {name}", number
    for i, each in enumerate(results["after"]):
        yield f"weight {i}", each


def without_noise(folder, suspects, paths):
    """Drops the biases if only biases differ and the optimizer's steps are as large for small gradients as for large
    ones.

    The gradient of a bias before a normalization, or of attention's keys, is 0 except for roundings."""
    with zipfile.ZipFile(folder / "model.keras") as file:
        optimizer = json.loads(file.read("config.json"))["compile_config"]["optimizer"]["class_name"]
    others = {
        name for name in suspects if not (name.startswith("weight") and paths[int(name.split()[1])].endswith("/bias"))
    }
    return suspects if optimizer == "SGD" else others


def differences(folder):
    """The parts that differ by more than roundings, with a word on each."""
    facts = json.loads((folder / "facts.json").read_text())
    try:
        keras_own = keras_results(folder)
    except Exception:
        return []  # Keras cannot run it
    ours = our_results(folder)
    if "error" in ours:
        return [ours["error"]]
    expected, found = dict(parts(keras_own)), dict(parts(ours))
    if expected.keys() != found.keys():
        return [f"other results: {sorted(expected.keys() ^ found.keys())}"]
    kind = facts["narrowest"]
    suspects = {name for name in expected if distance(found[name], expected[name]) > ROUNDINGS[kind]}
    allowed = dict.fromkeys(suspects, ROUNDINGS[kind])
    for seed in range(1, 7):  # how much Keras differs from itself
        if not suspects:
            break
        other = dict(parts(keras_results(folder, ULPS[kind], seed)))
        for name in suspects:
            allowed[name] = max(allowed[name], 4 * distance(other[name], expected[name]))
        suspects = {name for name in suspects if distance(found[name], expected[name]) > allowed[name]}
    suspects = without_noise(folder, suspects, keras_own["paths"])
    if len(ours["optimizer"]) != len(keras_own["optimizer"]):
        return [f"{len(ours['optimizer'])} variables of the optimizer, Keras has {len(keras_own['optimizer'])}"]
    return [
        f"{name} ({keras_own['paths'][int(name.split()[1])] if name.startswith('weight') else ''}): "
        f"{distance(found[name], expected[name]):.1e} of {allowed[name]:.1e}"
        for name in expected
        if name in suspects
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--part", type=int, default=10, help="models per run of PROGRAM")
    options = parser.parse_args()
    start, wrong, done, seed = time.monotonic(), 0, 0, options.seed
    while done < options.count and time.monotonic() - start < options.seconds:
        seeds = range(seed, seed + min(options.part, options.count - done))
        seed = seeds.stop
        made = []
        for each in seeds:
            folder = options.folder / str(each)
            shutil.rmtree(folder, ignore_errors=True)
            try:
                make(each, folder)
                made.append(folder)
            except Exception as error:  # Keras rejects the arguments that were drawn
                print(f"{each}: Keras: {str(error).splitlines()[0][:150]}", flush=True)
                shutil.rmtree(folder, ignore_errors=True)
        while any(not (folder / "ours.json").exists() for folder in made):
            done_by_us = subprocess.run([options.program, options.folder], capture_output=True, text=True)
            if done_by_us.returncode:
                left = [folder for folder in made if not (folder / "ours.json").exists()]
                died = next((f for f in left if f.name in done_by_us.stderr.splitlines()), left[0])
                (died / "ours.json").write_text(
                    json.dumps({"error": f"the program died: {done_by_us.returncode} {done_by_us.stderr[-500:]}"})
                )
        for folder in made:
            try:
                found = differences(folder)
            except Exception as error:
                found = [f"{type(error).__name__}: {str(error)[:300]}"]
            done += 1
            wrong += bool(found)
            if found:
                print(f"{folder.name}: " + "; ".join(found[:6])[:1500], flush=True)
            else:
                shutil.rmtree(folder)
        print(f"# {done} models, {wrong} differ, {time.monotonic() - start:.0f} s", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
