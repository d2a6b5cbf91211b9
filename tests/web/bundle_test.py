#!/usr/bin/python3
"""Is web/dist what web/src and the pinned packages give, and are their licences with it?

Exit code 77 where node or the packages aren't there (scripts/setup installs them).
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

WEB = pathlib.Path(__file__).resolve().parents[2] / "web"
FILES = ("accsim.js", "accsim.css", "accsim.js.sha256", "LICENSES.txt")


def main():
    if not shutil.which("node"):
        print("bundle_test: SKIPPED: no node")
        return 77
    if not (WEB / "node_modules" / "esbuild").is_dir():
        print("bundle_test: SKIPPED: no web/node_modules; scripts/setup installs it")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        command = ["node", str(WEB / "build.js"), "--out", folder]
        done = subprocess.run(command, capture_output=True, text=True, timeout=250, check=False)
        if done.returncode:
            print(done.stdout, done.stderr)
            return 1
        old = [
            name
            for name in FILES
            if (pathlib.Path(folder) / name).read_bytes() != (WEB / "dist" / name).read_bytes()
        ]
    if old:
        print(f"web/dist is old: {', '.join(old)}; run: (cd web && npm run build)")
        return 1
    licences = (WEB / "dist" / "LICENSES.txt").read_text()
    head = (WEB / "dist" / "accsim.js").read_text()[:400]
    for name in ("echarts", "zrender"):
        info = json.loads((WEB / "node_modules" / name / "package.json").read_text())
        for text in (licences, head):
            if f"{name} {info['version']}" not in text:
                print(f"{name}'s licence isn't named")
                return 1
    print("web/dist is what web/src gives")
    return 0


if __name__ == "__main__":
    sys.exit(main())
