"""Settings of all tests."""

from hypothesis import settings

# A deadline tells how busy the machine is, not whether a property holds.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
