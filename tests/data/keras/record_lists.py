# Records results of real Keras for lists given by name and by count, and the malformed lists that it rejects.
# SPDX-License-Identifier: Apache-2.0
"""Usage: KERAS_BACKEND=jax python record_lists.py FILE [--seed S] [--count N]

Each line of FILE is a random case: a model with one or two inputs and one to three outputs, and the lists of one call
(x, y, sample_weight, loss, loss_weights, metrics, weighted_metrics), each by name in random order, by position, or as
one entry for all. `logs` is Keras's result for the same lists by position. `broken`, if present, replaces one list by a
list with a missing, an excess, a duplicate or an unknown entry. Keras rejects this list too, except duplicate names,
which Python cannot write, and unknown inputs, which Keras ignores.
"""
import argparse
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np

NAMES = ["b", "a", "c", "left", "out_1", "zeta"]
METRICS = ["mae", "mse", "RootMeanSquaredError()", "MeanSquaredError()", "MeanAbsoluteError()"]
LABELLED = ["accuracy", "SparseCategoricalAccuracy()", "SparseCategoricalCrossentropy()"]


def listed(x):
    x = np.asarray(x)
    if x.ndim:
        return [listed(each) for each in x]
    return int(x) if x.dtype.kind in "iu" else float(f"{x:.9g}")


class Case:
    def __init__(self, random):
        self.random = random
        self.rows, self.batch = 6, int(random.choice([2, 4, 6]))
        count = int(random.choice([1, 2, 2, 2, 3, 3]))
        names = [str(each) for each in random.permutation(NAMES)]
        self.outputs = [self.head(name) for name in names[:count]]
        self.names = names[:count]
        self.inputs = [f"{each}_in" for each in names[3 : 3 + int(random.choice([1, 2]))]]
        self.x = [random.standard_normal((self.rows, 2)).round(3).astype("float32") for _ in self.inputs]
        self.y = [self.target(head) for head in self.outputs]
        self.call = str(random.choice(["evaluate", "fit", "train_on_batch", "test_on_batch", "dataset", "validation"]))
        self.compile_arguments()
        self.weights = None
        if random.random() < 0.6:
            self.weights = [random.random(self.rows).round(3).astype("float32") for _ in range(1 if self.chance(0.3) else count)]

    def chance(self, share):
        return self.random.random() < share

    def head(self, name):
        units = int(self.random.choice([1, 3]))
        return {
            "name": name,
            "units": units,
            "labels": units == 3 and self.chance(0.5),
            "seed": int(self.random.integers(1000)),
        }

    def target(self, head):
        if head["labels"]:
            return self.random.integers(0, 3, self.rows).astype("int32")
        return self.random.standard_normal((self.rows, head["units"])).round(3).astype("float32")

    def loss_of(self, head):
        return "sparse_categorical_crossentropy" if head["labels"] else str(self.random.choice(["mse", "mae"]))

    def metrics_of(self, head, most):
        of = LABELLED if head["labels"] else METRICS
        return [str(each) for each in self.random.permutation(of)[: int(self.random.integers(0, most + 1))]]

    def compile_arguments(self):
        heads, count = self.outputs, len(self.outputs)
        same = not any(head["labels"] for head in heads)
        self.loss_for_all = same and self.chance(0.4)
        if self.loss_for_all:
            self.losses = [self.loss_of(heads[0])] * count
        else:
            self.losses = [self.loss_of(head) for head in heads]
            for i in range(count):
                if count > 1 and self.chance(0.25) and sum(each is not None for each in self.losses) > 1:
                    self.losses[i] = None
        self.loss_weights = None
        if self.chance(0.4):
            one = self.loss_for_all and self.chance(0.5)
            self.loss_weights = [float(each) for each in self.random.random(1 if one else count).round(2) + 0.5]
        self.metrics, self.metrics_form = self.metric_lists(same)
        self.weighted, self.weighted_form = self.metric_lists(same)
        self.needed = [i for i in range(count) if self.losses[i] or self.metrics[i] or self.weighted[i]]

    def metric_lists(self, same):
        """The metrics of each output, and how they are given: by name, one per output, or one for all."""
        heads, form = self.outputs, str(self.random.choice(["names", "names", "each", "all", "none"]))
        if form == "all" and same:
            one = [str(self.random.choice(METRICS))]
            return [one] * len(heads), "all"
        if form == "each" and len(heads) > 1:
            return [(self.metrics_of(head, 1) or ["mae" if not head["labels"] else "accuracy"])[:1] for head in heads], "each"
        if form == "none":
            return [[] for _ in heads], "none"
        return [self.metrics_of(head, 2) for head in heads], "names"


def metric(text):
    return getattr(keras.metrics, text[:-2])() if text.endswith("()") else text


def net(case, as_dict):
    inputs = [keras.Input((2,), name=name) for name in case.inputs]
    joined = inputs[0] if len(inputs) == 1 else keras.layers.Concatenate()(inputs)
    outputs = []
    for head in case.outputs:
        kernel, bias = weights_of(head, 2 * len(inputs))
        layer = keras.layers.Dense(head["units"], activation="softmax" if head["labels"] else None, name=head["name"])
        outputs.append(layer(joined))
        layer.set_weights([kernel, bias])
    if as_dict:
        outputs = dict(zip(case.names, outputs))
    elif len(outputs) == 1:
        outputs = outputs[0]
    return keras.Model(inputs if len(inputs) > 1 else inputs[0], outputs)


def weights_of(head, inputs):
    random = np.random.default_rng(head["seed"])
    return (
        random.standard_normal((inputs, head["units"])).round(2).astype("float32"),
        random.standard_normal(head["units"]).round(2).astype("float32"),
    )


def one_or_all(several):
    return several[0] if len(several) == 1 else several


def numbers(logs):
    return {name: float(f"{float(value):.9g}") for name, value in logs.items()}


def of_call(case, model, x, y, w):
    call = case.call
    if call in ("train_on_batch", "test_on_batch"):
        return numbers(getattr(model, call)(x, y, sample_weight=w, return_dict=True))
    quiet = {"verbose": 0, "batch_size": case.batch}
    if call in ("evaluate", "dataset"):
        return numbers(model.evaluate(x, y, sample_weight=w, return_dict=True, **quiet))
    more = {"validation_data": (x, y) if w is None else (x, y, w)} if call == "validation" else {}
    return numbers({k: v[-1] for k, v in model.fit(x, y, sample_weight=w, shuffle=False, **quiet, **more).history.items()})


def by_position(case):
    """Keras's result for lists by position."""
    model, count = net(case, False), len(case.outputs)
    metrics = [[[metric(each) for each in one] for one in lists] for lists in (case.metrics, case.weighted)]
    several = count > 1
    model.compile(
        optimizer=keras.optimizers.SGD(0.1),
        loss=list(case.losses) if several else case.losses[0],
        loss_weights=None
        if case.loss_weights is None
        else (case.loss_weights * count if len(case.loss_weights) < count else case.loss_weights),
        metrics=(metrics[0] if several else metrics[0][0]) if any(case.metrics) else None,
        weighted_metrics=(metrics[1] if several else metrics[1][0]) if any(case.weighted) else None,
    )
    w = case.weights
    return of_call(case, model, one_or_all(case.x), one_or_all(case.y), None if w is None else one_or_all(w))


def shuffled(case, names):
    return [names[i] for i in case.random.permutation(len(names))]


def tensors(case, names, arrays, by_name):
    """A JSON list, and its entries by name for Keras if it has names."""
    order = list(range(len(names)))
    if by_name:
        order = [int(i) for i in case.random.permutation(len(names))]
    form = {"names": [names[i] for i in order] if by_name else [], "tensors": [listed(arrays[i]) for i in order],
            "dtypes": [str(arrays[i].dtype) for i in order]}
    return form


def chosen(arrays, positions):
    return [arrays[i] for i in positions]


def lists_of(case):
    """The lists of a line."""
    count, needed = len(case.outputs), case.needed
    part = needed if len(needed) < count and case.chance(0.6) else list(range(count))
    y = tensors(case, chosen(case.names, part), chosen(case.y, part), case.chance(0.5))
    w = None
    if case.weights is not None:
        w = (tensors(case, ["all"], case.weights, False) if len(case.weights) < count or count == 1
             else tensors(case, chosen(case.names, part), chosen(case.weights, part), case.chance(0.5)))
    loss = {"names": [], "losses": [case.losses[0]] if case.loss_for_all else case.losses}
    if not case.loss_for_all and case.chance(0.5):
        names = shuffled(case, [n for n, l in zip(case.names, case.losses) if l or case.chance(0.5)])
        loss = {"names": names, "losses": [case.losses[case.names.index(n)] for n in names]}

    def metric_form(lists, form):
        if form == "none" or not any(lists):
            return {"names": [], "metrics": []}
        if form == "all":
            return {"names": [], "metrics": lists[0]}
        if form == "each":
            return {"names": [], "metrics": [one for each in lists for one in each]}
        names = shuffled(case, [n for n, one in zip(case.names, lists) if one])
        return {"names": names, "metrics": [lists[case.names.index(n)] for n in names]}

    return {"x": tensors(case, case.inputs, case.x, case.chance(0.5)), "y": y, "sample_weight": w, "loss": loss,
            "loss_weights": case.loss_weights, "metrics": metric_form(case.metrics, case.metrics_form),
            "weighted_metrics": metric_form(case.weighted, case.weighted_form)}


def broken_tensors(case, form, kind):
    form = json.loads(json.dumps(form))
    if kind == "missing":
        for key in form:
            form[key] = form[key][:-1]
    elif kind == "unknown":
        form["names"][int(case.random.integers(len(form["names"])))] = "typo"
    else:
        for key in ("tensors", "dtypes"):
            form[key].append(form[key][0])
        if form["names"]:
            form["names"].append(form["names"][0] if kind == "doubled" else "typo")
    return form


def broken_of(case, lists):
    """One broken list: its key, the list, and the kind of its fault."""
    which = str(case.random.choice(["x", "y", "sample_weight", "loss", "loss_weights", "metrics", "weighted_metrics"]))
    count, form = len(case.outputs), lists[which]
    if which in ("x", "y", "sample_weight"):
        if form is None:
            return None
        kinds = ["more"] + (["missing", "unknown", "doubled"] if form["names"] else ["missing"])
        kind = str(case.random.choice(kinds))
        broken = broken_tensors(case, form, kind)
        if not form["names"] and len(broken["tensors"]) in (len(case.needed), count):
            return None
        if which == "sample_weight" and not form["names"] and len(broken["tensors"]) in (0, 1):
            return None
        if kind == "missing" and which != "x" and form["names"][-1:] and case.names.index(form["names"][-1]) not in case.needed:
            return None
        return (which, broken, kind) if broken["tensors"] else None
    if which == "loss_weights":
        return which, [1.0] * (count + int(case.random.choice([1, 2]))), "more"
    if form.get("names"):
        kind = str(case.random.choice(["unknown", "doubled"]))
        form = json.loads(json.dumps(form))
        key = "losses" if which == "loss" else "metrics"
        form["names"].append("typo" if kind == "unknown" else form["names"][0])
        form[key].append(form[key][0])
        return which, form, kind
    if which == "loss":
        return which, {"names": [], "losses": ["mse"] * int(case.random.choice([n for n in (2, 4) if n != count]))}, "more"
    wrong = [n for n in (2, 3, 4) if n != count]
    return (which, {"names": [], "metrics": ["mae"] * int(case.random.choice(wrong))}, "more") if count > 1 else None


def keras_refuses(case, lists, which, form):
    """Returns true if Keras rejects the broken list, with all other lists valid, by its Python structures."""
    by_name = bool(isinstance(form, dict) and form.get("names"))
    if len(case.outputs) == 1 and which != "x" and by_name:
        return True  # Keras accepts no names for the tensors of a single output, and does not check those of metrics
    model, names = net(case, by_name and which != "x"), case.names
    pack = (lambda each: dict(zip(names, each))) if by_name and which != "x" else one_or_all
    x, y = one_or_all(case.x), pack(case.y)
    w = None if case.weights is None or which == "y" else (
        case.weights[0] if len(case.weights) == 1 else pack(case.weights))
    arguments = {"loss": pack(list(case.losses)), "loss_weights": None}
    if which in ("x", "y", "sample_weight"):
        arrays = [np.asarray(t, d) for t, d in zip(form["tensors"], form["dtypes"])]
        given = dict(zip(form["names"], arrays)) if by_name else one_or_all(arrays)
        x, y, w = (given if which == "x" else x), (given if which == "y" else y), (given if which == "sample_weight" else w)
    elif which == "loss_weights":
        arguments[which] = form
    else:
        key = "losses" if which == "loss" else "metrics"
        values = [v if isinstance(v, list) or which == "loss" else [v] for v in form[key]]
        values = [[metric(each) for each in v] if isinstance(v, list) else v for v in values]
        arguments[which] = dict(zip(form["names"], values)) if by_name else values
    try:
        model.compile(optimizer="sgd", **arguments)
        model.evaluate(x, y, sample_weight=w, verbose=0)
    except Exception:
        return True
    return False


def line(seed):
    case = Case(np.random.default_rng(seed))
    try:
        logs = by_position(case)
    except Exception as error:  # a combination that Keras does not support
        print(f"{seed}: Keras: {type(error).__name__}: {str(error)[:200]}", file=sys.stderr)
        return None
    lists = lists_of(case)
    inputs = 2 * len(case.inputs)
    heads = [{"name": h["name"], "softmax": h["labels"], "kernel": listed(weights_of(h, inputs)[0]),
              "bias": listed(weights_of(h, inputs)[1])} for h in case.outputs]
    record = {"seed": seed, "call": case.call, "batch_size": case.batch, "inputs": case.inputs, "outputs": heads,
              "lists": lists, "logs": logs, "broken": None}
    if case.chance(0.6) and (found := broken_of(case, lists)):
        which, form, kind = found
        if kind == "doubled" or (which == "x" and kind == "more" and form["names"]) or keras_refuses(case, lists, which, form):
            record["broken"] = {"list": which, "form": form, "kind": kind}
        else:
            print(f"{seed}: Keras takes {which} {kind}: {json.dumps(form)[:150]}", file=sys.stderr)
    return record


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=60)
    arguments = parser.parse_args()
    with open(arguments.file, "w") as file:
        for seed in range(arguments.seed, arguments.seed + arguments.count):
            if record := line(seed):
                file.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
