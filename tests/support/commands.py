"""Commands that tests of what is built and installed run."""

import subprocess


def run(*command, **options):
    """A command without input; both streams as text. A hang is TimeoutExpired, which fails the
    test. `options` go to subprocess.run."""
    return subprocess.run(
        [str(word) for word in command],
        check=False,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=1500,
        **options,
    )
