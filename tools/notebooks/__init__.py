"""From the text of a chapter to the notebook that people open."""
