"""The one exception of accsim."""

from __future__ import annotations


class Error(Exception):
    """Input that can't be used, in the words of the command line.

    str(error) has a line a cause, each "where: what is wrong"; causes is the list of them.
    """

    causes: list[str]

    def __init__(self, causes: list[str] | str) -> None:
        super().__init__(causes)
        self.causes = [causes] if isinstance(causes, str) else list(causes)

    def __str__(self) -> str:
        return "\n".join(self.causes)
