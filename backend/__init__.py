"""StableHLO building, PJRT clients, compiling and executing: the only folder that knows jaxlib."""

import os

# Read by jaxlib when it is first imported: without it every client announces its devices on stderr.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")
