import os


def is_available():
    return "WITHOUT_ITT" not in os.environ
