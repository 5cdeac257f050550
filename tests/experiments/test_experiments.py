"""Specifications: identities that nobody changes silently, files, refusals, variants."""

import dataclasses
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from amgd.descent.steps import SCHEDULES, Named, StepSizes
from amgd.experiments.experiment import (
    FIRST_TUNING_RUN,
    Experiment,
    from_plain,
    from_toml,
    plain_hash,
    same_identity,
    to_toml,
)
from amgd.experiments.gridworld import METHODS, GridWorldSpec
from amgd.experiments.named import EXPERIMENTS, matching, named, reading_of
from amgd.experiments.records import possible_identities
from amgd.experiments.reinforce import ReinforceSpec, optimizer_of, variants
from amgd.experiments.runner import record
from amgd.experiments.summaries import summarise, to_text
from amgd.figures import line_style
from amgd.reinforce.training import TrainingSpec

# Records carry the identities with these hashes: a change here makes all recorded runs useless.
IDENTITIES = {
    "figure1-grid10": "db91bd68292154d5",
    "figure1-grid50": "1df2da589b121f84",
    "figure2-cartpole": "462ddbfc33153f93",
    "figure2-acrobot": "bcee1826aba193df",
    "figure3-swimmer": "fc15967ae87a9283",
    "figure3-walker2d": "6b68bf67e1a610db",
    "figure3-halfcheetah": "a89b2635a8428938",
    "figure3-ant": "37c8d673200388d9",
    "figure2-cartpole-L": "6f4dd5f3bcf65090",
    "figure2-acrobot-L": "42de127dee1355c6",
    "figure2-cartpole-L-tuned": "582b87c7fa88650b",
    "figure2-acrobot-L-tuned": "db6c278efc68e457",
    "figure2-acrobot-L-wide-tuned": "4da4c1a6b398dd75",
    "figure3-swimmer-L": "acca2cdfea905b8e",
    "figure3-halfcheetah-L": "07cba5ed7849a07e",
    "figure3-walker2d-L": "aec2510281ef81bc",
    "figure3-walker2d-L-network": "84f230ad87d42825",
    "figure3-ant-L": "cb474fbda8b0da80",
    "figure3-swimmer-L-tuned": "a89a573a37d0bf1e",
}

PAPER = {name: named(name) for name in EXPERIMENTS}
TRAINING = TrainingSpec(environment="CartPole-v0", hidden=(8,), iterations=3)


def grid_world(**choices):
    return GridWorldSpec(**{"n": 5, "episodes": 20} | choices)


def reinforce(training=TRAINING, **choices):
    return ReinforceSpec(training=training, **choices)


# --- hashes ---------------------------------------------------------------------------------------
def spec_hash(spec):
    return plain_hash(spec.to_plain())


def test_every_experiment_has_a_known_identity():
    assert list(IDENTITIES) == list(EXPERIMENTS)


@pytest.mark.parametrize("name", IDENTITIES)
def test_the_papers_experiments_are_frozen(name):
    assert plain_hash(possible_identities(PAPER[name]))[:16] == IDENTITIES[name]


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (grid_world(rate=1, mu=1, delta=2), grid_world(rate=1.0, mu=1.0, delta=2.0)),
        (grid_world(discount=0), grid_world(discount=0.0)),
        (grid_world(discount=0), grid_world(discount=-0.0)),
        (grid_world(limit=10**6), grid_world(limit=1e6)),
        (grid_world(n=np.int64(5), seed=np.int32(3)), grid_world(n=5, seed=3)),
        (grid_world(seeds=np.int64(4), record=np.array(2)), grid_world(seeds=4, record=2)),
        (grid_world(rate=np.float64(0.25), mu=np.array(1.0)), grid_world(rate=0.25, mu=1.0)),
        (grid_world(variants=["plain"]), grid_world(variants=("plain",))),
        (grid_world(rates=[1], scales=[]), grid_world(rates=(1.0,), scales=())),
        (grid_world(rates=np.array([1, 2]), scales=[]), grid_world(rates=(1.0, 2.0), scales=())),
        (reinforce(threshold=195), reinforce(threshold=195.0)),
        (reinforce(threshold=0), reinforce(threshold=-0.0)),
        (reinforce(seeds=np.int64(4)), reinforce(seeds=4)),
        (reinforce(replace(TRAINING, lr=1)), reinforce(replace(TRAINING, lr=1.0))),
        (reinforce(replace(TRAINING, discount=0)), reinforce(replace(TRAINING, discount=-0.0))),
        (reinforce(replace(TRAINING, hidden=[8])), reinforce(TRAINING)),
        (reinforce(replace(TRAINING, threads=2)), reinforce(TRAINING)),
    ],
)
def test_what_gives_the_same_result_has_the_same_hash(ours, theirs):
    assert spec_hash(ours) == spec_hash(theirs)
    assert to_toml(ours) == to_toml(theirs)


# One other value for each field; a field without one fails the test below.
OTHER_GRID_WORLD = {
    "n": 6,
    "episodes": 21,
    "goal": "reset",
    "reward": "goal",
    "features": "order",
    "coordinates": "unit",
    "discount": 0.8,
    "law": "uniform",
    "mu": 0.5,
    "delta": 0.2,
    "denominator": "k",
    "update": "episode",
    "count": "transition",
    "rate": 0.002,
    "rates": (0.1, 0.2, 0.3, 0.4, 0.5),
    "scales": (0.1, 0.2, 0.3, 0.4, 0.5),
    "deltas": (1.0,),
    "variants": ("plain",),
    "record": 5,
    "test_episodes": 3,
    "seeds": 4,
    "tuning_seeds": 3,
    "seed": 1,
    "limit": 1e7,
}
OTHER_TRAINING = {
    "environment": "CartPole-v1",
    "hidden": (8, 8),
    "iterations": 4,
    "batch": 3,
    "lr": 0.2,
    "matched_to": "nesterov",
    "discount": 0.9,
    "loss": "step_mean",
    "advantages": "centred",
    "weigh_by_time": True,
    "baseline": "linear",
    "horizon": 50,
    "iterate": "x",
    "evaluation": "next_batch",
    "evaluation_episodes": 10,
    "std": "free",
    "floor": 1e-3,
    "initial": "shared",
    "normalise_observations": 10.0,
    "dtype": "float32",
    "seed": 1,
    "options": {"sutton_barto_reward": True},
}
OTHER_REINFORCE = {
    "variants": ("plain",),
    "rates": {"adam": (0.3,)},
    "seeds": 3,
    "tuning_seeds": 2,
    "threshold": 100.0,
}


@pytest.mark.parametrize(
    ("base", "field", "value"),
    [(grid_world(), *change) for change in OTHER_GRID_WORLD.items()]
    + [(reinforce(), *change) for change in OTHER_REINFORCE.items()],
)
def test_every_field_changes_the_hash(base, field, value):
    other = replace(base, **{field: value})
    assert spec_hash(other) != spec_hash(base)
    assert from_toml(to_toml(other)) == other


@pytest.mark.parametrize(("field", "value"), OTHER_TRAINING.items())
def test_every_field_of_the_training_changes_the_hash(field, value):
    other = reinforce(replace(TRAINING, **{field: value}))
    assert spec_hash(other) != spec_hash(reinforce())
    assert from_toml(to_toml(other)) == other


def test_the_tables_above_have_every_field():
    names = {
        kind: {f.name for f in dataclasses.fields(kind)} for kind in (GridWorldSpec, TrainingSpec)
    }
    assert set(OTHER_GRID_WORLD) == names[GridWorldSpec]
    # The optimizer is the variant's, a momentum needs another optimizer, the baseline must predict
    # what follows a time limit; runs and threads are no part of a specification.
    left_out = {"optimizer", "momentum", "time_limit", "runs", "threads"}
    assert set(OTHER_TRAINING) == names[TrainingSpec] - left_out
    assert {*OTHER_REINFORCE, "training"} == {f.name for f in dataclasses.fields(ReinforceSpec)}


@pytest.mark.parametrize("spec", [grid_world(), reinforce()], ids=["grid world", "reinforce"])
def test_a_specification_is_frozen(spec):
    for field in dataclasses.fields(spec):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(spec, field.name, getattr(spec, field.name))


# --- files ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("preset", ["smoke", "book", "paper"])
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_named_experiments_survive_a_file(name, preset):
    spec = named(name, preset)
    again = from_toml(to_toml(spec))
    assert again == spec
    assert spec_hash(again) == spec_hash(spec)


positive = st.floats(min_value=1e-300, max_value=1e300)
small = st.integers(1, 10**6)


def grids(size):
    values = st.lists(positive, min_size=size, max_size=size, unique_by=lambda v: f"{v:g}")
    return values.map(tuple)


def names(known):
    return st.lists(st.sampled_from(known), min_size=1, unique=True).map(tuple)


@st.composite
def grid_world_specs(draw):
    tries = draw(st.integers(1, 6))
    constant = draw(st.integers(0, tries))
    update = draw(st.sampled_from(["transition", "episode"]))
    return GridWorldSpec(
        n=draw(st.integers(2, 10**9)),
        episodes=draw(small),
        goal=draw(st.sampled_from(["absorbing", "ordinary", "reset"])),
        reward=draw(st.sampled_from(["step", "goal"])),
        features=draw(st.sampled_from(["three", "order", "product"])),
        coordinates=draw(st.sampled_from(["midpoint", "unit"])),
        discount=draw(st.floats(0, 1, exclude_max=True)),
        law=draw(st.sampled_from(["episode", "uniform"])),
        mu=draw(positive | st.integers(1, 9) | st.sampled_from(["episode", "uniform"])),
        delta=draw(positive),
        denominator=draw(st.sampled_from(["k", "k+1"])),
        update=update,
        count="episode"
        if update == "episode"
        else draw(st.sampled_from(["episode", "transition"])),
        rate=draw(positive),
        rates=draw(grids(constant)),
        scales=draw(grids(tries - constant)),
        deltas=draw(grids(tries)),
        variants=draw(names(METHODS)),
        record=draw(small),
        test_episodes=draw(small),
        seeds=draw(st.integers(2, 99)),
        tuning_seeds=draw(small),
        seed=draw(st.integers(0, 2**200)),
        limit=draw(positive),
    )


options = st.dictionaries(
    st.text(max_size=8),
    st.booleans()
    | st.integers()
    | st.text(max_size=8)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.lists(st.integers() | st.text(max_size=3), max_size=3),
    max_size=3,
)


@st.composite
def reinforce_specs(draw):
    tries = draw(st.integers(1, 6))
    evaluation = draw(st.sampled_from(["separate", "next_batch"]))
    training = TrainingSpec(
        environment=draw(st.text(max_size=20)),
        hidden=draw(st.lists(st.integers(1, 99), max_size=3).map(tuple)),
        iterations=draw(st.integers(0, 10**6)),
        batch=draw(small),
        lr=draw(positive),
        discount=draw(st.floats(0, 1)),
        loss=draw(st.sampled_from(["step_mean", "episode_mean", "episode_sum"])),
        advantages=draw(st.sampled_from(["raw", "centred", "normalised"])),
        weigh_by_time=draw(st.booleans()),
        baseline=draw(st.sampled_from(["none", "linear"])),
        horizon=draw(st.none() | small),
        iterate="y" if evaluation == "next_batch" else draw(st.sampled_from(["y", "x", "x_bar"])),
        evaluation=evaluation,
        initial=draw(st.sampled_from(["own", "shared"])),
        seed=draw(st.integers(0, 2**200)),
        options=draw(options),
    )
    chosen = draw(names(variants()))
    sizes = {v: tries if v.startswith("tuned") else 1 for v in chosen}
    return ReinforceSpec(
        training=training,
        variants=chosen,
        rates={v: draw(grids(n)) for v, n in sizes.items() if n > 1 or v.startswith("tuned")},
        seeds=draw(st.integers(2, 99)),
        tuning_seeds=draw(small),
        threshold=draw(st.none() | st.floats(allow_nan=False, allow_infinity=False)),
    )


@settings(max_examples=60)
@given(spec=grid_world_specs() | reinforce_specs())
def test_any_specification_survives_a_file(spec):
    again = from_toml(to_toml(spec))
    assert again == spec
    assert spec_hash(again) == spec_hash(spec)
    assert from_plain(spec.to_plain()) == spec


@settings(max_examples=60)
@given(spec=grid_world_specs(), other=grid_world_specs())
def test_different_specifications_have_different_hashes(spec, other):
    assume(spec != other)
    assert spec_hash(spec) != spec_hash(other)


# --- refusals -------------------------------------------------------------------------------------
PLAIN_GRID_WORLD = {"kind": "gridworld", "n": 5, "episodes": 20}
PLAIN_TRAINING = {"environment": "CartPole-v0", "hidden": [8], "iterations": 3}


@pytest.mark.parametrize(
    ("data", "error", "words"),
    [
        ({}, TypeError, "kind must be one of 'gridworld', 'reinforce'.*: got None; pick"),
        ({"kind": "grid"}, ValueError, "kind must be one of .*got 'grid'"),
        ({"kind": 3}, TypeError, "kind must be one of .*got 3"),
        ({"kind": "gridworld"}, ValueError, r"not complete: got \[\] .*'episodes', 'n'.* add them"),
        ({"kind": "gridworld", "n": 5}, ValueError, r"not complete: got \['n'\] .*'episodes'"),
        (PLAIN_GRID_WORLD | {"m": 3}, ValueError, "no field 'm': got it with 3 .*'n'.* correct"),
        (PLAIN_GRID_WORLD | {"N": 3}, ValueError, "no field 'N'"),
        (PLAIN_GRID_WORLD | {"n": "5"}, TypeError, "n must be an integer: got '5'"),
        (PLAIN_GRID_WORLD | {"n": 5.0}, TypeError, "n must be an integer: got 5.0"),
        (PLAIN_GRID_WORLD | {"n": True}, TypeError, "n must be an integer: got True"),
        (PLAIN_GRID_WORLD | {"n": 1}, ValueError, "n must be at least 2: got 1"),
        (PLAIN_GRID_WORLD | {"seeds": 1}, ValueError, "seeds must be at least 2: got 1"),
        (PLAIN_GRID_WORLD | {"seed": -1}, ValueError, "seed must be at least 0: got -1"),
        (PLAIN_GRID_WORLD | {"goal": "x"}, ValueError, "goal must be one of .*got 'x'; pick"),
        (PLAIN_GRID_WORLD | {"law": []}, TypeError, r"law must be one of .*got \(\)"),
        (PLAIN_GRID_WORLD | {"mu": True}, TypeError, "mu must be a real number .*got True"),
        (PLAIN_GRID_WORLD | {"mu": 0}, ValueError, "mu must lie in .*got 0"),
        (PLAIN_GRID_WORLD | {"mu": "all"}, ValueError, "mu must be one of .*got 'all'"),
        (PLAIN_GRID_WORLD | {"rate": float("nan")}, ValueError, "rate must lie in .*got nan"),
        (PLAIN_GRID_WORLD | {"rate": float("inf")}, ValueError, "rate must lie in .*got inf"),
        (PLAIN_GRID_WORLD | {"discount": 1.0}, ValueError, "discount must lie in .*got 1.0"),
        (PLAIN_GRID_WORLD | {"rates": 0.1}, TypeError, "rates must be a sequence .*got 0.1"),
        (PLAIN_GRID_WORLD | {"rates": "0.1"}, TypeError, "rates must be a sequence .*got '0.1'"),
        (PLAIN_GRID_WORLD | {"rates": [[1]]}, TypeError, r"rates\[0\] must be a real number"),
        (PLAIN_GRID_WORLD | {"rates": [0.0]}, ValueError, r"rates\[0\] must lie in .*got 0.0"),
        (PLAIN_GRID_WORLD | {"rates": [1, 1.0]}, ValueError, "rates lists a value twice: .*drop"),
        # Tries are named by six digits, and two of one name would be taken for one.
        (PLAIN_GRID_WORLD | {"rates": [1, 1.0000001]}, ValueError, "rates lists a value twice"),
        (PLAIN_GRID_WORLD | {"variants": []}, ValueError, "variants must list names: got"),
        (PLAIN_GRID_WORLD | {"variants": "plain"}, ValueError, "variants must list names: got 'pl"),
        (PLAIN_GRID_WORLD | {"variants": 5}, TypeError, "variants must list names: got 5"),
        (PLAIN_GRID_WORLD | {"variants": {"plain": 1}}, TypeError, "variants must list names: got"),
        (PLAIN_GRID_WORLD | {"variants": ["x"]}, ValueError, "variants must be one of .*got 'x'"),
        (PLAIN_GRID_WORLD | {"variants": ["plain"] * 2}, ValueError, "variants lists a name twice"),
        (
            PLAIN_GRID_WORLD | {"variants": list(METHODS), "deltas": [1]},
            ValueError,
            "grids differ in size: got 10 steps .*and 1 deltas .*expected as many",
        ),
        (PLAIN_GRID_WORLD | {"rates": [], "scales": []}, ValueError, "nothing to tune: .*drop"),
        ({"kind": "reinforce"}, ValueError, r"needs a table \[training\]: got None .*expected"),
        ({"kind": "reinforce", "training": 3}, ValueError, r"needs a table \[training\]: got 3"),
        ({"kind": "reinforce", "training": {}}, ValueError, r"\[training\] is not complete: got"),
        (
            {"kind": "reinforce", "training": PLAIN_TRAINING, "lr": 1},
            ValueError,
            "has no field 'lr': got it with 1",
        ),
        *(
            (
                {"kind": "reinforce", "training": PLAIN_TRAINING | {name: value}},
                ValueError,
                rf"\[training\] has no field '{name}'",
            )
            for name, value in (("optimizer", "sgd"), ("runs", 3), ("threads", 2), ("lrate", 1))
        ),
        (
            {"kind": "reinforce", "training": PLAIN_TRAINING | {"lr": "0.1"}},
            TypeError,
            "lr must be a real number .*got '0.1'",
        ),
        (
            {"kind": "reinforce", "training": PLAIN_TRAINING | {"hidden": 8}},
            TypeError,
            "hidden must be a tuple of integers: got 8",
        ),
    ],
)
def test_plain_data_is_refused(data, error, words):
    with pytest.raises(error, match=words):
        from_plain(data)


@pytest.mark.parametrize(
    ("choices", "error", "words"),
    [
        ({"training": 3}, TypeError, "training must be a TrainingSpec: got int; make one"),
        ({"training": replace(TRAINING, optimizer="sgd")}, ValueError, "leave optimizer .*'sgd'"),
        ({"training": replace(TRAINING, runs=3)}, ValueError, "leave runs to the variants"),
        ({"training": replace(TRAINING, evaluation="none")}, ValueError, "must evaluate"),
        *(
            (
                {"training": replace(TRAINING, options={"x": value})},
                TypeError,
                "the option 'x' .*got",
            )
            for value in (None, (1, 2), float("nan"), np.float64(1), [None], {"a": 1}, object)
        ),
        ({"variants": ()}, ValueError, "variants must list names"),
        ({"variants": ("sgd",)}, ValueError, "variants must be one of .*got 'sgd'"),
        ({"variants": ("tuned",)}, ValueError, "nothing to tune: rates has no grid for 'tuned'"),
        (
            {"variants": ("tuned_accelerated",), "rates": {"tuned": (0.1,)}},
            ValueError,
            "nothing to tune: rates has no grid for 'tuned_accelerated'",
        ),
        (
            {
                "variants": ("tuned", "tuned_adam"),
                "rates": {"tuned": (0.1,), "tuned_adam": (0.1, 0.2)},
            },
            ValueError,
            "grids differ in size: got {'tuned': 1, 'tuned_adam': 2}",
        ),
        ({"rates": (0.1, 0.1)}, TypeError, "rates must be a Mapping: got tuple; pass for example"),
        ({"rates": {"tuned": (0.1, 0.1)}}, ValueError, r"rates\['tuned'\] lists a value twice"),
        ({"rates": {"adam": (0.1, 0.2)}}, ValueError, r"rates\['adam'\] must hold one rate: got"),
        ({"rates": {"sgd": (0.1,)}}, ValueError, "a key of rates must be one of .*got 'sgd'"),
        ({"seeds": 1}, ValueError, "seeds must be at least 2: got 1"),
        ({"seeds": 1001}, ValueError, "seeds must be at most 1000: got 1001"),
        ({"tuning_seeds": 0}, ValueError, "tuning_seeds must be at least 1: got 0"),
        ({"threshold": "195"}, TypeError, "threshold must be a real number"),
        ({"threshold": float("inf")}, ValueError, "threshold must lie in"),
    ],
)
def test_reinforce_is_refused(choices, error, words):
    with pytest.raises(error, match=words):
        ReinforceSpec(**{"training": TRAINING} | choices)


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("kind = ", ValueError, "must be TOML: .*amgd list"),
        ("n = 1\nn = 2", ValueError, "must be TOML"),
        ("n = " + "9" * 5000, ValueError, "must be TOML"),
        ("n = " + "[" * 100_000, ValueError, "must be TOML"),
        ("", TypeError, "kind must be one of"),
        (b"kind = 'gridworld'", TypeError, "text must be a str: got bytes; read"),
        (None, TypeError, "text must be a str: got NoneType"),
    ],
    ids=["torn", "twice", "huge number", "deep", "empty", "bytes", "none"],
)
def test_text_is_refused(text, error, words):
    with pytest.raises(error, match=words):
        from_toml(text)


@settings(max_examples=60)
@given(
    data=st.dictionaries(
        st.sampled_from([*PLAIN_GRID_WORLD, *OTHER_GRID_WORLD, "training", *OTHER_REINFORCE]),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
            lambda inner: (
                st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=2)
            ),
            max_leaves=5,
        ),
    ),
    kind=st.sampled_from(["gridworld", "reinforce"]),
)
def test_nonsense_is_refused_by_a_message(data, kind):
    refusal = None
    try:
        spec = from_plain(data | {"kind": kind})
    except (ValueError, TypeError) as error:
        refusal = str(error)
    if refusal is None:
        assert from_toml(to_toml(spec)) == spec
    else:
        assert "got" in refusal


@pytest.mark.parametrize("data", [None, [], "kind", 3], ids=str)
def test_only_a_table_is_plain_data(data):
    with pytest.raises(TypeError, match="data must be a dict: got"):
        from_plain(data)


# --- names ----------------------------------------------------------------------------------------
def test_names_and_figures():
    assert matching("figure1") == ["figure1-grid10", "figure1-grid50"]
    assert len(matching("figure3", "A")) == 4
    assert {reading_of(name) for name in matching("figure3", "L")} == {"L"}
    assert sorted(matching("figure2")) == sorted(
        matching("figure2", "A") + matching("figure2", "L")
    )
    for name in ("figure", "figure4", "", "Figure1", "figure1-"):
        with pytest.raises(ValueError, match="no experiment"):
            matching(name)
    with pytest.raises(ValueError, match=r"name must be one of .*got 'figure1'"):
        named("figure1")
    with pytest.raises(ValueError, match=r"preset must be one of .*got 'huge'"):
        named("figure1-grid10", "huge")


@pytest.mark.parametrize("name", ["figure2-cartpole", "figure2-acrobot"])
def test_both_grids_try_equally_often(name):
    spec = PAPER[name]
    assert len(set(map(len, spec.rates.values()))) == 1
    assert set(spec.rates) == {v for v in spec.variants if v.startswith("tuned")}


@pytest.mark.parametrize(
    ("variant", "rate"),
    [("plain", 0.1), ("matched", 0.1), ("tuned", None), ("tuned_accelerated", None)],
)
def test_a_rate_belongs_to_the_tuned_variants(variant, rate):
    with pytest.raises(ValueError, match="rate belongs to tuned variants"):
        PAPER["figure2-cartpole"].training_for(variant, (0,), rate)


@pytest.mark.parametrize(
    ("variant", "optimizer", "rate"),
    [
        ("plain", "sgd", None),
        ("theorem1", "theorem1", None),
        ("ghadimi_lan", "ghadimi_lan", None),
        ("nesterov", "nesterov", None),
        ("matched", "matched", None),
        ("tuned", "sgd", 3.0),
        ("tuned_accelerated", "ghadimi_lan", 0.3),
        ("momentum", "momentum", None),
        ("tuned_adam", "adam", 0.01),
        ("tuned_matched", "matched", 0.1),
    ],
)
def test_a_variant_changes_the_optimizer_and_nothing_else(variant, optimizer, rate):
    spec = PAPER["figure2-cartpole"]
    made = spec.training_for(variant, (FIRST_TUNING_RUN, 7), rate)
    lr = spec.training.lr if rate is None else rate
    assert made == replace(spec.training, optimizer=optimizer, lr=lr, runs=(FIRST_TUNING_RUN, 7))


def test_presets_change_sizes_only():
    """The smoke run of a panel has the variants, the task and the optimizers of the paper's."""
    for name, paper in PAPER.items():
        smoke = named(name, "smoke")
        assert smoke.variants == paper.variants
        if isinstance(paper, ReinforceSpec):
            sizes = ("iterations", "batch", "evaluation_episodes", "horizon")
            assert paper.training == replace(
                smoke.training, **{size: getattr(paper.training, size) for size in sizes}
            )


# --- identities -----------------------------------------------------------------------------------
def differs(ours, theirs, variant="plain", rates=(None, None)):
    """In which fields the runs of two specifications differ."""
    sides = (spec.identity(variant, rate) for spec, rate in zip((ours, theirs), rates, strict=True))
    return set(same_identity(*sides, ours.defaults()))


PRESENTATION = ("variants", "seeds", "tuning_seeds", "threshold")


@pytest.mark.parametrize("field", [*OTHER_GRID_WORLD])
def test_every_field_of_the_grid_world_decides_some_run_or_none(field):
    """The number of seeds and what is listed decide no run; each other field the runs it is for."""
    own = {
        "rate": {"plain"},
        "delta": {"accelerated", "matched"},
        "mu": {"accelerated", "matched", "tuned_accelerated"},
        "denominator": {"accelerated", "matched", "tuned_accelerated"},
        "rates": {"tuned"},
        "scales": {"tuned"},
        "deltas": {"tuned_accelerated"},
        "tuning_seeds": {"tuned", "tuned_accelerated"},
    }
    nobody = {"variants", "seeds"}
    expected = set() if field in nobody else own.get(field, set(METHODS))
    other = replace(grid_world(), **{field: OTHER_GRID_WORLD[field]})
    found = {method for method in METHODS if differs(grid_world(), other, method)}
    assert found == expected


@pytest.mark.parametrize("field", [*OTHER_TRAINING])
def test_every_field_of_the_training_decides_a_run(field):
    other = reinforce(replace(TRAINING, **{field: OTHER_TRAINING[field]}))
    alone = {"training.matched_to": {"matched"}}
    name = f"training.{field}" + (".sutton_barto_reward" if field == "options" else "")
    for variant in ("plain", "ghadimi_lan", "matched", "adam"):
        expected = {name} if variant in alone.get(name, {variant}) else set()
        assert differs(reinforce(), other, variant) == expected


@pytest.mark.parametrize("field", OTHER_REINFORCE)
def test_what_surrounds_the_training_decides_no_run(field):
    other = reinforce(**{field: OTHER_REINFORCE[field]})
    assert differs(reinforce(), other) == set()
    rate = set() if field != "rates" else {"training.lr"}
    assert differs(reinforce(), other, "adam") == rate


def test_a_rate_decides_a_tuned_run_and_its_grid_does_not():
    grids = [{"tuned": (0.1, 0.2)}, {"tuned": (0.1, 0.2, 0.3)}]
    ours, theirs = (reinforce(variants=("tuned",), rates=rates) for rates in grids)
    assert differs(ours, theirs, "tuned", (0.1, 0.1)) == set()
    assert differs(ours, theirs, "tuned", (0.1, 0.2)) == {"training.lr"}


def test_equal_optimizers_with_equal_rates_are_one_run():
    spec = reinforce(variants=("plain", "tuned"), rates={"tuned": (0.1,)})
    assert spec.identity("plain") == spec.identity("tuned", 0.1)


# --- variants -------------------------------------------------------------------------------------
@pytest.mark.parametrize("variant", variants())
def test_every_variant_trains(variant):
    from amgd.reinforce.training import train

    tuned = variant.startswith("tuned")
    spec = reinforce(
        replace(TRAINING, iterations=2, batch=2), variants=(variant,), rates={variant: (0.05,)}
    )
    training = spec.training_for(variant, (0,), 0.05 if tuned else None)
    assert training.optimizer == optimizer_of(variant)
    assert training.lr == 0.05
    assert len(train(training).log) == 3
    assert "$" not in spec.words(variant, tex=False)
    assert isinstance(spec, Experiment)


# --- a new schedule is one edit -------------------------------------------------------------------
def halved(beta):
    return StepSizes("halved", lambda k: 2 / (k + 1), lambda k: beta / 2, lambda k: beta / 2)


def test_a_new_schedule_is_one_line(monkeypatch, tmp_path):
    """It trains, tunes, is matched, has a name in tables and a line of its own in figures."""
    entry = Named(halved, r"SGD at $\beta/2$", "SGD at beta / 2", 7)
    monkeypatch.setitem(SCHEDULES, "halved", entry)
    training = replace(TRAINING, iterations=2, batch=2, evaluation_episodes=2, matched_to="halved")
    chosen = ("plain", "halved", "matched", "tuned_halved")
    spec = reinforce(
        training, variants=chosen, rates={"tuned_halved": (0.1, 0.2)}, seeds=2, tuning_seeds=1
    )
    assert {"halved", "tuned_halved"} <= set(variants())
    assert from_toml(to_toml(spec)) == spec
    found = record(spec, tmp_path / "r")
    table = to_text({"r": summarise(found)}, "text")
    assert "SGD at beta / 2" in table
    assert "tuned SGD at beta / 2, step 0." in table
    styles = [tuple(map(str, line_style(v).values())) for v in chosen]
    assert len(set(styles)) == len(chosen)
    # Twice the rate of half the steps is SGD, and what moves as far as it does is itself.
    own = [found.read(v, 0)["distance"].tolist() for v in ("halved", "matched")]
    assert own[0] == own[1]
    double = replace(spec, training=replace(training, lr=0.2), variants=("halved",))
    again = record(double, tmp_path / "double", variants=["halved"], seeds=[0])
    plain = found.read("plain", 0)["distance"]
    np.testing.assert_array_equal(again.read("halved", 0)["distance"], plain)


POLE = {"environment": "CartPole-v0", "hidden": (8,), "iterations": 2}


@pytest.mark.parametrize(
    ("cls", "arguments", "count"),
    [
        (GridWorldSpec, {"n": 3, "episodes": 5}, "seeds"),
        (ReinforceSpec, {"training": TrainingSpec(**POLE)}, "seeds"),
        (TrainingSpec, POLE, "batch"),
    ],
)
def test_a_users_subclass_of_a_specification_is_checked_too(cls, arguments, count) -> None:
    """Its fields are annotated in the package's modules, the class stands in another."""
    mine = dataclasses.dataclass(frozen=True)(type("Mine", (cls,), {"__module__": __name__}))
    for made in (cls, mine):
        assert made(**arguments) == made(**arguments)
        with pytest.raises(ValueError, match=f"^{count} must be at least"):
            made(**arguments, **{count: -1})
