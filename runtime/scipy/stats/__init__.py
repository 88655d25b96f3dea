"""Probability distributions and summaries of samples."""
