# Records layers of strings and categories from real Keras, which needs TensorFlow, and a model with text inside.
# SPDX-License-Identifier: Apache-2.0
"""Usage: KERAS_BACKEND=tensorflow python record_strings.py FOLDER

Writes FOLDER/strings.jsonl. Its first line is a corpus of 2,000 random texts in five scripts. Each other line is a
layer: its config before and after adapt(), the data to which it was adapted, its vocabulary or boundaries, inputs and
outputs. Texts of the corpus are given as [first, count]. Writes FOLDER/archives/strings.keras and strings.json: a model
that reads texts, cities and ages, and its predictions.
"""
import json
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import keras
import numpy as np
import tensorflow as tf
from keras import layers

random = np.random.default_rng(7)
SCRIPTS = ["abcdeABCDE'-", "абвгдАБВГД", "αβγδΑΒΓΔς", "אבגדהו", "漢字仮名交文"]


def word():
    letters = SCRIPTS[random.integers(len(SCRIPTS))]
    return "".join(letters[int(i)] for i in random.zipf(1.6, random.integers(1, 4)) % len(letters))


def text():
    gaps = [" ", "  ", "\t", "\n", "! ", ", ", "\u00a0", "\u3000"]
    return "".join(word() + gaps[int(i)] for i in random.integers(0, len(gaps), random.integers(0, 8)))


def listed(x):
    x = np.asarray(x)
    if x.ndim:
        return [listed(each) for each in x]
    if x.dtype.kind in "SUO":
        one = x.item()
        return one.decode() if isinstance(one, bytes) else one
    return int(x) if x.dtype.kind in "iub" else float(f"{x:.9g}")


def row(layer, inputs, corpus, adapt=None, batches=None):
    """`adapt` and `inputs`: arrays, or a pair (first, count) of the corpus."""

    def array(data):
        return np.array(corpus[data[0] : data[0] + data[1]]) if isinstance(data, tuple) else np.asarray(data)

    before = layer.get_config()
    if adapt is not None:
        data = array(adapt)
        if batches:
            layer.adapt(iter([data[i : i + batches] for i in range(0, len(data), batches)]))
        else:
            layer.adapt(data)
    many = isinstance(inputs, list) and isinstance(inputs[0], np.ndarray)
    given = [array(each) for each in inputs] if many else [array(inputs)]
    output = layer(given if many else given[0])
    fact = {"layer": type(layer).__name__, "before": before, "after": layer.get_config()}
    if adapt is not None:
        fact["adapt"] = list(adapt) if isinstance(adapt, tuple) else listed(adapt)
        fact["adapt_is_corpus"] = isinstance(adapt, tuple)
        fact["batches"] = batches
    if hasattr(layer, "get_vocabulary"):
        fact["vocabulary"] = listed(np.array(layer.get_vocabulary()))
    fact["inputs"] = list(inputs) if isinstance(inputs, tuple) else [listed(each) for each in given]
    fact["inputs_are_corpus"] = isinstance(inputs, tuple)
    fact["input_dtypes"] = ["string" if each.dtype.kind in "USO" else str(each.dtype) for each in given]
    fact["output"] = listed(output)
    fact["output_shape"] = list(np.asarray(output).shape)
    fact["output_dtype"] = str(output.dtype.name if hasattr(output.dtype, "name") else output.dtype)
    return fact


def of_texts(corpus):
    vector = layers.TextVectorization
    whole, head = (0, 2000), (100, 200)
    yield row(vector(output_sequence_length=6), whole, corpus, (0, 1000))
    yield row(vector(max_tokens=50), head, corpus, whole, batches=300)
    for standardize in (None, "lower", "strip_punctuation"):
        yield row(vector(max_tokens=40, standardize=standardize, output_sequence_length=3), head, corpus, (0, 300))
    yield row(vector(max_tokens=60, split="character", output_sequence_length=5), head, corpus, (0, 300))
    yield row(vector(max_tokens=90, ngrams=2, output_sequence_length=5), head, corpus, (0, 300))
    yield row(vector(max_tokens=90, ngrams=(3, 1), output_sequence_length=5), head, corpus, (0, 300))
    for mode in ("multi_hot", "count", "tf_idf"):
        yield row(vector(max_tokens=30, output_mode=mode), (100, 40), corpus, (0, 300))
        yield row(vector(max_tokens=300, pad_to_max_tokens=True, output_mode=mode), (100, 5), corpus, (0, 20), batches=7)
    yield row(vector(vocabulary=["а", "a b", "β"], ngrams=(1, 2), standardize="lower"), np.array(["A b а", "", "β a\tb"]), corpus)
    yield row(vector(vocabulary=["a", "b"], idf_weights=[0.25, 1.5], output_mode="tf_idf"), np.array(["A b a", "", "c c"]), corpus)
    yield row(layers.Hashing(1000), whole, corpus)
    yield row(layers.Hashing(1000, salt=133), head, corpus)
    yield row(layers.Hashing(999, salt=[133, -137], dtype="int32"), head, corpus)


def of_lookups(corpus):
    words = np.array([word().lower() for _ in range(60)]).reshape(20, 3)
    for oov in (1, 3):
        for mask in (None, ""):
            for mode in ("int", "one_hot", "multi_hot", "count", "tf_idf"):
                layer = layers.StringLookup(max_tokens=12, num_oov_indices=oov, mask_token=mask, output_mode=mode)
                data = words[:10] if mode != "one_hot" else words[:10, :1]
                inputs = words[5:] if mode != "one_hot" else words[5:, :1]
                yield row(layer, inputs, corpus, data)
    numbers = random.zipf(1.4, (30, 3)) % 40 - 5
    for mode in ("int", "one_hot", "multi_hot", "count", "tf_idf"):
        for oov, mask in ((1, None), (4, 0)):
            yield row(layers.IntegerLookup(num_oov_indices=oov, mask_token=mask, output_mode=mode, max_tokens=9),
                      numbers[10:], corpus, numbers[:20], batches=6 if mode == "tf_idf" else None)
    yield row(layers.StringLookup(vocabulary=["a", "b"], invert=True, mask_token="m"), np.array([[0, 1, 2], [3, 4, -1]]), corpus)
    yield row(layers.IntegerLookup(vocabulary=[12, 36, 1138], invert=True), np.array([[0, 1], [3, 9]]), corpus)
    yield row(layers.StringLookup(vocabulary=["[UNK]", "x", "y"], idf_weights=[0.9, 0.1, 0.2], output_mode="tf_idf"),
              np.array([["x", "z"], ["y", "y"]]), corpus)


def of_categories(corpus):
    numbers = random.integers(-3, 200, (6, 3))
    for mode in ("int", "one_hot", "multi_hot", "count"):
        yield row(layers.Hashing(7, output_mode=mode), numbers, corpus)
        yield row(layers.Hashing(5, output_mode=mode, mask_value="x"), np.array([["x"], ["y"], ["é"]]), corpus)
        if mode in ("int", "one_hot"):
            yield row(layers.HashedCrossing(6, output_mode=mode),
                      [np.array([["a"], ["b"], ["漢"]]), np.array([[101], [-7], [3]]), np.array([["x"], ["y"], [""]])], corpus)
        if mode != "int":
            yield row(layers.CategoryEncoding(6, output_mode=mode), np.array([[1, 2, 2], [0, 5, 1]]), corpus)
            yield row(layers.CategoryEncoding(6, output_mode=mode), np.array([[1], [5]]), corpus)
            yield row(layers.CategoryEncoding(4, output_mode=mode), np.array([3, 3, 0]), corpus)
        yield row(layers.Discretization(bin_boundaries=[-1.5, 0.0, 0.1, 7.0], output_mode=mode),
                  np.array([[-2, -1.5, 0.1], [8, 0, 6.9]], "float32"), corpus)
        yield row(layers.Discretization(num_bins=5, epsilon=0.05, output_mode=mode), random.normal(size=(4, 3)).astype("float32"),
                  corpus, random.normal(size=(50, 3)).astype("float32").round(3), batches=16)
    yield row(layers.Discretization(num_bins=4), np.array([[0.5], [9]], "float32"), corpus, np.arange(1000).astype("float32") / 100)
    yield row(layers.Discretization(num_bins=3), np.array([[0.5], [9]], "float32"), corpus, np.array([[1, 2, 1, 1, 0.5]], "float32"))


def model(corpus, folder):
    text_in = keras.Input((), dtype="string", name="text")
    city = keras.Input((1,), dtype="string", name="city")
    age = keras.Input((1,), name="age")
    vector = layers.TextVectorization(max_tokens=80, output_sequence_length=6, name="tokens")
    vector.adapt(np.array(corpus[:400]))
    counts = layers.TextVectorization(max_tokens=20, output_mode="tf_idf", name="counts")
    counts.adapt(np.array(corpus[:400]))
    bins = layers.Discretization(num_bins=4, output_mode="one_hot", name="bins")
    bins.adapt(np.arange(100, dtype="float32")[:, None])
    place = layers.StringLookup(vocabulary=["rome", "oslo"], output_mode="one_hot", name="place")
    parts = [
        layers.GlobalAveragePooling1D()(layers.Embedding(80, 4)(vector(text_in))),
        counts(text_in),
        bins(age),
        keras.ops.cast(place(city), "float32"),
        layers.Hashing(6, output_mode="one_hot", name="bucket")(city),
    ]
    net = keras.Model([text_in, city, age], layers.Dense(3, name="head")(layers.Concatenate()(parts)))
    texts, cities, ages = corpus[500:520], ["rome", "oslo", "lima", ""] * 5, np.arange(20, dtype="float32")[:, None] * 5
    given = [tf.constant(texts), tf.constant(cities)[:, None], tf.constant(ages)]  # predict() rejects strings
    result = net(given)
    os.makedirs(os.path.join(folder, "archives"), exist_ok=True)
    net.save(os.path.join(folder, "archives", "strings.keras"))
    with open(os.path.join(folder, "archives", "strings.json"), "w") as file:
        json.dump({"text": texts, "city": cities, "age": listed(ages), "output": listed(result)}, file, ensure_ascii=False)


def main():
    folder = sys.argv[1]
    keras.utils.set_random_seed(3)
    corpus = [text() for _ in range(2000)]
    with open(os.path.join(folder, "strings.jsonl"), "w") as file:
        for fact in [{"corpus": corpus}, *of_texts(corpus), *of_lookups(corpus), *of_categories(corpus)]:
            file.write(json.dumps(fact, ensure_ascii=False, separators=(",", ":")) + "\n")
    model(corpus, folder)


main()
