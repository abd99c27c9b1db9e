from . import itt
