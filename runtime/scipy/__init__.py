"""The part of SciPy that Overt offers."""
