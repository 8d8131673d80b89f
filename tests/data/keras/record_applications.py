# Records the architectures of real Keras: python record_applications.py > applications.jsonl
# SPDX-License-Identifier: Apache-2.0
"""Each line is one model without weights: `architecture`, `arguments`, its `name`, its parameter counts, total and
trainable, and `layers`: the name and class of each layer, with the first 12 digits of the SHA-256 of its part of the
model's config (without its build_config and call arguments that are None or False, keys sorted, no blanks). JAX
backend.
"""
import hashlib
import json
import math
import os

os.environ["KERAS_BACKEND"] = "jax"
import keras

TOP = [{}, {"classes": 7, "classifier_activation": None, "input_shape": [64, 96, 1], "name": "mine"}]
BARE = [{"include_top": False}, {"include_top": False, "pooling": "avg", "input_shape": [65, 33, 3]}, {"include_top": False, "pooling": "max"}]
WIDE = [{"alpha": 0.35, "input_shape": [96, 96, 3]}, {"alpha": 1.4, "classes": 10}]
for architecture, calls in (("ResNet50", TOP + BARE), ("MobileNetV2", TOP + BARE + WIDE), ("EfficientNetB0", TOP + BARE), ("DenseNet121", TOP + BARE)):
    for arguments in calls:
        keras.backend.clear_session()
        model = getattr(keras.applications, architecture)(weights=None, **arguments)
        config = json.loads(json.dumps(model.get_config()))
        for layer in config["layers"]:
            layer.pop("build_config", None)
            for node in layer["inbound_nodes"]:
                node["kwargs"] = {key: value for key, value in node["kwargs"].items() if value not in (None, False)}
        layers = [[layer["name"], layer["class_name"], hashlib.sha256(
            json.dumps(layer, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()).hexdigest()[:12]] for layer in config["layers"]]
        print(json.dumps({"architecture": architecture, "arguments": arguments, "name": model.name, "parameters": model.count_params(),
                          "trainable": sum(math.prod(weight.shape) for weight in model.trainable_weights), "layers": layers}, separators=(",", ":")))
