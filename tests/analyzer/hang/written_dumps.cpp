#include "analyzer/hang/written_dumps.h"

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace rankscope::testing {
namespace {

using nlohmann::json;

struct WrittenGroup {
  std::string description;
  std::string members;
};

json entry_of(std::istringstream& words, const std::map<std::string, WrittenGroup>& groups, std::size_t record) {
  std::string group;
  std::string op;
  std::string sequence;
  std::string state;
  words >> group >> op >> sequence >> state;
  std::map<std::string, std::string> more{
      {"size", "4"}, {"dtype", "Float"}, {"at", "100"}, {"backend", "nccl"}, {"timeout", "600"}};
  for (std::string word; words >> word;) more[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
  json entry{{"record_id", record}, {"pg_id", 0}, {"is_p2p", false}, {"collective_seq_id", 0}, {"p2p_seq_id", 0}};
  entry["process_group"] = {group, groups.contains(group) ? groups.at(group).description : ""};
  const bool sends = op.starts_with("send>");
  if (sends || op.starts_with("recv<")) {
    const auto colon = op.find(':');  // send>1:0, the own number after the colon
    entry["profiling_name"] = more["backend"] + ":" + op.substr(0, 4) + " " + op.substr(colon + 1) +
                              (sends ? "->" : "<-") + op.substr(5, colon - 5);
    entry["is_p2p"] = true;
  } else {
    entry["profiling_name"] = more["backend"] + ":" + op;
    entry["collective_seq_id"] = std::stoll(sequence);
  }
  if (more.contains("pair")) entry["is_p2p"] = true;
  if (more.contains("seq2")) entry["p2p_seq_id"] = std::stoll(more["seq2"]);
  if (more.contains("id")) entry["op_id"] = std::stoll(more["id"]);
  if (more.contains("record")) entry["record_id"] = std::stoll(more["record"]);
  if (more.contains("from")) {
    const json of_torch{{"filename", "/usr/lib/python3/dist-packages/torch/distributed/distributed_c10d.py"},
                        {"line", 2000},
                        {"name", "all_reduce"}};
    entry["frames"] = json::array({of_torch, {{"filename", more["from"]}, {"line", 12}, {"name", "step"}}});
  }
  entry["state"] = state == "done" && more["backend"] != "gloo" ? "completed" : "scheduled";
  entry["retired"] = state == "done" || more.contains("retired");
  entry["input_sizes"] = {{std::stoll(more["size"])}};
  entry["input_dtypes"] = {more["dtype"]};
  entry["time_created_ns"] = static_cast<std::int64_t>(std::stod(more["at"]) * 1e9);
  entry["timeout_ms"] = std::stoll(more["timeout"]) * 1000;
  return entry;
}

}  // namespace

void write_dumps(std::string_view text, const std::filesystem::path& folder) {
  std::map<std::string, WrittenGroup> groups;
  std::map<std::string, std::vector<json>> ranks;
  std::istringstream lines{std::string{text}};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words{line};
    std::string first;
    if (!(words >> first)) continue;
    if (first == "@group") {
      std::string name;
      words >> name;
      words >> groups[name].description >> groups[name].members;
    } else if (first == "@rank") {
      words >> first;
      ranks[first];
    } else {
      auto& entries = ranks[first];
      entries.push_back(entry_of(words, groups, entries.size()));
    }
  }
  for (const auto& [rank, entries] : ranks) {
    json dump{{"version", "2.10"}, {"entries", entries}, {"pg_status", json::object()}, {"pg_config", json::object()}};
    for (const auto& [name, group] : groups) {
      if (group.members == "-" || ("," + group.members + ",").find("," + rank + ",") == std::string::npos) continue;
      dump["pg_config"][name] = {{"name", name}, {"desc", group.description}, {"ranks", "[" + group.members + "]"}};
    }
    std::ofstream{folder / ("dump_" + rank + ".json")} << dump.dump();
  }
}

analyzer::HangReport judged(std::string_view text) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "dumps";
  std::filesystem::create_directory(path);
  write_dumps(text, path);
  auto report = analyzer::judge_dumps(std::span{&path, 1}, {});
  if (!report) {
    std::cerr << report.error().message << '\n';
    std::abort();
  }
  return std::move(*report);
}

}  // namespace rankscope::testing
