"""Roots of a file system that hold what a package asks for and nothing else."""

import os
import pathlib
import re
import shutil
import subprocess

from commands import run

SYSTEM = ("ld-linux", "libc.so", "libm.so", "libstdc++.so", "libgcc_s.so")
# Tools of this machine; inside a root there is what the root has at these places.
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
MINE = ["unshare", "--mount"] + (["--user", "--map-root-user"] if os.getuid() else [])


def why_not():
    """Why this user can't have a root of its own; nothing when it can."""
    missing = [tool for tool in ("unshare", "chroot", "dpkg") if not shutil.which(tool, path=PATH)]
    if missing:
        return f"there is no {missing[0]}"
    done = run(*MINE, "chroot", "/", "true", env={"PATH": PATH})
    return f"no root of its own: {done.stderr.strip()}" if done.returncode else ""


def inside(root, *command):
    """Runs a command of the root in it, with its /proc, an empty environment and no home."""
    (root / "proc").mkdir(exist_ok=True)
    (root / "tmp").mkdir(exist_ok=True)
    script = 'mount --rbind /proc "$0/proc" && exec chroot "$0" "$@"'
    env = {"PATH": PATH, "HOME": "/nowhere", "COLUMNS": "200"}
    return run(*MINE, "sh", "-c", script, root, *command, env=env)


def with_runtime_only(root, program):
    """Puts the C and C++ libraries that a program needs into an empty root, by the same paths."""
    for path in re.findall(r"(/\S+) \(0x", subprocess.check_output(["ldd", program], text=True)):
        if pathlib.Path(path).name.startswith(SYSTEM):
            place = root / path.lstrip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, place)


def query(form, name):
    done = run("dpkg-query", "-W", "-f", form, name)
    return done.stdout if done.returncode == 0 else None


def closure(depends):
    """Names of the installed packages that a Depends field asks for, and that they ask for."""
    found, todo = set(), [depends]
    while todo:
        for choice in filter(str.strip, todo.pop().split(",")):
            names = [re.match(r"\s*([\w.+-]+)", one)[1] for one in choice.split("|")]
            name = next(name for name in names if query("${db:Status-Status}", name) == "installed")
            if name not in found:
                found.add(name)
                todo.append(query("${Depends},${Pre-Depends}", name))
    return found


def empty_debian(root):
    """Debian's folders, and a dpkg that knows of no package."""
    for folder in ("bin", "sbin", "lib", "lib32", "lib64"):
        (root / "usr" / folder).mkdir(parents=True)
        (root / folder).symlink_to(f"usr/{folder}")
    for folder in ("info", "updates", "triggers"):
        (root / "var/lib/dpkg" / folder).mkdir(parents=True)
    (root / "var/lib/dpkg/status").touch()


def with_packages(root, names):
    """Puts installed packages into such a root: their files, and what dpkg knows of them."""
    for name in sorted(names):
        for line in run("dpkg-query", "-L", name).stdout.splitlines():
            path, place = pathlib.Path(line), root / line.lstrip("/")
            if path.is_file() and not line.startswith("/usr/share/"):
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, place, follow_symlinks=False)
        with (root / "var/lib/dpkg/status").open("a") as status:
            status.write(run("dpkg-query", "-s", name).stdout.strip() + "\n\n")


def dpkg(root, *words):
    """dpkg on the packages of a root."""
    command = [*MINE, "dpkg", f"--root={root}", "--log=/dev/null", *words]
    return run(*command, env={"PATH": PATH, "DEBIAN_FRONTEND": "noninteractive"})
