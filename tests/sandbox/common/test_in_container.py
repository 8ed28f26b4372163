"""The kind of a container, by the signs it leaves."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradebox.sandbox.common import in_container
from gradebox.sandbox.common.in_container import FIRST, container_kind

INIT = "proc/1/environ"


@pytest.mark.parametrize(
    ("files", "variables", "others", "kind"),
    [
        ({}, {}, (), ""),
        ({}, {}, ("cgroup",), "container"),
        ({}, {}, ("pid",), ""),  # as after unshare --pid
        ({".dockerenv": ""}, {}, ("pid",), "docker"),
        ({".dockerenv": ""}, {}, ("pid", "cgroup"), "docker"),
        ({".dockerenv": ""}, {}, (), ""),  # a virtual machine made from an image
        ({"run/.containerenv": ""}, {"container": "oci"}, ("pid", "cgroup"), "podman"),
        ({".dockerenv": ""}, {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, ("pid",), "kubernetes"),
        ({"var/run/secrets/kubernetes.io": ""}, {}, ("pid", "cgroup"), "kubernetes"),
        ({}, {"APPTAINER_CONTAINER": "/a.sif"}, (), "apptainer"),
        ({}, {"SINGULARITY_NAME": "a.sif"}, (), "apptainer"),
        ({".singularity.d": ""}, {}, (), "apptainer"),
        ({}, {"container": "lxc"}, ("pid", "cgroup"), "lxc"),
        ({INIT: "PATH=/bin\0container=lxc\0"}, {}, ("pid",), "lxc"),
        (
            {INIT: "PATH=/bin\0", "run/systemd/container": "systemd-nspawn\n"},
            {},
            (),
            "systemd-nspawn",
        ),
        ({INIT: "PATH=/bin\0xcontainer=lxc\0"}, {"container": ""}, (), ""),
    ],
)
def test_kinds(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    files: dict[str, str],
    variables: dict[str, str],
    others: tuple[str, ...],
    kind: str,
) -> None:
    monkeypatch.setattr(in_container, "ROOT", tmp_path)
    monkeypatch.setattr(in_container, "_namespace", lambda name: FIRST[name] + (name in others))
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert container_kind(variables) == kind


def test_namespaces_that_are_unknown_are_no_sign(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_container, "ROOT", tmp_path)
    assert container_kind({}) == ""
