# SPDX-License-Identifier: Apache-2.0
"""PyTorch's all_reduce of float32 sums over Gloo, in place (it has no other), between processes
over loopback. Measured as bench/peers/measure.h says, in the same form.

    gloo_all_reduce.py RANKS BYTES:ITERATIONS...
"""
import json
import os
import sys
import tempfile
import time

import torch
import torch.distributed as dist

WARM_UP = 2


def element(rank, index):
    return rank + 1.0 + index % 5


def measure(rank, ranks, count, iterations):
    index = torch.arange(count, dtype=torch.float32)
    data = element(rank, index)
    dist.all_reduce(data)
    if not torch.equal(data, sum(element(r, index) for r in range(ranks))):
        sys.exit('a wrong sum')
    data.zero_()   # sums of sums would overflow
    for _ in range(WARM_UP - 1):
        dist.all_reduce(data)
    dist.barrier()
    times = torch.empty(iterations, dtype=torch.float64)
    for i in range(iterations):
        start = time.monotonic_ns()
        dist.all_reduce(data)
        times[i] = (time.monotonic_ns() - start) * 1e-3
    dist.all_reduce(times, op=dist.ReduceOp.MAX)
    return sorted(times.tolist())[iterations // 2]


def run_rank(rank, ranks, store, cases):
    torch.set_num_threads(1)
    dist.init_process_group('gloo', init_method=f'file://{store}', rank=rank, world_size=ranks)
    for size, iterations in cases:
        time_us = measure(rank, ranks, size // 4, iterations)
        if rank == 0:
            print(json.dumps({'bytes': size, 'time_us': round(time_us, 4)}), flush=True)
    dist.destroy_process_group()


def main(arguments):
    ranks = int(arguments[0])
    cases = [tuple(map(int, case.split(':'))) for case in arguments[1:]]
    os.environ['GLOO_SOCKET_IFNAME'] = 'lo'
    with tempfile.TemporaryDirectory() as folder:
        children = []
        for rank in range(1, ranks):
            child = os.fork()   # after the import, which takes seconds
            if child == 0:
                run_rank(rank, ranks, f'{folder}/store', cases)
                os._exit(0)
            children.append(child)
        run_rank(0, ranks, f'{folder}/store', cases)
        return max(os.waitpid(child, 0)[1] for child in children)


if __name__ == '__main__':
    sys.exit(1 if main(sys.argv[1:]) else 0)
