"""Settings of all tests."""

import signal

from hypothesis import settings

# A deadline tells how busy the machine is, not whether a property holds. The examples are the same
# in every run, so a run that fails fails again; new ones: pytest --hypothesis-profile=search.
settings.register_profile("untimed", deadline=None, derandomize=True)
settings.register_profile("search", deadline=None)
settings.load_profile("untimed")

# A shell starts what runs in the background with Ctrl-C ignored, and children inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
