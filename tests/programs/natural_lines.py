#!/usr/bin/env python3
# Compiles lines that Keras users typically write first: some must compile together, and each of the others must fail.
# SPDX-License-Identifier: Apache-2.0
"""Usage: natural_lines.py INCLUDE_DIR COMPILER...

Each line is in a function of its own. The accepted lines form one program, with all warnings as errors except those
about unused names. Each rejected line must fail for the stated reason, a regular expression that the compiler's errors
must match; these lines are compiled by the clang or g++ among COMPILER. A compiler that is not installed is reported
and skipped. Nothing is linked: other tests check what the lines compute.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

HEAD = """#include <halftone/Halftone.h>
#include <iostream>
#include <map>
using namespace halftone;
using namespace halftone::layers;
"""
FUNCTION = "void line%d(const Value &x, const Value &y, Tensor t, const Model &m, const Layer &d) {\n%s\n}\n"

ACCEPTED = [
    # Operands and operators.
    "Value r = x > 0.0;", "Value r = ops::greater(x, 0.0);", "Value r = ops::maximum(x, 0.0);",
    "Value r = ops::power(x, 2.0);", "Value r = ops::where(ops::greater(x, y), x, 0.0);", "Value r = ops::equal(x, 1);",
    "Value r = x; r -= y;", "Value r = x; r /= 2.0;", "Value r = x; r *= 2.0;", "Value r = x % y;",
    "Value r = !ops::greater(x, y);", "Value r = ops::greater(x, y) & ops::less(x, y);",
    # Keys.
    "Value r = x[0];", "Value r = x[y];", "Value r = x[{Slice(), 0}];", "Value r = x[{ellipsis, newaxis}];",
    "Tensor r = t[0];", "Value r = x.at(0).set(1);",
    # Tensors.
    "Tensor r = t + t;", "Tensor r = 2.0 * t;", "Tensor r = -t;", "Tensor r(std::vector<int>{1, 2}, {2});",
    "Tensor r(std::vector<bool>{true}, {1});", "Tensor r(std::vector<size_t>{1}, {1});",
    "Tensor r(std::vector<uint32_t>{1}, {1});", "Tensor r(std::vector<float>{1, 2});", "Tensor r{{1, 2}, {3, 4}};",
    # Printing.
    "std::cout << t;", "std::cout << x;", "std::cout << t.shape();", "Logs l; std::cout << l;",
    "std::cout << m.summary();",
    # Creation, random numbers, functions of ops.
    "auto r = random::normal({2, 3});", "Value r = random::uniform(x.shape());", "Value r = ops::zeros({2, 3});",
    "Value r = ops::ones({2, 3});", "Value r = ops::full({2, 3}, 1.0);", "Value r = ops::mean(x, -1);",
    "Value r = ops::sum(x, 1, true);", "Value r = ops::softmax(x);", "Value r = ops::relu6(x);",
    "Value r = ops::selu(x);", "Value r = activations::relu(x);", "Value r = losses::mean_squared_error(x, y);",
    "std::vector<Value> v{x, y}; Value r = ops::concatenate(v, -1);",
    # Layers.
    "MaxPool2D l;", 'Conv2D l(32, {3, 3}, {.activation = "relu"});', 'Conv2D l(32, 3, {.padding = "same"});',
    'UpSampling2D l(2, {.interpolation = "bilinear"});', "Dropout l(0.5);", "Value r = d.output();",
    "Value r = d.input();", "auto r = d.losses();", "Value r = Add()({x, y});",
    "Lambda l([](const Values &v) -> Value { return v[0] + v[1]; });", "Sequential s; s.add(Dense(3));",
    # Models, optimizers, callbacks.
    "auto r = m.metrics();", "Value r = m(x, {.training = true});", "Tensor r = m.predict(t);",
    "Value r = m({x, y});", "m.fit(t, t, {.epochs = 1});", "m.fit(t, t, {.validation_data = {t, t}});",
    'auto r = m.fit(t, t)["loss"];', 'm.compile({.optimizer = optimizers::Adam(), .loss = "mse"});',
    "optimizers::Adam o(schedules::ExponentialDecay(0.1, 100, 0.9));",
    'callbacks::EarlyStopping c({.monitor = "val_loss", .patience = 3});',
    "callbacks::LambdaCallback c({.on_epoch_end = [](int64_t, Logs &) {}});",
    'm.save_weights("a.weights.h5"); m.load_weights("a.weights.h5");', "auto r = m.get_weights()[0];",
    "set_random_seed(1);", 'struct My : Optimizer {}; My q{"sgd"};',
    # Derivatives and jit().
    "auto r = grad([](const Value &v) { return ops::sum(v); });",
    "auto r = value_and_grad([](const Value &v) { return ops::sum(v); });",
    "Value r = gradient(x, y);", "auto r = jit([](const Value &v, int n) -> Value { return v * n; });",
    "auto r = jit([](const Value &v, bool training) -> Value { return training ? v : -v; });",
]

# (line, a pattern for the errors of clang and g++)
REFUSED = [
    ("auto r = ops::matmul(t, t);", "no viable conversion|invalid initialization"), # jit(ops::matmul)(t, t)
    ("float r = t[0];", "no viable conversion|cannot convert"), # t[0].item()
    ("Tensor r = Tensor::randn({2, 3});", "no member named|is not a member"), # Tensor::normal
    ("Value r = x + t;", "deleted"), # x + constant(t)
    ("auto r = ops::shape(x);", "no member named|is not a member"), # x.shape()
    ("auto r = gradients(x, Variable());", "no matching function"), # gradient(x, v)
    ("auto r = gradients(x, y);", "no matching function"), # gradient(x, y)
    ("auto r = vmap([](const Value &v) { return ops::sum(v); });", "undeclared|not declared"),
    ("auto r = jit([](auto v) { return v; });", "static.assert(ion)? failed.*not known"), # jit<Value(const Value &)>
    ("struct My : Metric {}; My q;", "deleted|implicitly-deleted"), # a struct with update_state() and result()
    ('Dense l(10, "relu");', "no matching"), # Dense(10, {.activation = "relu"})
    ("Dense l({.units = 10});", "no matching"), # Dense(10)
    ("MultiHeadAttention l({.num_heads = 2, .key_dim = 8});", "no matching"), # MultiHeadAttention(2, 8)
    ("Input i(28, 28);", "no matching"), # Input({28, 28})
    ("Value r = Concatenate()(x, y);", "no match|no viable|could not convert|cannot convert|call to object"), # Concatenate()({x, y})
    ("Value r = m(x, true);", "no match|no viable|could not convert|cannot convert|call to object"), # m(x, {.training = true})
    ("m.fit(t, t, {.class_weight = std::map<int64_t, double>{{0, 1.0}}});", "no viable|could not convert|no match"),
    ("optimizers::Adam o; o.learning_rate() = 1e-4;", "not assignable|lvalue"), # o.set_learning_rate(1e-4)
]
# g++ 12 accepts a shape by the name of its only field.
REFUSED_BY_CLANG = [("Input i({.shape = {3}});", "no matching|ambiguous")]


def compiled(compiler, include, text):
    """The errors of the compiler; "" if there are none."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "lines.cpp")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        # The errors of one line do not hide those of the next.
        limit = "-ferror-limit=0" if "clang" in compiler else "-fmax-errors=0"
        run = subprocess.run([compiler, "-std=c++20", "-Wall", "-Wextra", "-Wno-unused", "-Wno-unused-parameter", "-Werror",
                              "-fsyntax-only", "-fdiagnostics-color=never", limit, "-I", include, path],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return run.stdout if run.returncode != 0 else ""


def program(lines):
    return HEAD + "".join(FUNCTION % (i, line) for i, line in enumerate(lines))


def lines_of(errors, lines):
    """Each line to which an error or a note of the compiler points, with its first message."""
    found = {}
    first = HEAD.count("\n") + 2  # the first line; each further line is three below
    for number, message in re.findall(r"lines\.cpp:(\d+):\d+: (?:error|note|warning): (.*)", errors):
        index, rest = divmod(int(number) - first, 3)
        if rest == 0 and 0 <= index < len(lines):
            found.setdefault(index, message)
    return found


def check(compiler, include):
    failures = []
    errors = compiled(compiler, include, program(ACCEPTED))
    for index, message in lines_of(errors, ACCEPTED).items():
        failures.append(f"`{ACCEPTED[index]}` does not compile: {message}")
    if errors and not failures:
        failures.append(errors)
    # The rejected lines are compiled together: each must have errors, and they must match.
    refused = REFUSED + (REFUSED_BY_CLANG if "clang" in compiler else [])
    errors = compiled(compiler, include, program([line for line, _ in refused]))
    blocks = {}
    first = HEAD.count("\n") + 2
    current = None
    for text in errors.splitlines():
        at = re.match(r"\S*lines\.cpp:(\d+):", text) # not "In file included from"
        if at:
            current = (int(at.group(1)) - first) // 3
        blocks.setdefault(current, []).append(text)
    for index, (line, expected) in enumerate(refused):
        own = "\n".join(blocks.get(index, []))
        if not own:
            failures.append(f"`{line}` compiles")
        elif not re.search(expected, own) and not re.search(expected, compiled(compiler, include, program([line]))):
            # Neither in the line itself, nor in a header for this line alone.
            failures.append(f"`{line}` fails for another reason than {expected}:\n{own}")
    print(f"{compiler}: {len(ACCEPTED)} lines that compile and {len(refused)} that do not, {len(failures)} failures")
    return failures


def main(include, compilers):
    failures, tried = [], 0
    for compiler in compilers:
        if not shutil.which(compiler):
            print(f"{compiler} is not installed: left out")
            continue
        tried += 1
        failures += [f"{compiler}: {failure}" for failure in check(compiler, include)]
    for failure in failures:
        print(failure)
    return 1 if failures or not tried else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
