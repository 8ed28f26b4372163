"""Hooks of mkdocs: pages outside docs/ that it links to; the navigation, by docs/README.md."""

from __future__ import annotations

import os
import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
OTHERS = ("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "examples/README.md")
HOMEPAGE = os.environ.get("GRADEBOX_HOMEPAGE", "").rstrip("/")
LINK = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?![a-z]+:|#)([^)#\s]+)([^)\s]*)\)")


def on_config(config: Any) -> Any:
    """Make a section of the navigation of each table of docs/README.md."""
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    seen: set[str] = set()
    config.nav = [{"Documentation": "README.md"}]
    for table in re.findall(r"^\|.*(?:\n\|.*)+", index, flags=re.MULTILINE):
        title = table.split("|")[1].strip()
        pages = [_name(found[2]) for found in LINK.finditer(table)]
        new = [page for page in dict.fromkeys(pages) if page not in seen]
        seen.update(new)
        config.nav.append({"Use" if title == "I want to" else title: new})
    config.nav.append({"Project": [page for page in OTHERS if page not in seen]})
    if HOMEPAGE:
        config.repo_url = HOMEPAGE
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the pages of `OTHERS`."""
    for name in OTHERS:
        files.append(File.generated(config, name, abs_src_path=str(ROOT / name)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Make links lead to pages of the site, else to the repository where its address is known."""
    here = page.file.src_uri
    source = posixpath.dirname(here if here in OTHERS else f"docs/{here}")

    def moved(found: re.Match[str]) -> str:
        text, link, anchor = found.groups()
        target = posixpath.normpath(posixpath.join(source, link))
        if target in OTHERS or target.startswith("docs/"):
            name = target.removeprefix("docs/")
            return f"[{text}]({posixpath.relpath(name, posixpath.dirname(here) or '.')}{anchor})"
        return f"[{text}]({HOMEPAGE}/blob/HEAD/{target}{anchor})" if HOMEPAGE else text

    return LINK.sub(moved, markdown)


def _name(link: str) -> str:
    return posixpath.normpath(posixpath.join("docs", link)).removeprefix("docs/")
