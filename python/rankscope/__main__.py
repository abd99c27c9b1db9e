"""python -m rankscope: the command line."""

import sys

from ._program import main

sys.exit(main())
