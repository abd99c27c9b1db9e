#include "analyzer/sample_report.h"

#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {

CollectivesSection sample_collectives(const Run& run) {
  CollectivesSection section;
  section.matched = 76;
  section.key = "group and sequence number";
  section.operations.push_back({.group = GroupId{0},
                                .op = run.strings().find("allreduce"),
                                .sequence = 0,
                                .bytes = 4096,
                                .members = {0, 1, 2, 3},
                                .complete = true,
                                .first_rank = RankId{0},
                                .last_rank = RankId{2},
                                .first_start = at(10),
                                .last_start = at(40),
                                .spread_ns = 30,
                                .transfer_ns = 10,
                                .why_no_wait = {},
                                .why_no_transfer = {}});
  section.groups.push_back({.group = "dp",
                            .op = "allreduce",
                            .count = 19,
                            .bytes = 77'824,
                            .wait_ns = 740'000'000,
                            .transfer_ns = 38'000'000,
                            .busbw_gbps = {},
                            .why_no_busbw = "transfers are too short",
                            .method = "run time"});
  return section;
}

}  // namespace rankscope::analyzer
