"""The isolation of a box: levels, namespaces, control groups, seccomp, file systems."""
