"""Brings what stands outside docs/ into the site, so that links which work in the repository work there, too."""

import posixpath
import re
import subprocess
from pathlib import Path

import pymdownx.superfences
from markdown.extensions import Extension
from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parent.parent
MERMAID = next(ROOT.glob("integration-tests/polyglot/build/mermaid@*/package/dist/mermaid.min.js"), None)
WRITTEN = ROOT / "target/docs"
CONTRACT = "proto/src/main/proto/lockkeeper/v1"
LINK = re.compile(r"(?<=\]\()([^)\s#:]+)((?:#[^)\s]*)?)(?=\))")
REFERENCES = {
    "api.html": "The contract: every service, message and field of `lockkeeper.v1`",
    "client-java/index.html": "Java: the client",
    "testing/index.html": "Java: the coordinator in memory, for tests",
    "spring-boot-starter/index.html": "Java: Spring Boot",
    "shedlock/index.html": "Java: ShedLock",
    "python/index.html": "Python",
    "go/lockkeeper.txt": "Go: the client",
    "go/lockkeepertest.txt": "Go: for tests",
    "node/index.html": "Node.js",
}


class NestedListsOfTwoSpaces(Extension):
    """Takes what is indented by two spaces for a part of the item above, as GitHub does."""

    def extendMarkdown(self, md):
        md.tab_length = 2


def on_config(config):
    config.markdown_extensions.append(NestedListsOfTwoSpaces())
    if MERMAID:
        config.extra_javascript.append("mermaid.min.js")
        fence = {"name": "mermaid", "class": "mermaid", "format": pymdownx.superfences.fence_code_format}
        config.mdx_configs.setdefault("pymdownx.superfences", {})["custom_fences"] = [fence]
    return config


def on_files(files, config):
    def add(uri, **source):
        if files.get_file_from_path(uri) is None:
            files.append(File.generated(config, uri, **source))

    files.remove(files.get_file_from_path("README.md"))
    if MERMAID:
        add("mermaid.min.js", abs_src_path=str(MERMAID))
    written = {path: what for path, what in REFERENCES.items() if (WRITTEN / path).exists()}
    for path in written:
        add(path, abs_src_path=str(WRITTEN / path))
    entries = [f"- [{what}]({path})\n" for path, what in written.items()]
    add("references.md", content="# References of the API\n\nWritten from the sources, with this site.\n\n" + "".join(entries))

    pages = ["README.md", "docs/README.md"] + [f"docs/{file.src_uri}" for file in files.documentation_pages() if not file.generated_by]
    seen = set(pages)
    for page in pages:  # grows meanwhile
        if not page.startswith("docs/") or page == "docs/README.md":
            add(site_uri(page), abs_src_path=str(ROOT / page))
        for link in LINK.finditer((ROOT / page).read_text()):
            target = target_of(page, link[1])
            if not target or target in seen or target.startswith("docs/"):
                continue
            seen.add(target)
            if target.endswith(".md"):
                pages.append(target)
            elif not (target == CONTRACT and "api.html" in written):
                add(site_uri(target), content=text_of(ROOT / target))
    return files


def on_page_markdown(markdown, page, config, files):
    here = page.file.src_uri
    path = path_of(here)

    def rewritten(link):
        target = target_of(path, link[1])
        return posixpath.relpath(site_uri(target), posixpath.dirname(here) or ".") + link[2] if target else link[0]

    return LINK.sub(rewritten, markdown)


def on_page_content(html, page, config, files):
    """A bar in code in a table is written \\|, and shown as a bar, as by GitHub."""
    return re.sub(r"<td.*?</td>", lambda cell: cell[0].replace("\\|", "|"), html, flags=re.S)


def target_of(page, link):
    """The path, from the root of the repository, of what a page links to; None if there is no such thing."""
    target = posixpath.normpath(posixpath.join(posixpath.dirname(page), link))
    if target.startswith("..") or not (ROOT / target).exists():
        return None
    return f"{target}/README.md" if (ROOT / target / "README.md").exists() else target


def site_uri(path):
    """Where something of the repository is in the site, as a source of MkDocs."""
    if path == CONTRACT and (WRITTEN / "api.html").exists():
        return "api.html"
    special = {"README.md": "index.md", "docs/README.md": "documents.md"}
    if path in special:
        return special[path]
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return f"repository/{path}" if path.endswith(".md") else f"repository/{path}.txt"


def path_of(uri):
    """The reverse of site_uri, for pages."""
    special = {"index.md": "README.md", "documents.md": "docs/README.md"}
    return special.get(uri) or (uri.removeprefix("repository/") if uri.startswith("repository/") else f"docs/{uri}")


def text_of(path):
    """A file, or the files of a directory, those that git knows, one after the other."""
    if path.is_file():
        return path.read_text()
    tracked = subprocess.run(["git", "ls-files", "-z", path], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    files = [ROOT / name for name in tracked.split("\0") if name and (ROOT / name).is_file()]
    return "\n".join(f"==> {file.relative_to(ROOT)} <==\n\n{file.read_text()}" for file in files)
