"""A headless Chromium, driven over the WebDriver protocol with nothing but HTTP.

    with open_browser(tmp_path) as browser: browser.open(path); browser.run("return 1 + 1")

Debian: apt-get install chromium chromium-driver.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import requests

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
MISSING = "needs chromium and chromedriver: apt-get install chromium chromium-driver"
FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
    *("--hide-scrollbars", "--no-first-run", "--disable-extensions", "--force-color-profile=srgb"),
)


class Browser:
    """One session; commands raise when the page or the driver says no."""

    def __init__(self, address: str, profile: Path) -> None:
        self._http = requests.Session()
        self._http.trust_env = False  # no proxy between here and the driver
        options = {"binary": CHROMIUM, "args": [*FLAGS, f"--user-data-dir={profile}"]}
        capabilities = {
            "alwaysMatch": {
                "goog:chromeOptions": options,
                "goog:loggingPrefs": {"browser": "ALL"},
                "unhandledPromptBehavior": "ignore",
            }
        }
        self._base = f"{address}/session"
        session = self._call("", {"capabilities": capabilities})
        self._base += f"/{session['sessionId']}"

    def _call(self, path: str, body: dict[str, Any]) -> Any:
        answer = self._http.post(self._base + path, json=body, timeout=120).json()["value"]
        if isinstance(answer, dict) and answer.get("error"):
            raise RuntimeError(f"{path}: {answer['error']}: {answer['message'].splitlines()[0]}")
        return answer

    def cdp(self, command: str, **params: Any) -> Any:
        """A command of the DevTools protocol."""
        return self._call("/goog/cdp/execute", {"cmd": command, "params": params})

    def open(self, page: Path, fragment: str = "") -> None:
        """Open a page from the file system and wait until it has drawn itself."""
        self._call("/url", {"url": "about:blank"})
        self._call("/url", {"url": page.resolve().as_uri() + fragment})
        self.wait("return document.documentElement?.dataset.ready === 'yes'")

    def run(self, script: str, *arguments: Any) -> Any:
        """The value a script in the page returns.

        By the debugger, not by WebDriver's own execute: that compiles the script in the page,
        where the page's policy now and then reports it as an attempt of ours.
        """
        called = f"(function () {{ {script}\n}}).apply(null, {json.dumps(arguments)})"
        answer = self.cdp(
            "Runtime.evaluate",
            expression=called,
            returnByValue=True,
            awaitPromise=True,
            allowUnsafeEvalBlockedByCSP=False,
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait(self, script: str, seconds: float = 60) -> Any:
        """Ask again until the script returns something true."""
        end = time.monotonic() + seconds
        while not (value := self.run(script)):
            if time.monotonic() > end:
                raise TimeoutError(f"still false after {seconds} s: {script}; {self.console()}")
            time.sleep(0.02)
        return value

    def keys(self, text: str) -> None:
        """Type on whatever has the focus."""
        press = [{"type": kind, "value": key} for key in text for kind in ("keyDown", "keyUp")]
        self._call("/actions", {"actions": [{"type": "key", "id": "k", "actions": press}]})

    def console(self) -> list[str]:
        """What the page logged since the last call: script errors, policy violations."""
        return [entry["message"] for entry in self._call("/se/log", {"type": "browser"})]

    def size(self, width: int, height: int) -> None:
        """Give the page this many pixels."""
        self.cdp(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def dark(self, dark: bool) -> None:
        """Prefer dark or light, as a system setting would."""
        value = "dark" if dark else "light"
        features = [{"name": "prefers-color-scheme", "value": value}]
        self.cdp("Emulation.setEmulatedMedia", features=features)

    def screenshot(self, path: Path) -> None:
        """What is to be seen now, as PNG."""
        path.write_bytes(base64.b64decode(self.cdp("Page.captureScreenshot")["data"]))

    def close(self) -> None:
        self._http.delete(self._base, timeout=30)


@contextmanager
def open_browser(folder: Path) -> Iterator[Browser]:
    """A browser with its own profile under `folder`; gone when the block ends."""
    assert DRIVER, MISSING
    environment = {**os.environ, "HOME": str(folder), "TMPDIR": str(folder)}
    driver = subprocess.Popen(
        [DRIVER, "--port=0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment,
    )
    try:
        assert driver.stdout
        port = next(
            found[1]
            for line in driver.stdout
            if (found := re.search(r"successfully on port (\d+)", line))
        )
        browser = Browser(f"http://127.0.0.1:{port}", folder / "profile")
        try:
            yield browser
        finally:
            browser.close()
    finally:
        driver.terminate()
        driver.wait(30)
