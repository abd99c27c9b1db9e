#include "recording/decode/comm_join.h"

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <optional>
#include <tuple>
#include <utility>

namespace rankscope::recording {
namespace {

/// Operations of NCCL that others are made of: lists of unequal parts, what NCCL has no kernel for, and a barrier.
constexpr std::array made_of{
    std::pair<std::string_view, std::string_view>{"allgather", "broadcast"},
    std::pair<std::string_view, std::string_view>{"reduce_scatter", "reduce"},
    std::pair<std::string_view, std::string_view>{"barrier", "allreduce"},
    std::pair<std::string_view, std::string_view>{"alltoall", "send"},
    std::pair<std::string_view, std::string_view>{"alltoall", "recv"},
    std::pair<std::string_view, std::string_view>{"gather", "send"},
    std::pair<std::string_view, std::string_view>{"gather", "recv"},
    std::pair<std::string_view, std::string_view>{"scatter", "send"},
    std::pair<std::string_view, std::string_view>{"scatter", "recv"},
};

bool may_be_made_of(const Announced& one, const Carried& part) {
  if (one.op == part.op) return part.bytes < one.bytes;
  return std::ranges::find(made_of, std::pair{one.op, part.op}) != made_of.end();
}

/// A thread that does nothing but carry out what others announce.
bool only_executes(std::int64_t thread, const Announced& one) {
  return one.started != Announced::never && one.started_on != one.enqueued_on && one.started_on == thread;
}

bool peers_agree(std::int64_t one, std::int64_t other) { return one < 0 || other < 0 || one == other; }

/// Time in which a thread may have handed an announced operation to the library.
struct Window {
  std::size_t announced = 0;
  std::int64_t thread = 0;
  std::uint64_t open = 0;
  std::uint64_t close = 0;
};

/// What happens on a thread, in its order.
struct Event {
  enum class What : std::uint8_t { opens, carried, closes };
  std::uint64_t ticks = 0;
  What what = What::opens;
  std::size_t row = 0;
  bool operator<(const Event& other) const { return std::tie(ticks, what) < std::tie(other.ticks, other.what); }
};
using Threads = std::map<std::int64_t, std::vector<Event>>;

constexpr std::int64_t any_thread = 0;

/// Which of several announced operations that are alike is meant: on a thread the one announced last, since those
/// before it may never have reached the library; between threads the one announced first.
enum class Order : std::uint8_t { latest, earliest };

class Joiner {
 public:
  Joiner(std::span<const Announced> announced, std::span<const Carried> carried, const FitOf& fit)
      : announced_(announced),
        carried_(carried),
        fit_(fit),
        opened_(announced.size()),
        is_whole_(announced.size()),
        parts_(announced.size()),
        joined_(carried.size()) {}

  CommJoin join() {
    find_equal(windows([](const Announced& one) { return executing(one); }), Order::latest);
    find_equal(windows([](const Announced& one) { return enqueuing(one); }), Order::latest);
    find_parts(windows([](const Announced& one) { return running(one); }));
    find_parts(until_next());
    find_equal(windows([](const Announced& one) { return anywhere(one); }), Order::earliest);
    return result();
  }

 private:
  using Key = std::pair<std::string_view, std::int64_t>;  // operation and bytes
  using Where = std::pair<StringId, std::int64_t>;        // communicator and peer
  using Run = std::map<Where, std::vector<std::size_t>>;  // carried, with no announcement in between
  using Whose = std::pair<GroupId, std::int64_t>;         // group and peer
  struct Alike {
    std::map<Whose, std::deque<std::size_t>> open;  // announced, in their order; some are gone
    Run run;
  };

  // On the thread that executes it, from when it first heard of it.
  static std::optional<Window> executing(const Announced& one) {
    if (one.started == Announced::never) return Window{0, one.enqueued_on, one.enqueued, one.finished};
    const bool same = one.started_on == one.enqueued_on;
    return Window{0, one.started_on, same ? std::min(one.enqueued, one.started) : one.started, one.finished};
  }
  static std::optional<Window> enqueuing(const Announced& one) {
    return Window{0, one.enqueued_on, one.enqueued, one.finished};
  }
  static std::optional<Window> anywhere(const Announced& one) {
    return Window{0, any_thread, one.enqueued, one.finished};
  }
  // A thread that said both does nothing else in between.
  static std::optional<Window> running(const Announced& one) {
    const bool is_finished = one.finished != Announced::never;
    if (one.started == Announced::never || (is_finished && one.finished_on != one.started_on)) return std::nullopt;
    return Window{0, one.started_on, one.started, one.finished};
  }

  [[nodiscard]] bool is_free(std::size_t announced) const { return !is_whole_[announced] && parts_[announced].empty(); }

  /// Of those that nothing was found for yet.
  template <class WindowOf>
  [[nodiscard]] std::vector<Window> windows(WindowOf&& window_of) const {
    std::vector<Window> found;
    for (std::size_t i = 0; i < announced_.size(); ++i) {
      std::optional<Window> window = is_free(i) ? window_of(announced_[i]) : std::nullopt;
      if (!window || window->close < window->open) continue;
      window->announced = i;
      found.push_back(*window);
    }
    return found;
  }

  /// From where a thread announced an operation until it announced the next one.
  [[nodiscard]] std::vector<Window> until_next() const {
    std::map<std::int64_t, std::vector<std::size_t>> by_thread;
    for (std::size_t i = 0; i < announced_.size(); ++i) by_thread[announced_[i].enqueued_on].push_back(i);
    std::vector<Window> found;
    for (auto& [thread, rows] : by_thread) {
      std::ranges::stable_sort(rows, {}, [this](std::size_t row) { return announced_[row].enqueued; });
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const Announced& one = announced_[rows[i]];
        const std::uint64_t next = i + 1 < rows.size() ? announced_[rows[i + 1]].enqueued : Announced::never;
        if (is_free(rows[i])) found.push_back({rows[i], thread, one.enqueued, std::min(one.finished, next)});
      }
    }
    return found;
  }

  [[nodiscard]] Threads threads_of(std::span<const Window> windows) const {
    Threads threads;
    for (const Window& window : windows) {
      threads[window.thread].push_back({window.open, Event::What::opens, window.announced});
      threads[window.thread].push_back({window.close, Event::What::closes, window.announced});
    }
    const bool any = !windows.empty() && windows.front().thread == any_thread;
    for (std::size_t i = 0; i < carried_.size(); ++i) {
      const auto thread = threads.find(any ? any_thread : carried_[i].enqueued_on);
      if (!joined_[i] && thread != threads.end())
        thread->second.push_back({carried_[i].enqueued, Event::What::carried, i});
    }
    for (auto& [thread, events] : threads) std::ranges::stable_sort(events, std::less<>{});
    return threads;
  }

  void find_equal(const std::vector<Window>& windows, Order order) {
    gone_.assign(announced_.size(), false);
    for (const auto& [thread, events] : threads_of(windows)) {
      std::map<Key, Alike> alike;
      for (const Event& event : events) sweep(alike, event, order);
      for (auto& [key, one] : alike) settle(one, order);
    }
  }

  void open(Alike& alike, std::size_t row) {
    alike.open[{announced_[row].group, announced_[row].peer}].push_back(row);
    opened_[row] = ++opened_count_;
  }

  void sweep(std::map<Key, Alike>& alike, const Event& event, Order order) {
    if (event.what == Event::What::carried) {
      const Carried& row = carried_[event.row];
      Alike& one = alike[{row.op, row.bytes}];
      one.run[{row.communicator, row.peer}].push_back(event.row);
      if (order == Order::earliest) settle(one, order);
      return;
    }
    const Announced& row = announced_[event.row];
    Alike& one = alike[{row.op, row.bytes}];
    settle(one, order);
    if (event.what == Event::What::opens)
      open(one, event.row);
    else
      gone_[event.row] = true;
  }

  /// Gives what the library reported since the last announcement to what was announced, in the order of both.
  void settle(Alike& alike, Order order) {
    if (alike.run.empty()) return;
    for (const Fit wanted : {Fit::same, Fit::possible})
      for (auto& [where, rows] : alike.run) {
        const auto chosen = take(alike, rows, {wanted, order});
        for (std::size_t i = 0; i < chosen.size(); ++i) {
          is_whole_[chosen[i]] = true;
          parts_[chosen[i]] = {rows[i]};
          joined_[rows[i]] = true;
        }
        rows.erase(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(chosen.size()));
      }
    alike.run.clear();
  }

  struct Choice {
    Fit fit;
    Order order;
  };
  /// At most as many announced operations as there are rows, in their order. All rows are of one communicator and peer.
  std::vector<std::size_t> take(Alike& alike, const std::vector<std::size_t>& rows, Choice choice) {
    const Carried& first = carried_[rows.front()];
    std::vector<std::deque<std::size_t>*> fitting;
    for (auto& [whose, open] : alike.open)
      if (peers_agree(whose.second, first.peer) && fit_(whose.first, first.communicator) == choice.fit)
        fitting.push_back(&open);
    std::vector<std::size_t> chosen;
    while (chosen.size() < rows.size()) {
      const auto next = next_of(fitting, choice.order);
      if (!next) break;
      chosen.push_back(*next);
      gone_[*next] = true;
    }
    if (choice.order == Order::latest) std::ranges::reverse(chosen);
    return chosen;
  }

  /// The first, or the last, of several queues. Those that are gone are dropped on the way, each once.
  [[nodiscard]] std::optional<std::size_t> next_of(std::span<std::deque<std::size_t>* const> queues,
                                                   Order order) const {
    std::optional<std::size_t> next;
    for (std::deque<std::size_t>* const queue : queues) {
      const bool latest = order == Order::latest;
      while (!queue->empty() && gone_[latest ? queue->back() : queue->front()])
        latest ? queue->pop_back() : queue->pop_front();
      if (queue->empty()) continue;
      const std::size_t one = latest ? queue->back() : queue->front();
      if (!next || (latest ? opened_[one] > opened_[*next] : opened_[one] < opened_[*next])) next = one;
    }
    return next;
  }

  /// What the library reported inside a window belongs to the innermost one.
  void find_parts(const std::vector<Window>& windows) {
    gone_.assign(announced_.size(), false);
    for (const auto& [thread, events] : threads_of(windows))
      for (auto& [one, rows] : parts_on(thread, events)) {
        if (!only_executes(thread, announced_[one]) && !adds_up(announced_[one], rows)) continue;
        for (const std::size_t row : rows) joined_[row] = true;
        parts_[one] = std::move(rows);
      }
  }

  /// Rows of carried_, by the row of announced_ of which they may be parts.
  std::map<std::size_t, std::vector<std::size_t>> parts_on(std::int64_t thread, std::span<const Event> events) {
    std::map<std::size_t, std::vector<std::size_t>> found;
    std::vector<std::size_t> open;
    for (const Event& event : events) {
      if (event.what == Event::What::opens) open.push_back(event.row);
      if (event.what == Event::What::closes) gone_[event.row] = true;
      while (!open.empty() && gone_[open.back()]) open.pop_back();
      if (event.what != Event::What::carried || open.empty()) continue;
      const Announced& one = announced_[open.back()];
      const Carried& row = carried_[event.row];
      const bool is_part = only_executes(thread, one) || may_be_made_of(one, row);
      if (is_part && fit_(one.group, row.communicator) != Fit::no) found[open.back()].push_back(event.row);
    }
    return found;
  }

  /// One operation in several of the same kind: not what happened to follow it.
  [[nodiscard]] bool adds_up(const Announced& one, const std::vector<std::size_t>& rows) const {
    std::int64_t bytes = 0;
    for (const std::size_t row : rows) {
      if (carried_[row].op != one.op || carried_[row].bytes <= 0) return true;
      if (__builtin_add_overflow(bytes, carried_[row].bytes, &bytes)) return false;
    }
    return bytes == one.bytes;
  }

  [[nodiscard]] CommJoin result() const {
    CommJoin join;
    for (std::size_t i = 0; i < announced_.size(); ++i) {
      if (parts_[i].empty()) continue;
      CommJoin::Parts& parts = join.by_announced[announced_[i].uid];
      parts.is_whole = is_whole_[i];
      for (const std::size_t row : parts_[i]) {
        parts.uids.push_back(carried_[row].uid);
        join.carried.insert(carried_[row].uid);
      }
    }
    return join;
  }

  std::span<const Announced> announced_;
  std::span<const Carried> carried_;
  const FitOf& fit_;
  std::vector<bool> gone_;           // by row of announced_: its window is shut, or it was taken
  std::vector<std::size_t> opened_;  // by row of announced_: number of its window, as they were opened
  std::size_t opened_count_ = 0;
  std::vector<bool> is_whole_;
  std::vector<std::vector<std::size_t>> parts_;  // rows of carried_, by row of announced_
  std::vector<bool> joined_;                     // by row of carried_
};

}  // namespace

CommJoin join_reports(std::span<const Announced> announced, std::span<const Carried> carried, const FitOf& fit) {
  if (announced.empty() || carried.empty()) return {};
  return Joiner{announced, carried, fit}.join();
}

}  // namespace rankscope::recording
