"""Plain text tables."""


def format_table(header, rows):
    """Columns as wide as their widest cell; the first aligned left, the others right."""
    lines = [[str(cell) for cell in row] for row in [header, *rows]]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    lines.insert(1, ["-" * width for width in widths])
    return "\n".join(
        "  ".join(cell.ljust(width) if column == 0 else cell.rjust(width)
                  for column, (cell, width) in enumerate(zip(line, widths, strict=True))).rstrip()
        for line in lines)
