#include "support/changed_run.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <vector>

#include "rankscope/core/model/run.h"
#include "rankscope/core/model/text.h"
#include "rankscope/core/numbers.h"

namespace rankscope::testing {
namespace {

using Words = std::vector<std::string>;

std::string text_of(const Run& run) {
  std::ostringstream out;
  write_text(run, out);
  return out.str();
}

std::shared_ptr<const Run> run_of(const std::string& text) {
  auto run = run_from_text(text);
  if (!run) {
    std::fprintf(stderr, "the changed text is wrong: %s\n", run.error().message.c_str());
    std::abort();
  }
  return *run;
}

/// Words of a line; what stands in quotes, blanks included, is one word with them.
Words words_of(std::string_view line) {
  Words words(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"' && (i == 0 || line[i - 1] != '\\')) quoted = !quoted;
    if (line[i] == ' ' && !quoted) {
      words.emplace_back();
    } else {
      words.back() += line[i];
    }
  }
  return words;
}

std::string joined(const Words& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
  return line + "\n";
}

std::string name_in(const std::string& word) {
  return word.starts_with('"') ? nlohmann::json::parse(word).get<std::string>() : word;
}

bool is_event(const Words& words) { return words.size() > 3 && !words.front().starts_with('@'); }
bool is_point(const Words& words) { return words[1] == "counter" || words[1] == "mark"; }
/// Keeps its length when time is inserted elsewhere.
bool is_activity(const Words& words) {
  return words[1] == "compute" || words[1] == "memory" || words[1] == "comm" || words[1] == "graph";
}

std::vector<Words> lines_of(const Run& run) {
  std::vector<Words> lines;
  std::istringstream text{text_of(run)};
  for (std::string line; std::getline(text, line);) lines.push_back(words_of(line));
  return lines;
}

template <class Change>
void change(std::string& word, std::string_view key, const Change& apply) {
  if (!word.starts_with(key)) return;
  const auto value = number_from<std::int64_t>(std::string_view{word}.substr(key.size()));
  if (value) word = std::string{key} + std::to_string(apply(*value));
}

template <class Change>
void change_range(std::string& word, std::string_view key, const Change& apply) {
  if (!word.starts_with(key)) return;
  const std::size_t colon = word.find(':');
  word =
      std::string{key} +
      std::to_string(apply(*number_from<std::int64_t>(std::string_view{word}.substr(key.size(), colon - key.size())))) +
      ":" + std::to_string(apply(*number_from<std::int64_t>(std::string_view{word}.substr(colon + 1))));
}

/// Time with some stretches made longer.
class Warp {
 public:
  Warp(std::vector<std::pair<std::int64_t, std::int64_t>> longer, double factor)
      : longer_(std::move(longer)), more_(factor - 1) {
    std::ranges::sort(longer_);
    std::int64_t sum = 0;
    for (const auto& [begin, end] : longer_) {
      before_.push_back(sum);
      sum += end - begin;
    }
  }
  /// The stretches must not overlap.
  [[nodiscard]] std::int64_t operator()(std::int64_t time) const {
    const auto next = std::ranges::lower_bound(longer_, time, {}, &std::pair<std::int64_t, std::int64_t>::first);
    if (next == longer_.begin()) return time;
    const auto last = static_cast<std::size_t>(next - longer_.begin()) - 1;
    const std::int64_t inside = before_[last] + std::min(longer_[last].second, time) - longer_[last].first;
    return time + std::llround(more_ * static_cast<double>(inside));
  }

 private:
  std::vector<std::pair<std::int64_t, std::int64_t>> longer_;
  std::vector<std::int64_t> before_;  // of each stretch, the time of those before it
  double more_;
};

}  // namespace

std::shared_ptr<const Run> with_longer_kernel(const Run& run, std::string_view name, double factor) {
  std::vector<Words> lines = lines_of(run);
  std::vector<std::pair<std::int64_t, std::int64_t>> longer;
  const auto is_slow = [&](const Words& words) { return words[1] == "compute" && name_in(words[4]) == name; };
  for (const Words& words : lines)
    if (is_event(words) && is_slow(words))
      longer.emplace_back(*number_from<std::int64_t>(words[2]), *number_from<std::int64_t>(words[3]));
  const Warp warp{std::move(longer), factor};
  std::string text;
  for (Words& words : lines) {
    if (is_event(words)) {
      const std::int64_t begin = *number_from<std::int64_t>(words[2]);
      words[2] = std::to_string(warp(begin));
      if (const auto end = is_point(words) ? std::nullopt : number_from<std::int64_t>(words[3])) {
        const std::int64_t length =
            is_slow(words) ? std::llround(static_cast<double>(*end - begin) * factor) : *end - begin;
        words[3] = std::to_string(is_activity(words) ? warp(begin) + length : warp(*end));
      }
      for (std::string& word : words) change(word, "enqueued=", warp);
    }
    if (words.front() == "@rank")
      for (std::string& word : words) change_range(word, "recorded=", warp);
    text += joined(words);
  }
  return run_of(text);
}

std::shared_ptr<const Run> repeated(const Run& run, int times) {
  const std::vector<Words> lines = lines_of(run);
  const std::int64_t extent = run.extent().length().count();
  const auto spans = static_cast<std::int64_t>(run.spans().size());
  std::string text;
  for (int copy = 0; copy < times; ++copy) {
    const auto later = [&](std::int64_t time) { return time + copy * extent; };
    // A jump ends the last step with its own mark, and does not let it reach into the next copy.
    const auto further = [&](std::int64_t value) { return value + copy * std::int64_t{100'000}; };
    for (Words words : lines) {
      if (is_event(words)) {
        words[2] = std::to_string(later(*number_from<std::int64_t>(words[2])));
        if (!is_point(words) && number_from<std::int64_t>(words[3]))
          words[3] = std::to_string(later(*number_from<std::int64_t>(words[3])));
        for (std::string& word : words) {
          change(word, "enqueued=", later);
          change(word, "index=", further);
          change(word, "seq=", further);
        }
      } else if (words.front() == "@link") {
        for (const std::size_t end : {2U, 3U})
          words[end] = std::to_string(*number_from<std::int64_t>(words[end]) + copy * spans);
      } else if (words.front() == "@rank") {
        if (copy > 0) continue;
        for (std::string& word : words) change_range(word, "recorded=", [&](std::int64_t time) { return time; });
      } else if (copy > 0) {
        continue;
      }
      text += joined(words);
    }
  }
  return run_of(text);
}

std::shared_ptr<const Run> with_skewed_clocks(const Run& run, const std::vector<Skew>& skews) {
  std::string text;
  for (Words& words : lines_of(run)) {
    const bool of_rank = words.front() == "@rank";
    const auto rank = number_from<std::int64_t>(of_rank ? words[1] : words.front());
    const Skew skew = rank ? skews.at(static_cast<std::size_t>(*rank)) : Skew{};
    const auto shown = [&skew](std::int64_t time) {
      return time + skew.offset_ns + std::llround(1e-6 * skew.drift_ppm * static_cast<double>(time));
    };
    if (words.front() == "@run") {
      std::erase_if(words, [](const std::string& word) { return word.starts_with("clock"); });
      words.insert(words.end(), {"clock=wall_clock", "clock_error=10000000"});
    } else if (of_rank) {
      std::erase_if(words, [](const std::string& word) { return word.starts_with("host="); });
      words.push_back("host=\"host " + words[1] + "\"");
      for (std::string& word : words) change_range(word, "recorded=", shown);
    } else if (is_event(words)) {
      const bool is_counter = words[1] == "counter";
      words[2] = std::to_string(shown(*number_from<std::int64_t>(words[2])));
      if (!is_point(words) && number_from<std::int64_t>(words[3]))
        words[3] = std::to_string(shown(*number_from<std::int64_t>(words[3])));
      for (std::string& word : words)
        if (!is_counter) change(word, "enqueued=", shown);
    }
    text += joined(words);
  }
  return run_of(text);
}

}  // namespace rankscope::testing
