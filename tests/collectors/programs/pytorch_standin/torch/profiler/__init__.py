import os

if "WITHOUT_ITT_MODULE" not in os.environ:
    from . import itt
