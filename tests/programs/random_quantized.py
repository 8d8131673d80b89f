#!/usr/bin/env python3
# Makes random models in real Keras, quantizes and adapts them, and compares each step with Halftone's result.
# SPDX-License-Identifier: Apache-2.0
"""Usage: random_quantized.py PROGRAM FOLDER SEED COUNT     (PROGRAM: quantize_like_keras)

Compares errors by kind, reports, the weights and policies of the layers, files bit by bit, predictions, and files of
each read by the other. Prints a line for each difference; the folder of a case with a difference remains. Exits 1 if
there are any.
"""
import contextlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import warnings
import zipfile

os.environ.setdefault("KERAS_BACKEND", "numpy")  # ten times as fast as JAX, but it cannot train
os.environ.setdefault("XLA_FLAGS", "--xla_allow_excess_precision=false --xla_cpu_multi_thread_eigen=false")
import h5py  # noqa: E402
import keras  # noqa: E402
import numpy as np  # noqa: E402
from keras import layers, quantizers  # noqa: E402
from random_quantized_models import ADAPTED, Maker, draw_steps, draw_weights, int4_config, leaves  # noqa: E402

NARROW = ("float16", "bfloat16")


class Case:
    def __init__(self, folder, seed):
        self.folder = folder
        self.rng = np.random.default_rng(seed)
        self.problems = []
        self.is_torn = False  # Keras has quantized a part of a model and then failed

    def note(self, text):
        self.problems.append(text)

    def make(self):
        """Writes the model, its inputs and steps, and Keras's results; False if Keras cannot make the model."""
        keras.utils.clear_session()
        maker = Maker(self.rng)
        self.policy = maker.pick("float32", "float32", "float32", "mixed_bfloat16", "bfloat16", "mixed_float16", "float16")
        keras.config.set_dtype_policy(self.policy)
        if self.rng.random() < 0.1:
            keras.config.set_dtype_policy(keras.dtype_policies.DTypePolicyMap(
                default_policy=self.policy, policy_map={
                    maker.pick("dense.*", ".*1", "table.*|.*2"): keras.dtype_policies.get(
                        maker.pick("int8_from_float32", "int4/16_from_float32", "float8_from_float32"))}))
        try:
            model = maker.model()
            draw_weights(model, self.rng)
            self.x = self.inputs(model)
            y = np.asarray(model(self.x))
            model.save(self.folder / "model.keras")
            model = keras.models.load_model(self.folder / "model.keras")  # LoRA starts over there
        except Exception as error:  # noqa: BLE001
            self.unmade = f"{type(error).__name__}: {str(error)[:150]}"
            return False
        finally:
            keras.config.set_dtype_policy(self.policy)
        np.save(self.folder / "x_0.npy", self.x)
        np.save(self.folder / "y.npy", self.rng.normal(0, 1, y.shape).astype("float32"))
        self.model = model
        self.steps = draw_steps(maker, model)
        self.done = []
        for i, step in enumerate(self.steps):
            self.done.append(self.perform(i, step))
            # Keras has LoRA under float8, but cannot call such a layer; ours rejects it.
            self.is_torn |= self.has_lora() and "float8" in self.modes()
            if self.is_torn:
                self.steps = self.steps[:i + 1]
                break
        (self.folder / "steps.json").write_text(json.dumps(dict(policy=self.policy, steps=self.steps), indent=1))
        return True

    def inputs(self, model):
        shape = (3, *model.input_shape[1:])
        if "int" in str(model.inputs[0].dtype):
            return self.rng.integers(0, model.layers[1].input_dim, shape).astype("int32")
        return self.rng.normal(0, 1, shape).astype("float32")

    def modes(self):
        return [str(getattr(layer, "quantization_mode", None)) for _, layer in leaves(self.model)]

    def layer_at(self, names):
        return named(self.model)[names]

    def perform(self, index, step):
        done = dict(error="")
        try:
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                self.perform_one(index, step, done)
            if step["do"] == "quantize" and not step.get("layer"):
                done["report"] = out.getvalue()
        except Exception as error:  # noqa: BLE001
            done.update(error=type(error).__name__, message=str(error)[:300])
        return done

    def perform_one(self, index, step, done):
        layer = self.layer_at(step.get("layer", ""))
        what = step["do"]
        if what == "quantize":
            config = None
            if step.get("config") == "int8":
                config = quantizers.Int8QuantizationConfig(activation_quantizer="default" if step["activations"] else None)
            if step.get("config") == "int4":
                config = int4_config(step["block"], step["activations"])
            more = {}
            if not step.get("layer"):  # Keras 3.15.1 stops at a quantized layer; the nightly skips it
                pattern = re.compile(step.get("filter", ""))
                more = dict(filters=lambda each: pattern.search(each.name) and not getattr(each, "quantization_mode", None))
            before = self.modes()
            try:
                layer.quantize(step["mode"] or None, config=config, **more)
            except Exception:
                self.is_torn = self.modes() != before  # ours changes nothing
                raise
        elif what == "lora":
            more = dict(lora_alpha=step["alpha"]) if "alpha" in step else {}
            layer.enable_lora(step["rank"], **more)
            for weight in layer.weights:
                for end in ("_a", "_b"):
                    if weight.name.startswith("lora_") and weight.name.endswith(end):
                        value = self.rng.normal(0, 0.2, weight.shape).astype("float32")
                        weight.assign(value)
                        np.save(self.folder / f"{end}_{index}.npy", value)
        elif what == "policy":
            before = layer.dtype_policy
            try:
                layer.dtype_policy = step["name"]
            except Exception:
                layer._dtype_policy = before  # ours keeps the policy; Keras does not
                raise
        elif what == "train":
            self.model.compile(keras.optimizers.SGD(step["rate"]), "mse", jit_compile=False, auto_scale_loss=True)
            for _ in range(step["count"]):
                self.model.train_on_batch(self.x, np.load(self.folder / "y.npy"))
        elif what == "predict":
            done["value"] = np.asarray(self.model(self.x, training=False), "float32")
        elif what == "save":
            self.model.save(self.folder / f"keras_{index}.keras")

    # Halftone's results.

    def compare(self):
        found = json.loads((self.folder / "ours.json").read_text())
        if found["model"]["loading"]:
            return self.note("does not load: " + found["model"]["loading"].replace("\n", " ")[:300])
        for i, (step, mine, theirs) in enumerate(zip(self.steps, found["steps"], self.done)):
            if self.is_torn and i + 1 == len(self.steps):
                return None
            if any(each in theirs.get("message", "") for each in ("Cannot convert 'map_", "Unsupported quantization")):
                return None  # docs/policies.md, "Differences from Keras": maps of quantized layers; LoRA under float8
            if "no layer " in mine.get("message", "") and not named(self.model)[step["layer"]].weights:
                return None  # parts without weights, which ours does not have, such as a softmax of attention
            if "is already quantized: its weights have" in mine.get("message", ""):
                return None  # likewise: the policy of a quantized layer set to another mode
            if mine["error"] != theirs["error"]:
                self.note(f"step {i} {step}: ours {mine['error'] or 'done'} {mine.get('message', '')[:200]!r}, Keras "
                          f"{theirs['error'] or 'done'} {theirs.get('message', '')[:200]!r}")
                if step["do"] != "predict":
                    return None
            elif not mine["error"]:
                self.compare_step(i, step, mine, theirs)
        if self.is_torn:
            return None
        self.compare_layers(found["layers"])
        for each in found["loaded"]:
            self.compare_loaded(each)
        return None

    def tolerance(self):
        """The tolerance of predictions. NumPy's sums of bfloat16 round each addend."""
        policies = " ".join(layer.dtype_policy.name for _, layer in leaves(self.model)) + self.policy
        integers = any(getattr(layer, "quantization_mode", None) in ("int8", "int4", "float8") for _, layer in leaves(self.model))
        trained = any(step["do"] == "train" for step in self.steps)
        return 1.5e-1 if any(each in policies for each in NARROW) else 3e-2 if integers else 1e-3 if trained else 2e-5

    def compare_values(self, what, mine, theirs):
        mine, theirs = np.asarray(mine, "float64"), np.asarray(theirs, "float64")
        if mine.shape != theirs.shape:
            return self.note(f"{what}: shape {mine.shape}, Keras {theirs.shape}")
        if not np.array_equal(np.isnan(mine), np.isnan(theirs)):
            return self.note(f"{what}: NaN at other places ({np.isnan(mine).sum()}, Keras {np.isnan(theirs).sum()})")
        same = np.isfinite(theirs)
        if not np.array_equal(mine[~same], theirs[~same], equal_nan=True):
            return self.note(f"{what}: other infinities")
        error = np.abs(mine - theirs)[same].max(initial=0) / max(np.abs(theirs[same]).max(initial=0), 1e-20)
        if not error <= self.tolerance():
            self.note(f"{what}: differs by {error:.1e}, at most {self.tolerance():.0e}")
        return None

    def compare_step(self, i, step, mine, theirs):
        if step["do"] == "predict":
            self.compare_values(f"step {i}, prediction", np.load(self.folder / f"ours_{i}.npy"), theirs["value"])
        if step["do"] == "quantize" and not step.get("layer"):
            self.compare_reports(i, mine["report"], theirs["report"])
        if step["do"] == "save":
            self.compare_files(i)

    def compare_reports(self, i, mine, theirs):
        lines = [f"  - {each['path']} ({each['mode']}): {each['policy']}" for each in mine["quantized"]]
        lines += [f"  - {each['path']}: {each['reason']}" for each in mine["skipped"]]
        if not theirs:
            return  # Keras 3.15 has none
        expected = [line for line in theirs.splitlines() if line.startswith("  - ")]
        if lines != expected:
            self.note(f"step {i}, report: ours {[x for x in lines if x not in expected]}, "
                      f"Keras {[x for x in expected if x not in lines]} (or another order)")

    def compare_files(self, i):
        mine, theirs = self.folder / f"ours_{i}.keras", self.folder / f"keras_{i}.keras"
        found, expected = datasets(mine), datasets(theirs)
        if found.keys() != expected.keys():
            self.note(f"file {i}: only ours {sorted(found.keys() - expected.keys())}, only Keras's "
                      f"{sorted(expected.keys() - found.keys())}")
        exact = all(step["do"] not in ("train",) for step in self.steps)
        for name in found.keys() & expected.keys():
            if name.startswith("optimizer") or "seed" in name:
                continue
            a, b = found[name], expected[name]
            if a.shape == b.shape and self.has_lora() and {a.dtype.itemsize, b.dtype.itemsize} == {2, 4}:
                # Keras rounds a sum with LoRA to the compute dtype, but not its scales.
                self.compare_values(f"file {i}, {name}", floats(a), floats(b))
            elif a.dtype != b.dtype or a.shape != b.shape:
                self.note(f"file {i}, {name}: {a.dtype} {a.shape}, Keras {b.dtype} {b.shape}")
            elif a.dtype.itemsize and a.tobytes() != b.tobytes():
                if a.dtype.kind in "fV" and (not exact or self.has_lora()):
                    self.compare_values(f"file {i}, {name}", floats(a), floats(b))
                elif not self.has_lora() or (a != b).sum() > max(1, a.size // 100):  # sums with LoRA: other roundings
                    self.note(f"file {i}, {name}: {(a != b).sum()} of {a.size} elements differ, lora {self.has_lora()}, "
                              f"by {np.abs(floats(a) - floats(b)).max()}")
        self.compare_configs(i, mine, theirs)
        try:
            model = keras.models.load_model(mine)
            expected = np.asarray(keras.models.load_model(theirs)(self.x, training=False), "float32")
            self.compare_values(f"file {i}, ours read by Keras", np.asarray(model(self.x, training=False), "float32"), expected)
        except Exception as error:  # noqa: BLE001
            try:
                keras.models.load_model(theirs)(self.x)
                self.note(f"file {i}: Keras cannot read ours: {str(error)[:300]}")
            except Exception:  # noqa: BLE001
                pass  # it cannot read its own either

    def has_lora(self):
        return any(getattr(layer, "lora_enabled", False) for _, layer in leaves(self.model))

    def compare_configs(self, i, mine, theirs):
        configs = []
        for file in (mine, theirs):
            found = {}
            gather(json.loads(zipfile.ZipFile(file).read("config.json")), found)
            configs.append(found)
        for name, config in configs[1].items():
            if name not in configs[0]:
                self.note(f"config {i}: ours lacks {name}")
                continue
            for key in ("dtype", "quantization_config", "lora_rank", "lora_alpha", "units", "gate"):
                a, b = plain(configs[0][name].get(key)), plain(config.get(key))
                if key == "quantization_config" and a is None and "source_name" not in str(config.get("dtype")):
                    continue  # Keras keeps it after a failed quantize()
                if a != b:
                    self.note(f"config {i}, {name}, {key}: {a}, Keras {b}")

    def compare_layers(self, found):
        mine = {each["layer"]: each for each in found}
        for names, layer in leaves(self.model):
            if isinstance(layer, (layers.Dropout,)) or not names:
                continue
            if names not in mine:
                if layer.weights:
                    self.note(f"no layer {names}")
                continue
            if not isinstance(layer.dtype_policy, keras.dtype_policies.DTypePolicyMap) and not isinstance(layer, keras.Model):
                if mine[names]["policy"] != layer.dtype_policy.name:
                    self.note(f"policy of {names}: {mine[names]['policy']}, Keras {layer.dtype_policy.name}")
            if type(layer).__name__ in ADAPTED:
                weights = "".join(
                    f"{w.name} {w.dtype} {shape_text(w.shape)}{' trained' if w.trainable and layer.trainable else ''}; "
                    for w in layer.weights)
                if sorted(mine[names]["weights"].split("; ")) != sorted(weights.split("; ")):
                    self.note(f"weights of {names}: {mine[names]['weights']}, Keras {weights}")

    def compare_loaded(self, found):
        file = self.folder / f"keras_{found['step']}.keras"
        try:
            expected = np.asarray(keras.models.load_model(file)(self.x, training=False), "float32")
        except Exception:  # noqa: BLE001
            return None  # Keras cannot read its own file
        if found["error"]:
            return self.note(f"Keras's file is not loaded: {found['error']} {found['message'][:300]}")
        return self.compare_values("Keras's file, loaded", np.load(self.folder / f"loaded_{found['step']}.npy"), expected)


def named(model):
    return dict(leaves(model))


def shape_text(shape):
    return "(" + ", ".join(str(n) for n in shape) + (",)" if len(shape) == 1 else ")")


def floats(array):
    if array.dtype.kind == "V":  # bfloat16
        return (array.view("uint16").astype("uint32") << 16).view("float32").astype("float64")
    return array.astype("float64")


def plain(value):
    """A policy or a config without irrelevant keys."""
    if isinstance(value, dict):
        return {k: plain(None if k == "block_size" and v == -1 else v) for k, v in value.items() if k not in ("module", "registered_name", "shared_object_id")}
    return value


def gather(value, found):
    if isinstance(value, dict):
        if "class_name" in value and isinstance(value.get("config"), dict) and "name" in value["config"]:
            if value["class_name"] in ADAPTED:
                found[value["config"]["name"]] = value["config"]
        for each in value.values():
            gather(each, found)
    elif isinstance(value, list):
        for each in value:
            gather(each, found)


def datasets(path):
    found = {}
    with h5py.File(io.BytesIO(zipfile.ZipFile(path).read("model.weights.h5"))) as file:
        file.visititems(lambda name, item: found.update({name: item[()]}) if isinstance(item, h5py.Dataset) else None)
    return {name: np.asarray(value) for name, value in found.items()}


def main():
    warnings.simplefilter("ignore")
    program, parent, seed, count = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    compared = failed = unmade = 0
    for first in range(0, count, 10):
        cases = []
        for i in range(first, min(first + 10, count)):
            folder = parent / f"{seed + i}"
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            case = Case(folder, seed + i)
            if case.make():
                cases.append(case)
            else:
                unmade += 1
                print(f"{seed + i}: Keras makes no model: {case.unmade}", flush=True)
                shutil.rmtree(folder)
        for case in cases:
            result = subprocess.run([program, str(case.folder)], capture_output=True, text=True, check=False)
            if result.returncode:
                case.note(f"exit code {result.returncode}: {result.stderr[:300]}")
            else:
                case.compare()
            compared += 1
            failed += bool(case.problems)
            for problem in case.problems:
                print(f"{case.folder.name} [{case.policy}]: {problem}", flush=True)
            if not case.problems:
                shutil.rmtree(case.folder)
    print(f"Keras {keras.__version__}: {compared} models compared, {failed} with differences; {unmade} not made by Keras")
    return 1 if failed or not compared else 0


if __name__ == "__main__":
    sys.exit(main() if len(sys.argv) == 5 else __doc__)
