# SPDX-License-Identifier: MIT
"""Undoes bench/pack-gpu. usage: unpack_cifar.py PACKED_FOLDER OUT: CIFAR-10's binary batches, of all pieces under the folder."""
import lzma
import pathlib
import sys

import numpy


def records(path):
    data = numpy.frombuffer(lzma.decompress(path.read_bytes()), dtype=numpy.uint8)
    count = len(data) // 3073
    x = data[:count * 3072].reshape(count, 3, 32, 32)
    x = numpy.cumsum(numpy.cumsum(x, axis=2, dtype=numpy.uint8), axis=3, dtype=numpy.uint8)
    x[:, 0] += x[:, 1]
    x[:, 2] += x[:, 1]
    return numpy.concatenate([data[count * 3072:].reshape(count, 1), x.reshape(count, 3072)], axis=1)


def main():
    packed, out = map(pathlib.Path, sys.argv[1:])
    out.mkdir(parents=True, exist_ok=True)
    for name in ("train", "test"):
        pieces = [records(path) for path in sorted(packed.rglob(f"cifar-{name}-*.xz"))]
        if not pieces:
            sys.exit(f"{packed}: no cifar-{name}-*.xz found")
        whole = numpy.concatenate(pieces)
        if name == "test":
            (out / "test_batch.bin").write_bytes(whole.tobytes())
            continue
        for batch in range(-(-len(whole) // 10000)):
            (out / f"data_batch_{batch + 1}.bin").write_bytes(whole[10000 * batch:10000 * (batch + 1)].tobytes())
        print(f"{len(whole)} pictures to learn from")


if __name__ == "__main__":
    main()
