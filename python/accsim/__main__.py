"""`python -m accsim` is the program `accsim` of the package."""

from ._program import main

main()
