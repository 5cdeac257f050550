"""Settings of all tests."""

import signal

from hypothesis import settings

# A deadline tells how busy the machine is, not whether a property holds.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

# A shell starts what runs in the background with Ctrl-C ignored, and children inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
