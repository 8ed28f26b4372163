"""A headless Chromium, controlled by the DevTools protocol over a pair of pipes.

    with open_browser(tmp_path) as browser: browser.open(path); browser.run("return 1 + 1")

Unlike WebDriver, this separates the console messages of a page from those of the page before.
"""

import itertools
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
MISSING = "needs chromium: apt-get install chromium"
FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
    *("--hide-scrollbars", "--no-first-run", "--disable-extensions", "--force-color-profile=srgb"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    "--remote-debugging-pipe",
)
CHROMIUM_READS, CHROMIUM_WRITES = 3, 4
"""The file descriptors at which Chromium expects its two pipes."""

KEYS = {"Escape": 27, "Enter": 13, "ArrowRight": 39}
"""Windows key codes of keys that type no text."""


class Browser:
    """Control one page. A command raises when Chromium refuses it or its own script throws.

    Errors of the page's own scripts go to `console`.
    """

    def __init__(self, commands: int, answers: int) -> None:
        self._commands, self._answers = commands, answers
        self._numbers = itertools.count(1)
        self._unread = b""
        self._session = ""
        self._console: list[str] = []
        self._loaded: set[str] = set()
        page = self.cdp("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.cdp("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.cdp(f"{domain}.enable")
        self.cdp("Page.setLifecycleEventsEnabled", enabled=True)

    def cdp(self, command: str, **params: Any) -> Any:
        """Run a command of the DevTools protocol and return its result."""
        number = next(self._numbers)
        message = {"id": number, "method": command, "params": params}
        if self._session:
            message["sessionId"] = self._session
        unsent = memoryview(json.dumps(message).encode() + b"\0")
        while unsent:
            unsent = unsent[os.write(self._commands, unsent) :]
        while True:
            answer = self._next_message(60, command)
            if answer.get("id") != number:
                self._handle_event(answer)
            elif "error" in answer:
                raise RuntimeError(f"{command}: {answer['error']['message']}")
            else:
                return answer["result"]

    def _next_message(self, seconds: float, wanted: str) -> dict[str, Any]:
        while b"\0" not in self._unread:
            if not select.select([self._answers], [], [], seconds)[0]:
                raise TimeoutError(f"{wanted}: no answer within {seconds} s")
            if not (piece := os.read(self._answers, 1 << 20)):
                raise ConnectionError(f"{wanted}: Chromium has ended")
            self._unread += piece
        message, _, self._unread = self._unread.partition(b"\0")
        return json.loads(message)  # type: ignore[no-any-return]

    def _handle_event(self, event: dict[str, Any]) -> None:
        """Remember loaded pages, and what the page logged."""
        name, what = event.get("method"), event.get("params", {})
        if name == "Page.lifecycleEvent" and what["name"] == "load":
            self._loaded.add(what["loaderId"])
        elif name == "Log.entryAdded":
            self._console.append("{source} {level} {text}".format_map(what["entry"]))
        elif name == "Runtime.consoleAPICalled":
            self._console.append(f"console {what['type']} {what['args']}")
        elif name == "Runtime.exceptionThrown":
            self._console.append(f"exception {what['exceptionDetails']}")
        elif name == "Page.javascriptDialogOpening":
            self._console.append(f"dialog {what['type']} {what['message']}")

    def open(self, page: Path | str, fragment: str = "") -> None:
        """Open a file or an address with an empty console; wait until it is drawn."""
        start = page if isinstance(page, str) else page.resolve().as_uri()
        for address in ("about:blank", start + fragment):
            loader = self.cdp("Page.navigate", url=address)["loaderId"]
            while loader not in self._loaded:
                self._handle_event(self._next_message(60, address))
            if address == "about:blank":
                self._console.clear()  # messages of the page before
        self.wait(
            "return document.documentElement?.dataset.ready === 'yes'"
            " && [...document.querySelectorAll('.plot')].every(e => e.querySelector('svg'))"
        )

    def run(self, script: str, *arguments: Any) -> Any:
        """Run a script in the page and return its value."""
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
        """Run the script until it returns a true value; return that value."""
        end = time.monotonic() + seconds
        while not (value := self.run(script)):
            if time.monotonic() > end:
                raise TimeoutError(f"still false after {seconds} s: {script}; {self.console()}")
            time.sleep(0.02)
        return value

    def type(self, text: str) -> None:
        """Type characters into the focused element."""
        for key in text:
            self.cdp("Input.dispatchKeyEvent", type="keyDown", key=key, text=key)
            self.cdp("Input.dispatchKeyEvent", type="keyUp", key=key)

    def press(self, key: str) -> None:
        """Press and release one of `KEYS`."""
        code = {"key": key, "code": key, "windowsVirtualKeyCode": KEYS[key]}
        text = {"text": "\r"} if key == "Enter" else {}
        self.cdp("Input.dispatchKeyEvent", type="keyDown", **code, **text)
        self.cdp("Input.dispatchKeyEvent", type="keyUp", **code)

    def console(self) -> list[str]:
        """Return what was logged since the last call: script errors, policy violations, dialogs."""
        self.run("return 0")  # earlier events arrive before this answer
        messages, self._console = self._console, []
        return messages

    def width_needed(self, page: Path, fragment: str, width: int) -> int:
        """Return the width of the fully unfolded page, in pixels, in a window of `width`."""
        self.size(width, 900)
        try:
            self.open(page, fragment)
            self.run("for (const d of document.querySelectorAll('details')) d.open = true")
            return int(self.run("return document.documentElement.scrollWidth"))
        finally:
            self.size(1280, 900)

    def size(self, width: int, height: int) -> None:
        """Set the size of the window in pixels."""
        self.cdp(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def dark(self, dark: bool) -> None:
        """Set the system's preference for dark or light."""
        value = "dark" if dark else "light"
        features = [{"name": "prefers-color-scheme", "value": value}]
        self.cdp("Emulation.setEmulatedMedia", features=features)

    def close(self) -> None:
        """End Chromium."""
        self._session = ""
        self.cdp("Browser.close")


@contextmanager
def open_browser(folder: Path) -> Iterator[Browser]:
    """Run a browser with its own profile under `folder` until the block ends."""
    assert CHROMIUM, MISSING
    to_read, to_write = os.pipe(), os.pipe()
    # A shell moves the pipes to the descriptors that Chromium expects.
    ends = f'exec "$@" {CHROMIUM_READS}<&{to_read[0]} {CHROMIUM_WRITES}>&{to_write[1]}'
    process = subprocess.Popen(
        ["bash", "-c", ends, "bash", CHROMIUM, *FLAGS, f"--user-data-dir={folder / 'profile'}"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=(to_read[0], to_write[1]),
        env={**os.environ, "HOME": str(folder), "TMPDIR": str(folder)},
    )
    for end in (to_read[0], to_write[1]):
        os.close(end)
    try:
        browser = Browser(to_read[1], to_write[0])
        try:
            yield browser
        finally:
            browser.close()
            process.wait(30)
    finally:
        for end in (to_read[1], to_write[0]):
            os.close(end)
        if process.poll() is None:
            process.terminate()
            process.wait(30)
