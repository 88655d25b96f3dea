"""`python -m overt`: the command line."""

import sys

from overt.transformer.command_line import main

if __name__ == "__main__":
    sys.exit(main())
