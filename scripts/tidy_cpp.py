"""Where functions begin and end in C++ text: enough of the grammar to measure their length."""

import re

# Comments and literals, whose braces and semicolons mean nothing.
OPAQUE = re.compile(
    r"//[^\n]*"
    r"|/\*.*?\*/"
    r'|R"([^(\s]*)\(.*?\)\1"'
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])*'",
    re.DOTALL)
DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.MULTILINE)


def blank(match):
    return re.sub(r"[^\n]", " ", match[0])


def kind_of(statement, outer):
    """What a brace opens, judged by the text before it and the kind of block around it."""
    if outer not in ("file", "type"):
        return "block"
    if re.search(r"\bnamespace\b", statement) or re.search(r'\bextern\s*$', statement):
        return "file"
    head = re.sub(r"template\s*<.*?>\s*(?=\b(class|struct|union|enum)\b)", "", statement)
    if re.match(r"(\w+:)?\s*(typedef\s+|static\s+|const\w*\s+)*(class|struct|union|enum)\b",
                head.strip()):
        return "type"
    return "function" if "(" in statement else "block"


def name_of(statement):
    match = re.search(r"([\w:~]+(?:\s*<[^()]*>)?|operator\s*\S+?)\s*\(", statement)
    return match[1] if match else statement.strip()


def functions(text):
    """Yields the name, first and last line of each function body in the text."""
    code = DIRECTIVE.sub(blank, OPAQUE.sub(blank, text))
    stack = [("file", "", 0)]
    statement, line = "", 1
    for position, character in enumerate(code):
        if character == "\n":
            line += 1
        if character == "{":
            kind = kind_of(statement, stack[-1][0])
            stack.append((kind, statement, line))
            statement = ""
        elif character == "}" and len(stack) > 1:
            kind, opening, first = stack.pop()
            following = code[position + 1:position + 200].lstrip()[:1]
            # A member initialiser such as `size_{0}`: the function's body is still to come.
            is_initialiser = kind == "function" and following in (",", "{") and following
            statement = opening + "{}" if is_initialiser else ""
            if kind == "function" and not is_initialiser:
                yield name_of(opening), first, line
        elif character == ";":
            statement = ""
        else:
            statement += character
