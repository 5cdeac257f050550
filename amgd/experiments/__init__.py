"""Experiments: how results are summarised and drawn.

- :mod:`amgd.experiments.specs`: what an experiment is, frozen and validated;
- :mod:`amgd.experiments.runner`: runs it, all seeds together;
- :mod:`amgd.experiments.statistics`: means with Student-t bands, fitted slopes, paired comparisons;
- :mod:`amgd.experiments.figures`: the one function that draws every curve of the book (needs matplotlib).
"""
