"""Hooks of the site: README.md is its first page, and links to files beside docs/ lead to the repository."""

import re
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)\s]+)\)")


def on_files(files, config):
    first = File.generated(config, "index.md", content=(ROOT / "README.md").read_text())
    files.append(first)
    return files


def on_page_markdown(markdown, page, config, files):
    folder = ROOT if page.file.src_uri == "index.md" else ROOT / "docs"

    def replaced(match):
        path, _, anchor = match.group(1).partition("#")
        target = (folder / path).resolve()
        if not target.exists():
            return match.group(0)  # mkdocs refuses it
        if target.parent == ROOT / "docs" and target.suffix == ".md":
            return f"]({target.name}{'#' + anchor if anchor else ''})"
        if target.suffix == ".png" and target.is_relative_to(ROOT / "docs"):
            return f"]({target.relative_to(ROOT / 'docs')})"
        kind = "tree" if target.is_dir() else "blob"
        return f"]({config.repo_url}/{kind}/main/{target.relative_to(ROOT)})"

    return LINK.sub(replaced, markdown)
