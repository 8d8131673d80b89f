# The networks whose training steps are timed, as PyTorch and JAX have them; weights are in Keras's order.
# SPDX-License-Identifier: Apache-2.0
"""Networks: "mlp", 784-512-512-10; "convnet", Keras's MNIST convnet; "block", a residual block of 64 channels with
batch normalization, the mean of each channel and a Dense layer. Images are (batch, height, width, channels)."""

DROPOUT = 0.5
EPSILON, MOMENTUM = 1e-3, 0.99  # of batch normalization


def torch_network(torch, name):
    """A torch.nn.Module; where it drops, its Dropout layers have the rate DROPOUT."""
    nn = torch.nn

    class Flat(nn.Module):
        def forward(self, x):
            return x.permute(0, 2, 3, 1).flatten(1)

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            convolution = lambda: nn.Conv2d(64, 64, 3, padding=1, bias=False)
            normalization = lambda: nn.BatchNorm2d(64, eps=EPSILON, momentum=1 - MOMENTUM)
            self.first, self.first_normalization = convolution(), normalization()
            self.second, self.second_normalization = convolution(), normalization()
            self.head = nn.Linear(64, 10)

        def forward(self, x):
            y = nn.functional.relu(self.first_normalization(self.first(x)))
            y = self.second_normalization(self.second(y))
            return self.head(nn.functional.relu(y + x.to(y.dtype)).mean((2, 3)))

    if name == "mlp":
        return nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
    if name == "convnet":
        return nn.Sequential(nn.Conv2d(1, 32, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 3), nn.ReLU(),
                             nn.MaxPool2d(2), Flat(), nn.Dropout(DROPOUT), nn.Linear(1600, 10))
    return Block()


def torch_layout(array):
    """A weight or a batch of Keras's in PyTorch's axes; images stay in memory as they are."""
    return array.transpose(0, 3, 1, 2) if array.ndim == 4 else array


def torch_weight(array):
    return array.transpose(3, 2, 0, 1) if array.ndim == 4 else array.T


class JaxNetwork:
    """logits(weights, x, moving, key) of float32 weights; gives the new moving statistics too. Without `key` nothing is
    dropped."""

    def __init__(self, jax, name, dtype):
        self.jax, self.np, self.dtype = jax, jax.numpy, dtype
        self.logits = {"mlp": self.mlp, "convnet": self.convnet, "block": self.block}[name]
        self.moving = [value(64) for value in (self.np.zeros, self.np.ones) * 2] if name == "block" else []

    def dense(self, x, kernel, bias):
        return x @ kernel.astype(self.dtype) + bias.astype(self.dtype)

    def convolution(self, x, kernel, padding):
        return self.jax.lax.conv_general_dilated(x, kernel.astype(self.dtype), (1, 1), padding,
                                                 dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def pool(self, x):
        window = (1, 2, 2, 1)
        return self.jax.lax.reduce_window(x, -self.np.inf, self.jax.lax.max, window, window, "VALID")

    def normalized(self, x, gamma, beta, moving):
        """In float32, rounded to the compute dtype at the end."""
        x = x.astype(self.np.float32)
        mean = x.mean((0, 1, 2))
        variance = ((x - mean)**2).mean((0, 1, 2))
        y = (x - mean) * self.jax.lax.rsqrt(variance + EPSILON) * gamma + beta
        moving = [MOMENTUM * old + (1 - MOMENTUM) * new for old, new in zip(moving, (mean, variance))]
        return y.astype(self.dtype), moving

    def mlp(self, w, x, moving, key):
        h = self.jax.nn.relu(self.dense(x.astype(self.dtype), w[0], w[1]))
        return self.dense(self.jax.nn.relu(self.dense(h, w[2], w[3])), w[4], w[5]), moving

    def convnet(self, w, x, moving, key):
        h = x.astype(self.dtype)
        for kernel, bias in ((w[0], w[1]), (w[2], w[3])):
            h = self.pool(self.jax.nn.relu(self.convolution(h, kernel, "VALID") + bias.astype(self.dtype)))
        h = h.reshape(len(h), -1)
        if key is not None:
            kept = self.jax.random.bernoulli(key, 1 - DROPOUT, h.shape)
            h = self.np.where(kept, h / (1 - DROPOUT), 0)
        return self.dense(h, w[4], w[5]), moving

    def block(self, w, x, moving, key):
        x = x.astype(self.dtype)
        y, first = self.normalized(self.convolution(x, w[0], "SAME"), w[1], w[2], moving[:2])
        y, second = self.normalized(self.convolution(self.jax.nn.relu(y), w[3], "SAME"), w[4], w[5], moving[2:])
        h = self.jax.nn.relu(y + x).astype(self.np.float32).mean((1, 2)).astype(self.dtype)
        return self.dense(h, w[6], w[7]), first + second
