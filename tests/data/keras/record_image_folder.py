# Records the datasets that real Keras makes from a folder of images: python record_image_folder.py > image_folder.jsonl
# SPDX-License-Identifier: Apache-2.0
"""Keras 3.15.1 with TensorFlow, which reads the files. The first line has the `files` of the folder, by path, in hex.
Each other line: `args` of image_dataset_from_directory; `paths` of the dataset's files, `classes`; and, unless it is
shuffled, the `shape`, the `images` of the first batch and its `labels`.
"""
import json
import os
import struct
import tempfile
import zlib

os.environ["KERAS_BACKEND"] = "tensorflow"
import keras
import numpy as np

random = np.random.default_rng(12)


def png(pixels):
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    height, width, channels = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    header = struct.pack(">IIBBBBB", width, height, 8, {1: 0, 3: 2, 4: 6}[channels], 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def tree():
    names = [f"b/{i}.png" for i in (1, 10, 2, 33)] + ["a/z.PNG", "a/x/1.png", "a/x-y/2.png", "a/x/0.png", "C c/é.png", "C c/e.png", "a/.d/3.png", "b/4/5/6.png"]
    for i, name in enumerate(names):
        yield name, png(random.integers(0, 256, (3 + i % 4, 5 + i % 3, (3, 3, 1, 4)[i % 4])).astype("uint8"))


def cases():
    plain = dict(shuffle=False, image_size=(4, 3))
    yield plain
    yield plain | dict(label_mode="categorical")
    yield plain | dict(labels=None, color_mode="rgba")
    yield plain | dict(class_names=["b", "a"], label_mode="binary")
    for interpolation in ["nearest", "bilinear", "lanczos3", "lanczos5"]:
        for size in [(2, 2), (6, 9)]:
            yield plain | dict(interpolation=interpolation, image_size=size)
    for size in [(4, 3), (2, 7), (9, 9)]:
        yield plain | dict(crop_to_aspect_ratio=True, image_size=size)
        yield plain | dict(pad_to_aspect_ratio=True, image_size=size)
    yield plain | dict(validation_split=0.3, subset="validation", data_format="channels_first")
    for seed in [0, 123, 4000000000]:
        for subset in ["training", "validation"]:
            yield dict(seed=seed, validation_split=0.35, subset=subset)
        yield dict(seed=seed)


def main():
    with tempfile.TemporaryDirectory() as folder:
        files = dict(tree())
        for name, data in files.items():
            os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
            with open(os.path.join(folder, name), "wb") as file:
                file.write(data)
        print(json.dumps({"files": {name: data.hex() for name, data in files.items()}}))
        for args in cases():
            dataset = keras.utils.image_dataset_from_directory(folder, batch_size=4, verbose=False, **args)
            row = {"args": args, "paths": [os.path.relpath(path, folder) for path in dataset.file_paths], "classes": dataset.class_names or []}
            if not args.get("shuffle", True):
                first = next(iter(dataset))
                images, labels = first if isinstance(first, tuple) else (first, None)
                row |= {"shape": list(images.shape), "images": [float(f"{v:.7g}") for v in np.asarray(images, "float64").ravel()],
                        "labels": None if labels is None else np.asarray(labels).ravel().tolist()}
            print(json.dumps(row, ensure_ascii=False), flush=True)


main()
