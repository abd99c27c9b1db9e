// The section on slow ranks: how it is found, its tables, JSON and picture, and the rules that judge it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/find.h"
#include "rankscope/analyzer/blame/section.h"
#include "rankscope/analyzer/split/section.h"
#include "rankscope/analyzer/stragglers/section.h"
#include "rankscope/analyzer/tcp_links/section.h"
#include "render/page.h"
#include "render/source.h"
#include "rules/rule.h"
#include "steps/find.h"
#include "stragglers/arrivals.h"

namespace rankscope::analyzer {

struct AskedFor;
struct Report;

[[nodiscard]] Section<StragglersSection> find_stragglers(const Run& run, const Section<StepsSection>& steps,
                                                         const Section<std::vector<RankRow>>& rows,
                                                         const Section<CollectivesSection>& collectives,
                                                         const Section<BlameSection>& blame);

/// A rank whose communication is late because a connection that it sends or receives on is slow has a finding there.
void leave_to_slow_links(const TcpLinksSection& links, StragglersSection& section);

/// By severity, then gain.
void sort_worst_first(StragglersSection& section);

[[nodiscard]] nlohmann::ordered_json straggler_json(const Straggler& row);
/// What the list of stragglers rests on; `[]` means more or less depending on it.
[[nodiscard]] nlohmann::ordered_json straggler_basis_json(const StragglersSection& section);
[[nodiscard]] Table straggler_table(const StragglersSection& section);
/// Where two or three ranks have too few steps for a verdict, who came last is all that can be said: "Rank 1 arrived
/// last in 4 of 5 operations: this is only a hint, ..."; else empty.
[[nodiscard]] std::string arrival_hint(const StragglersSection& section);
/// What the list of slow ranks rests on.
[[nodiscard]] std::string basis_of(const Report& report);
/// What is said if no rank is named: "None.", that lost data can hide one, or which slow rank is not shown; empty if
/// only doubt_sentence has something to say.
[[nodiscard]] std::string none_text(const Report& report);
/// Of a slow rank.
inline constexpr std::string_view data_loader_advice =
    "Look at the rank's data loader (storage path, number of workers, CPU load of its host), and prefetch more "
    "batches.";
/// Behind the evidence: what the comparison cannot show.
[[nodiscard]] std::string_view doubt_about(Certainty certainty);
/// "this rank arrived last in 5 of 6 operations"; of steps, each counts by its operation with the longest waits
/// (metrics.md 9.4). `of` is "6 steps" or "6 operations".
[[nodiscard]] std::string arrived_last_text(std::string_view rank, std::int64_t times, std::string_view of,
                                            bool of_steps);
/// What could be hidden, for "Cannot tell ...": "whether a rank is slow".
[[nodiscard]] std::string_view question_of(const Report& report);
/// "Cannot tell whether a rank is slow: only 2 counted steps (...)."; empty if nothing hides one.
[[nodiscard]] std::string doubt_sentence(const Report& report);
/// "Rank 3, which is not shown, is slow from step 9 on (1.50 x): it computes more slowly than its peers."; empty if no
/// slow rank is left out.
[[nodiscard]] std::string left_out_text(const AskedFor& part);
void add_stragglers(Page& page, const Report& report, const ReportOptions& options);

void judge_stragglers(const RuleContext& context, std::vector<Finding>& findings);
void judge_rotation(const RuleContext& context, std::vector<Finding>& findings);
/// Only where ranks are not compared, since no collectives were recorded.
void judge_unequal_ranks(const RuleContext& context, std::vector<Finding>& findings);

namespace html {
void write_slow_ranks(Writer& page, const Source& source);
}  // namespace html

/// The counted steps in which a rank was slow, as this rank saw them.
[[nodiscard]] std::vector<TimeRange> slow_windows(const StepsSection& steps, RankId rank, const Straggler& slow);

// Whether the GPU of a slow rank runs slower than those of the others (metrics.md 9.3, 9.7).

/// Adds to ranks that compute slowly what the counters of their GPUs say of the time in which they were slow. A clock
/// below that of the others is the second proof that two or three ranks need.
void add_device_evidence(const Run& run, const StepsSection& steps, StragglersSection& section);

// Slow ranks in words that findings, tables and the verdict share.

/// "from step 12 on", "in steps 5 to 9", "now and then"; "" = all the time.
[[nodiscard]] std::string when_text(const Straggler& row);

/// "; in f, a.py:31: 80.0 ms per step, none on its peers; ..."; empty where no code is known.
[[nodiscard]] std::string code_text(const Straggler& row);

/// "The time goes into f, a.py:31: 80.0 ms per step, none on its peers."; empty where no code is known.
[[nodiscard]] std::string code_sentence(const Straggler& row);

/// "if ranks 2-3 were as fast as their peers, an average step would be about 36.0 ms shorter"; empty where that is not
/// more than the rank saves alone.
[[nodiscard]] std::string together_text(const Straggler& row);

/// What the rank takes longer for, in a word or two: "compute", "copies".
[[nodiscard]] std::string_view short_words_of(StragglerKind kind);

/// What a straggler does, after "rank 3": "computes more slowly than its peers".
[[nodiscard]] std::string_view behaviour_of(const Straggler& row);

/// "aten::flip 2400 times per step (12.0 ms), its peers never"
[[nodiscard]] std::string more_work_text(const MoreWork& more);

}  // namespace rankscope::analyzer
