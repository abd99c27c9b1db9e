#include "importers/flight_recorder/progress.h"

#include <algorithm>
#include <array>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "rankscope/core/format.h"
#include "rankscope/core/numbers.h"
#include "rankscope/core/utf8.h"

namespace rankscope::analyzer::flight_recorder {
namespace {

constexpr std::size_t most_text_bytes = 200;  // of names: longer ones are cut

constexpr std::size_t most_shapes_read = 4096;  // of one call
constexpr std::size_t most_sizes_read = 64;     // of one shape
constexpr std::size_t most_frames_read = 256;

/// The first values of a list: a pickle may refer to a long one from many places.
std::span<const ValueRef> first_of(const PlainValues& values, ValueRef list, std::size_t most) {
  const std::span<const ValueRef> items = values.items_of(list);
  return items.first(std::min(items.size(), most));
}

/// Calls that belong to one coalesced group, by the entry that ends the group.
struct Batches {
  std::vector<std::uint32_t> of_entry;  // parallel to the entries; 0: none
  std::vector<bool> finished;           // parallel to the entries
  std::vector<bool> begins;             // first entries of a batch; not if the ring may begin within it
  std::vector<bool> left_out;           // entries that only end a group, and all but the last of a call
};

/// "coalesced", and since PyTorch 2.7 "ALLGATHER_coalesced". A call may have such a name, too ("allreduce_coalesced").
bool may_end_a_batch(const DumpEntry& entry) { return entry.op.ends_with("coalesced"); }

/// XCCL records some calls twice, and only one of both entries gets a state.
bool is_recorded_twice(const DumpEntry& one, const DumpEntry& next) {
  const auto call = [](const DumpEntry& entry) {
    return std::tie(entry.group, entry.op, entry.own, entry.partner, entry.collective_seq, entry.p2p_seq, entry.op_id);
  };
  return next.backend == "xccl" && next.op_id >= 0 && next.record_id == one.record_id + 1 && call(one) == call(next);
}

// The calls of a coalesced group have no state of their own: that of the entry that ends the group counts.
Batches batches_of(const Dump& dump) {
  Batches batches;
  batches.of_entry.resize(dump.entries.size());
  batches.begins.resize(dump.entries.size());
  batches.left_out.resize(dump.entries.size());
  for (const DumpEntry& entry : dump.entries) batches.finished.push_back(entry.finished);
  // Of each group the calls since the last end that have the same numbers, and whether an earlier call is in the ring.
  struct Begun {
    std::vector<std::size_t> calls;
    bool follows = false;
  };
  std::unordered_map<std::string_view, Begun> begun;
  const bool from_the_start = !dump.entries.empty() && dump.entries.front().record_id == 0;
  std::uint32_t next = 1;
  for (std::size_t i = 0; i < dump.entries.size(); ++i) {
    const DumpEntry& entry = dump.entries[i];
    auto& [calls, follows] = begun[entry.group];
    if (i + 1 < dump.entries.size() && is_recorded_twice(entry, dump.entries[i + 1])) {
      batches.left_out[i] = true;
      batches.finished[i + 1] = entry.finished || dump.entries[i + 1].finished;
      continue;
    }
    const auto alike = [&](std::size_t other) {
      return dump.entries[other].collective_seq == entry.collective_seq && dump.entries[other].p2p_seq == entry.p2p_seq;
    };
    if (!calls.empty() && !alike(calls.back())) {
      calls.clear();
      follows = true;
    }
    if (!may_end_a_batch(entry) || (calls.empty() && entry.op != "coalesced")) {
      calls.push_back(i);
      continue;
    }
    for (const std::size_t k : calls) {
      batches.of_entry[k] = next;
      batches.finished[k] = entry.finished;
    }
    if (!calls.empty()) batches.begins[calls.front()] = follows || from_the_start;
    batches.left_out[i] = !calls.empty();
    calls.clear();
    follows = true;
    ++next;
  }
  return batches;
}

class ProgressMaker {
 public:
  ProgressMaker(const PlainValues& values, const Dump& dump, JobProgress& job, RankProgress& rank)
      : values_(values), dump_(dump), batches_(batches_of(dump)), job_(job), rank_(rank) {}

  void make() {
    for (const DumpGroup& group : dump_.groups) {
      if (!group.name.empty()) {
        static_cast<void>(rank_.group_row(row_of(group.name, group.description)));
      } else if (const auto members = members_from(group.ranks); members && !members->empty()) {
        // Gloo names no group, but may list all ranks.
        job_.world_size = std::max(job_.world_size, static_cast<std::int64_t>(*std::ranges::max_element(*members)) + 1);
      }
    }
    add_entries();
    add_status();
  }

 private:
  std::uint32_t row_of(std::string_view name, std::string_view description);
  void add_entries();
  void add_collective(std::uint32_t row, const DumpEntry& entry, bool finished);
  [[nodiscard]] bool is_comparable(std::size_t i) const;
  void keep_recent();
  void add_status();
  [[nodiscard]] CommCall call_of(std::uint32_t row, const DumpEntry& entry);
  [[nodiscard]] std::int32_t partner_of(std::uint32_t row, const DumpEntry& entry) const;
  [[nodiscard]] std::int64_t elements_of(const DumpEntry& entry) const;
  [[nodiscard]] std::string shape_of(const DumpEntry& entry) const;
  [[nodiscard]] std::string caller_of(const DumpEntry& entry) const;
  StringId intern(std::string_view text) { return job_.texts.intern(cut_utf8(text, most_text_bytes)); }

  const PlainValues& values_;
  const Dump& dump_;
  const Batches batches_;
  JobProgress& job_;
  RankProgress& rank_;
  std::unordered_map<std::string_view, std::uint32_t> rows_;
  std::unordered_map<std::int64_t, std::uint32_t> row_of_id_;
  std::unordered_map<std::uint32_t, std::vector<std::size_t>> recent_;  // entries of collectives, by group
};

std::uint32_t ProgressMaker::row_of(std::string_view name, std::string_view description) {
  if (const auto known = rows_.find(name); known != rows_.end()) return known->second;
  const auto config = std::ranges::find(dump_.groups, name, &DumpGroup::name);
  const std::string_view members = config == dump_.groups.end() ? std::string_view{} : config->ranks;
  const std::uint32_t row =
      job_.group_of(cut_utf8(name, most_text_bytes), cut_utf8(description, most_text_bytes), members);
  rows_.emplace(name, row);
  return row;
}

std::int32_t ProgressMaker::partner_of(std::uint32_t row, const DumpEntry& entry) const {
  const std::vector<std::uint32_t>& members = job_.groups[row].members;
  if (entry.partner < 0) return -1;
  if (members.empty()) return static_cast<std::int32_t>(entry.partner);
  const auto place = static_cast<std::size_t>(entry.partner);
  return place < members.size() ? static_cast<std::int32_t>(members[place]) : -1;
}

/// The product of each shape, summed; -1 if there are none, or numbers that no tensor has.
std::int64_t ProgressMaker::elements_of(const DumpEntry& entry) const {
  constexpr std::int64_t most = std::int64_t{1} << 50;
  const std::span<const ValueRef> shapes = first_of(values_, entry.input_sizes, most_shapes_read + 1);
  if (shapes.empty() || shapes.size() > most_shapes_read) return -1;
  std::int64_t sum = 0;
  for (const ValueRef shape : shapes) {
    std::int64_t product = 1;
    for (const ValueRef size : first_of(values_, shape, most_sizes_read)) {
      const std::int64_t value = values_.number_of(size).value_or(-1);
      if (value < 0 || value > most || (value > 0 && product > most / value)) return -1;
      product *= value;
    }
    sum += product;
    if (sum > most) return -1;
  }
  return sum;
}

std::string ProgressMaker::shape_of(const DumpEntry& entry) const {
  constexpr std::size_t most_shapes = 3;
  std::string text;
  std::size_t count = 0;
  for (const ValueRef shape : values_.items_of(entry.input_sizes)) {
    if (count++ == most_shapes) return text + ", ...";
    if (!text.empty()) text += ", ";
    bool first = true;
    for (const ValueRef size : values_.items_of(shape)) {
      text += format("{}{}", first ? "" : "x", values_.number_of(size).value_or(-1));
      first = false;
      if (text.size() > most_text_bytes) return text;
    }
  }
  return text;
}

/// False of PyTorch, and of the C and C++ frames that TORCH_FR_CPP_STACK adds; most of these have no file.
bool is_of_program(std::string_view file) {
  constexpr std::array<std::string_view, 6> of_compilers{".c", ".cc", ".cpp", ".cu", ".h", ".hpp"};
  if (file.empty() || file.starts_with('?') || file.starts_with("torch/")) return false;
  if (file.find("-packages/torch/") != std::string_view::npos || file.find("/pytorch/torch/") != std::string_view::npos)
    return false;
  return std::ranges::none_of(of_compilers, [file](std::string_view end) { return file.ends_with(end); });
}

/// The innermost Python frame outside of PyTorch: "train.py:12 in step".
std::string ProgressMaker::caller_of(const DumpEntry& entry) const {
  for (const ValueRef frame : first_of(values_, entry.frames, most_frames_read)) {
    const std::string_view file = values_.text_of(values_.find(frame, "filename"));
    if (!is_of_program(file)) continue;
    const std::string_view base = file.substr(file.rfind('/') + 1);
    return format("{}:{} in {}", cut_utf8(base, most_text_bytes),
                  values_.number_of(values_.find(frame, "line")).value_or(0),
                  cut_utf8(values_.text_of(values_.find(frame, "name")), most_text_bytes));
  }
  return {};
}

CommCall ProgressMaker::call_of(std::uint32_t row, const DumpEntry& entry) {
  CommCall call;
  call.group = row;
  const bool receives = entry.op == "recv";
  const bool is_pair = receives || entry.op == "send" || (entry.op == "coalesced" && entry.is_p2p);
  call.way = receives ? CallWay::receive : is_pair ? CallWay::send : CallWay::collective;
  call.peer = partner_of(row, entry);
  call.sequence = call.way == CallWay::collective ? entry.collective_seq : -1;
  call.elements = elements_of(entry);
  call.created_unix_ns = entry.created_ns;
  call.timeout_ms = entry.timeout_ms;
  call.op = intern(entry.op);
  const std::span<const ValueRef> types = values_.items_of(entry.input_dtypes);
  call.dtype = intern(types.empty() ? std::string_view{} : values_.text_of(types.front()));
  call.shape = intern(shape_of(entry));
  call.where = intern(caller_of(entry));
  return call;
}

void ProgressMaker::add_entries() {
  for (std::size_t i = 0; i < dump_.entries.size(); ++i) {
    const DumpEntry& entry = dump_.entries[i];
    const std::uint32_t row = row_of(entry.group, entry.description);
    if (entry.pg_id >= 0) row_of_id_.emplace(entry.pg_id, row);
    rank_.last_call_unix_ns = std::max(rank_.last_call_unix_ns, entry.created_ns);
    if (runs_on_host(entry.backend)) job_.groups[row].on_host = true;
    if (batches_.left_out[i]) continue;
    // The end of a group of sends and receives whose calls are gone from the ring: with whom is not known.
    const bool is_pair = entry.op == "send" || entry.op == "recv" || (entry.op == "coalesced" && entry.is_p2p);
    if (is_pair) {
      job_.groups[row].has_pairs = true;
      const CallWay way = entry.op == "recv" ? CallWay::receive : CallWay::send;
      if (PairProgress* const pair = rank_.pair_row(row, way, partner_of(row, entry)))
        ++(batches_.finished[i] ? pair->finished : pair->open);
    } else {
      add_collective(row, entry, batches_.finished[i]);
      if (is_comparable(i)) recent_[row].push_back(i);
    }
    if (batches_.finished[i]) continue;
    if (rank_.open.size() >= RankProgress::most_open) {
      ++rank_.open_left_out;
      continue;
    }
    rank_.open.push_back(call_of(row, entry));
    rank_.open.back().batch = batches_.of_entry[i];
  }
  const auto& entries = dump_.entries;
  rank_.whole_history = rank_.pairs.size() < RankProgress::most_pairs && !entries.empty() &&
                        entries.front().record_id == 0 &&
                        entries.back().record_id == static_cast<std::int64_t>(entries.size()) - 1;
  keep_recent();
}

void ProgressMaker::add_collective(std::uint32_t row, const DumpEntry& entry, bool finished) {
  GroupProgress& progress = rank_.group_row(row);
  progress.entered = std::max(progress.entered, entry.collective_seq);
  if (finished) progress.finished = std::max(progress.finished, entry.collective_seq);
}

/// Peers are compared by the first call of each batch.
bool ProgressMaker::is_comparable(std::size_t i) const { return batches_.of_entry[i] == 0 || batches_.begins[i]; }

void ProgressMaker::keep_recent() {
  for (const auto& [row, entries] : recent_) {
    GroupProgress& progress = rank_.group_row(row);
    // What is open comes after all that is finished.
    for (const std::size_t i : entries)
      if (!batches_.finished[i])
        progress.finished =
            std::min(progress.finished < 0 ? INT64_MAX : progress.finished, dump_.entries[i].collective_seq - 1);
    const std::size_t first = entries.size() - std::min(entries.size(), GroupProgress::most_recent);
    for (std::size_t k = first; k < entries.size(); ++k) {
      progress.recent.push_back(call_of(row, dump_.entries[entries[k]]));
      progress.recent.back().finished = batches_.finished[entries[k]];
    }
    std::ranges::stable_sort(progress.recent, {}, &CommCall::sequence);
  }
}

// The status names a group by a number that only entries connect with its name. Without entries the order helps: both
// numbers and names count the groups in the order in which they were made.
void ProgressMaker::add_status() {
  std::vector<std::pair<std::int64_t, std::uint32_t>> named;  // by number
  for (const DumpGroup& group : dump_.groups)
    if (const auto number = number_from<std::int64_t>(group.name))
      named.emplace_back(*number, row_of(group.name, group.description));
  std::vector<DumpStatus> status = dump_.status;
  std::ranges::sort(status, {}, &DumpStatus::pg_id);
  std::ranges::sort(named);
  bool in_order = named.size() == status.size() && named.size() == dump_.groups.size();
  for (std::size_t i = 0; in_order && i < status.size(); ++i) {
    const auto known = row_of_id_.find(status[i].pg_id);
    in_order = known == row_of_id_.end() || known->second == named[i].second;
  }
  for (std::size_t i = 0; i < status.size(); ++i) {
    const auto known = row_of_id_.find(status[i].pg_id);
    if (known == row_of_id_.end() && !in_order) continue;
    GroupProgress& progress = rank_.group_row(known == row_of_id_.end() ? named[i].second : known->second);
    progress.enqueued_any = std::max(progress.enqueued_any, status[i].enqueued);
    progress.completed_any = std::max(progress.completed_any, status[i].completed);
  }
}

}  // namespace

void add_dump(const PlainValues& values, const Dump& dump, std::uint32_t rank, JobProgress& job) {
  RankProgress& progress = job.ranks[rank];
  progress.witness = Witness::dump;
  ProgressMaker{values, dump, job, progress}.make();
}

}  // namespace rankscope::analyzer::flight_recorder
