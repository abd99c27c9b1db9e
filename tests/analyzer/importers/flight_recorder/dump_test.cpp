#include "importers/flight_recorder/dump.h"

#include <gtest/gtest.h>

#include "importers/shared/comm_progress.h"
#include "importers/shared/json_values.h"
#include "rankscope/core/format.h"

namespace rankscope::analyzer::flight_recorder {
namespace {

/// What is read of a dump with one entry that has these fields.
DumpEntry entry_with(std::string_view fields) {
  const std::string text = format(R"({{"version": "2.10", "entries": [{{"record_id": 0, {}}}]}})", fields);
  PlainValues values;
  const auto root = read_json(text, values);
  const auto dump = root ? dump_from(values, *root) : tl::make_unexpected(root.error());
  EXPECT_TRUE(dump && dump->entries.size() == 1) << text;
  return dump && !dump->entries.empty() ? dump->entries.front() : DumpEntry{};
}

TEST(Dump, SequencesThatCannotBeCountedOnAreCut) {
  EXPECT_EQ(entry_with(R"("collective_seq_id": 9223372036854775807)").collective_seq, CommCall::largest_sequence);
  EXPECT_EQ(entry_with(R"("collective_seq_id": -9223372036854775808)").collective_seq, -1);
  EXPECT_EQ(entry_with(R"("seq_id": 9223372036854775807)").collective_seq, CommCall::largest_sequence);
  EXPECT_EQ(entry_with(R"("p2p_seq_id": -9223372036854775808)").p2p_seq, -1);
  EXPECT_EQ(entry_with(R"("collective_seq_id": 7)").collective_seq, 7);
}

TEST(Dump, ATimeoutIsFromNothingToThirtyDays) {
  EXPECT_EQ(entry_with(R"("timeout_ms": 600000)").timeout_ms, 600000);
  EXPECT_EQ(entry_with(R"("timeout_ms": 9223372036854775807)").timeout_ms, CommCall::longest_timeout_ms);
  EXPECT_EQ(entry_with(R"("timeout_ms": -9223372036854775808)").timeout_ms, 0);
}

}  // namespace
}  // namespace rankscope::analyzer::flight_recorder
