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
    searches = struct.pack("<Qid", 1, 5, 0.5) + matrix(2, 1) + matrix(2, 1)
    search = struct.pack("<qqQq", 1, 1, 7, 3) + text("sweeps")
    return struct.pack("<QdB", 1, 2.5, 1) + state + struct.pack("<Q", 1) + fit + searches + history + columns + search


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


def pieces():
    """Special pieces, bytes, and some letters with what they make."""
    return ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)] + ["ab", " ab", "bc", " ", "a", "b", "c", "\u00e9"]


def llama2c_tokenizer():
    words = [piece.encode() for piece in pieces()]
    return struct.pack("<i", 8) + b"".join(struct.pack("<fi", -i, len(word)) + word for i, word in enumerate(words))


def sentencepiece():
    kinds = [2, 3, 3] + [6] * 256
    entries = [part(1, piece.replace(" ", "\u2581")) + b"\x15" + struct.pack("<f", -i) + whole(3, kinds[i] if i < 259 else 1)
               for i, piece in enumerate(pieces())]
    return (b"".join(part(1, entry) for entry in entries) + part(2, whole(3, 2) + whole(4, len(entries)) + whole(35, 1)) +
            part(3, part(1, "identity") + whole(3, 1) + whole(4, 0) + whole(5, 1)))


def byte_level(pattern="\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+|\\s+"):
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [256 + i for i in range(256 - len(shown))]
    vocabulary = {chr(c): i for i, c in enumerate(shown + hidden)}
    for merged in ("th", "the", "\u0120the"):
        vocabulary[merged] = len(vocabulary)
    split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
    steps = [split, {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}]
    return {"added_tokens": [{"id": len(vocabulary), "content": "<|begin|>", "special": True, "normalized": False}], "normalizer": None,
            "pre_tokenizer": {"type": "Sequence", "pretokenizers": steps}, "decoder": {"type": "ByteLevel"},
            "model": {"type": "BPE", "ignore_merges": True, "vocab": vocabulary, "merges": [["t", "h"], ["th", "e"], ["\u0120", "the"]]}}


def packed_json(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


LLAMA = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 8, "intermediate_size": 16, "num_hidden_layers": 2,
         "num_attention_heads": 2, "num_key_value_heads": 1, "vocab_size": 32, "max_position_embeddings": 64, "rms_norm_eps": 1e-5,
         "rope_theta": 10000.0, "hidden_act": "silu", "tie_word_embeddings": True, "bos_token_id": 1, "eos_token_id": [2, 3],
         "rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                          "original_max_position_embeddings": 8192}}

PEFT = {"peft_type": "LORA", "r": 2, "lora_alpha": 4, "lora_dropout": 0.0, "bias": "none", "base_model_name_or_path": "m", "target_modules": ["q"],
        "rank_pattern": {"b.q": 1}, "alpha_pattern": {"b\\.q": 8, "(x|y)*z": 1}, "use_rslora": True, "task_type": "CAUSAL_LM"}


def peft_tensors():
    name, header, at = "base_model.model.", {}, 0
    for block, rank in (("a.q", 2), ("b.q", 1)):
        for ending, shape in ((".lora_A.weight", [rank, 3]), (".lora_B.weight", [4, rank])):
            size = 4 * shape[0] * shape[1]
            header[name + block + ending] = tensor("F32", shape, at, at + size)
            at += size
    return safetensors(header, b"\0" * at)


def adapter():
    header = {"__metadata__": {"udv_adapter": json.dumps({"method": "lora-udv", "base_model": "m"})}, "q.A": tensor("F32", [2, 3], 0, 24),
              "q.d": tensor("F32", [2], 24, 32), "q.B": tensor("F32", [4, 2], 32, 64)}
    return safetensors(header, struct.pack("<16f", *range(16)))


def network(width=2):
    block = {"name": "block", "variant": "UDV", "inputs": 3, "width": width, "outputs": 1, "stride": 1, "bias": False, "pixels": 1}
    header = {"__metadata__": {"udv": "0.2.0", "network": "small", "blocks": json.dumps([block])}, "block.U.weight": tensor("F32", [2, 3], 0, 24),
              "block.D.weight": tensor("F32", [2], 24, 32), "block.V.weight": tensor("F32", [1, 2], 32, 40)}
    return safetensors(header, struct.pack("<10f", *range(10)))


SWEEP = ("key,settings,status,variant,optimizer,learning_rate,weight_decay,seed,split_seed,test_loss,test_accuracy,last_test_loss,last_train_loss,"
         "stable_rank,effective_rank,rank_90,rank_99,rank_999,live_width,hidden,parameters,epochs,seconds,validation\n")


def tiff(pages, bits=8, sample_format=1, compression=1, description=b"", size=(3, 4), next_of_last=0):
    """Pages of rows x cols numbers, one strip each: directory, then its data."""
    rows, cols = size
    out = b"II*\0" + struct.pack("<I", 8)
    for page in range(pages):
        text = description + b"\0" if description else b""
        data = bytes((page + k) % 256 for k in range(12 * bits // 8))
        data = zlib.compress(data) if compression == 8 else data
        count = 10 + bool(text)
        at = len(out) + 2 + 12 * count + 4
        tags = [(256, 4, 1, cols), (257, 4, 1, rows), (258, 3, 1, bits), (259, 3, 1, compression), (262, 3, 1, 1)]
        tags += [(270, 2, len(text), at + len(data))] if text else []
        tags += [(273, 4, 1, at), (277, 3, 1, 1), (278, 4, 1, rows), (279, 4, 1, len(data)), (339, 3, 1, sample_format)]
        after = at + len(data) + len(text)
        after_even = after + after % 2
        following = next_of_last if page + 1 == pages else after_even
        out += struct.pack("<H", count) + b"".join(struct.pack("<HHII", *tag) for tag in tags) + struct.pack("<I", following)
        out += data + text + b"\0" * (after_even - after)
    return out


def tiled_tiff(tile=16, size=(5, 20), bits=8):
    """One page in tiles of tile x tile numbers, side by side."""
    rows, cols = size
    across = -(-cols // tile)
    data = bytes(k % 256 for k in range(tile * tile * bits // 8))
    count = 11
    lists = 8 + 2 + 12 * count + 4  # places and sizes of the tiles, where there are several
    at = lists + 8 * across
    tags = [(256, 4, 1, cols), (257, 4, 1, rows), (258, 3, 1, bits), (259, 3, 1, 1), (262, 3, 1, 1), (277, 3, 1, 1), (322, 4, 1, tile), (323, 4, 1, tile),
            (324, 4, across, lists), (325, 4, across, lists + 4 * across), (339, 3, 1, 1)]
    out = b"II*\0" + struct.pack("<I", 8) + struct.pack("<H", count) + b"".join(struct.pack("<HHII", *tag) for tag in tags) + struct.pack("<I", 0)
    out += b"".join(struct.pack("<I", at + k * len(data)) for k in range(across)) + struct.pack("<I", len(data)) * across
    return out + data * across


def png():
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = zlib.compress(b"\0\1\2\0\3\4")
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 2, 2, 8, 0, 0, 0, 0)) + chunk(b"IDAT", rows) +
            chunk(b"IEND", b""))


def jpeg(components=3, frame=0xC0, size=(8, 8)):
    """A picture of one grey: every coefficient is 0, and each code one bit long."""
    def segment(kind, data):
        return bytes((0xFF, kind)) + struct.pack(">H", len(data) + 2) + data

    codes = b"".join(bytes((table, 1)) + bytes(15) + b"\0" for table in (0x00, 0x10))
    ids = range(1, components + 1)
    last = 0 if frame == 0xC2 else 63  # a progressive picture may end after its first coefficients
    return (b"\xff\xd8" + segment(0xDB, b"\0" + b"\1" * 64) +
            segment(frame, struct.pack(">BHHB", 8, *size, components) + b"".join(bytes((k, 0x11, 0)) for k in ids)) + segment(0xC4, codes) +
            segment(0xDA, bytes((components,)) + b"".join(bytes((k, 0)) for k in ids) + bytes((0, last, 0))) + b"\x03" + b"\xff\xd9")


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
         envelope=b"\4" + struct.pack("<I", 2) + text("0.1.0") + text("train") + text("seed 0") + text("state"))
    head, element, packed_element = mat()
    save("mat", plain=head + element, packed=head + packed_element, cut=head + element[:-9], lie=head + struct.pack("<II", 14, 1 << 31))
    get = b"GET /0123/files/a%20b?x HTTP/1.1\r\nHost: 127.0.0.1:80\r\nRange: bytes=1-2\r\nConnection: close\r\n\r\n"
    save("http", get=get, cut=get[:-2], range=b"bytes=-5", long=get.replace(b"files", b"f" * 3000), body=get[:-2] + b"Content-Length: 3\r\n\r\n")
    save("toml", table=b"[optics]\nna = 0.1\nlist = [1, 2.5, 'x']\na.b.c = { d = true }\n", text=b"a = \"\"\"x\n. . .\"\"\"\nb = 1979-05-27\n",
         dots=b"a" + b".a" * 200 + b" = 1\n", cut=b"a = [")
    level = packed_json(byte_level())
    save("tokenizer", bytes=b"\0" + level, odd_pattern=b"\0" + packed_json(byte_level("(a|aa)+$")), cut=b"\0" + level[:-40],
         sentencepiece=b"\1" + sentencepiece(), cut_sentencepiece=b"\1" + sentencepiece()[:-7], llama2c=b"\2" + llama2c_tokenizer(),
         long_piece=b"\2" + struct.pack("<ifi", 8, 0, 1 << 30), empty=b"\0{}", huge_number=b'\0{"a": 33e333}')
    save("llama", whole=packed_json(LLAMA), large=packed_json(LLAMA | {"hidden_size": 1 << 40, "num_hidden_layers": 1 << 31}),
         odd=packed_json(LLAMA | {"num_key_value_heads": 3, "rms_norm_eps": -1}), other=packed_json({"model_type": "gpt2"}), cut=packed_json(LLAMA)[:99],
         llama2c=struct.pack("<7i", 2, 1, 1, 1, 1, 2, 1) + b"\0" * 200, llama2c_large=struct.pack("<7i", *[(1 << 24) - 1] * 7),
         llama2c_least=struct.pack("<7i", -1 << 31, 1, 1, 1, 1, -1 << 31, 1))
    save("adapter", config=b"\0" + packed_json(PEFT), adalora=b"\0" + packed_json(PEFT | {"peft_type": "ADALORA", "init_r": 4, "target_r": 2}),
         pattern=b"\0" + packed_json(PEFT | {"rank_pattern": {"(a*)*b" * 9: 1, "[": 2}}), huge=b"\0" + packed_json(PEFT | {"r": 1e300}),
         dora=b"\0" + packed_json(PEFT | {"use_dora": True}), tensors=b"\1" + peft_tensors(), cut=b"\1" + peft_tensors()[:-5], native=b"\2" + adapter())
    save("network", whole=network(), wide=network(1 << 40), negative=network(-1), cut=network()[:-3])
    save("run_files", results=b"\0" + SWEEP.encode() + b"k,s,done,UDV,adam,0.001,0,0,0,0.5,,0.5,0.4,1,1.5,1,1,1,2,4,12,10,0.25,0.5\n",
         torn=b"\0" + SWEEP.encode() + b"k,s,done", history=b"\1iteration,objective\n1,2.5\n2,x\n", empty=b"\1iteration\n",
         keys=b"\2index,key\n0,a\n1,\"b, c\"\n", gap=b"\2index,key\n5,a\n", run=b'\3{"udv": "0.2.0", "format": 1, "command": "complete", "rank": 3}',
         other_format=b'\3{"udv": "9", "format": 7}')
    save("tiff", tiles=tiled_tiff(), whole=tiff(1), pages=tiff(3, bits=16), floats=tiff(1, bits=32, sample_format=3), packed=tiff(2, compression=8),
         cut=tiff(2)[:-20], circle=tiff(2, next_of_last=8), large=tiff(1, size=(2**31 - 1, 2**31 - 1)), wide=tiff(1, size=(1, 2**31 - 1)),
         bomb=tiff(1, compression=8, size=(60000, 60000)),
         notes=tiff(1, description=b'<OME><Image><Pixels PhysicalSizeX="0.5" PhysicalSizeXUnit="mm" SizeX="4"/></Image></OME>'))
    setup = (b"[optics]\nwavelength_nm = { variable = \"w\", scale = 1e2 }\nna = 0.1\nsample_pixel_um = 1\nled_pitch_mm = 4\nled_distance_mm = 80\n"
             b"[leds]\norder = \"raster\"\nrows = 5\ncols = 5\nskip = [3, 4]\nmax_na = 0.4\n[data]\nvariable = \"images\"\nkind = \"intensity\"\ncrop = [8, 8]\n")
    listed = setup.replace(b'order = "raster"\nrows = 5\ncols = 5', b"positions_na = [[0.1, 0], [0, 0.2], [0, 0]]")
    save("setup", raster=b"\0" + setup, listed=b"\0" + listed, cut=b"\0" + setup[:90], many=b"\0" + setup.replace(b"rows = 5", b"rows = 100000000000"),
         spiral=b"\0" + setup.replace(b'"raster"\nrows = 5\ncols = 5', b'"spiral"\ncount = 9'), leds=b"\1x_mm,y_mm\n" + b"1,2\n-3.5,4\n" * 12,
         angles=b"\1na_x,na_y\n0.1,0.9\n", bad_leds=b"\1x,y\n1,1e999\n", other=b"\1a;b\n1;2\n",
         notes=b'\2<OME><Objective LensNA="0.1"/><Pixels PhysicalSizeX="1.5" PhysicalSizeXUnit="nm"/></OME>', open_notes=b'\2PhysicalSizeX="1e999" LensNA="')
    save("mat5", doubles=bytes((1, 6, 0, 0, 2, 3, 1, 0, 7, 0)) + numbers(6), packed=bytes((0, 8, 2, 0, 2, 2, 2, 5, 1, 0)) + bytes(8), complex=bytes((1, 6, 8, 0, 1, 2, 1, 0, 3, 0)) +
         bytes(range(24)), text=bytes((1, 4, 0, 1, 2, 2, 1, 1, 1, 0)) + b"text", empty=bytes((1, 6, 0, 0, 0, 3, 1, 0, 7, 0)))
    save("hdf5", number=bytes((0, 1, 5, 5, 0, 2, 2, 3, 1, 1, 1, 1, 1, 1, 0)) + numbers(6), complex=bytes((0, 1, 0, 2, 3, 5, 0, 4, 0, 0, 1, 1, 2, 2)) + bytes(40),
         group=bytes((1, 0, 2, 1, 0, 0, 0, 0, 5, 1, 2, 1)) + bytes(40), boolean=bytes((0, 1, 1, 1, 1, 1, 3, 0, 0)) + bytes(40), matlab=bytes(range(1, 90)))
    picture = png()
    save("jpeg", colours=jpeg(), grey=jpeg(1), progressive=jpeg(3, 0xC2), cut=jpeg()[:-30], large=jpeg(size=(65500, 65500)), arithmetic=jpeg(3, 0xC9))
    save("png", whole=picture, cut=picture[:-12], large=picture[:16] + b"\x7f\xff\xff\xff" * 2 + picture[24:])


main()
