"""Compiles the modules in which nearly all of the time goes, where it is asked for:

    HATCH_BUILD_HOOK_ENABLE_CUSTOM=true pip wheel --no-deps .

Without it the wheel is pure Python, and finds the same.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

COMPILED = (
    "flow/elements",
    "flow/java",
    "flow/narrow",
    "flow/reach",
    "flow/resolve",
    "flow/values",
    "link/code",
    "link/java",
    "link/java_calls",
    "link/java_members",
    "link/names",
)
"""Modules of `lint/resilint`. Each must be clean under `mypy --strict`: what its annotations say holds when it runs."""

_SETUP = """
from mypyc.build import mypycify
from setuptools import setup

setup(name="resilint", packages=[], ext_modules=mypycify({options!r}, opt_level="2", multi_file=True))
"""


class Compile(BuildHookInterface[Any]):
    """Puts the compiled modules beside their sources, which tracebacks show."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Raises `CalledProcessError` where something cannot be compiled."""
        if version == "editable":
            # Whoever works on the sources wants to see what they do.
            return
        self._folder = tempfile.mkdtemp()
        work = Path(self._folder)
        shutil.copytree(Path(self.root) / "lint" / "resilint", work / "resilint")
        options = ["--strict", "--ignore-missing-imports", *(f"resilint/{name}.py" for name in COMPILED)]
        (work / "setup.py").write_text(_SETUP.format(options=options), "utf-8")
        jobs = str(os.cpu_count() or 1)
        subprocess.run([sys.executable, "setup.py", "build_ext", "--inplace", "--parallel", jobs], cwd=work, check=True)
        built = [path for path in sorted(work.rglob("*.so")) if "build" not in path.relative_to(work).parts]
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        build_data["force_include"] |= {str(path): path.relative_to(work).as_posix() for path in built}

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Leaves nothing behind."""
        shutil.rmtree(getattr(self, "_folder", ""), ignore_errors=True)
