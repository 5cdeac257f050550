"""The paper's experiments: what they are, how they run, what they gave.

- :mod:`amgd.experiments.specs`: what an experiment is, frozen and validated, with presets for every figure;
- :mod:`amgd.experiments.gridworld`: the methods of Figure 1 on shared episodes, and their comparison;
- :mod:`amgd.experiments.runner`: runs a specification into a record, seeds in parallel, killed and continued at will;
- :mod:`amgd.experiments.checkpoints`: the state of a run in one file;
- :mod:`amgd.experiments.records`: curves on disk, with where they come from;
- :mod:`amgd.experiments.provenance`: where a run takes place, and how two places differ;
- :mod:`amgd.experiments.summaries`: a record in a table;
- :mod:`amgd.experiments.figures`: a record as a picture;
- :mod:`amgd.experiments.reruns`: part of a record computed anew and compared;
- :mod:`amgd.experiments.progress`: a bar or plain lines;
- :mod:`amgd.experiments.cli`: the command ``amgd``.

The runner, checkpoints, reruns, progress, figures and the command need the extra: ``pip install "amgd[experiments]"``.
"""
