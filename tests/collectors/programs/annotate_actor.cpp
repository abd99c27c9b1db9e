// Plays one scene with the annotation API.
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <thread>

#include "rankscope/collectors/annotate.h"

namespace {

namespace annotate = rankscope::annotate;

void collective(int number) {
  const rankscope_collective_v1 one{static_cast<std::uint64_t>(number) + 1,
                                    static_cast<std::uint64_t>(number),
                                    4096,
                                    "dp",
                                    "allreduce",
                                    "f32",
                                    "0,1",
                                    -1};
  annotate::collective_enqueued(one);
  annotate::collective_started(one.uid);
  annotate::collective_finished(one.uid);
}

int everything() {
  if (!annotate::recording()) return 1;
  annotate::metadata("parallel", "ddp");
  annotate::name_thread("main");
  for (int i = 0; i < 2; ++i) {
    annotate::Span step{annotate::Kind::step, "step"};
    step.with("index", i);
    annotate::Span forward{annotate::Kind::forward, "forward"};
    forward.with("layer", std::string_view{"conv1"});
    annotate::counter("allocated_bytes", 1024.0 * i);
    const rankscope_collective_v1 collective{
        static_cast<std::uint64_t>(i) + 1, static_cast<std::uint64_t>(i), 4096, "dp", "allreduce", "f32", "0,1", -1};
    annotate::collective_enqueued(collective);
    std::thread{[&] {
      annotate::name_thread("comm");
      annotate::collective_started(collective.uid);
      annotate::collective_finished(collective.uid);
    }}.join();
  }
  annotate::mark("done");
  return 0;
}

/// Acts on --shapes and --memory, and on no other detail.
int details() {
  annotate::metadata("details_recorded", "shapes,memory");
  annotate::Span step{annotate::Kind::op, "addmm"};
  if (annotate::wants(annotate::Detail::shapes)) step.with_json("input_dims", "[[2,3],[]]");
  if (!annotate::wants(annotate::Detail::memory)) return 0;
  annotate::mark("[memory]");
  annotate::describe_mark("bytes", -512);
  return 0;
}

int steps(int count) {
  for (int i = 0; i < count; ++i) {
    annotate::Span step{annotate::Kind::step, "step"};
    step.with("index", i);
    annotate::Span work{annotate::Kind::forward, "work"};
    work.with("of", i);
    collective(i);
  }
  return 0;
}

/// Asks its recorder to switch on and off again, and waits until it has.
int toggle() {
  const auto switch_to = [](bool on) {
    kill(getppid(), SIGUSR2);
    for (int tries = 0; annotate::recording() != on; ++tries) {
      if (tries == 2000) return false;
      usleep(5'000);
    }
    return true;
  };
  if (annotate::recording()) return 1;
  { const annotate::Span before{annotate::Kind::op, "before"}; }
  if (!switch_to(true)) return 2;
  { const annotate::Span inside{annotate::Kind::op, "while on"}; }
  if (!switch_to(false)) return 3;
  { const annotate::Span after{annotate::Kind::op, "after"}; }
  return 0;
}

}  // namespace

int main(int count, char** words) {
  if (count > 1 && std::strcmp(words[1], "steps") == 0) return steps(std::stoi(words[2]));
  if (count > 1 && std::strcmp(words[1], "silent") == 0) return annotate::recording() ? 1 : 0;
  if (count > 1 && std::strcmp(words[1], "toggle") == 0) return toggle();
  if (count > 1 && std::strcmp(words[1], "details") == 0) return details();
  return everything();
}
