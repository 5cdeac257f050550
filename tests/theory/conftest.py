"""A line for each statement, printed after the run: its largest measured / bound.

Identities, formulas and refutations have no such ratio; their line says how their tests ended.
"""

import pytest


@pytest.fixture
def record(record_property):
    """Call record(name, ratio): the largest measured/bound of a test appears after the run."""

    def keep(name, ratio):
        record_property("worst", (name, float(ratio)))

    return keep


def pytest_collection_modifyitems(items):
    for item in items:
        for mark in item.iter_markers("theorem"):
            item.user_properties.append(("statement", mark.args[0]))


def pytest_terminal_summary(terminalreporter):
    worst, measured, ends = {}, set(), {}
    for outcome in ("passed", "failed"):  # failed last: one failure decides
        for report in terminalreporter.stats.get(outcome, []):
            if getattr(report, "when", None) != "call":
                continue
            found = [value for key, value in report.user_properties if key == "worst"]
            for name, ratio in found:
                worst[name] = max(ratio, worst.get(name, -1.0))
            for key, label in report.user_properties:
                if key == "statement":
                    ends[label] = outcome
                    measured |= {label} if found else set()
    if worst:
        terminalreporter.section("largest measured / bound")
        for name in sorted(worst):
            terminalreporter.write_line(f"{name:<58} {worst[name]:.4f}")
    without = sorted(set(ends) - measured)
    if without:
        terminalreporter.section("statements without such a ratio")
        for label in without:
            terminalreporter.write_line(f"{label:<58} {ends[label]}")
