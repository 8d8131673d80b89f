# Re-records the results of dtype policies, constructors and policy maps in Keras: record_policies.py FOLDER
# SPDX-License-Identifier: Apache-2.0
#
# FOLDER contains policies.jsonl, quantized_classes.jsonl and maps.jsonl. The calls in their rows are kept, and their
# results are replaced by those of the Keras that runs this script (see README.md there). A constructor of a class that
# this Keras lacks loses its row.
import copy
import json
import os
import pathlib
import sys

os.environ["KERAS_BACKEND"] = "jax"
import keras  # noqa: E402

POLICIES = keras.dtype_policies


def describe(policy):
    row = {
        "class_name": type(policy).__name__,
        "name": policy.name,
        "compute_dtype": policy.compute_dtype,
        "variable_dtype": policy.variable_dtype,
        "quantization_mode": policy.quantization_mode,
        "repr": repr(policy),
        "config": policy.get_config(),
        "serialized": POLICIES.serialize(policy),
    }
    for field in ("amax_history_length", "block_size", "weight_bits", "group_size"):
        if hasattr(policy, field):
            row[field] = getattr(policy, field)
    return row


def result_of(make):
    try:
        return {"ok": make()}
    except Exception as error:
        return {"error": type(error).__name__, "message": str(error)}


def set_globally(name):
    keras.config.set_dtype_policy(name)
    return {"name": keras.config.dtype_policy().name}


def policy_row(row):
    keras.config.set_dtype_policy("float32")
    calls = {
        "DTypePolicy": lambda name: describe(keras.DTypePolicy(name)),
        "get": lambda name: describe(POLICIES.get(name)),
        "set_dtype_policy": set_globally,
    }
    return {"call": row["call"], "arg": row["arg"], "result": result_of(lambda: calls[row["call"]](row["arg"]))}


def class_row(row):
    made = getattr(POLICIES, row["call"], None)
    if not made:
        return None
    keras.config.set_dtype_policy(row["global"])
    return {**row, "result": result_of(lambda: describe(made(row["mode"], row["source_name"])))}


def map_row(row):
    keras.config.set_dtype_policy(row["global"])
    policies = POLICIES.DTypePolicyMap(row["default"])

    def insert(key, name):
        policies[key] = POLICIES.get(name)
        return True

    result = {"global": row["global"], "default": row["default"]}
    result["inserts"] = [
        {**each, "result": result_of(lambda each=each: insert(each["insert"], each["policy"]))} for each in row["inserts"]
    ]
    result["lookups"] = [
        {**each, "result": result_of(lambda each=each: policies[each["path"]].name)} for each in row["lookups"]
    ]
    for field in ("name", "compute_dtype", "variable_dtype", "quantization_mode"):
        result[field] = getattr(policies, field)
    result["keys"] = list(policies)
    result["len"] = len(policies)
    key = "serialized" if row["default"] else "serialized_null_default"
    result[key] = POLICIES.serialize(copy.deepcopy(policies))
    return result


def main():
    folder = pathlib.Path(sys.argv[1])
    for file, recorded in (("policies", policy_row), ("quantized_classes", class_row), ("maps", map_row)):
        path = folder / f"{file}.jsonl"
        rows = [recorded(json.loads(line)) for line in path.read_text().splitlines()]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows if row))


main()
