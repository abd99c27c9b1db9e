// More than a hundred programs in every environment that names a rank: each prints the same and ends with the same
// status as without the recorder. What must differ is listed in transparency_test.cpp.
#include <gmock/gmock.h>

#include <memory>

#include "transparency.h"

namespace rankscope::collectors {
namespace {

using namespace testing;

constexpr const char* in_a_small_root =
    "D=$(mktemp -d); mkdir -p $D/{bin,dev,etc,home,mnt,proc,root,run,sys,tmp,usr,var}; touch "
    "$D/etc/{hosts,passwd,group,resolv.conf}; cp $STATIC $D/bin/static; ch-run $D -- /bin/static 0.01; s=$?; rm -r $D; "
    "exit $s";

/// Programs that this machine lacks print the same with and without the recorder: nothing.
const std::vector<std::string>& lines() {  // NOLINT(readability-function-size): a list
  static const std::vector<std::string> all{
      // The shell itself.
      "true",
      "false",
      "exit 255",
      "echo a b",
      "printf '%03d\\n' 7",
      "x=1; echo $((x + 2))",
      "cat <<< text",
      "set -o pipefail; false | true",
      "(exit 4)",
      "trap 'echo bye' EXIT",
      "trap 'echo got; exit 9' TERM; kill -TERM $$",
      "sleep 0.1 & wait; echo $?",
      "sleep 5 & kill %1; wait %1; echo $?",
      "coproc cat; echo hi >&${COPROC[1]}; read -r l <&${COPROC[0]}; echo $l",
      "for i in 1 2 3; do (exit $i); echo $?; done",
      "exec 7>/dev/null; echo x >&7; echo $?",
      "exec sh -c 'exit 6'",
      "f() { return 3; }; f; echo $?",
      "command -v no_such_program; no_such_program",
      "echo ${#PATH} | grep -c .",
      // Ends by signals.
      "kill -SEGV $$",
      "kill -ABRT $$",
      "kill -USR1 $$",
      "kill -KILL $$",
      "kill -PIPE $$",
      "kill -ALRM $$",
      "kill -HUP $$",
      "yes | head -n 2",
      "timeout 0.2 sleep 5",
      "timeout -s KILL 0.2 sleep 5",
      "timeout --preserve-status 0.2 sleep 5",
      // Small programs.
      "seq 5",
      "seq 1000 | sort -rn | head -n 3",
      "seq 100 | wc -l",
      "echo a:b | cut -d: -f2",
      "echo abc | tr a-c x-z",
      "echo abc | sed s/b/B/",
      "seq 9 | awk '{s += $1} END {print s}'",
      "seq 20 | grep 1 | tail -n 2",
      "find /etc -maxdepth 0",
      "seq 4 | xargs -n 2 echo",
      "echo a | tee /dev/null",
      "dd if=/dev/zero bs=64k count=4 2>/dev/null | sha256sum",
      "echo abc | base64",
      "echo abc | gzip | gunzip",
      "stat -c %F /",
      "ls -d /usr",
      "expr 3 + 4",
      "test -d /tmp",
      "env -i sh -c 'echo $HOME'",
      "nice -n 5 nice",
      "nohup true",
      "setsid -w true",
      "stdbuf -oL echo line",
      "basename /a/b",
      "od -An -tx1 <<< a",
      "numfmt 1000",
      "nproc --all | grep -c .",
      "T=$(mktemp); echo x > $T; cat $T; rm $T",
      "T=$(mktemp -d); tar -C / -cf $T/t etc/hostname 2>/dev/null; tar -tf $T/t; rm -r $T",
      "flock /tmp true",
      "getconf PAGESIZE",
      "script -qec 'echo in a terminal' /dev/null | tr -d '\\r'",
      "perl -e 'print 6 * 7'",
      "perl -e 'exit 3'",
      "perl -e 'fork; wait; print 1'",
      "ldd /bin/true | wc -l | grep -c .",
      "git --version",
      // Python.
      "python3 -c 'print(1)'",
      "python3 -c 'raise SystemExit(7)'",
      "python3 -c '1 / 0'",
      "python3 -c 'import os; os._exit(5)'",
      "python3 -c 'import os; os.abort()'",
      "python3 -c 'import os; p = os.fork(); print(os.wait()[1] if p else 1, flush=True)'",
      "python3 -c 'import subprocess; print(subprocess.run([\"false\"]).returncode)'",
      "python3 -c 'import multiprocessing as m; print(m.Pool(2).map(abs, [-1, -2]))'",
      "python3 -c 'import threading as t; a = t.Thread(target=print); a.start(); a.join(); print(t.active_count())'",
      "python3 -c 'import atexit; atexit.register(print, 2); print(1)'",
      "python3 -c 'import signal as s, os; s.signal(s.SIGUSR1, lambda *_: print(1)); os.kill(os.getpid(), s.SIGUSR1)'",
      "python3 -c 'import os; os.execv(\"/bin/echo\", [\"echo\", \"replaced\"])'",
      "python3 -c 'import mmap; m = mmap.mmap(-1, 4096); m[0] = 65; print(m[:1])'",
      "python3 -c 'import os, resource as r; r.setrlimit(r.RLIMIT_NOFILE, (16, 16)); print(os.dup(1) < 16)'",
      "python3 -c 'import signal; print(signal.pthread_sigmask(signal.SIG_BLOCK, []))'",
      "python3 -c 'import asyncio; print(asyncio.run(asyncio.sleep(0.05, 3)))'",
      "python3 -c 'import socket; a, b = socket.socketpair(); a.send(b\"x\"); print(b.recv(1))'",
      "python3 -c 'import os, pty; p, f = pty.fork(); print(os.wait()[1] if p else os._exit(2))'",
      "python3 -c 'import ctypes; print(ctypes.CDLL(None).abs(-3))'",
      "python3 -c 'import os; os.closerange(3, 256); print(os.dup(1))'",
      "python3 -c 'import faulthandler, ctypes; ctypes.string_at(0)'",
      "python3 -S -E -c 'print(2)'",
      "python3 -c 'import os; print(os.sched_getscheduler(0))'",
      "python3 -c 'import time; time.sleep(0.4); print(len(__import__(\"os\").listdir(\"/proc/self/task\")))'",
      "python3 -c 'import sys; sys.setrecursionlimit(10**6); f = lambda n: n and f(n - 1); print(f(500))'",
      // A single thread, other users, namespaces, sandboxes.
      "unshare -U id -u",
      "unshare -r id -u",
      "unshare -rn true",
      "unshare -rm true",
      "unshare -rp --fork true",
      "unshare -ru hostname x",
      "setpriv --no-new-privs true",
      "setpriv --reuid=65534 --clear-groups id -u",
      "setpriv --inh-caps=-all true",
      "bwrap --dev-bind / / id -u >/dev/null 2>&1; true",
      "bwrap --ro-bind / / --unshare-pid true",
      in_a_small_root,
      "apptainer --version",
      "chroot / true",
      "$ACTOR strict 0",
      "$ACTOR raw_end 0",
      "$ACTOR raw_end 1000",
      "$ACTOR last_thread 0",
      // Static programs and environments without the recorder's variables.
      "$STATIC 0.01",
      "$STATIC 0.01; echo $?",
      "env -u LD_PRELOAD python3 -c 'print(1)'",
      "env -i /bin/sh -c 'echo 1'",
      "LD_PRELOAD= $ACTOR burst 10",
      // Limits.
      "ulimit -f 0; $ACTOR burst 1000 | cat",
      "ulimit -f 8; $ACTOR burst 100000",
      "ulimit -f 1024; $ACTOR burst 500000",
      "ulimit -n 3; $ACTOR burst 10",
      "ulimit -n 8; $ACTOR burst 1000",
      "ulimit -v 60000; $ACTOR burst 1000",
      "ulimit -s 128; $ACTOR burst 1000",
      "ulimit -c 0; kill -SEGV $$",
      "ulimit -t 10; $ACTOR burst 100000",
      "ulimit -l 0; $ACTOR burst 1000",
      "T=$(mktemp); (ulimit -f 100; head -c 200000 /dev/zero > $T); echo $?; rm $T",
      // Descriptors.
      "exec 0<&-; $ACTOR next_file 0",
      "exec 2>&-; $ACTOR next_file 0",
      "exec 0<&- 2>&-; $ACTOR next_file 1000",
      "$ACTOR next_file 1000",
      "$ACTOR closes_all 1000",
      "$ACTOR closes_all_last_thread 0",
      "ls /proc/self/fd | wc -l",
      "exec 9</etc/passwd; $ACTOR burst 100; head -c 4 <&9",
      // Many threads and processes.
      "$ACTOR threads 200",
      "$ACTOR processes 20",
      "for i in $(seq 20); do $ACTOR burst 1 & done; wait; echo $?",
  };
  return all;
}

class EveryProgram : public ::testing::TestWithParam<std::size_t> {};

TEST_P(EveryProgram, PrintsAndEndsAsWithoutTheRecorder) {
  SKIP_UNDER_SANITIZERS();
  const Scene scene{"", lines()[GetParam()]};
  for (const Environment& environment : environments()) {
    std::vector<std::unique_ptr<Variable>> variables;
    for (const auto& [name, value] : environment.variables)
      variables.push_back(std::make_unique<Variable>(name, value));
    EXPECT_EQ(recorded(scene), alone(scene)) << environment.name << ": " << scene.line;
  }
}

INSTANTIATE_TEST_SUITE_P(OfALongList, EveryProgram, ::testing::Range<std::size_t>(0, lines().size()));

TEST(EveryProgramOfTheList, AreAtLeastAHundred) { EXPECT_GE(lines().size(), 100U); }

}  // namespace
}  // namespace rankscope::collectors
