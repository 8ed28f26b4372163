"""In a checkout, make `sandbox.x` and `gradebox.sandbox.x` one module.

The folders `eval`, `checkers` and `sandbox` are importable by their own names where a checkout's
root is on sys.path, as for `python -m sandbox.server`. Without an alias, such an import would
load the module a second time.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import InspectLoader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType

FOLDERS = ("eval", "checkers", "sandbox")


class _Aliases(MetaPathFinder, InspectLoader):
    """Find and load a module of gradebox by its name without `gradebox.`."""

    def __init__(self) -> None:
        self._specs: dict[str, ModuleSpec | None] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package, _, rest = fullname.partition(".")
        real = _real_spec(fullname) if package in FOLDERS and rest else None
        if real is None:
            return None
        is_package = real.submodule_search_locations is not None
        return importlib.util.spec_from_loader(fullname, self, is_package=is_package)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(f"gradebox.{spec.name}")
        self._specs[spec.name] = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Restore the module's own spec, which the import system has replaced."""
        alias = module.__spec__
        if alias is not None:
            module.__spec__ = self._specs.pop(alias.name, alias)

    def get_code(self, fullname: str) -> CodeType | None:
        """Return the code of a module that is run with `python -m`."""
        real = _real_spec(fullname)
        loader = real.loader if real is not None else None
        return (
            loader.get_code(f"gradebox.{fullname}") if isinstance(loader, InspectLoader) else None
        )

    def get_source(self, fullname: str) -> str | None:
        real = _real_spec(fullname)
        loader = real.loader if real is not None else None
        return loader.get_source(real.name) if real and isinstance(loader, InspectLoader) else None


def _real_spec(name: str) -> ModuleSpec | None:
    return importlib.util.find_spec(f"gradebox.{name}")


def alias(package: str) -> None:
    """Make the top-level name `package` mean the package `gradebox.<package>`."""
    if not any(isinstance(finder, _Aliases) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Aliases())
    sys.modules[package] = importlib.import_module(f"gradebox.{package}")
