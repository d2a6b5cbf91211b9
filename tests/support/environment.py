"""A virtual environment for a job that needs packages which scripts/setup doesn't install."""

import hashlib
import os
import pathlib
import shutil
import subprocess
import sys


def enter(requirements, folder):
    """Runs this program again with the Python of `folder`, which gets the packages of the file
    `requirements` if it doesn't have them. Returns in that Python."""
    folder = pathlib.Path(folder).resolve()
    if pathlib.Path(sys.prefix) == folder:
        return
    made_of = sys.version + hashlib.sha256(requirements.read_bytes()).hexdigest()
    note = folder / "made_of"
    if not note.is_file() or note.read_text() != made_of:
        make(requirements, folder)
        note.write_text(made_of)
    python = str(folder / "bin" / "python")
    os.execv(python, [python, *sys.argv])


def make(requirements, folder):
    print(f"making {folder} of {requirements}", file=sys.stderr)
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    pip = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--no-input", "--no-deps"]
    rules = ["--disable-pip-version-check", "--require-hashes", "--only-binary", ":all:"]
    subprocess.run([*pip, *rules, "-r", requirements], check=True)
