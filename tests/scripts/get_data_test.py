# SPDX-License-Identifier: MIT
"""scripts/get-data against a server on this machine."""
import gzip
import hashlib
import http.server
import importlib.machinery
import importlib.util
import io
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import threading
import unittest

SCRIPT = pathlib.Path(__file__).parents[2] / "scripts" / "get-data"
loader = importlib.machinery.SourceFileLoader("get_data", str(SCRIPT))
get_data = importlib.util.module_from_spec(importlib.util.spec_from_loader("get_data", loader))
sys.dont_write_bytecode = True
loader.exec_module(get_data)


class Handler(http.server.BaseHTTPRequestHandler):
    files, ranges, cut = {}, [], {}

    def do_GET(self):
        bytes_ = self.files.get(self.path)
        if bytes_ is None:
            return self.send_error(404)
        first = int((self.headers.get("Range") or "bytes=0-").removeprefix("bytes=").removesuffix("-"))
        self.ranges.append(first)
        if first >= len(bytes_) > 0:
            return self.send_error(416)
        self.send_response(206 if first else 200)
        if first:
            self.send_header("Content-Range", f"bytes {first}-{len(bytes_) - 1}/{len(bytes_)}")
        self.send_header("Content-Length", str(len(bytes_) - first))
        self.end_headers()
        self.wfile.write(bytes_[first:self.cut.pop(self.path, len(bytes_))])

    def log_message(self, *_):
        pass


class GetData(unittest.TestCase):
    def setUp(self):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.base = f"http://127.0.0.1:{self.server.server_port}"
        self.place = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.place.name)
        self.store = get_data.Store(self.folder, None)
        Handler.files, Handler.ranges, Handler.cut = {}, [], {}

    def tearDown(self):
        self.server.shutdown()
        self.server.server_close()
        self.place.cleanup()

    def file(self, bytes_, name="a/x.bin", checksum="right", members=None):
        Handler.files["/" + name] = bytes_
        if checksum == "right":
            checksum = "sha256:" + hashlib.sha256(bytes_).hexdigest()
        return get_data.File(name, f"{self.base}/{name}", checksum, members)

    def test_fetches_once(self):
        file = self.file(b"numbers" * 1000)
        self.assertEqual(self.store.fetch(file), "7000 bytes")
        self.assertEqual((self.folder / "a/x.bin").read_bytes(), b"numbers" * 1000)
        self.assertEqual(self.store.fetch(file), "there already")
        self.assertEqual(Handler.ranges, [0])

    def test_goes_on_where_it_was_cut_off(self):
        file = self.file(bytes(range(256)) * 1000)
        Handler.cut["/a/x.bin"] = 100_000
        with self.assertRaisesRegex(get_data.NotFetched, "ended after 100000 of 256000 bytes"):
            self.store.fetch(file)
        self.assertFalse((self.folder / "a/x.bin").exists())
        self.store.fetch(file)
        self.assertEqual(Handler.ranges, [0, 100_000])
        self.assertEqual((self.folder / "a/x.bin").read_bytes(), bytes(range(256)) * 1000)

    def test_refuses_other_bytes(self):
        file = self.file(b"something else", checksum="sha256:" + hashlib.sha256(b"x").hexdigest())
        with self.assertRaisesRegex(get_data.NotFetched, "found, sha256:.* expected"):
            self.store.fetch(file)
        self.assertFalse((self.folder / "a/x.bin").exists())

    def test_checks_what_is_packed(self):
        digest = hashlib.sha256(b"text").hexdigest()
        for level in (1, 9):
            file = self.file(gzip.compress(b"text", level), f"a/{level}.gz", f"unpacked-sha256:{digest}")
            self.store.fetch(file)
        with self.assertRaises(get_data.NotFetched):
            self.store.fetch(self.file(b"no gzip", "a/no.gz", f"unpacked-sha256:{digest}"))

    def test_records_a_first_checksum(self):
        file = self.file(b"first", checksum=None)
        self.store.fetch(file)
        self.assertIn(hashlib.sha256(b"first").hexdigest(), (self.folder / "checksums.txt").read_text())
        (self.folder / "a/x.bin").write_bytes(b"changed")
        with self.assertRaises(get_data.NotFetched):
            self.store.fetch(self.file(b"second", checksum=None))

    def test_unpacks_archives(self):
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w:gz") as archive:
            for name in ("d/one.bin", "../../two.bin", "d/three.bin"):
                member = tarfile.TarInfo(name)
                member.size = 3
                archive.addfile(member, io.BytesIO(b"abc"))
        file = self.file(packed.getvalue(), "a/x.tar.gz", members={"a/one.bin": "one.bin", "a/two.bin": "two.bin"})
        self.assertEqual(self.store.fetch(file), "2 files")
        self.assertEqual(sorted(path.name for path in (self.folder / "a").iterdir()), ["one.bin", "two.bin", "x.tar.gz"])

    def test_checks_unpacked_files(self):
        known = get_data.unpacked_checksums()
        self.assertIn("cifar10/test_batch.bin", known)
        for name, data in get_data.DATA.items():
            for member in (m for file in data.files for m in file.members if name == "cifar10"):
                self.assertIn(member, known)
        (self.folder / "cifar10").mkdir(parents=True)
        (self.folder / "cifar10/test_batch.bin").write_bytes(b"damaged")
        found = self.run_script("--check", "cifar10")
        self.assertEqual(found.returncode, 3)
        self.assertIn("test_batch.bin: sha256:", found.stdout)

    def run_script(self, *words):
        return subprocess.run([sys.executable, SCRIPT, *words, "--into", self.folder], capture_output=True, text=True)

    def test_says_what_to_do_without_a_network(self):
        self.server.shutdown()
        self.server.server_close()
        found = self.run_script("llama_stories260k", "--mirror", self.base)
        self.assertEqual(found.returncode, 3)
        self.assertIn("is there a network?", found.stderr)
        self.assertIn("llama_stories260k/stories260K.bin", found.stderr)
        self.assertIn("--check", found.stderr)

    def test_names_files_that_nobody_serves(self):
        found = self.run_script("house_prices")
        self.assertEqual(found.returncode, 3)
        self.assertIn("kaggle.com", found.stderr)

    def test_knows_its_names(self):
        self.assertEqual(self.run_script("nothing").returncode, 2)
        self.assertEqual(self.run_script().returncode, 2)
        listed = self.run_script("--list")
        self.assertEqual(listed.returncode, 0)
        for name, data in get_data.DATA.items():
            self.assertIn(name, listed.stdout)
            for file in data.files:
                self.assertTrue(file.name.startswith(name + "/"))
        found = self.run_script("--check")
        self.assertEqual(found.returncode, 0)
        self.assertIn("missing", found.stdout)


if __name__ == "__main__":
    unittest.main()
