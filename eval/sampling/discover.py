"""The name a server gives its model, for users who name none."""

from __future__ import annotations

import json
from urllib.parse import urlsplit

from eval.input_error import InputError
from eval.sampling.http_json import shown
from eval.sampling.key import redacted
from eval.sampling.sampler import LOOPBACK
from eval.sampling.servers import endpoint

ASK_S = 30.0


def served_model(base_url: str, secret: str = "") -> str:
    """The only model an OpenAI-compatible server serves; InputError when it is not one."""
    import httpx

    url = endpoint(base_url, "/models")
    headers = {"authorization": f"Bearer {secret}"} if secret else {}
    try:
        with httpx.Client(
            timeout=ASK_S, trust_env=urlsplit(url).hostname not in LOOPBACK
        ) as client:
            reply = client.get(url, headers=headers)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        said = redacted(str(error), secret)
        raise InputError(f"{url}: {said}; name the model with --model-name") from None
    try:
        value = json.loads(reply.content) if reply.status_code == 200 else None
        names = [str(entry["id"]) for entry in value["data"]] if value else []
    except (ValueError, RecursionError, KeyError, TypeError):
        names = []
    if len(names) == 1 and names[0].isprintable() and names[0]:
        return names[0]
    if names:
        listed = ", ".join(shown(name.encode("utf-8", "replace")) for name in names[:8])
        raise InputError(
            f"{url}: {len(names)} models ({redacted(listed, secret)}); name one with --model-name"
        )
    raise InputError(
        f"{url}: HTTP {reply.status_code} and no list of models "
        f"({redacted(shown(reply.content), secret)}); "
        "name the model with --model-name"
    )
