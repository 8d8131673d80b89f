# The first call of a Keras model on the backend that argv[1] names; requests and replies are lines.
# SPDX-License-Identifier: Apache-2.0
"""Usage: cold.py "Keras on JAX" | "Keras on PyTorch"  THREADS FOLDER

Prints `ready VERSION` or `missing REASON`, then answers
  prepare PROGRAM   reads FOLDER/model.keras, compiled as recorded, and the batch x0, x1, .., y of FOLDER; jit_compile
                    is on: jax.jit or torch.compile. PROGRAM is train or predict
  calls N           seconds of N steps of PROGRAM
No compilation cache of earlier processes is used.
"""
import os
import sys
import time

from conversation import serve, use_threads

name, threads, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
use_threads(threads)
os.environ["KERAS_BACKEND"] = {"Keras on JAX": "jax", "Keras on PyTorch": "torch"}[name]
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["JAX_ENABLE_COMPILATION_CACHE"] = "false"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(folder, "inductor")


class Keras:
    def __init__(self):
        import keras
        self.keras = keras
        if name == "Keras on JAX":
            import jax as library
        else:
            import torch as library
            library.set_num_threads(threads)
        self.version = f"{keras.__version__} ({library.__name__} {library.__version__})"

    def prepare(self, program):
        import numpy
        load = lambda part: numpy.load(os.path.join(folder, part + ".npy"))
        self.net = self.keras.models.load_model(os.path.join(folder, "model.keras"))
        self.net.compile(self.net.optimizer, self.net.loss, jit_compile=True)
        x = [load(f"x{i}") for i in range(len(self.net.inputs))]
        x, y = x if len(x) > 1 else x[0], load("y")
        self.call = (lambda: self.net.train_on_batch(x, y)) if program == "train" else lambda: self.net.predict_on_batch(x)


def prepare(library, program):
    library.prepare(program)
    return "ready"


def seconds(library, calls):
    start = time.perf_counter()
    for _ in range(calls):
        library.call()
    return time.perf_counter() - start


serve(Keras, prepare, seconds)
