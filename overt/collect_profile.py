"""`python -m overt.collect_profile PORT MILLISECONDS`: record another process."""

import sys

from overt.runtime.collect_profile import collect, main

__all__ = ["collect", "main"]

if __name__ == "__main__":
    sys.exit(main())
