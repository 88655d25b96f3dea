"""StableHLO building, PJRT clients, compiling and executing: the only folder that knows jaxlib."""
