"""Do the notebooks of examples/ run? Each in a kernel of its own, cell by cell; an error or failed
assert in a cell fails. Run it on a Python with nbclient, ipykernel, matplotlib and pandas, the
package on PYTHONPATH; NOTEBOOKS=FOLDER keeps what was executed. Exit code 77 without nbclient."""

import os
import pathlib
import sys
import tempfile
import unittest

from support import ACCSIM, ROOT, main

try:
    import nbclient
    import nbformat
except ImportError:
    print("skipped: no nbclient (Debian: python3-nbclient, python3-ipykernel)")
    sys.exit(77)

EXAMPLES = ROOT / "examples"


class NotebooksTest(unittest.TestCase):
    def test_does_every_notebook_run(self):
        files = sorted(EXAMPLES.glob("*.ipynb"))
        self.assertGreaterEqual(len(files), 5)
        with tempfile.TemporaryDirectory() as folder:
            # Runtime files and profiles of Jupyter, matplotlib's cache, and built cores.
            for name in ("JUPYTER_RUNTIME_DIR", "IPYTHONDIR", "MPLCONFIGDIR", "XDG_CACHE_HOME"):
                os.environ[name] = folder
            # Cores are known by all that they are made of: one that the build folder has is the one
            # that the package would build.
            cores = pathlib.Path(ACCSIM).parent / "verilated"
            cores.mkdir(exist_ok=True)
            pathlib.Path(folder, "accsim").mkdir()
            pathlib.Path(folder, "accsim", "verilated").symlink_to(cores)
            for file in files:
                with self.subTest(notebook=file.name):
                    notebook = nbformat.read(file, as_version=4)
                    self.assertFalse(
                        any(cell.get("outputs") for cell in notebook.cells), "keep outputs out"
                    )
                    client = nbclient.NotebookClient(
                        notebook,
                        timeout=600,
                        kernel_name="python3",
                        resources={"metadata": {"path": str(EXAMPLES)}},
                    )
                    client.execute()
                    if kept := os.environ.get("NOTEBOOKS"):
                        nbformat.write(notebook, pathlib.Path(kept) / file.name)


if __name__ == "__main__":
    main()
