"""Plays torchrun: two ranks of a command."""
import os
import subprocess
import sys

command = sys.argv[sys.argv.index("--no-python") + 1:]
ranks = [subprocess.Popen(command, env={**os.environ, "RANK": str(rank), "WORLD_SIZE": "2"}) for rank in range(2)]
sys.exit(max([rank.wait() for rank in ranks]))
