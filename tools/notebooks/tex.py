"""Formulas that MathJax and KaTeX both show, without macros that must be defined elsewhere."""

import re

Macros = dict[str, str | list[str | int]]
COMMAND = re.compile(r"\\(?:[A-Za-z]+|.)", re.S)  # a line break is one too


def expand(tex: str, macros: Macros) -> str:
    """Replace the book's macros by what they stand for."""
    at = 0
    while match := COMMAND.search(tex, at):
        macro = macros.get(match.group()[1:])
        if macro is None:
            at = match.end()
            continue
        body, count = (macro, 0) if isinstance(macro, str) else (str(macro[0]), int(macro[1]))
        end = match.end()
        for number in range(1, count + 1):
            given, end = argument(tex, end)
            body = body.replace(f"#{number}", given)
        tex, at = joined(joined(tex[: match.start()], body), tex[end:]), match.start()
    return tex


def joined(left: str, right: str) -> str:
    """Two pieces, kept apart where a letter would lengthen the command before it."""
    apart = re.search(r"\\[A-Za-z]+$", left) and right[:1].isalpha()
    return f"{left} {right}" if apart else left + right


def argument(tex: str, start: int) -> tuple[str, int]:
    """The argument of a macro that starts at or after ``start``, and where it ends."""
    while tex[start].isspace():
        start += 1
    if command := COMMAND.match(tex, start):
        return command.group(), command.end()
    if tex[start] != "{":
        return tex[start], start + 1
    depth = 0
    for match in re.compile(r"\\.|[{}]").finditer(tex, start):
        depth += {"{": 1, "}": -1}.get(match.group(), 0)
        if depth == 0:
            return tex[start + 1 : match.end() - 1], match.end()
    raise ValueError(f"a brace is not closed in {tex!r}")


def one_line(tex: str) -> str:
    """A formula without line breaks: Jupyter would take the > of a quoted line into it."""
    return " ".join(tex.split())


def displayed(tex: str, number: str = "") -> str:
    """A formula on a line of its own, with its number."""
    tex = one_line(tex)
    if r"\\" in tex and r"\begin" not in tex:
        tex = rf"\begin{{aligned}} {tex} \end{{aligned}}"
    if number:
        tex = rf"{tex} \tag{{{number}}}"
    return f"$$ {tex} $$"
