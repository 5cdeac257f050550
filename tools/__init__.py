"""Programs of the repository: what the build needs."""
