"""Small libraries that show how to build on Overt: optimizers and neural networks."""
