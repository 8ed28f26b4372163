"""The program in the box that keeps a sample's files between commands.

    state, request ─ unpack ─ one of exec, write, read ─ pack ─▶ status, stdout, stderr, state

`state` is an archive of the working folder and of /tmp. Only this program packs and unpacks it: the
host never does, so that links and names in it concern nothing but the sample's own boxes.
This text runs in boxes, with Python 3.8 and later.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tarfile
import threading

STATE, REQUEST = ".gradebox-state", ".gradebox-request"
STATUS, OUT, ERR = ".gradebox-status", ".gradebox-out", ".gradebox-err"
TOOLS = ".gradebox-bin"
OURS = (STATE, REQUEST, STATUS, OUT, ERR, TOOLS)
WORK = os.getcwd()
TMP = os.path.realpath("/tmp")  # in some boxes the working folder is below /tmp
PLACES = [("work", WORK)]
if os.environ.get("TMPDIR") == "/tmp" and not WORK.startswith(TMP + "/"):  # /tmp is the box's own
    PLACES.append(("tmp", "/tmp"))


def unpack():
    if not os.path.exists(STATE):
        return
    with tarfile.open(STATE) as tar:
        members = tar.getmembers()
        for name, place in PLACES:
            chosen = []
            for member in members:
                if member.name.startswith(name + "/"):
                    member.name = member.name[len(name) + 1 :]
                    if member.islnk():
                        member.linkname = member.linkname.partition("/")[2]
                    chosen.append(member)
            if hasattr(tarfile, "fully_trusted_filter"):
                tar.extractall(place, chosen, filter="fully_trusted")
            else:
                tar.extractall(place, chosen)
    os.unlink(STATE)


def pack(limit):
    """Write the state; return whether it is within the limit."""
    size = 0
    with tarfile.open(STATE, "w") as tar:
        for name, place in PLACES:
            for folder, folders, files in os.walk(place):
                if folder == WORK and TOOLS in folders:
                    folders.remove(TOOLS)
                for entry in sorted(folders + files):
                    path = os.path.join(folder, entry)
                    if folder == WORK and entry in OURS:
                        continue
                    size += add(tar, path, name + path[len(place) :]) + 1024
                    if size > limit:
                        return False
    return True


def add(tar, path, name):
    try:
        info = tar.gettarinfo(path, name)
        if info is None:  # a socket
            return 0
        if not info.isreg():
            if info.isdir() or info.issym() or info.islnk():
                tar.addfile(info)
            return 0
        if not os.access(path, os.R_OK):
            os.chmod(path, info.mode | 0o400)
        with open(path, "rb") as file:
            tar.addfile(info, file)
        return info.size
    except FileNotFoundError:  # removed meanwhile
        return 0


def place_of(path):
    return os.path.join(WORK, path)


def with_python(environment):
    """Return the variables with this interpreter first on PATH, as `python` and `python3`."""
    folder = os.path.join(WORK, TOOLS)
    os.makedirs(folder, exist_ok=True)
    for name in ("python", "python3"):
        with contextlib.suppress(FileExistsError):
            os.symlink(sys.executable, os.path.join(folder, name))
    path = environment.get("PATH") or os.defpath
    return {**environment, "PATH": folder + os.pathsep + path}


def execute(request):
    """Run a command; return its status, or the kind of its failure."""
    limit = request["output_limit"]
    environment = with_python({**os.environ, "HOME": WORK, **request["env"]})
    try:
        process = subprocess.Popen(
            request["cmd"],
            cwd=place_of(request["cwd"]),
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except FileNotFoundError as error:
        write(ERR, str(error).encode())
        return {"code": 127}
    except PermissionError as error:
        return {"error": "PermissionError", "message": str(error)}
    except (OSError, ValueError) as error:  # ValueError: a NUL in an argument
        write(ERR, str(error).encode())
        return {"code": 126}
    found = {}

    def end():
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)

    def read(stream, kept):
        while True:
            data = stream.read1(1 << 16)
            if not data:
                return
            kept += data[: max(0, limit - len(kept) + 1)]
            if len(kept) > limit:
                found["error"] = "OutputLimitExceededError"
                end()
                return

    kept = {OUT: bytearray(), ERR: bytearray()}
    pairs = ((process.stdout, kept[OUT]), (process.stderr, kept[ERR]))
    readers = [threading.Thread(target=read, args=pair, daemon=True) for pair in pairs]
    for reader in readers:
        reader.start()
    try:
        code = process.wait(request["timeout"])
    except subprocess.TimeoutExpired:
        found["error"] = "TimeoutError"
        end()
        code = process.wait()
    end()  # what the command left in the background
    for reader in readers:
        reader.join(5)  # a process that left the group may hold the pipe
    for name, data in kept.items():
        write(name, data)
    return {"code": 128 - code if code < 0 else code, **found}


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


def write_file(request):
    path = place_of(request["file"])
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.exists(path) and not os.access(path, os.W_OK) and not os.path.isdir(path):
        raise PermissionError(13, "Permission denied", request["file"])
    with open(path, "wb") as file:
        while True:
            data = sys.stdin.buffer.read(1 << 20)
            if not data:
                return {}
            file.write(data)


def read_file(request):
    path = place_of(request["file"])
    with open(path, "rb") as file:
        if os.fstat(file.fileno()).st_size > request["limit"]:
            return {"error": "OutputLimitExceededError"}
        data = file.read(request["limit"] + 1)
    if len(data) > request["limit"]:  # a device
        return {"error": "OutputLimitExceededError"}
    write(OUT, data)
    return {}


def main():
    with open(REQUEST) as file:
        request = json.load(file)
    os.unlink(REQUEST)
    unpack()
    act = {"exec": execute, "write": write_file, "read": read_file}[request["act"]]
    try:
        status = act(request)
    except OSError as error:
        status = {"error": type(error).__name__, "message": f"{error.strerror}: {request['file']}"}
    if request["act"] != "read" and not pack(request["state_limit"]):
        os.unlink(STATE)
        status["too_large"] = True
    write(STATUS, json.dumps(status).encode())
    os._exit(0)


if __name__ == "__main__":
    main()
