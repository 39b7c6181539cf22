"""What all suites share: running programs, medians, tables, targets, and finding the suites."""
