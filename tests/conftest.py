"""The marker that ties a test to a statement of the book (checked by theory/test_labels.py)."""


def pytest_configure(config):
    config.addinivalue_line(
        "markers", "theorem(label): the test checks the statement with this label in the book"
    )
