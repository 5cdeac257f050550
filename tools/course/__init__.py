"""Programs of the coursework: they make its notebooks, measure its tests, and grade."""
