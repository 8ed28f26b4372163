"""What every test runs under: nothing from the user's own settings, nothing from the network."""

from __future__ import annotations

import os

# The `datasets` library must not ask the hub: tests bring their own data.
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("HF_DATASETS_OFFLINE", "1")
# A key or an endpoint of the user's must not change what a test sees.
for name in ("OPENROUTER_API_KEY", "OPENAI_API_KEY", "PISTON_ENDPOINT"):
    os.environ.pop(name, None)
