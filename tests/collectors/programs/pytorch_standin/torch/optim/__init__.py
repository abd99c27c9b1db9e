from .optimizer import SGD

del optimizer  # as PyTorch does
