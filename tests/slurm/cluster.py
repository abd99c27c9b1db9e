"""A Slurm of our own on this machine: munged, slurmctld and two slurmd, for the user who runs it, in a scratch folder.

Its ports, keys, sockets and logs are its own, so that neither a Slurm of the machine nor a second test sees it. The daemons
stay in the foreground as children of this process and end with it, however it ends. Where namespaces are allowed (root),
each node has a host name of its own, as on a real cluster; elsewhere both have that of the machine.
"""
import ctypes
import os
import pathlib
import pwd
import re
import shutil
import signal
import socket
import subprocess
import time

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "scancel", "scontrol", "sinfo")
NODES = ("n1", "n2")
CPUS = 2  # of each node, whatever the machine has
PATIENCE_S = 60  # until daemons answer or end; they take a second on an idle machine
LONGEST_JOB_S = 240
SEARCHED = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"  # daemons are not on everybody's PATH
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36


class CannotRun(Exception):
    """This machine lacks something; the text says what, and what to do."""


class Failed(Exception):
    """Slurm did not do what it must."""


def program(name):
    found = shutil.which(name, path=SEARCHED)
    if found is None:
        raise CannotRun(f"no {name}: scripts/setup --slurm installs it")
    return found


def free_ports(count):
    """Held together, so that they differ; nothing keeps others from taking them afterwards, but that hardly happens."""
    held = [socket.create_server(("", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return ports


def end_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


class Cluster:
    """As a context: nodes n1 and n2 with two CPUs each, both on this machine."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.daemons = []
        self.own_names = subprocess.run(self.named("n1") + ["true"], capture_output=True).returncode == 0
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith(("SLURM_", "SBATCH_", "SRUN_", "PMI", "OMPI_"))}
        self.environment["SLURM_CONF"] = str(self.folder / "slurm.conf")

    def __enter__(self):
        for name in PROGRAMS:
            program(name)
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
        self.folder.chmod(0o711)  # munge wants others to reach its socket
        try:
            self.start_munge()
            self.write_configuration()
            self.start("slurmctld", "slurmctld", "-D")
            for node in NODES:
                self.start(f"slurmd.{node}", "slurmd", "-D", "-N", node, within=self.named(node) if self.own_names else [])
            self.wait_for("nodes that are idle", lambda: self.node_states() == ["idle"] * len(NODES))
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def hosts(self):
        """The host names that n1 and n2 have."""
        return list(NODES) if self.own_names else [socket.gethostname()] * len(NODES)

    def named(self, node):
        """What stands before a command that is to run on a host of this name, on which both names lead to this machine."""
        names = self.folder / "hosts"
        names.write_text(f"127.0.0.1 localhost {' '.join(NODES)}\n")
        return ["unshare", "--uts", "--mount", "sh", "-c",
                'hostname "$0" && mount --bind "$1" /etc/hosts && shift && exec "$@"', node, str(names)]

    def start(self, log, name, *arguments, within=()):
        with open(self.folder / f"{log}.out", "w") as out:
            self.daemons.append(subprocess.Popen([*within, program(name), *arguments], stdout=out, stderr=out,
                                                 env=self.environment, stdin=subprocess.DEVNULL, preexec_fn=end_with_parent,
                                                 start_new_session=True))  # a terminal's ^C is for us

    def start_munge(self):
        key = self.folder / "munge.key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(128))
        munge = {"key-file": key, "socket": self.folder / "munge.socket", "pid-file": self.folder / "munge.pid",
                 "log-file": self.folder / "munge.log", "seed-file": self.folder / "munge.seed"}
        self.start("munged", "munged", "--foreground", *(f"--{option}={path}" for option, path in munge.items()))
        self.wait_for("munge's socket", (self.folder / "munge.socket").exists)

    def write_configuration(self):
        host = socket.gethostname().split(".")[0]
        user = pwd.getpwuid(os.getuid()).pw_name
        ports = free_ports(1 + len(NODES))
        for name in ("state", *NODES):
            (self.folder / name).mkdir()
        lines = [
            "ClusterName=rankscope", f"SlurmctldHost={host}(127.0.0.1)", f"SlurmctldPort={ports[0]}",
            f"SlurmUser={user}", f"SlurmdUser={user}", "AuthType=auth/munge", "CredType=cred/munge",
            f"AuthInfo=socket={self.folder}/munge.socket", "MpiDefault=none", "ReturnToService=2",
            "ProctrackType=proctrack/linuxproc", "TaskPlugin=task/none", "SelectType=select/cons_tres",
            "SelectTypeParameters=CR_Core", "SwitchType=switch/none", "JobAcctGatherType=jobacct_gather/none",
            f"StateSaveLocation={self.folder}/state", f"SlurmdSpoolDir={self.folder}/%n",
            f"SlurmctldPidFile={self.folder}/slurmctld.pid", f"SlurmdPidFile={self.folder}/slurmd.%n.pid",
            f"SlurmctldLogFile={self.folder}/slurmctld.log", f"SlurmdLogFile={self.folder}/slurmd.%n.log",
            "SlurmdParameters=config_overrides", "SchedulerParameters=batch_sched_delay=0,sched_interval=2",
        ]
        lines += [f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={CPUS} State=UNKNOWN"
                  for node, port in zip(NODES, ports[1:])]
        lines.append(f"PartitionName=debug Nodes={','.join(NODES)} Default=YES MaxTime=INFINITE State=UP")
        (self.folder / "slurm.conf").write_text("\n".join(lines) + "\n")

    def wait_for(self, what, true):
        deadline = time.monotonic() + PATIENCE_S
        while not true():
            for daemon in self.daemons:
                if daemon.poll() is not None:
                    raise Failed(f"{daemon.args[0]} ended with {daemon.returncode}\n{self.logs()}")
            if time.monotonic() > deadline:
                raise Failed(f"no {what} after {PATIENCE_S} s\n{self.logs()}")
            time.sleep(0.1)

    def logs(self):
        files = sorted(path for pattern in ("*.log", "*.out") for path in self.folder.glob(pattern))
        return "\n".join(f"--- {path.name}\n{path.read_text(errors='replace')[-2000:]}" for path in files)

    def ask(self, name, *arguments):
        return subprocess.run([program(name), *arguments], env=self.environment, capture_output=True, text=True, timeout=60)

    def node_states(self):
        done = self.ask("sinfo", "--noheader", "--Node", "--format=%T")
        return done.stdout.split() if done.returncode == 0 else []

    def run(self, script, arguments=(), options=(), environment=None, folder=None, cancel_when=None):
        """Submits SCRIPT, cancels it once it has printed CANCEL_WHEN, waits for its end, and returns its exit status and what
        it printed."""
        done = subprocess.run(
            [program("sbatch"), "--parsable", f"--output={self.folder}/job%j.out", *options, script,
             *arguments], env=self.environment | (environment or {}), cwd=folder, capture_output=True, text=True, timeout=60)
        if done.returncode != 0:
            raise Failed(f"sbatch: {done.stderr}")
        job = done.stdout.strip().split(";")[0]
        out = self.folder / f"job{job}.out"
        if cancel_when:
            self.wait_for(f"'{cancel_when}' in {out}", lambda: out.exists() and cancel_when in out.read_text())
            self.ask("scancel", job)
        status = self.end_of(job)
        return status, out.read_text()

    def end_of(self, job):
        """The exit status of a job once nothing of it runs; `sbatch --wait` would ask every ten seconds only."""
        deadline = time.monotonic() + LONGEST_JOB_S
        while time.monotonic() < deadline:
            facts = self.ask("scontrol", "--oneliner", "show", "job", job).stdout
            state = re.search(r" JobState=(\w+)", facts)
            over = state and state[1] not in ("PENDING", "RUNNING", "CONFIGURING", "COMPLETING")
            if over:
                status, signal_number = re.search(r" ExitCode=(\d+):(\d+)", facts).groups()
                return 128 + int(signal_number) if signal_number != "0" else int(status)
            time.sleep(0.2)
        raise Failed(f"job {job} runs for more than {LONGEST_JOB_S} s: {facts}\n{self.logs()}")

    def stop(self):
        if (self.folder / "slurm.conf").exists():
            self.ask("scancel", f"--user={os.getuid()}")
        for daemon in reversed(self.daemons):  # those that use munge before munge
            daemon.terminate()
            try:
                daemon.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        self.reap()

    def reap(self):
        """What slurmd leaves (slurmstepd, and what it was running) comes to us, as we are its subreaper."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            try:
                if os.waitpid(-1, os.WNOHANG)[0] == 0:
                    for child in pathlib.Path(f"/proc/self/task/{os.getpid()}/children").read_text().split():
                        os.kill(int(child), signal.SIGKILL)
                    time.sleep(0.05)
            except ChildProcessError:
                return
        raise Failed("a job outlived its Slurm")
