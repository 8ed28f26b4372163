"""What every test runs under: nothing of the user's own settings, no network, no chance."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# The `datasets` library must not ask the hub: tests bring their own data.
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("HF_DATASETS_OFFLINE", "1")
# A key or an endpoint of the user's must not change what a test sees.
for name in ("OPENROUTER_API_KEY", "OPENAI_API_KEY", "PISTON_ENDPOINT"):
    os.environ.pop(name, None)

# The same examples every time, and no verdict by the clock: machines that test are busy.
# HYPOTHESIS_PROFILE=search looks for new examples.
settings.register_profile(
    "same",
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "search", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=1000
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))
