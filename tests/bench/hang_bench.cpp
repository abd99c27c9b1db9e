// How long `rankscope hang` takes for the dumps of many ranks, and how much memory it needs. The dumps are written
// first: RANKSCOPE_HANG_DUMPS (10,000) with RANKSCOPE_HANG_ENTRIES (2,000) entries each, as PyTorch writes them
// (pickle, protocol 2). All files are links to a few, so that the disk holds little; each is read and decoded by
// itself.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "rankscope/analyzer/hang/hang.h"

namespace {

namespace fs = std::filesystem;

std::int64_t number_of_environment(const char* name, std::int64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::stoll(text);
}

/// Writes values as a pickle of protocol 2, without a memo.
class PickleWriter {
 public:
  PickleWriter() : bytes_("\x80\x02") {}
  void text(std::string_view value) {
    bytes_ += 'X';
    little_endian(value.size(), 4);
    bytes_ += value;
  }
  void integer(std::int64_t value) {
    bytes_ += "\x8a\x08";
    little_endian(static_cast<std::uint64_t>(value), 8);
  }
  void byte(char opcode) { bytes_ += opcode; }
  void bytes(std::string_view opcodes) { bytes_ += opcodes; }
  [[nodiscard]] const std::string& get() const { return bytes_; }

 private:
  void little_endian(std::uint64_t value, int size) {
    for (int i = 0; i < size; ++i) bytes_ += static_cast<char>(value >> (8 * i) & 0xFF);
  }
  std::string bytes_;
};

void add_field(PickleWriter& out, std::string_view key, std::string_view value) {
  out.text(key);
  out.text(value);
}
void add_field(PickleWriter& out, std::string_view key, std::int64_t value) {
  out.text(key);
  out.integer(value);
}

void add_entry(PickleWriter& out, std::int64_t sequence, bool finished) {
  out.bytes("}(");
  add_field(out, "record_id", sequence);
  add_field(out, "pg_id", 0);
  out.text("process_group");
  out.text("0");
  out.text("default_pg");
  out.byte('\x86');
  add_field(out, "thread_name", "python");
  add_field(out, "collective_seq_id", sequence);
  add_field(out, "p2p_seq_id", 0);
  add_field(out, "op_id", sequence);
  add_field(out, "profiling_name", "nccl:all_reduce");
  add_field(out, "time_created_ns", 1'700'000'000'000'000'000 + sequence);
  for (const std::string_view key : {"input_sizes", "output_sizes"}) {
    out.text(key);
    out.bytes("](](");
    out.integer(2048);
    out.integer(5120);
    out.bytes("ee");
  }
  for (const std::string_view key : {"input_dtypes", "output_dtypes"}) {
    out.text(key);
    out.bytes("](");
    out.text("BFloat16");
    out.byte('e');
  }
  add_field(out, "state", finished ? "completed" : "scheduled");
  out.text("retired");
  out.byte(finished ? '\x88' : '\x89');
  add_field(out, "timeout_ms", 600'000);
  out.text("is_p2p");
  out.byte('\x89');
  out.byte('u');
}

/// The dump of a rank whose last operation is open, or of the one that never reached it.
std::string dump_bytes(std::int64_t ranks, std::int64_t entries, bool came) {
  PickleWriter out;
  out.bytes("}(");
  add_field(out, "version", "2.10");
  out.text("pg_config");
  out.bytes("}(");
  out.text("0");
  out.bytes("}(");
  add_field(out, "name", "0");
  add_field(out, "desc", "default_pg");
  std::string members;
  for (std::int64_t rank = 0; rank < ranks; ++rank) members += (rank == 0 ? "[" : ", ") + std::to_string(rank);
  add_field(out, "ranks", members + "]");
  out.bytes("uu");
  out.text("entries");
  out.bytes("](");
  for (std::int64_t i = 0; i < entries; ++i) add_entry(out, i + 1, true);
  if (came) add_entry(out, entries + 1, false);
  out.bytes("eu.");
  return out.get();
}

void judge_many(benchmark::State& state) {
  const std::int64_t ranks = number_of_environment("RANKSCOPE_HANG_DUMPS", 10'000);
  const std::int64_t entries = number_of_environment("RANKSCOPE_HANG_ENTRIES", 2'000);
  const fs::path folder = fs::temp_directory_path() / ("rankscope-hang-bench-" + std::to_string(ranks));
  fs::remove_all(folder);
  fs::create_directories(folder / "dumps");
  std::ofstream{folder / "came", std::ios::binary} << dump_bytes(ranks, entries, true);
  std::ofstream{folder / "absent", std::ios::binary} << dump_bytes(ranks, entries, false);
  const std::int64_t absent = ranks / 3;
  for (std::int64_t rank = 0; rank < ranks; ++rank)
    fs::create_hard_link(folder / (rank == absent ? "absent" : "came"),
                         folder / "dumps" / ("_dump_" + std::to_string(rank)));
  const fs::path dumps = folder / "dumps";
  for (auto _ : state) {
    const auto report = rankscope::analyzer::judge_dumps(std::span{&dumps, 1}, {});
    if (!report || report->roots.size() != 1 || report->roots[0].ranks.size() != 1 ||
        report->roots[0].ranks[0].value != absent)
      state.SkipWithError("the rank that never came was not named");
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["peak_mb"] = static_cast<double>(usage.ru_maxrss) / 1024;
  state.counters["entries"] = static_cast<double>(ranks * entries);
  fs::remove_all(folder);
}
BENCHMARK(judge_many)->Iterations(1)->Unit(benchmark::kSecond);

}  // namespace
