#include "importers/nsys/domains.h"

#include <array>

#include "rankscope/core/format.h"

namespace rankscope::analyzer::nsys {
namespace {

constexpr std::int64_t category_row = 33;
constexpr std::int64_t thread_name_row = 39;
constexpr std::int64_t domain_row = 75;

}  // namespace

Result<Domains> Domains::read(const Database& database, Timeline& timeline, const PayloadSchemas& schemas) {
  Domains domains{timeline.builder(), schemas};
  if (!database.has("NVTX_EVENTS", "eventType")) return domains;
  constexpr std::array<std::string_view, 6> columns{"eventType", "globalTid", "domainId", "category", "text", "textId"};
  RS_TRY(Rows rows, database.rows("NVTX_EVENTS", columns, "WHERE eventType IN (33,39,75)"));
  while (rows.next()) domains.learn(rows, timeline);
  RS_TRY_VOID(rows.finish());
  return domains;
}

void Domains::learn(const Rows& rows, Timeline& timeline) {
  std::string text{rows.text(4)};
  if (const auto id = rows.integer(5); text.empty() && id) text = timeline.names().text(*id).value_or("");
  const auto thread = rows.integer(1);
  if (text.empty() || !thread) return;
  const ProcessKey process = ProcessKey::of(*thread);
  const std::int64_t domain = rows.integer_or(2, 0);
  switch (rows.integer_or(0, 0)) {
    case category_row:
      if (const auto id = rows.integer(3)) categories_.insert_or_assign({process, domain, *id}, builder_.intern(text));
      return;
    case thread_name_row:
      return timeline.name_thread(*thread, text);
    case domain_row:
      names_.insert_or_assign({process, domain}, builder_.intern(text));
      return;
    default:
      return;
  }
}

StringId Domains::name(ProcessKey process, std::int64_t domain) {
  if (domain == 0) return StringId::none();
  const auto found = names_.find({process, domain});
  if (found != names_.end()) return found->second;
  const StringId guess = builder_.intern(is_nccl(process, domain) ? "NCCL" : format("domain {}", domain));
  names_.emplace(std::pair{process, domain}, guess);
  return guess;
}

bool Domains::is_nccl(ProcessKey process, std::int64_t domain) const {
  if (domain == 0) return false;
  const auto found = names_.find({process, domain});
  return found == names_.end() ? schemas_.is_nccl_domain(domain) : builder_.text(found->second) == "NCCL";
}

std::optional<StringId> Domains::category(ProcessKey process, std::int64_t domain, std::int64_t id) const {
  const auto found = categories_.find({process, domain, id});
  return found == categories_.end() ? std::nullopt : std::optional{found->second};
}

}  // namespace rankscope::analyzer::nsys
