"""StableHLO building, PJRT clients, compiling and executing: all that knows jaxlib."""
