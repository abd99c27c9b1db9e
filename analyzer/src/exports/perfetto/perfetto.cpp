#include "exports/shared/formats.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "exports/perfetto/descriptors.h"
#include "exports/perfetto/plan.h"
#include "exports/perfetto/sequence.h"
#include "rankscope/analyzer/output_file.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {
namespace {

// Portions of output on their way from the thread that makes them to the one that writes them.

struct Portion {
  std::string bytes;
  std::uint64_t events = 0;
};

/// Bounded, one producer, one consumer; hands emptied buffers back, so that memory is mapped once.
class PortionQueue {
 public:
  explicit PortionQueue(std::size_t capacity) : capacity_(capacity) {}

  /// Waits for room; false if the consumer wants no more.
  [[nodiscard]] bool push(Portion portion);
  /// After the last portion.
  void close();
  /// Waits; nothing after the last portion.
  [[nodiscard]] std::optional<Portion> pop();
  /// The consumer wants no more.
  void cancel();

  /// An empty buffer, one that was used before if there is any.
  [[nodiscard]] std::string buffer();
  void give_back(std::string buffer);

 private:
  std::size_t capacity_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Portion> waiting_;
  std::deque<std::string> empty_;
  bool closed_ = false;
  bool cancelled_ = false;
};

bool PortionQueue::push(Portion portion) {
  std::unique_lock lock{mutex_};
  changed_.wait(lock, [this] { return cancelled_ || waiting_.size() < capacity_; });
  if (cancelled_) return false;
  waiting_.push_back(std::move(portion));
  changed_.notify_all();
  return true;
}

void PortionQueue::close() {
  const std::lock_guard lock{mutex_};
  closed_ = true;
  changed_.notify_all();
}

std::optional<Portion> PortionQueue::pop() {
  std::unique_lock lock{mutex_};
  changed_.wait(lock, [this] { return closed_ || !waiting_.empty(); });
  if (waiting_.empty()) return std::nullopt;
  Portion portion = std::move(waiting_.front());
  waiting_.pop_front();
  changed_.notify_all();
  return portion;
}

void PortionQueue::cancel() {
  const std::lock_guard lock{mutex_};
  cancelled_ = true;
  changed_.notify_all();
}

std::string PortionQueue::buffer() {
  const std::lock_guard lock{mutex_};
  if (empty_.empty()) return {};
  std::string buffer = std::move(empty_.front());
  empty_.pop_front();
  return buffer;
}

void PortionQueue::give_back(std::string buffer) {
  buffer.clear();
  const std::lock_guard lock{mutex_};
  empty_.push_back(std::move(buffer));
}

using perfetto::Interner;
using perfetto::Plan;
using perfetto::Sequence;

/// Encoders that work side by side. A constant, so that the same run gives the same bytes on every machine.
constexpr std::size_t lines = 4;
constexpr std::size_t portion_bytes = std::size_t{1} << 18;
constexpr std::size_t portions_waiting = 4;

/// Tracks for each encoder: the largest first, each to whoever has least.
std::array<std::vector<std::uint32_t>, lines> share_out(const Plan& plan) {
  std::vector<std::uint32_t> order(plan.tracks().size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, std::greater{}, [&](std::uint32_t track) { return plan.tracks()[track].events; });
  std::array<std::vector<std::uint32_t>, lines> shares;
  std::array<std::uint64_t, lines> load{};
  for (const std::uint32_t track : order) {
    const auto least = static_cast<std::size_t>(std::ranges::min_element(load) - load.begin());
    shares[least].push_back(track);
    load[least] += plan.tracks()[track].events + 1;
  }
  for (auto& share : shares) std::ranges::sort(share);
  return shares;
}

void encode(const Plan& plan, const std::vector<std::uint32_t>& tracks, PortionQueue& queue) {
  Interner interner{plan.run()};
  Portion portion;
  for (const std::uint32_t track : tracks) {
    Sequence sequence{plan, track, interner};
    std::uint64_t reported = 0;
    for (bool more = true; more;) {
      more = sequence.append(portion.bytes, portion_bytes);
      portion.events += sequence.events() - reported;
      reported = sequence.events();
      if (portion.bytes.size() < portion_bytes) continue;
      if (!queue.push(std::move(portion))) return;
      portion = {.bytes = queue.buffer()};
    }
  }
  if (queue.push(std::move(portion))) queue.close();
}

/// The encoders on their threads. What they make is taken from each in turn.
class Encoders {
 public:
  explicit Encoders(const Plan& plan) : shares_(share_out(plan)) {
    for (std::size_t i = 0; i < lines; ++i)
      threads_[i] = std::jthread{[this, &plan, i] { encode(plan, shares_[i], queues_[i]); }};
  }
  Encoders(const Encoders&) = delete;
  Encoders& operator=(const Encoders&) = delete;
  ~Encoders() {
    for (PortionQueue& queue : queues_) queue.cancel();
  }

  /// Calls `take(portion)` until all is done or it returns false.
  template <class Take>
  void run(Take take) {
    std::array<bool, lines> done{};
    for (std::size_t left = lines; left > 0;) {
      for (std::size_t i = 0; i < lines; ++i) {
        if (done[i]) continue;
        auto portion = queues_[i].pop();
        if (!portion) {
          done[i] = true;
          --left;
        } else if (!take(*portion)) {
          return;
        } else {
          queues_[i].give_back(std::move(portion->bytes));
        }
      }
    }
  }

 private:
  std::array<std::vector<std::uint32_t>, lines> shares_;
  std::array<PortionQueue, lines> queues_{PortionQueue{portions_waiting}, PortionQueue{portions_waiting},
                                          PortionQueue{portions_waiting}, PortionQueue{portions_waiting}};
  std::array<std::jthread, lines> threads_;
};

}  // namespace

Result<void> write_perfetto(const Run& run, const std::filesystem::path& out, const Progress& progress) {
  RS_TRY(auto file, OutputFile::create(out));
  const Plan plan{run};
  RS_TRY_VOID(file.write(perfetto::describe(run, plan.tracks())));

  const double total = static_cast<double>(run.spans().size() + run.samples().size() + 1);
  double written = 0;
  bool cancelled = false;
  Result<void> outcome;
  Encoders{plan}.run([&](const Portion& portion) {
    outcome = file.write(portion.bytes);
    written += static_cast<double>(portion.events);
    cancelled = progress && !progress(std::min(1.0, written / total));
    return outcome && !cancelled;
  });
  RS_TRY_VOID(std::move(outcome));
  if (cancelled || (progress && !progress(1.0)))
    return fail(ErrorKind::cannot_write, format("{}: the export was cancelled; nothing was written", out.string()));
  return file.commit();
}

}  // namespace rankscope::analyzer
