# Copies a .keras archive and replaces the optimizer's learning rate by a schedule of two rates.
# SPDX-License-Identifier: Apache-2.0
import json
import sys
import zipfile

source, target = sys.argv[1:]
with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
    for name in old.namelist():
        data = old.read(name)
        if name == "config.json":
            config = json.loads(data)
            config["compile_config"]["optimizer"]["config"]["learning_rate"] = {
                "module": "keras.optimizers.schedules", "class_name": "PiecewiseConstantDecay", "registered_name": None,
                "config": {"boundaries": [1], "values": [0.0, 0.5], "name": "PiecewiseConstant"}}
            data = json.dumps(config)
        new.writestr(name, data)
