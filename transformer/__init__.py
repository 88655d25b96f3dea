"""From function objects to transformed functions: decorators, command line, cache, errors."""
