# SPDX-License-Identifier: MIT
"""scripts/check-links and what scripts/make-docs makes of Markdown; and the links of our own Markdown files."""
import glob
import importlib.machinery
import importlib.util
import json
import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))


def load(script):
    loader = importlib.machinery.SourceFileLoader(script.replace("-", "_"), os.path.join(ROOT, "scripts", script))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


check_links, make_docs = load("check-links"), load("make-docs")


class Links(unittest.TestCase):
    def broken(self, files, read):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                with open(os.path.join(folder, name), "w") as file:
                    file.write(text)
            paths = [os.path.join(folder, name) for name in files]
            pages = {path: read(path) for path in paths}
            return [found for path in paths for found in check_links.broken(path, pages, read)]

    def test_html(self):
        page = '<a href="b.html#here"></a><a href="https://x.org/y">x</a><h1 id="top"></h1><a href="#top"></a>'
        self.assertEqual(self.broken({"a.html": page, "b.html": '<a name="here"></a>'}, check_links.Page), [])
        self.assertEqual(self.broken({"a.html": page, "b.html": ""}, check_links.Page), [("b.html#here", "no such anchor")])
        self.assertEqual(self.broken({"a.html": '<img src="lost.png">'}, check_links.Page), [("lost.png", "no such file")])

    def test_markdown(self):
        self.assertEqual(self.broken({"a.md": "# On `it`, all\n[x](#on-it-all) [y](a.md)\n```\n[no](lost.md)\n```\n"}, check_links.Markdown), [])
        self.assertEqual(self.broken({"a.md": "[x](#lost)"}, check_links.Markdown), [("#lost", "no such anchor")])

    def test_of_our_own_files(self):
        paths = [path for pattern in ("*.md", "docs/*.md", "*/README.md") for path in glob.glob(os.path.join(ROOT, pattern))]
        pages = {path: check_links.Markdown(path) for path in paths}
        self.assertEqual([(path, found) for path in paths for found in check_links.broken(path, pages, check_links.Markdown)], [])

    def test_every_page_is_in_the_site(self):
        pages = {os.path.relpath(path, ROOT) for path in glob.glob(os.path.join(ROOT, "docs", "*.md"))}
        self.assertEqual(pages - set(make_docs.PAGES), set())


class Pages(unittest.TestCase):
    def test_links_are_moved(self):
        self.assertEqual(make_docs.moved_link("docs/auto-mode.md", "speed", "performance.md"), "[speed](@ref page_performance)")
        self.assertEqual(make_docs.moved_link("docs/jobs.md", "x", "../examples"), "x (`examples`)")
        self.assertEqual(make_docs.moved_link("docs/jobs.md", "x", "https://a.org"), "[x](https://a.org)")
        with self.assertRaises(SystemExit):
            make_docs.moved_link("docs/jobs.md", "x", "lost.md")

    def test_pictures_of_pages_where_they_were_taken(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertIsNone(make_docs.screens(folder))
            os.mkdir(os.path.join(folder, "screens"))
            with open(os.path.join(folder, "screens", "screens.json"), "w") as file:
                json.dump([{"name": "demo", "title": "The demo", "command": "udv demo", "text": "Words."}], file)
            page = make_docs.screens(folder)
        self.assertIn("## The demo {#page_screens_demo}", page)
        self.assertIn('@image html demo.png "The demo"', page)
        self.assertIn("@subpage page_screens", make_docs.contents(["page_screens"]))
        self.assertNotIn("page_screens", make_docs.contents())

    def test_python_reference_has_functions_and_members(self):
        text = make_docs.python_reference()
        for heading in ("udv.complete", "Recovery.predict", "class udv.sklearn.LowRankImputer", "class udv.torch.UDVLinear"):
            self.assertIn(heading, text)
        self.assertNotIn("{options}", text)


if __name__ == "__main__":
    unittest.main()
