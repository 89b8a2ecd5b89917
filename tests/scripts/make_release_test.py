# SPDX-License-Identifier: MIT
"""scripts/make-release refuses, before it builds anything, what is no release."""
import os
import shutil
import subprocess
import tempfile
import unittest

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "make-release")


class MakeRelease(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        os.mkdir(os.path.join(self.folder.name, "scripts"))
        shutil.copy(SCRIPT, os.path.join(self.folder.name, "scripts"))
        self.write("VERSION", "1.2.3\n")
        self.write("CITATION.cff", "version: 1.2.3\n")
        self.write("Makefile", "screens docs:\n\t@echo made it >&2; exit 1\n")
        self.write("CHANGELOG.md", "# Changelog\n\n## [Unreleased]\n\n## [1.2.3] - 2026-01-01\n\n- something\n")
        self.run_git("init", "-q")

    def tearDown(self):
        self.folder.cleanup()

    def write(self, name, text):
        with open(os.path.join(self.folder.name, name), "w") as file:
            file.write(text)

    def run_git(self, *words):
        subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@example.org", *words], cwd=self.folder.name, check=True, stdout=subprocess.DEVNULL)

    def problem(self):
        """What it says of the tree as it is now."""
        self.run_git("add", "-A")
        self.run_git("commit", "-q", "--allow-empty", "-m", "x")
        with tempfile.TemporaryDirectory() as out:
            found = subprocess.run(["scripts/make-release", out], cwd=self.folder.name, capture_output=True, text=True)
        self.assertNotEqual(found.returncode, 0)
        return found.stderr

    def test_builds_where_all_is_said(self):
        self.assertIn("made it", self.problem())

    def test_refuses_lines_that_are_not_released(self):
        self.write("CHANGELOG.md", "## [Unreleased]\n\n### Fixed\n- a line\n\n## [1.2.3]\n- b\n")
        self.assertIn("2 lines under [Unreleased]", self.problem())

    def test_refuses_a_version_that_is_tagged(self):
        self.problem()
        self.run_git("tag", "v1.2.3")
        self.assertIn("the tag v1.2.3 is there already", self.problem())

    def test_refuses_versions_that_nobody_describes(self):
        self.write("VERSION", "1.3.0\n")
        self.assertIn("no heading [1.3.0]", self.problem())
        self.write("CHANGELOG.md", "## [1.3.0]\n- b\n")
        self.assertIn("CITATION.cff", self.problem())


unittest.main()
