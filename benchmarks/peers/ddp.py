# Training steps of PyTorch's DistributedDataParallel over gloo in several processes; requests and replies are lines.
# SPDX-License-Identifier: Apache-2.0
"""Usage: ddp.py PROCESSES

Each process has one thread and its own processor. Prints `ready VERSION` or `missing REASON`, then answers
  prepare LAYERS WIDTH BATCH   a network 784, LAYERS times WIDTH, 10, with Adam at a learning rate of 0; BATCH rows in all
                               processes together. The reply is the loss
  steps N                      seconds per step, over N steps
"""
import os
import subprocess
import sys
import tempfile
import time

from conversation import serve, use_threads

use_threads(1)
os.environ["CUDA_VISIBLE_DEVICES"] = ""
processes = int(sys.argv[1])
rank = int(sys.argv[2]) if len(sys.argv) > 2 else 0


class Ddp:
    def __init__(self):
        import torch
        self.torch, self.version = torch, torch.__version__
        torch.set_num_threads(1)
        meeting = sys.argv[3] if rank else tempfile.mktemp()
        self.others = [subprocess.Popen([sys.executable, __file__, str(processes), str(other), meeting])
                       for other in range(1, processes)] if rank == 0 else []
        os.sched_setaffinity(0, {rank % os.cpu_count()})  # mpirun pins its own processes to processors
        torch.distributed.init_process_group("gloo", init_method="file://" + meeting, rank=rank, world_size=processes)

    def tell(self, *numbers):
        """Broadcasts the numbers of rank 0 to all processes."""
        message = self.torch.tensor(numbers or [0] * 4)
        self.torch.distributed.broadcast(message, 0)
        return message.tolist()

    def make(self, layers, width, batch):
        torch = self.torch
        torch.manual_seed(1)
        sizes = [784] + [width] * layers
        net = []
        for before, after in zip(sizes, sizes[1:]):
            net += [torch.nn.Linear(before, after), torch.nn.ReLU()]
        self.net = torch.nn.parallel.DistributedDataParallel(
            torch.nn.Sequential(*net, torch.nn.Linear(width, 10)), gradient_as_bucket_view=True)
        self.adam = torch.optim.Adam(self.net.parameters(), lr=0.0, eps=1e-7, fused=True)
        self.x, self.y = torch.rand(batch // processes, 784), torch.randint(10, (batch // processes,))

    def step(self):
        self.adam.zero_grad(set_to_none=True)
        loss = self.torch.nn.functional.cross_entropy(self.net(self.x), self.y)
        loss.backward()
        self.adam.step()
        return loss.detach()

    def obey(self):
        """Executes the commands of rank 0 in the other ranks until it ends."""
        while True:
            steps, *shape = self.tell()
            if steps < 0:
                return
            if steps == 0:
                self.make(*shape)
            for _ in range(max(steps, 1)):
                self.step()


def prepare(library, *shape):
    shape = [int(number) for number in shape]
    library.tell(0, *shape)
    library.make(*shape)
    return repr(float(library.step()))


def seconds(library, steps):
    library.tell(steps, 0, 0, 0)
    start = time.perf_counter()
    for _ in range(steps):
        library.step()
    return (time.perf_counter() - start) / steps


if rank > 0:
    Ddp().obey()
else:
    peers = []

    def make():
        peers.append(Ddp())
        return peers[0]

    serve(make, prepare, seconds)
    for peer in peers:
        peer.tell(-1, 0, 0, 0)
