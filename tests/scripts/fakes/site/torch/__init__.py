"""As much of torch as scripts/gpu-check asks for."""
import os
import time

_OTHER = "other torch" in os.environ.get("FAULTS", "")
__version__ = "2.9.1+cu128" if _OTHER else "2.11.0+cu130"


class version:
    cuda = "12.8" if _OTHER else "13.0"

if "slow imports" in os.environ.get("FAULTS", ""):
    time.sleep(2)
