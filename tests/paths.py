#!/usr/bin/env python3
"""usage: paths.py

In: the files of this tree; ROOT in the environment names another tree. Out: references in comments and documents to things that do not
exist: paths, source files by name, functions as name(), links and headings of documents ("docs/planning.md, Tiles that spill" in brackets).
Exit code 1 if there are any. Not checked: generated files, data, and code, which compilers check. A part of a path in capitals
(specs/NAME.yaml) matches any name.
"""
import fnmatch, os, pathlib, re, subprocess, sys

ROOT = pathlib.Path(os.environ.get("ROOT", pathlib.Path(__file__).resolve().parent.parent))
LOOKED_AT = re.compile(r"\.(c|h|def|hip|cpp|py|sh|md|yaml)$|(^|/)Makefile$")
WRITTEN = re.compile(r"^tests/(golden|corpus)/|^specs/(bad|warned)/|\.spec\.h$")
PATH = re.compile(r"(?<![\w/.<$-])((?:ir|gen|runtime|templates|tests|docs|specs|examples|bench)/[\w./*{},-]*[\w*}])")
ALONE = re.compile(r"(?<![\w/.*<$-])([a-z]\w*\.(?:c|h|def|py|sh))\b(?![\w/*(])")
FUNCTION = re.compile(r"\b([a-z]\w*)\(\)")
HEADING = re.compile(r"\(docs/([\w-]+\.md)(?:: |, )([A-Za-z][\w ,]*)\)")
LINK = re.compile(r"\]\(([^)\s]+)\)")
CAPITALS = re.compile(r"(^|[/_])[A-Z]+(?=[./_]|$)")
# Headers of C and of vendors, and the names that examples give to their own files.
OTHERS = {"cuda.h", "setjmp.h", "elf.h", "check.h", "my.c"}


def files():
    if (ROOT / ".git").exists():
        listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True,
                                check=True).stdout.split("\n")
    else:
        listed = [p.relative_to(ROOT).as_posix() for p in ROOT.rglob("*") if p.relative_to(ROOT).parts[0] != "build"]
    return {n for n in listed if n and (ROOT / n).is_file()}


def parted(name, text):
    """([(line number, comment)], code) of a file; a document is all comment."""
    if name.endswith(".md"):
        return list(enumerate(text.split("\n"), 1)), ""
    hashes = name.endswith((".py", ".sh", "Makefile", ".yaml"))
    form = r'"""(?:.|\n)*?"""|(?:(?<=\s)|^)# [^\n]*' if hashes else r'"(?:\\.|[^"\\\n])*"|/\*(?:.|\n)*?\*/|//[^\n]*'
    spans = [m for m in re.finditer(form, text, re.M) if hashes or m[0][0] == "/"]
    code, at = [], 0
    for m in spans:
        code.append(text[at:m.start()])
        at = m.end()
    return [(text[:m.start()].count("\n") + 1, m[0]) for m in spans], " ".join(code + [text[at:]])


def spread(path):
    """a.{c,h} is two"""
    m = re.match(r"(.*)\{([^}]*)\}(.*)", path)
    return [m[1] + x + m[3] for x in m[2].split(",")] if m else [path.rstrip(",")]


def headings(text):
    return {re.sub(r"[`*]", "", h).strip().lower() for h in re.findall(r"^#+ (.*)$", text, re.M)}


class tree:
    def __init__(self):
        self.text = {n: (ROOT / n).read_text(errors="replace") for n in files()}
        self.folders = {str(p) for n in self.text for p in pathlib.PurePosixPath(n).parents}
        self.alone = {pathlib.PurePosixPath(n).name for n in self.text} | OTHERS
        self.parts = {n: parted(n, t) for n, t in self.text.items() if LOOKED_AT.search(n) and not WRITTEN.search(n)}
        self.words = {w for _, code in self.parts.values() for w in re.findall(r"\w+", code)}

    def has(self, path):
        path = path.rstrip("/")
        if path in self.text or path in self.folders or CAPITALS.search(path) or path + ".c" in self.text:
            return True
        return "*" in path and any(fnmatch.fnmatch(n, path) for n in self.text)

    def wrong_links(self, name, text):
        for target in (t for t in LINK.findall(text) if "://" not in t):
            path, _, anchor = target.partition("#")
            at = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
            if not self.has(at):
                yield f"a link to {target}, which is not there"
            elif anchor and anchor not in {re.sub(r"[^\w -]", "", h).replace(" ", "-") for h in headings(self.text[at])}:
                yield f"a link to {target}, and {at} has no such heading"

    def wrong(self, name, text):
        for path in (p for found in PATH.findall(text) for p in spread(found)):
            if not self.has(path):
                yield f"names {path}, which is not there"
        for found in ALONE.findall(text):
            if found not in self.alone:
                yield f"names {found}, which is not there"
        for found in FUNCTION.findall(text):
            if found not in self.words:
                yield f"names {found}(), which is not there"
        for path, heading in HEADING.findall(re.sub(r"\n[ *#/]*", " ", text)):
            if heading.lower() not in headings(self.text.get("docs/" + path, "")):
                yield f"docs/{path} has no heading '{heading}'"
        if name.endswith(".md"):
            yield from self.wrong_links(name, text)


def main():
    here, code = tree(), 0
    for name, (comments, _) in sorted(here.parts.items()):
        for number, text in comments:
            for what in dict.fromkeys(here.wrong(name, text)):
                print(f"{name}:{number}: {what}")
                code = 1
    return code


if __name__ == "__main__":
    sys.exit(main())
