"""Python programs start by fork: from a template, an interpreter that has started already."""
