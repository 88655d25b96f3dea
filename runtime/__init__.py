"""What generated code calls: arrays, primitives with all their rules, NumPy, random numbers."""
