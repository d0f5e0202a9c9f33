"""Hooks of mkdocs.yml: the pages of the site that do not lie in docs, and links that lead to them.

The reference is made from docstrings here, so that docs holds nothing but Markdown that reads well where it lies.
"""

import posixpath
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
# Files beside docs that are pages of the site, and what stands in for them.
OUTSIDE = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "examples/custom_adapter/README.md": "examples/custom_adapter.md",
    "examples/redis_adapter/README.md": "examples/redis_adapter.md",
}
STANDS_FOR = {
    **OUTSIDE,
    "README.md": "index.md",
    "examples/custom_adapter": "examples/custom_adapter.md",
    "examples/redis_adapter": "examples/redis_adapter.md",
}
# Pages of the reference: title, sentence, and what is on them.
API = {
    "opening": (
        "Opening",
        "How handles come about, see [the guide](../../guide/start.md).",
        ["open_store", "open_async_store", "open_lock", "open_async_lock", "load_config", "Config", "StoreConfig"],
    ),
    "store": (
        "Store",
        "`AsyncStore` has the same methods, awaited.",
        ["Store", "AsyncStore", "Transaction", "AsyncTransaction"],
    ),
    "lock": ("Lock", "`AsyncLock` has the same methods, awaited.", ["Lock", "AsyncLock", "Hold", "AsyncHold"]),
    "values": (
        "Values",
        "What goes in and comes out.",
        [
            "ANY",
            "ABSENT",
            "Record",
            "Page",
            "Entry",
            "Entries",
            "Head",
            "Appended",
            "Put",
            "Delete",
            "Append",
            "Check",
            "Lease",
            "Holder",
            "Operation",
            "Capabilities",
        ],
    ),
    "errors": ("Errors", "As a table: [errors](../errors.md).", ["holdall.errors"]),
    "spi": ("Adapter interface", "How to use it: [write an adapter](../../guide/adapters.md).", ["holdall.spi"]),
    "plugins": (
        "Plugins and hooks",
        "As a table: [plugins](../plugins.md).",
        ["hookimpl", "holdall.hookspecs", "holdall.plugins"],
    ),
}
# The page says that they have the methods of the others.
TWINS = ("AsyncStore", "AsyncTransaction", "AsyncLock", "AsyncHold")
LINK = re.compile(r"(?<=\]\()([^)#:\s]+)((?:#[^)\s]*)?)(?=\))")
FENCE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)


def api_page(name: str) -> str:
    """The Markdown of a page of the reference."""
    title, sentence, parts = API[name]
    return f"# {title}\n\n{sentence}\n\n" + "\n".join(map(_directive, parts))


def _directive(part: str) -> str:
    if part.startswith("holdall."):  # a module: its members follow the title of the page
        return f"::: {part}\n    options:\n      show_root_heading: false\n      show_root_toc_entry: false\n"
    members = "\n    options:\n      members: false" if part in TWINS else ""
    return f"::: holdall.{part}{members}\n"


def relinked(markdown: str, place: str, page: str) -> str:
    """Markdown with links as they must be on the site.

    Args:
        markdown: the text.
        place: where it lies in the repository.
        page: where it is on the site.

    """

    def target(match: re.Match[str]) -> str:
        found = posixpath.normpath(posixpath.join(posixpath.dirname(place), match[1]))
        if found in STANDS_FOR:
            found = f"docs/{STANDS_FOR[found]}"
        elif place == f"docs/{page}":
            return match[0]
        return posixpath.relpath(found, posixpath.dirname(f"docs/{page}")) + match[2]

    parts = FENCE.split(markdown)
    return "".join(part if part.startswith("```") else LINK.sub(target, part) for part in parts)


def on_files(files: Any, config: Any) -> None:
    """Adds the pages that do not lie in docs."""
    from mkdocs.structure.files import File  # noqa: PLC0415 - the tests read this module without mkdocs

    pages = {page: relinked((ROOT / place).read_text("utf-8"), place, page) for place, page in OUTSIDE.items()}
    pages |= {f"reference/api/{name}.md": api_page(name) for name in API}
    for page, content in pages.items():
        files.append(File.generated(config, page, content=content))


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Leads links that leave docs to the pages that stand for their targets."""
    uri = page.file.src_uri
    return markdown if uri in OUTSIDE.values() else relinked(markdown, f"docs/{uri}", uri)


def on_page_content(html: str, **_: Any) -> str:
    """Takes away the marks of literal blocks in docstrings."""
    return html.replace("<p>::</p>\n", "")
