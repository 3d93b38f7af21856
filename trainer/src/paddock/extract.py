"""From what a model wrote to the code in it. Pure, and linear in the length of the text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

PYTHON = ("python", "python3", "py")
FENCE_CHARACTERS = ("`", "~")
FENCE_LENGTH_MIN = 3
LANGUAGE = re.compile(r"[A-Za-z][\w+#.-]*(\s|$)")
FENCE_INDENT_MAX = 3  # beyond, CommonMark calls it a line of code


@dataclass(frozen=True)
class CodeBlock:
    language: str  # in lower case; empty if the fence names none
    code: str


def code_blocks(text: str) -> Iterator[CodeBlock]:
    """The fenced blocks of a Markdown text, as CommonMark reads fences, but for two things that
    models do: a block that is not closed goes on to the end of the text (a completion that was cut
    off is judged by what is there) or to the next fence that names a language."""
    fence = ""
    language = ""
    lines: list[str] = []
    for line in re.split("(?<=\n)", text):  # no other end of line: splitlines() knows a dozen
        mark, info = _fence(line)
        is_fence = mark != "" and (not fence or (mark[0] == fence[0] and len(mark) >= len(fence)))
        opens = is_fence and (LANGUAGE.match(info) is not None or not fence) and "`" not in info
        if fence and (opens or (is_fence and not info)):
            yield CodeBlock(language, "".join(lines))
            fence = ""
        elif fence:
            lines.append(line)
        if opens:
            fence, lines = mark, []
            language = info.split(None, 1)[0].lower() if info else ""
    if fence:
        yield CodeBlock(language, "".join(lines))


def last_code_block(text: str, languages: Iterable[str] = PYTHON) -> str:
    """The last block in one of `languages`; else the last one that names none; else, where there is
    no block at all, the whole text. Empty if there are blocks in other languages only."""
    wanted = frozenset(languages)
    named: str | None = None
    unnamed: str | None = None
    has_blocks = False
    for block in code_blocks(text):
        has_blocks = True
        if block.language in wanted:
            named = block.code
        elif not block.language:
            unnamed = block.code
    if named is not None:
        return named
    if unnamed is not None:
        return unnamed
    return "" if has_blocks else text


def _fence(line: str) -> tuple[str, str]:
    """The run of fence characters that a line begins with, and what follows; else empty."""
    indented = line.lstrip(" ")
    if len(line) - len(indented) > FENCE_INDENT_MAX or not indented.startswith(FENCE_CHARACTERS):
        return "", ""
    rest = indented.lstrip(indented[0])
    mark = indented[: len(indented) - len(rest)]
    return (mark, rest.strip()) if len(mark) >= FENCE_LENGTH_MIN else ("", "")
