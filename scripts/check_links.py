"""Checks the links of the site's own pages: nothing is missing, no anchor either, and nothing is loaded from another host."""

import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.loaded = {""}, [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.anchors.update(attributes[name] for name in ("id", "name") if attributes.get(name))
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])
        elif tag in ("link", "script", "img", "iframe") and attributes.get("rel") != "canonical":
            self.loaded += [attributes[name] for name in ("href", "src") if attributes.get(name)]


@cache
def read(path):
    return Page(path.read_text(encoding="utf-8"))


def faults(path):
    page = read(path)
    for link in page.links + page.loaded:
        url = urlsplit(link)
        if url.scheme or url.netloc:
            if link in page.loaded and url.scheme != "data":
                yield f"{path}: loads {link}"
            continue
        target = (path.parent / unquote(url.path)).resolve() if url.path else path.resolve()
        if not target.is_file():
            yield f"{path}: no such file: {link}"
        elif target.suffix == ".html" and url.fragment and unquote(url.fragment) not in read(target).anchors:
            yield f"{path}: no such anchor: {link}"


site = Path(sys.argv[1]).resolve()
generated = [site / name for name in ("client-java", "testing", "spring-boot-starter", "shedlock", "python", "go", "node", "api.html", "404.html")]
pages = [page for page in sorted(site.rglob("*.html")) if not any(page == one or one in page.parents for one in generated)]
found = [fault for page in pages for fault in faults(page)]
print("\n".join(found) or f"{len(pages)} pages, no dead link")
sys.exit(bool(found) or not pages)
