# Records PNG and JPEG files with their pixels as Pillow reads them: python record_image_files.py > image_files.jsonl
# SPDX-License-Identifier: Apache-2.0
"""Needs Pillow and NumPy. `load_img` resizes as Keras 3.15.1's load_img does. Each line: `kind` (png or jpeg), the
`bytes` of the file in hex, `mode` (color_mode), and `size`, `filter` and `keep` of load_img's target_size,
interpolation and keep_aspect_ratio (null if absent); the resulting `shape` and `pixels`. `tolerance` is the maximum
difference of pixels, since libjpeg's versions differ.
"""
import io
import itertools
import json

import numpy as np
from PIL import Image

random = np.random.default_rng(9)
MODES = {"rgb": "RGB", "rgba": "RGBA", "grayscale": "L"}
FILTERS = {name: getattr(Image.Resampling, name.upper()) for name in ["nearest", "bilinear", "bicubic", "hamming", "box", "lanczos"]}


def smooth(height, width, channels):
    """Waves, so that the rounding of JPEG is small."""
    y, x, c = np.meshgrid(np.arange(height), np.arange(width), np.arange(channels), indexing="ij")
    return (127.5 + 100 * np.sin(x / 5 + c) * np.cos(y / 4 - c)).astype("uint8")


def written(image, **args):
    file = io.BytesIO()
    image.save(file, **args)
    return file.getvalue()


def files():
    noise = random.integers(0, 256, (9, 7, 4)).astype("uint8")
    yield "png", written(Image.fromarray(noise[..., :3]), format="PNG"), 0
    yield "png", written(Image.fromarray(noise), format="PNG"), 0
    yield "png", written(Image.fromarray(noise[..., 0]), format="PNG"), 0
    yield "png", written(Image.fromarray(noise[..., 0] > 127), format="PNG"), 0
    yield "png", written(Image.fromarray(noise[..., :2], "LA"), format="PNG"), 0
    yield "png", written(Image.fromarray(noise[..., :3]).quantize(8), format="PNG"), 0
    yield "png", written(Image.fromarray(noise[..., :3]).quantize(8), format="PNG", transparency=3), 0
    yield "png", written(Image.fromarray(noise[..., :3]), format="PNG", dpi=(72, 72), icc_profile=b"no profile"), 0
    yield "png", written(Image.fromarray(np.full((4, 5, 3), 7, "uint8")), format="PNG"), 0
    yield "jpeg", written(Image.fromarray(smooth(19, 23, 3)), format="JPEG", quality=90), 2
    yield "jpeg", written(Image.fromarray(smooth(16, 16, 3)), format="JPEG", quality=75, subsampling=0, progressive=True), 2
    yield "jpeg", written(Image.fromarray(smooth(9, 30, 1)[..., 0]), format="JPEG", quality=95), 2


def loaded(data, mode, size, name, keep):
    """Like keras.utils.load_img."""
    image = Image.open(io.BytesIO(data))
    if image.mode != MODES[mode]:
        image = image.convert(MODES[mode])
    if size and image.size != (size[1], size[0]):
        width, height = image.size
        if keep:
            crop_height, crop_width = min(height, width * size[0] // size[1]), min(width, height * size[1] // size[0])
            top, left = (height - crop_height) // 2, (width - crop_width) // 2
            image = image.resize((size[1], size[0]), FILTERS[name], box=[left, top, left + crop_width, top + crop_height])
        else:
            image = image.resize((size[1], size[0]), FILTERS[name])
    return np.asarray(image)


def main():
    for number, (kind, data, tolerance) in enumerate(files()):
        cases = [(mode, None, None, False) for mode in MODES]
        if number in (0, 1, 2, 9):
            cases += [(mode, size, name, keep) for mode in ["rgb", "rgba"] for size, keep in [((4, 5), False), ((13, 20), False), ((6, 3), True)]
                      for name in FILTERS if mode == "rgba" or number != 1]
        for mode, size, name, keep in cases:
            pixels = loaded(data, mode, size, name, keep)
            shape = list(pixels.shape) + ([1] if pixels.ndim == 2 else [])
            row = {"kind": kind, "bytes": data.hex(), "mode": mode, "size": size, "filter": name, "keep": keep, "shape": shape,
                   "pixels": pixels.ravel().tobytes().hex(), "tolerance": tolerance}
            print(json.dumps(row, separators=(",", ":")))


main()
