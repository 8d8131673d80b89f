# Loops, rows and products of PyTorch on a GPU; requests and replies are lines.
# SPDX-License-Identifier: Apache-2.0
"""Usage: gpu.py

Prints `ready VERSION` or `missing REASON`, then answers
  prepare KERNEL DTYPE ROWS COLUMNS   "prepared"
  calls N                             seconds per call, from the first launch until the GPU has finished
"""
import time

from conversation import serve


class Torch:
    def __init__(self):
        import torch
        if not torch.cuda.is_available():
            raise RuntimeError("PyTorch finds no GPU")
        self.torch, self.step = torch, None
        self.version = torch.__version__

    def kernel(self, kernel, x):
        torch = self.torch
        shape = [x.shape[1]]
        if kernel == "product":
            other = torch.rand_like(x)
            return lambda: x @ other
        return {"add": lambda: x + 1.0,
                "softmax": lambda: torch.softmax(x, -1),
                "layer-norm": lambda: torch.nn.functional.layer_norm(x, shape, eps=1e-3)}[kernel]


def prepare(library, kernel, dtype, rows, columns):
    torch = library.torch
    x = torch.rand(int(rows), int(columns), device="cuda").to(getattr(torch, dtype))
    library.step = library.kernel(kernel, x)
    library.step()
    torch.cuda.synchronize()
    return "prepared"


def seconds(library, times):
    library.torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(times):
        library.step()
    library.torch.cuda.synchronize()
    return (time.perf_counter() - start) / times


serve(Torch, prepare, seconds)
