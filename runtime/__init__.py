"""What generated code calls: arrays, primitives and their rules, numpy, random, trees."""
