# Convolutions over two spatial axes in oneDNN, channels last; requests and replies are lines.
# SPDX-License-Identifier: Apache-2.0
"""Usage: conv.py oneDNN | "oneDNN of PyTorch"  THREADS

Prints `ready VERSION` or `missing REASON`, then answers
  prepare WAY DTYPE N SIZE CHANNELS FILTERS TAPS STRIDE GROUPS
      the sum of all elements of the result. WAY is forward, by_x or by_w; the image is SIZE x SIZE, padded as Keras's
      "same"; the operands are (i % 13 - 6) / 8 for the image, (i % 11 - 5) / 8 for the kernel and (i % 7 - 3) / 8 for
      the cotangent, with i counted in the order of (n, row, column, channel) and (row, column, channel, filter)
  calls TIMES
      seconds per call, without the overhead of calling from Python
oneDNN keeps the kernel in the layout that it asks for. PyTorch does so only in the forward pass; if the padding differs
between two sides, it convolves an image padded beforehand.
"""
import ctypes as C
import math
import sys

from conversation import serve, use_threads

name, threads = sys.argv[1], int(sys.argv[2])
use_threads(threads)
from dnnl import OneDnn, TorchDnn, operand  # noqa: E402: after the threads are set

FORWARD, DIRECT = 64, 1  # dnnl_forward_training, dnnl_convolution_direct
SOURCE, WEIGHTS, RESULT, SOURCE_GRADIENT, WEIGHTS_GRADIENT, RESULT_GRADIENT = 1, 33, 17, 129, 161, 145  # DNNL_ARG_*
WEIGHTS_GRADIENT_DESCRIPTOR = 132  # dnnl_query_diff_weights_md


def strides_in(order, dims):
    """The stride of each axis if the axes are stored in `order`."""
    strides, step = [0] * len(dims), 1
    for axis in reversed(order):
        strides[axis], step = step, step * dims[axis]
    return strides


class Convolutions(OneDnn):
    def prepare(self, way, dtype, n, size, channels, filters, taps, stride, groups):
        places = -(-size // stride)
        total = max((places - 1) * stride + taps - size, 0)
        kind, wide = self.DTYPES[dtype], self.DTYPES["float32"]
        image_dims, result_dims = (n, channels, size, size), (n, filters, places, places)
        kernel_dims = (filters // groups, channels // groups, taps, taps)
        kernel_order = [2, 3, 1, 0]
        if groups > 1:  # (g, o, i, h, w), stored as (h, w, i, g, o)
            kernel_dims, kernel_order = (groups, *kernel_dims), [3, 4, 2, 0, 1]
        last = [0, 2, 3, 1]

        def plain(kind, dims, order):
            return self.strided(kind, dims, strides_in(order, dims))

        image, result = plain(kind, image_dims, last), plain(kind, result_dims, last)
        kernel = self.any_layout(kind, kernel_dims)
        array = lambda *values: (C.c_int64 * len(values))(*values)
        window = (array(stride, stride), array(0, 0), array(total // 2, total // 2), array(total - total // 2, total - total // 2))
        forward = self.made("dnnl_convolution_forward_primitive_desc_create", self.engine, C.c_int(FORWARD), C.c_int(DIRECT), image,
                            kernel, None, result, *window, None)
        description = forward
        if way == "by_x":
            description = self.made("dnnl_convolution_backward_data_primitive_desc_create", self.engine, C.c_int(DIRECT), image, kernel,
                                    result, *window, forward, None)
        elif way == "by_w":
            description = self.made("dnnl_convolution_backward_weights_primitive_desc_create", self.engine, C.c_int(DIRECT), image,
                                    kernel, None, result, *window, forward, None)
        kernel = self.queried(description, WEIGHTS_GRADIENT_DESCRIPTOR if way == "by_w" else self.WEIGHTS_DESCRIPTOR)
        data = [operand(math.prod(dims), period) for dims, period in ((image_dims, 13), (kernel_dims, 11), (result_dims, 7))]
        wides = [plain(wide, image_dims, last), plain(wide, kernel_dims, kernel_order), plain(wide, result_dims, last)]
        owned = [image, kernel, result]
        memories = [self.memory(descriptor) for descriptor in owned]
        target = {"forward": 2, "by_x": 0, "by_w": 1}[way]
        outside = [self.memory(descriptor, values) for descriptor, values in zip(wides, data)]
        for i in range(3):
            if i != target:
                self.reorder(wides[i], outside[i], owned[i], memories[i])
        names = {"forward": (SOURCE, WEIGHTS, RESULT), "by_x": (SOURCE_GRADIENT, WEIGHTS, RESULT_GRADIENT),
                 "by_w": (SOURCE, WEIGHTS_GRADIENT, RESULT_GRADIENT)}[way]
        self.kept = data, memories, outside
        self.arguments = self.execute(self.made("dnnl_primitive_create", description), list(zip(names, memories)))
        self.function = self.dnnl.dnnl_primitive_execute
        self.reorder(owned[target], memories[target], wides[target], outside[target])
        return data[target].sum(dtype="float64")


class TorchConvolutions(TorchDnn):
    def prepare(self, way, dtype, n, size, channels, filters, taps, stride, groups):
        torch = self.torch
        places = -(-size // stride)
        total = max((places - 1) * stride + taps - size, 0)
        before, after = total // 2, total - total // 2

        def of(shape, period):  # channels last in memory, viewed as (n, channel, row, column)
            return self.tensor(operand(math.prod(shape), period).reshape(shape), dtype).permute(0, 3, 1, 2)

        image, cotangent = of((n, size, size, channels), 13), of((n, places, places, filters), 7)
        taps_first = operand(taps * taps * (channels // groups) * filters, 11).reshape(taps, taps, channels // groups, filters)
        kernel = self.tensor(taps_first.transpose(3, 2, 0, 1).copy(), dtype).contiguous(memory_format=torch.channels_last)
        if before != after:
            image = torch.nn.functional.pad(image, (before, after, before, after)).contiguous(memory_format=torch.channels_last)
        padding = [before] * 2 if before == after else [0, 0]
        window = padding, [stride] * 2, [1, 1], groups
        operators = torch.ops.mkldnn
        if way == "forward":
            packed = operators._reorder_convolution_weight(kernel, *window, list(image.shape))
            self.step = lambda: operators._convolution_pointwise(image, packed, None, *window, "none", [], "")
            return self.step().double().sum()
        wanted = [way == "by_x", way == "by_w", False]
        self.step = lambda: torch.ops.aten.convolution_backward(cotangent, image, kernel, None, [stride] * 2, padding, [1, 1],
                                                                False, [0, 0], groups, wanted)
        result = self.step()[0 if way == "by_x" else 1].double()
        if way == "by_x" and before != after:
            result = result[:, :, before:before + size, before:before + size]
        return result.sum()


serve(Convolutions if name == "oneDNN" else lambda: TorchConvolutions(threads),
      prepare=lambda library, way, dtype, *numbers: repr(float(library.prepare(way, dtype, *map(int, numbers)))),
      seconds=lambda library, times: library.seconds(times))
