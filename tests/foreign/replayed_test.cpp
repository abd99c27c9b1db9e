// GPU work of real jobs, handed to the recorder as the activity records that CUPTI would have made of it, with useless
// ones in between: what is recorded must be what the job did.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cupti/dump_format.h"
#include "programs/cupti/cupti_builder.h"
#include "rankscope/analyzer/open.h"
#include "rankscope/core/model/run.h"
#include "recorded.h"
#include "shared_data.h"

namespace rankscope::collectors {
namespace {

using cupti::DumpedText;
using cupti::DumpHead;
using rankscope::testing::ActivityRecord;
using rankscope::testing::Numbers;

constexpr std::uint32_t cupti_version = 130001, runtime_call = 5;
constexpr std::uint64_t epoch = 1'700'000'000'000'000'000;
constexpr std::size_t most_bytes = 500'000;  // of a buffer, which has a megabyte
constexpr const char* useless = "useless";

/// Writes the file that the stand-in of libcupti replays.
class Dump {
 public:
  explicit Dump(const std::filesystem::path& path) : file_(path, std::ios::binary) {}

  void add(const ActivityRecord& record, std::string_view text = {}) {
    const auto& bytes = record.bytes();
    if (content_.size() + bytes.size() > most_bytes) end_block();
    std::uint32_t kind = 0;
    std::memcpy(&kind, bytes.data(), sizeof kind);
    const auto begin = static_cast<std::uint32_t>(content_.size());
    offsets_.push_back(begin);
    content_.insert(content_.end(), bytes.begin(), bytes.end());
    if (text.empty()) return;
    places_.push_back({.field = begin + static_cast<std::uint32_t>(cupti::named_at(kind)),
                       .begin = static_cast<std::uint32_t>(texts_.size()),
                       .length = static_cast<std::uint32_t>(text.size())});
    texts_ += text;
  }
  void end_block() {
    if (offsets_.empty()) return;
    const DumpHead head{.version = cupti_version,
                        .records = static_cast<std::uint32_t>(offsets_.size()),
                        .used = content_.size(),
                        .clock = clock,
                        .texts = static_cast<std::uint32_t>(places_.size()),
                        .text_bytes = static_cast<std::uint32_t>(texts_.size())};
    put(&head, sizeof head);
    put(content_.data(), content_.size());
    put(offsets_.data(), offsets_.size() * sizeof offsets_[0]);
    put(places_.data(), places_.size() * sizeof places_[0]);
    put(texts_.data(), texts_.size());
    content_.clear(), offsets_.clear(), places_.clear(), texts_.clear();
  }
  void end() {
    end_block();
    file_.flush();
  }

  std::uint64_t clock = 0;  ///< CUPTI's, when the buffers are handed back

 private:
  void put(const void* bytes, std::size_t count) {
    file_.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(count));
  }
  std::ofstream file_;
  std::vector<std::byte> content_;
  std::vector<std::uint32_t> offsets_;
  std::vector<DumpedText> places_;
  std::string texts_;
};

bool is_gpu_work(const Run& run, const Span& span) {
  return run.lane(span.lane).kind == LaneKind::stream &&
         (span.kind == SpanKind::compute || span.kind == SpanKind::comm || span.kind == SpanKind::memory);
}
bool is_fill(const Run& run, const Span& span) { return run.text(span.name).starts_with("Memset"); }

/// As much of a long name as is compared, of kernels; of copies and fills what they are.
std::string word_of(const Run& run, const Span& span) {
  if (span.kind == SpanKind::memory) return is_fill(run, span) ? "fill" : "copy";
  return std::string{run.text(span.name).substr(0, 500)};
}

/// What a GPU did.
struct Work {
  std::map<std::string, int> counts;  ///< by name
  std::map<std::string, double> ns;
  int launched = 0;  ///< by a call that was recorded
  int calls = 0;     ///< that launched something
};

const Span* launch_of(const Run& run, const Span& span) {
  const auto links = run.links_to(LinkKind::launch, run.id_of(span));
  return links.empty() ? nullptr : &run.span(links.front().from);
}

Work work_of(const Run& run) {
  Work work;
  std::vector<const Span*> calls;
  for (const Span& span : run.spans()) {
    if (!is_gpu_work(run, span) || run.text(span.name) == useless) continue;
    ++work.counts[word_of(run, span)];
    work.ns[word_of(run, span)] += static_cast<double>(span.time.length().count());
    const Span* const call = launch_of(run, span);
    if (call == nullptr) continue;
    ++work.launched;
    calls.push_back(call);
  }
  std::ranges::sort(calls);
  work.calls = static_cast<int>(std::ranges::unique(calls).begin() - calls.begin());
  return work;
}

std::uint64_t on_gpu_clock(RunTime time) { return epoch + static_cast<std::uint64_t>(ns_of(time)); }

class Player {
 public:
  Player(const Run& run, const std::filesystem::path& dump) : run_(run), dump_(dump) {}

  /// Every 97th record comes late, behind all others; there is a useless one behind the first of every 50.
  void play() {
    std::vector<const Span*> late;
    std::size_t count = 0;
    for (const Span& span : run_.spans()) {
      if (!is_gpu_work(run_, span)) continue;
      dump_.clock = std::max(dump_.clock, on_gpu_clock(span.time.end) + 1'000'000);
      ++count;
      if (count % 97 == 0)
        late.push_back(&span);
      else
        play(span);
      if (count % 50 == 1) play_useless(span, count % 100 == 51);
    }
    dump_.end_block();
    for (const Span* const span : late) play(*span);
    dump_.end();
  }
  [[nodiscard]] std::uint64_t without_times() const { return without_times_; }
  [[nodiscard]] std::uint64_t reversed() const { return reversed_; }

 private:
  void play_useless(const Span& span, bool reversed) {
    const std::uint64_t begin = on_gpu_clock(span.time.begin);
    const Numbers times = reversed ? Numbers{.start = begin, .end = begin - 500} : Numbers{};
    dump_.add(rankscope::testing::make_kernel(cupti_version, times, nullptr), useless);
    ++(reversed ? reversed_ : without_times_);
  }
  void play(const Span& span) {
    const Span* const call = launch_of(run_, span);
    const auto number_of = [&](const Span& one) { return static_cast<std::uint32_t>(&one - run_.spans().data()) + 1; };
    const Numbers numbers{.start = on_gpu_clock(span.time.begin),
                          .end = on_gpu_clock(span.time.end),
                          .stream = span.lane.value + 1,
                          .correlation = number_of(call == nullptr ? span : *call)};
    const std::uint64_t bytes = 4096;
    if (span.kind != SpanKind::memory)
      dump_.add(rankscope::testing::make_kernel(cupti_version, numbers, nullptr), run_.text(span.name));
    else if (is_fill(run_, span))
      dump_.add(rankscope::testing::make_set(cupti_version, numbers, bytes));
    else
      dump_.add(rankscope::testing::make_copy(cupti_version, numbers, bytes));
    if (call == nullptr || !played_.insert(call).second) return;
    const Numbers called{
        .start = on_gpu_clock(call->time.begin), .end = on_gpu_clock(call->time.end), .correlation = number_of(*call)};
    const std::uint32_t number = 1000 + call->name.value;
    dump_.add(rankscope::testing::make_call(runtime_call, number, 5'000'000 + call->lane.value, called),
              run_.text(call->name));
  }

  const Run& run_;
  Dump dump_;
  std::set<const Span*> played_;
  std::uint64_t without_times_ = 0, reversed_ = 0;
};

testing::Recorded replay(const testing::Folder& folder, const std::filesystem::path& dump) {
  const testing::Variable library{"RANKSCOPE_CUPTI", testing::program("libcupti_standin.so")};
  const testing::Variable file{"STANDIN_CUPTI_REPLAY", dump.string()};
  RecordOptions options;
  options.collect = "annotate,cupti";
  options.ring_kib = 64 * 1024;
  options.command = {testing::program("cupti_actor"), "replay"};
  return testing::record(folder, options);
}

class RealJobs : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam().empty()) GTEST_SKIP() << rankscope::testing::no_shared_data;
  }
};

TEST_P(RealJobs, AreRecordedAsTheyRan) {
  const auto job = analyzer::open_run(rankscope::testing::shared_data() / GetParam());
  ASSERT_TRUE(job) << job.error().message;
  const Work expected = work_of(**job);
  ASSERT_FALSE(expected.counts.empty()) << "no GPU worked";
  const testing::Folder folder;
  Player player{**job, folder / "dump"};
  player.play();
  const testing::Recorded recorded = replay(folder, folder / "dump");
  ASSERT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  const Work work = work_of(*recorded.run);
  EXPECT_EQ(work.counts, expected.counts);
  for (const auto& [name, ns] : expected.ns) EXPECT_NEAR(work.ns.at(name), ns, 1 + 1e-4 * ns) << name;
  EXPECT_EQ(work.launched, expected.launched);
  EXPECT_EQ(work.calls, expected.calls);
  EXPECT_EQ(testing::lost(*recorded.run, Counter::times_unusable), player.without_times());
  EXPECT_EQ(testing::lost(*recorded.run, Counter::negative_duration), player.reversed());
  for (const Counter counter : {Counter::events_dropped, Counter::activities_dropped, Counter::activities_unknown})
    EXPECT_EQ(testing::lost(*recorded.run, counter), 0U) << info_of(counter).name;
}

/// H100 and B200, and CUDA graphs on an A100 and in Nsight Systems.
std::vector<std::string> chosen_jobs() {
  std::vector<std::string> chosen;
  for (const std::string& name : rankscope::testing::shared_recordings())
    for (const char* const folder :
         {"nsys/training_2xh100/", "nsys/cuda_graph/", "kineto/b200_eager/", "kineto/cuda_graphs_a100_rank0of16/"})
      if (name.starts_with(folder)) chosen.push_back(name);
  if (chosen.empty()) chosen.emplace_back();
  return chosen;
}
INSTANTIATE_TEST_SUITE_P(SharedData, RealJobs, ::testing::ValuesIn(chosen_jobs()),
                         [](const auto& one) { return rankscope::testing::plain_name(one.param); });

}  // namespace
}  // namespace rankscope::collectors
