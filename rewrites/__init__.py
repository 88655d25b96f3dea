"""The passes: normalize, derivative, lifting, print; each maps a Source to a Source."""
