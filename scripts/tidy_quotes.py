"""Code in documents, quoted from files that are compiled.

A document writes `<!-- quote: samples/bank.cpp#transfer -->` before a fenced block; the block holds
what stands in that file between the lines `// [transfer]` and `// [/transfer]`. C++ that cannot be
compiled, such as a mistake that is explained, says `<!-- no quote: <reason> -->` instead. A block that
is only indented says neither, so it may not be C++.
"""

import re
import textwrap

BLOCK = re.compile(
    r"(?:^<!-- (?P<mark>quote|no quote): (?P<subject>[^\n]+) -->\n\s*)?"
    r"^(?P<fence>`{3,})(?P<language>\w*)\n(?P<body>.*?)^(?P=fence)$",
    re.DOTALL | re.MULTILINE)
# A block without a fence, up to its first line that ends as statements and scopes do.
INDENTED_CPP = re.compile(
    r"(?:\A|^[ \t]*\n)(?P<code>(?:(?: {4}|\t)[^\n]*\n)*?(?: {4}|\t)[^\n]*[;{][ \t]*(?://[^\n]*)?)$",
    re.MULTILINE)


def quoted_text(reference, read):
    """Returns the text a reference `path#marker` names, and what is wrong with it (or None)."""
    path, _, marker = reference.partition("#")
    text = read(path)
    if text is None:
        return "", f"quotes {path}, which does not exist"
    marked = re.search(
        rf"^[ \t]*(?://|#) \[{re.escape(marker)}\]\n(.*?)^[ \t]*(?://|#) \[/{re.escape(marker)}\]$",
        text, re.DOTALL | re.MULTILINE)
    if not marker or not marked:
        return "", f"{path} has no `// [{marker}]` ... `// [/{marker}]`"
    return textwrap.dedent(marked[1]), None


def quote_problems(document, read, strict=True):
    """Yields line and message for each block that is not what it quotes.

    Strict documents may not show C++ that is neither quoted nor excused.
    """
    for block in BLOCK.finditer(document):
        line = document.count("\n", 0, block.start()) + 1
        if block["mark"] == "quote":
            text, problem = quoted_text(block["subject"], read)
            if problem:
                yield line, problem
            elif text != block["body"]:
                yield line, f"differs from {block['subject']}: run scripts/tidy.py --fix-quotes"
        elif block["mark"] is None and strict and block["language"] in ("cpp", "c++"):
            yield line, "C++ that no compiler sees: quote it, or say `no quote: <reason>`"
    outside = BLOCK.sub(lambda block: "\n" * block[0].count("\n"), document)
    for block in INDENTED_CPP.finditer(outside) if strict else ():
        yield (outside.count("\n", 0, block.start("code")) + 1,
               "C++ that is only indented: put it in a fence, and quote it")


def fix_quotes(document, read):
    """Returns the document with every quotable block replaced by what it quotes."""

    def fixed(block):
        if block["mark"] != "quote":
            return block[0]
        text, problem = quoted_text(block["subject"], read)
        opening = block[0].removesuffix(block["body"] + block["fence"])
        return block[0] if problem else opening + text + block["fence"]

    return BLOCK.sub(fixed, document)
