#!/usr/bin/env python3
# Puts a JSON text into a .keras archive as its config.json, to test configs that Keras would not write.
# SPDX-License-Identifier: Apache-2.0
"""Usage: archive.py OUT.keras JSON"""
import sys
import zipfile

with zipfile.ZipFile(sys.argv[1], "w") as archive:
    archive.writestr("config.json", sys.argv[2])
