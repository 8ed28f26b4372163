"""The `docker` library, found past this repository's own folder docker/.

That folder holds no Python, so the library is what gets imported; type checkers see the
folder first, which is why the names are handed on from here.
"""

from __future__ import annotations

import importlib
from typing import Any

_errors: Any = importlib.import_module("docker.errors")
from_env: Any = importlib.import_module("docker").from_env

APIError: Any = _errors.APIError
BuildError: Any = _errors.BuildError
DockerException: type[Exception] = _errors.DockerException
ImageNotFound: type[Exception] = _errors.ImageNotFound
NotFound: type[Exception] = _errors.NotFound
