# Records state dicts of PyTorch models as safetensors files, with an input and its output.
# SPDX-License-Identifier: Apache-2.0
"""Usage: python record_state_dicts.py FOLDER

Writes FOLDER/<name>.safetensors for an MLP (also with float16 and bfloat16 weights, and in float64), a CNN and a transformer:
the tensors of the state dict under its names, and the tensors "x" and "y". Written with PyTorch 2.15.0.
"""
import json
import os
import struct
import sys

import torch
from torch import nn

kinds = {torch.float32: "F32", torch.float64: "F64", torch.float16: "F16", torch.bfloat16: "BF16", torch.int64: "I64"}


def write(name, tensors):
    header, data = {}, b""
    for key, value in tensors.items():
        value = value.detach().contiguous()
        raw = value.view(torch.uint8).numpy().tobytes() if value.dim() else value.reshape(1).view(torch.uint8).numpy().tobytes()
        header[key] = {"dtype": kinds[value.dtype], "shape": list(value.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(os.path.join(sys.argv[1], name + ".safetensors"), "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def record(name, net, x):
    net.eval()
    write(name, {**net.state_dict(), "x": x, "y": net(x)})


class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(2, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.depthwise = nn.Conv2d(4, 4, 3, groups=4)
        self.grouped = nn.Conv2d(4, 8, (3, 1), groups=4, bias=False)
        self.up = nn.ConvTranspose2d(8, 3, (2, 3), stride=(2, 3))
        self.fc = nn.Linear(3, 5)
        with torch.no_grad():  # as after training
            self.norm.weight.uniform_(0.5, 2)
            self.norm.bias.normal_()
            self.norm.running_mean.normal_()
            self.norm.running_var.uniform_(0.5, 2)

    def forward(self, x):
        x = torch.relu(self.norm(self.stem(x)))
        x = self.up(torch.relu(self.grouped(torch.relu(self.depthwise(x)))))
        return self.fc(x.square().mean((2, 3)))


class Transformer(nn.Module):
    def __init__(self, width=8, heads=2):
        super().__init__()
        self.heads = heads
        self.tokens, self.places = nn.Embedding(11, width), nn.Embedding(6, width)
        self.before, self.between, self.after = nn.LayerNorm(width), nn.LayerNorm(width), nn.LayerNorm(width)
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        self.up, self.down = nn.Linear(width, 16), nn.Linear(16, width)
        self.head = nn.Linear(width, 11, bias=False)

    def forward(self, ids):
        x = self.tokens(ids) + self.places(torch.arange(ids.shape[1]))
        h = self.before(x)
        split = lambda t: t.reshape(*t.shape[:2], self.heads, -1).transpose(1, 2)
        q, k, v = (split(f(h)) for f in (self.query, self.key, self.value))
        scores = (q @ k.transpose(2, 3) / q.shape[-1] ** 0.5).softmax(-1)
        x = x + self.out((scores @ v).transpose(1, 2).reshape(x.shape))
        x = x + self.down(nn.functional.gelu(self.up(self.between(x))))
        return self.head(self.after(x))


torch.manual_seed(17)
mlp = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 3))
x = torch.randn(4, 5)
record("mlp", mlp, x)
for dtype, name in ((torch.float16, "mlp_float16"), (torch.bfloat16, "mlp_bfloat16"), (torch.float64, "mlp_float64")):
    narrow = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 3)).to(dtype)
    narrow.load_state_dict(mlp.state_dict())
    state = narrow.state_dict()
    wide = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 3))
    wide.load_state_dict(state)  # computes in float32 with the rounded weights
    write(name, {**state, "x": x, "y": wide(x)})
record("cnn", Cnn(), torch.randn(2, 2, 7, 6))
record("transformer", Transformer(), torch.randint(0, 11, (3, 6)))
