"""The kind of a container, by the signs it leaves."""

import pytest

from gradebox.sandbox import doctor
from gradebox.sandbox.doctor import SIGNS, container_kind

NAMED = "run/systemd/container"


@pytest.mark.parametrize(
    ("files", "variables", "kind"),
    [
        ({}, {}, ""),
        ({".dockerenv": ""}, {}, "docker"),
        ({"run/.containerenv": "", ".dockerenv": ""}, {"container": "oci"}, "podman"),
        ({".dockerenv": ""}, {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, "kubernetes"),
        ({}, {"SINGULARITY_NAME": "a.sif"}, "apptainer"),
        ({}, {"container": "lxc"}, "lxc"),
        ({NAMED: "systemd-nspawn\n"}, {"container": ""}, "systemd-nspawn"),
    ],
)
def test_kinds(tmp_path, monkeypatch, files, variables, kind):
    for name in (*SIGNS, "container"):
        monkeypatch.setenv(name, variables.get(name, ""))
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(doctor, "_has_namespaces", lambda root: True)
    assert container_kind(tmp_path) == kind
    if kind == "docker":  # a virtual machine made from an image
        monkeypatch.setattr(doctor, "_has_namespaces", lambda root: False)
        assert container_kind(tmp_path) == ""
