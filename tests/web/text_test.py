#!/usr/bin/python3
"""Names and numbers of the pages, tried without a browser (text.js).

Exit code 77 where node isn't there (scripts/setup installs it).
"""

import pathlib
import shutil
import subprocess
import sys


def main():
    if not shutil.which("node"):
        print("text_test: SKIPPED: no node")
        return 77
    command = ["node", str(pathlib.Path(__file__).with_name("text.js"))]
    return subprocess.run(command, timeout=60, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
