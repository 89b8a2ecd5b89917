# SPDX-License-Identifier: MIT
"""scripts/third-party: licences from copyright files, packages of the page, and SBOMs that are whole."""
import importlib.machinery
import importlib.util
import json
import os
import sys
import tempfile
import unittest
import zipfile

sys.dont_write_bytecode = True
path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "third-party")
loader = importlib.machinery.SourceFileLoader("third_party", path)
spec = importlib.util.spec_from_loader("third_party", loader)
third_party = importlib.util.module_from_spec(spec)
loader.exec_module(third_party)

PAGE = """<html><script type="text/plain" id="udv-licences">d3-array 3.2.4, d3-path 3.1.0

Copyright 2010 Someone

Permission to use, copy, modify, and/or distribute this software for any
purpose with or without fee is hereby granted

----

@scope/vega 6.0.0

Copyright 2015 Lab
Neither the name of the Lab
</script></html>"""


class ThirdParty(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.page = os.path.join(self.folder.name, "report.html")
        with open(self.page, "w") as file:
            file.write(PAGE)

    def tearDown(self):
        self.folder.cleanup()

    def test_licence_of_a_machine_readable_file(self):
        text = "Format: x\n\nFiles: *\nCopyright: a\nLicense: BSD-3-clause or LGPL-2.1+\n\nFiles: debian/*\nLicense: GPL-2+\n"
        self.assertEqual(third_party.declared_licence(text), "BSD-3-Clause OR LGPL-2.1-or-later")
        self.assertIsNone(third_party.declared_licence("Files: *\nLicense: something-else\n"))
        self.assertIsNone(third_party.declared_licence("This package was made by hand.\n"))

    def test_packages_of_the_page(self):
        parts = third_party.page_packages(self.page)
        self.assertEqual([(p["name"], p["version"]) for p in parts], [("d3-array", "3.2.4"), ("d3-path", "3.1.0"), ("@scope/vega", "6.0.0")])
        self.assertEqual([third_party.page_licence(p["text"]) for p in parts], ["ISC", "ISC", "BSD-3-Clause"])

    def test_libraries_of_a_wheel(self):
        path = os.path.join(self.folder.name, "x.whl")
        with zipfile.ZipFile(path, "w") as wheel:
            for name in ("udv/_udv.so", "udv.libs/libz-1234abcd.so.1", "udv.libs/libopenblasp-r0-f650aae0.3.21.so"):
                wheel.writestr(name, "")
        self.assertEqual(third_party.wheel_libraries(path), ["libz.so.1", "libopenblasp-r0.3.21.so"])

    def test_libraries_built_for_a_wheel_come_from_their_source(self):
        path, built = os.path.join(self.folder.name, "x.whl"), os.path.join(self.folder.name, "libraries")
        with zipfile.ZipFile(path, "w") as wheel:
            wheel.writestr("udv.libs/libtiff-1234abcd.so.6", "")
        os.makedirs(os.path.join(built, "copyright"))
        with open(os.path.join(built, "libraries.txt"), "w") as file:
            file.write("libtiff.so.6 tiff 4.5.0-6\nlibzip.so.4 libzip 1.7.3-1\n")
        for name in ("tiff", "libzip"):
            with open(os.path.join(built, "copyright", name), "w") as file:
                file.write("Permission of " + name)
        found = {part["name"]: part for part in third_party.parts(self.page, [built, path])}
        self.assertEqual((found["tiff"]["version"], found["tiff"]["relation"], found["tiff"]["text"]), ("4.5.0-6", "CONTAINS", "Permission of tiff"))
        self.assertNotIn("libtiff6", found)
        self.assertNotIn("libzip", found)  # built, but not in the wheel

    def test_copyright_file_has_every_text_once(self):
        text = third_party.debian_copyright(self.page)
        self.assertEqual(text.count("Permission to use, copy"), 1)
        self.assertIn("License: Expat", text)
        self.assertIn("d3-array 3.2.4, d3-path 3.1.0", text)

    def test_sbom_is_whole(self):
        with open(os.path.join(self.folder.name, "udv.tar.gz"), "wb") as file:
            file.write(b"source")
        document = third_party.sbom(self.folder.name, self.page, [])
        self.assertEqual([c for c in third_party.complaints(document) if "no licence" not in c], [])
        self.assertEqual(document["files"][0]["fileName"], "./udv.tar.gz")
        self.assertEqual(json.loads(json.dumps(document)), document)

    def test_complaints_name_what_is_wrong(self):
        document = third_party.sbom(self.folder.name, self.page, [])
        document["packages"].append(dict(document["packages"][0], name="fftw", licenseDeclared="GPL-2.0-or-later"))
        document["relationships"].append({"spdxElementId": "SPDXRef-udv", "relationshipType": "CONTAINS", "relatedSpdxElement": "SPDXRef-lost"})
        del document["name"]
        found = "\n".join(third_party.complaints(document))
        for words in ("name is missing", "SPDXRef-udv occurs twice", "SPDXRef-lost is related and not described", "fftw is under GPL-2.0-or-later"):
            self.assertIn(words, found)


if __name__ == "__main__":
    unittest.main()
