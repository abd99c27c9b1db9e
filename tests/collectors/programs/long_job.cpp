// A job that is as long as wanted and costs hardly any CPU: its ranks sleep where others compute, and wait for each
// other as they would in a collective. One rank is slow for a while from the beginning, and one hangs at the end.
//
// long_job RANKS SECONDS EVENTS_PER_SECOND SLOW_RANK SLOW_SECONDS HANGING_RANK HANG_SECONDS
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "rankscope/collectors/annotate.h"

namespace {

namespace annotate = rankscope::annotate;

constexpr long usual_compute_ns = 12'000'000;  // of a step
constexpr long slow_compute_ns = 24'000'000;
constexpr int steps_per_second = 60;  // about; for the number of operators in a step

struct Job {
  int ranks = 0;
  double seconds = 0;
  int events_per_second = 0;  ///< of all ranks together
  int slow_rank = 0;
  double slow_seconds = 0;
  int hanging_rank = 0;
  double hang_seconds = 0;
};

/// What the ranks share.
struct Meeting {
  std::atomic<std::uint64_t> arrivals;
};

double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

void sleep_for(long ns) {
  const timespec time{.tv_sec = ns / 1'000'000'000, .tv_nsec = ns % 1'000'000'000};
  nanosleep(&time, nullptr);
}

void compute(long ns, int operators) {
  annotate::Span forward{annotate::Kind::forward, "forward"};
  for (int i = 0; i < operators; ++i) const annotate::Span one{annotate::Kind::op, "aten::mm"};
  sleep_for(ns);
}

/// All ranks come, and go on together.
void all_reduce(Meeting& meeting, const Job& job, std::uint64_t step, const std::string& members) {
  const rankscope_collective_v1 one{step + 1, step, 1 << 20, "dp", "allreduce", "f32", members.c_str(), -1};
  annotate::collective_enqueued(one);
  annotate::collective_started(one.uid);
  meeting.arrivals.fetch_add(1);
  while (meeting.arrivals.load() < (step + 1) * static_cast<std::uint64_t>(job.ranks)) sleep_for(200'000);
  annotate::collective_finished(one.uid);
}

/// Until it hangs, or is ended.
int run_rank(const Job& job, int rank, Meeting& meeting, double begin) {
  std::string members;
  for (int other = 0; other < job.ranks; ++other) members += (other > 0 ? "," : "") + std::to_string(other);
  const int operators = job.events_per_second / job.ranks / steps_per_second;
  for (std::uint64_t step = 0;; ++step) {
    annotate::Span span{annotate::Kind::step, "step"};
    span.with("index", static_cast<std::int64_t>(step));
    const double time = now() - begin;
    if (rank == job.hanging_rank && time > job.seconds) pause();  // until somebody ends it
    compute(rank == job.slow_rank && time < job.slow_seconds ? slow_compute_ns : usual_compute_ns, operators);
    all_reduce(meeting, job, step, members);
  }
}

int number(const char* text) { return static_cast<int>(std::strtol(text, nullptr, 10)); }
double seconds(const char* text) { return std::strtod(text, nullptr); }

}  // namespace

int main(int count, char** words) {
  if (count != 8) {
    std::fprintf(stderr,
                 "use: long_job RANKS SECONDS EVENTS_PER_SECOND SLOW_RANK SLOW_SECONDS HANGING_RANK HANG_SECONDS\n");
    return 2;
  }
  const Job job{.ranks = number(words[1]),
                .seconds = seconds(words[2]),
                .events_per_second = number(words[3]),
                .slow_rank = number(words[4]),
                .slow_seconds = seconds(words[5]),
                .hanging_rank = number(words[6]),
                .hang_seconds = seconds(words[7])};
  void* const shared = mmap(nullptr, sizeof(Meeting), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 1;
  auto& meeting = *new (shared) Meeting{};
  const double begin = now();
  std::vector<pid_t> ranks;
  for (int rank = 0; rank < job.ranks; ++rank) {
    const pid_t child = fork();
    if (child == 0) {
      setenv("RANK", std::to_string(rank).c_str(), 1);
      setenv("WORLD_SIZE", std::to_string(job.ranks).c_str(), 1);
      _exit(run_rank(job, rank, meeting, begin));
    }
    if (child > 0) ranks.push_back(child);
  }
  std::printf("ranks:");
  for (const pid_t rank : ranks) std::printf(" %d", static_cast<int>(rank));
  std::puts("");
  std::fflush(stdout);
  while (now() - begin < job.seconds + job.hang_seconds) sleep_for(100'000'000);
  for (const pid_t rank : ranks) kill(rank, SIGKILL);
  for (const pid_t rank : ranks) waitpid(rank, nullptr, 0);
  return 1;  // as a launcher whose ranks were lost
}
