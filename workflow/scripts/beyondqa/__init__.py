"""Beyond-QA: how well automatic metrics evaluate healthcare language models."""

__version__ = "0.1.0"
