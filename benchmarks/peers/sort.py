# Sorts in the library that argv[1] names; requests and replies are lines.
# SPDX-License-Identifier: Apache-2.0
"""Usage: sort.py "PyTorch eager" | "JAX jit"  THREADS

Prints `ready VERSION` or `missing REASON`, then answers
  prepare ROWS COLUMNS COUNT   the sum of the sorted elements, each times its index modulo 7; the operand of sort.cpp
  calls N                      seconds per call
A COUNT of all COLUMNS sorts rows in ascending order; a smaller COUNT gives the largest, in descending order. Both
return indices too.
"""
import os
import sys
import time

from conversation import serve, use_threads

name, threads = sys.argv[1], int(sys.argv[2])
use_threads(threads)
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"


def noise(*shape):
    """The noise of sort.cpp: both start from the 32-bit outputs of the Mersenne Twister."""
    bits = numpy.random.RandomState(3).randint(0, 2**32, size=shape, dtype=numpy.uint32)
    return (bits >> 8).astype(numpy.float32) / numpy.float32(8388608) - numpy.float32(1)


class Torch:
    def __init__(self):
        import torch
        self.torch = torch
        torch.set_num_threads(threads)
        self.version = torch.__version__

    def step_of(self, x, count):
        x = self.torch.from_numpy(x)
        if count == x.shape[1]:
            return lambda: self.torch.sort(x)
        return lambda: self.torch.topk(x, count)


class Jax:
    def __init__(self):
        import jax
        self.jax = jax
        self.version = jax.__version__

    def step_of(self, x, count):
        jax = self.jax
        import jax.numpy as np
        x = np.asarray(x)
        if count == x.shape[1]:
            compiled = jax.jit(lambda x: (np.sort(x), np.argsort(x)))
        else:
            compiled = jax.jit(lambda x: jax.lax.top_k(x, count))
        return lambda: jax.block_until_ready(compiled(x))


def library():
    global numpy
    import numpy
    return {"PyTorch eager": Torch, "JAX jit": Jax}[name]()


def prepare(library, rows, columns, count):
    library.step = library.step_of(noise(int(rows), int(columns)), int(count))
    values = numpy.asarray(library.step()[0]).astype(numpy.float64)
    return repr(float((values * (numpy.arange(int(count)) % 7)).sum()))


def seconds(library, calls):
    start = time.perf_counter()
    for _ in range(calls):
        library.step()
    return (time.perf_counter() - start) / calls


serve(library, prepare, seconds)
