"""The paper's experiments: what they are, how they run, what they gave.

What an experiment is:

- :mod:`amgd.experiments.experiment`: what every experiment offers, plain data and TOML;
- :mod:`amgd.experiments.gridworld`: Figure 1, its readings and their comparison;
- :mod:`amgd.experiments.reinforce`: Figures 2 and 3;
- :mod:`amgd.experiments.named`: the panels of the figures, in three sizes.

What knows no kind of experiment:

- :mod:`amgd.experiments.runner`: runs one into a record, in parallel, killed and continued at will;
- :mod:`amgd.experiments.checkpoints`: what the rest of a run depends on, in one file;
- :mod:`amgd.experiments.records`: curves on disk;
- :mod:`amgd.experiments.provenance`: where a run took place, and what differs from here;
- :mod:`amgd.experiments.repair`: records mended, and put together;
- :mod:`amgd.experiments.reruns`: part of a record computed anew and compared;
- :mod:`amgd.experiments.verdicts`: the one rule by which a method is called better;
- :mod:`amgd.experiments.summaries`: a record in a table;
- :mod:`amgd.experiments.figures`: a record as a picture;
- :mod:`amgd.experiments.progress`: a bar or plain lines;
- :mod:`amgd.experiments.cli`: the command ``amgd``.

All but the first two need the extra: ``pip install "amgd[experiments]"``.
"""
