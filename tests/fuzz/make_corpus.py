#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the seeds of the fuzzers: small files of each kind, whole, cut short, overlapping and with lengths that lie.
Usage: make_corpus.py; needs nothing but Python. Findings of the fuzzers lie beside the seeds and are left alone."""
import gzip
import io
import json
import pathlib
import struct
import zipfile
import zlib

CORPUS = pathlib.Path(__file__).parent / "corpus"


def save(reader, **files):
    folder = CORPUS / reader
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)


def npy(descr, shape, data, fortran=False, version=1):
    header = repr({"descr": descr, "fortran_order": fortran, "shape": shape}).encode() + b"\n"
    length = struct.pack("<H" if version == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes([version, 0]) + length + header + data


def numbers(count):
    return struct.pack(f"<{count}d", *range(count))


def npz(compression, **arrays):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        for name, data in arrays.items():
            archive.writestr(zipfile.ZipInfo(name + ".npy"), data, compression)
    return stream.getvalue()


def safetensors(header, data):
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def tensor(dtype, shape, begin, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def varint(value):
    out = b""
    while value >= 0x80:
        out += bytes([0x80 | value & 0x7F])
        value >>= 7
    return out + bytes([value])


def whole(field, value):
    return varint(field << 3) + varint(value)


def part(field, data):
    data = data.encode() if isinstance(data, str) else data
    return varint(field << 3 | 2) + varint(len(data)) + data


def onnx():
    def value(name):
        shape = part(1, part(2, "N")) + part(1, whole(1, 2))
        return part(1, name) + part(2, part(1, whole(1, 1) + part(2, shape)))

    constant = whole(1, 2) + whole(1, 2) + whole(2, 1) + part(8, "W") + part(9, struct.pack("<4f", 1, 2, 3, 4))
    packed = part(1, varint(2) + varint(1)) + whole(2, 1) + part(8, "v") + part(4, struct.pack("<2f", 1, 2))
    node = part(1, "x") + part(1, "W") + part(2, "y") + part(4, "Gemm") + part(5, part(1, "transB") + whole(3, 1) + whole(20, 2))
    graph = part(1, node) + part(2, "g") + part(5, constant) + part(5, packed) + part(11, value("x")) + part(12, value("y"))
    return (whole(1, 8) + part(2, "udv") + part(3, "0.1.0") + part(7, graph) + part(8, part(1, "") + whole(2, 13)) +
            part(14, part(1, "README") + part(2, "text")))


def matrix(rows, cols, width=8):
    return struct.pack("<qq", rows, cols) + b"\0" * (rows * cols * width)


def text(word):
    return struct.pack("<Q", len(word)) + word.encode()


def recovery():
    factors = text("udv") + matrix(4, 2) + struct.pack("<qB", 2, 0) + matrix(2, 1)
    rule = struct.pack("<BddB", 0, 0.1, 0.1, 1) + matrix(4, 2) + matrix(2, 1) + matrix(4, 2) + matrix(2, 1)
    state = factors + rule + struct.pack("<qdBqqqQqqi", 7, 0.5, 1, 2, 0, 0, 2, 0, 1, 0)
    fit = matrix(4, 1) + struct.pack("<qBdii", 2, 0, 0.25, 3, 4)
    history = struct.pack("<Q", 1) + struct.pack("<qddqddd", 1, 0.1, 2, 2, 1, 1, 0.1)
    columns = struct.pack("<QqQ", 1, 1, 1) + matrix(2, 1) + struct.pack("<Q", 1) + matrix(2, 1)
    return struct.pack("<QdB", 1, 2.5, 1) + state + struct.pack("<Q", 1) + fit + history + columns


def training(width):
    moments = struct.pack("<qdQ", 9, 1, 2) + matrix(5, 1, width) + matrix(5, 1, width)
    record = struct.pack("<qdddddqd", 1, 0.1, 1, 1, 0, 1e-3, 2, 1.5)
    return struct.pack("<qqddq", 1, 2, 0.5, 1, 2) + matrix(5, 1, width) + moments + struct.pack("<Q", 1) + record


PREPROCESSING = {
    "task": "regression", "inputs": 3, "outputs": 1, "target": "y", "classes": [],
    "features": {"offset": [0, 0, 0], "factor": [1, 1, 1]},
    "columns": [
        {"column": "a", "kind": "number", "fills": [0.5], "categories": [], "fallback": 0, "onehot": False, "parts": []},
        {"column": "b", "kind": "category", "fills": [], "categories": ["", "x"], "fallback": 0, "onehot": False, "parts": []},
        {"column": "c", "kind": "date", "fills": [1], "categories": [], "fallback": 0, "onehot": False, "parts": ["year"]}],
    "targets": {"offset": [0], "factor": [2]}}


def model(**changes):
    how = {"task": "classification", "inputs": 2, "outputs": 2, "target": "", "classes": [],
           "features": {"offset": [0, 0], "factor": [1, 1]}, "columns": []}
    metadata = {"udv": "0.1.0", "variant": "UDV", "inputs": "2", "hidden": "1", "outputs": "2", "bias": "0",
                "preprocessing": json.dumps(how)} | changes
    header = {"__metadata__": metadata, "U.weight": tensor("F32", [1, 2], 0, 8), "D.weight": tensor("F32", [1], 8, 12),
              "V.weight": tensor("F32", [2, 1], 12, 20)}
    return safetensors(header, struct.pack("<5f", 1, 2, 3, 4, 5))


def mat_element(kind, data):
    return struct.pack("<II", kind, len(data)) + data + b"\0" * (-len(data) % 8)


def mat():
    array = mat_element(6, struct.pack("<II", 6, 0)) + mat_element(5, struct.pack("<ii", 2, 1)) + mat_element(1, b"x")
    element = mat_element(14, array + mat_element(9, numbers(2)))
    packed = zlib.compress(element)
    head = b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<H", 0x100) + b"IM"
    return head, element, struct.pack("<II", 15, len(packed)) + packed


def png():
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = zlib.compress(b"\0\1\2\0\3\4")
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 2, 2, 8, 0, 0, 0, 0)) + chunk(b"IDAT", rows) +
            chunk(b"IEND", b""))


def main():
    array = npy("<f8", (2, 3), numbers(6))
    save("npy", whole=array, complex=npy("<c8", (3,), numbers(3)), fortran=npy(">i2", (2, 3), b"\1\2" * 6, fortran=True, version=2),
         words=npy("<U3", (1,), b"\0" * 12), records=npy([("a", "<f8")], (1,), numbers(1)), cut=array[:-5], cut_header=array[:20],
         huge=npy("<f8", (1 << 62, 4), numbers(2)), empty=npy("<f4", (1 << 40, 0), b""), wide=npy("<f99999999999", (1,), numbers(1)))
    archive = npz(zipfile.ZIP_DEFLATED, a=array, b=npy("|b1", (2,), b"\0\1"))
    save("npz", stored=npz(zipfile.ZIP_STORED, a=array), packed=archive, cut=archive[:-30],
         large=archive.replace(struct.pack("<I", len(array)), b"\xff\xff\xff\x7f"))
    save("safetensors", half=safetensors({"h": tensor("F16", [4], 0, 8), "b": tensor("BF16", [2], 8, 12)}, b"\0" * 12),
         huge=safetensors({"h": tensor("F32", [1 << 62, 1 << 62], 0, 8)}, b"\0" * 8),
         none=safetensors({"h": tensor("F32", [0, 1 << 62], 0, 0)}, b""))
    save("model", whole=model(), large=model(hidden="99999999"), other=model(variant="UFV"), cut=model()[:-3])
    save("preprocessing", whole=json.dumps(PREPROCESSING).encode(), cut=json.dumps(PREPROCESSING)[:100].encode(),
         large=json.dumps(PREPROCESSING | {"inputs": 1 << 62}).encode(), no_integer=json.dumps(PREPROCESSING | {"inputs": 1e300}).encode(), deep=b"[" * 2000)
    save("onnx", whole=onnx(), cut=onnx()[:60], large=part(7, part(5, whole(1, 1 << 62) + whole(1, 1 << 62) + whole(2, 1))),
         lie=b"\x3a\xff\xff\xff\xff\x0f", short=part(7, part(5, whole(1, 3) + whole(2, 1) + part(9, b"1234"))))
    save("images", idx=bytes.fromhex("00000803 00000002 00000002 00000001") + b"abcd", labels=bytes.fromhex("00000801 00000003 010203"),
         large=bytes.fromhex("00000803 ffffffff ffffffff ffffffff"), cut=bytes.fromhex("0000080300"),
         cifar=b"\3" + b"p" * 3072, cifar100=b"\1\x63" + b"p" * 3072, wrong_label=b"\xff" * 3073)
    save("table", whole=b"a,b,c,y\n1,x,2020-01-02,3\n2,y,2021-03-04,4\n,NA,2022-05-06,5\n", tabs=b"a\tb\n1\t2\n3\t4\n",
         quoted=b'"a ""b""";y\n"1;2";3\n4;5\n', latin1=b"stra\xdfe,y\n\xe4,1\n\xf6,2\n", open_quote=b'a,b\n"1,2\n',
         twice=b"a,a\n1,2\n", ragged=b"a,b\n1\n", bom=b"\xef\xbb\xbfa,y\r\n1,2\r\n2,3\r\n", huge_number=b"a,y\n1e999,-1e-999\n2,3\n")
    banner = b"%%MatrixMarket matrix coordinate real general\n"
    save("entries", mtx=b"\0" + banner + b"% c\n3 3 2\n1 1 1.5\n3 2 -2\n", mtx_large=b"\0" + banner + b"9000000000 9000000000 9000000000\n1 1 1\n",
         mtx_array=b"\0%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n", triplets=b"\1row,col,value\n0,0,1\n2,1,2.5\n",
         blanks=b"\x01# c\n1 1 1\n2 2 2\n", symmetric=b"\x041;2;3\n2;1;3\n", large=b"\x012147483647,2147483647,1\n", npy=b"\2" + array,
         nan=b"\5" + npy("<f8", (2, 2), struct.pack("<4d", 1, float("nan"), 2, 3)))
    packed = gzip.compress(b"text " * 20, mtime=0)
    save("gzip", whole=packed, twice=packed + packed, cut=packed[:-9], bomb=gzip.compress(b"\0" * (1 << 20), mtime=0), trailing=packed + b"x")
    save("checkpoint", recovery=b"\0" + recovery(), training=b"\3" + training(8), single=b"\2" + training(4),
         long_list=b"\2" + struct.pack("<qqddq", 1, 2, 0.5, 1, 2) + struct.pack("<qq", 1 << 60, 1), cut=b"\0" + recovery()[:-9],
         envelope=b"\4" + struct.pack("<I", 1) + text("0.1.0") + text("train") + text("seed 0") + text("state"))
    head, element, packed_element = mat()
    save("mat", plain=head + element, packed=head + packed_element, cut=head + element[:-9], lie=head + struct.pack("<II", 14, 1 << 31))
    get = b"GET /0123/files/a%20b?x HTTP/1.1\r\nHost: 127.0.0.1:80\r\nRange: bytes=1-2\r\nConnection: close\r\n\r\n"
    save("http", get=get, cut=get[:-2], range=b"bytes=-5", long=get.replace(b"files", b"f" * 3000), body=get[:-2] + b"Content-Length: 3\r\n\r\n")
    save("toml", table=b"[optics]\nna = 0.1\nlist = [1, 2.5, 'x']\na.b.c = { d = true }\n", text=b"a = \"\"\"x\n. . .\"\"\"\nb = 1979-05-27\n",
         dots=b"a" + b".a" * 200 + b" = 1\n", cut=b"a = [")
    picture = png()
    save("png", whole=picture, cut=picture[:-12], large=picture[:16] + b"\x7f\xff\xff\xff" * 2 + picture[24:])


main()
