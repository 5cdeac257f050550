"""The table of the largest measured / bound, printed after the run."""

import pytest


@pytest.fixture
def record(record_property):
    """Call record(name, ratio): the largest measured/bound of a test appears after the run."""

    def keep(name, ratio):
        record_property("worst", (name, float(ratio)))

    return keep


def pytest_terminal_summary(terminalreporter):
    reports = terminalreporter.stats.get("passed", []) + terminalreporter.stats.get("failed", [])
    worst = {}
    for report in reports:
        for key, value in getattr(report, "user_properties", []):
            if key == "worst" and report.when == "call":
                name, ratio = value
                worst[name] = max(ratio, worst.get(name, -1.0))
    if worst:
        terminalreporter.section("largest measured / bound")
        for name in sorted(worst):
            terminalreporter.write_line(f"{name:<58} {worst[name]:.4f}")
