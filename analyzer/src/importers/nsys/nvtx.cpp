#include "importers/nsys/nvtx.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "importers/nsys/nvtx_names.h"
#include "importers/nsys/payload.h"
#include "importers/nsys/timeline.h"
#include "importers/shared/comm_names.h"
#include "rankscope/core/format.h"
#include "words/keys.h"

namespace rankscope::analyzer::nsys {
namespace {

// Names of NVTX domains and categories. Their numbers count per process.

class Domains {
 public:
  /// Also gives threads the names that the program gave them.
  [[nodiscard]] static Result<Domains> read(const Database& database, Timeline& timeline,
                                            const PayloadSchemas& schemas);

  /// None for the default domain; "domain 3" where the export lacks the name.
  [[nodiscard]] StringId name(ProcessKey process, std::int64_t domain);
  /// True if the domain is NCCL's; a cut export may lack its name.
  [[nodiscard]] bool is_nccl(ProcessKey process, std::int64_t domain) const;
  /// The name of a category, or nothing if it has none.
  [[nodiscard]] std::optional<StringId> category(ProcessKey process, std::int64_t domain, std::int64_t id) const;

 private:
  Domains(RunBuilder& builder, const PayloadSchemas& schemas) : builder_(builder), schemas_(schemas) {}
  void learn(const Rows& rows, Timeline& timeline);

  RunBuilder& builder_;
  const PayloadSchemas& schemas_;
  std::map<std::pair<ProcessKey, std::int64_t>, StringId> names_;
  std::map<std::tuple<ProcessKey, std::int64_t, std::int64_t>, StringId> categories_;
};

constexpr std::int64_t category_row = 33;
constexpr std::int64_t thread_name_row = 39;
constexpr std::int64_t domain_row = 75;

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

constexpr std::string_view nvtx_table = "NVTX_EVENTS";

enum Column : std::uint8_t {
  starts,
  stops,
  event_type,
  thread,
  domain_id,
  category_id,
  color,
  text,
  text_id,
  unsigned_64,
  signed_64,
  real_64,
  unsigned_32,
  signed_32,
  real_32,
  binary,
  column_count
};
constexpr std::array<std::string_view, column_count> nvtx_columns{
    "start",  "end",         "eventType",  "globalTid",   "domainId",    "category",   "color",      "text",
    "textId", "uint64Value", "int64Value", "doubleValue", "uint32Value", "int32Value", "floatValue", "binaryData"};

// NvtxMark, NvtxPushPopRange, NvtxStartEndRange, and the same made from text files (ENUM_NSYS_EVENT_TYPE).
enum class EventType : std::uint8_t { none, mark, nested, free };
EventType type_of(std::int64_t code) {
  switch (code) {
    case 34:
    case 65:
      return EventType::mark;
    case 59:
    case 70:
      return EventType::nested;
    case 60:
    case 71:
      return EventType::free;
    default:
      return EventType::none;
  }
}

/// "ncclAllReduce" without a known domain: what NCCL itself names so.
bool looks_like_nccl(std::string_view name) {
  return name.size() > 4 && name.starts_with("nccl") && name[4] >= 'A' && name[4] <= 'Z';
}

class NvtxTable {
 public:
  NvtxTable(const Database& database, Timeline& timeline, const PayloadSchemas& schemas, Domains domains)
      : database_(database),
        timeline_(timeline),
        builder_(timeline.builder()),
        schemas_(schemas),
        domains_(std::move(domains)) {}

  Result<CallsByThread> read() {
    RS_TRY(Rows rows, database_.rows(nvtx_table, nvtx_columns));
    while (rows.next()) row(rows);
    RS_TRY_VOID(rows.finish());
    for (auto& [thread_, calls] : calls_) {
      std::ranges::stable_sort(calls.nccl, {}, [](const NcclCall& call) { return call.time.begin; });
      std::ranges::stable_sort(calls.framework, {}, [](const FrameworkCall& call) { return call.time.begin; });
    }
    return std::move(calls_);
  }

 private:
  /// What all three kinds of rows share.
  struct Event {
    ProcessKey process{};
    std::int64_t thread = 0;
    std::int64_t domain = 0;
    bool nccl = false;
    std::string text{};
  };

  void row(const Rows& rows) {
    const EventType type = type_of(rows.integer_or(event_type, 0));
    const auto key = type == EventType::none ? std::nullopt : timeline_.process(rows.integer(thread));
    if (!key) return;
    Event event{.process = *key,
                .thread = rows.integer_or(thread, key->value),
                .domain = rows.integer_or(domain_id, 0),
                .nccl = false,
                .text = text_of(rows)};
    event.nccl = domains_.is_nccl(event.process, event.domain) || (event.domain != 0 && looks_like_nccl(event.text));
    if (type == EventType::mark)
      mark(event, rows);
    else
      range(event, rows, type == EventType::nested ? timeline_.thread(*key, event.thread) : timeline_.ranges(*key));
  }

  std::string text_of(const Rows& rows) {
    if (!rows.is_null(text)) return std::string{rows.text(text)};
    const auto id = rows.integer(text_id);
    const auto found = id ? timeline_.names().text(*id) : std::nullopt;
    if (!found) builder_.quality().add(Counter::names_lost);
    return std::string{found.value_or("[unknown]")};
  }

  void mark(const Event& event, const Rows& rows) {
    const auto time = timeline_.moment(event.process, rows.integer(starts));
    if (!time) return;
    const std::uint32_t ticket =
        builder_.add_mark(timeline_.thread(event.process, event.thread), builder_.intern(event.text), *time);
    describe(event, rows, [&](StringId key, AttributeValue value) { builder_.add_mark_attribute(ticket, key, value); });
  }

  void range(const Event& event, const Rows& rows, LaneId lane) {
    const auto when = timeline_.when(event.process, rows.integer(starts), rows.integer(stops));
    if (!when) return;
    const RangeName name = parse_range_name(event.text);
    const RangeKind kind = event.nccl ? RangeKind{SpanKind::api, {}} : kind_of_range(name);
    const std::uint32_t ticket =
        builder_.add_span(lane, kind.kind, builder_.intern(name.name), when->time, when->flags);
    const auto add = [&](StringId key, AttributeValue value) { builder_.add_attribute(ticket, key, value); };
    const SpanAttributes attributes{builder_, ticket};
    attributes.number(index_key_, kind.index);
    attributes.number(sequence_key_, name.sequence);
    attributes.number(op_id_key_, name.op_id);
    attributes.json(sizes_key_, name.sizes);
    attributes.json(inputs_key_, name.inputs);
    describe(event, rows, add);
    if (event.nccl)
      nccl_call(event, when->time, payload(rows, add));
    else if (const FrameworkOp found = op_of_framework_range(name.name); !found.op.empty())
      calls_[event.thread].framework.push_back({when->time, found.op, found.peer});
  }

  template <class Add>
  void describe(const Event& event, const Rows& rows, const Add& add) {
    if (const StringId name = domains_.name(event.process, event.domain); name.is_set()) add(domain_key_, name);
    if (const auto id = rows.integer(category_id)) {
      const auto name = domains_.category(event.process, event.domain, *id);
      add(category_key_, name ? AttributeValue{*name} : AttributeValue{*id});
    }
    if (const auto value = rows.integer(color)) add(color_key_, *value);
    for (const Column column : {unsigned_64, signed_64, unsigned_32, signed_32})
      if (const auto value = rows.integer(column)) add(payload_key_, *value);
    for (const Column column : {real_64, real_32})
      if (const auto value = rows.real(column)) add(payload_key_, JsonText{builder_.intern(format("{}", *value))});
  }

  template <class Add>
  NcclPayload payload(const Rows& rows, const Add& add) {
    if (rows.is_null(binary)) return {};
    const auto decoded = schemas_.decode(payload_bytes(rows, binary));
    if (!decoded) {
      builder_.quality().add(Counter::payloads_undecoded);
      return {};
    }
    if (decoded->communicator) add(communicator_key_, builder_.intern(format("{:#x}", *decoded->communicator)));
    struct Field {
      std::string_view key;
      const std::optional<std::int64_t>& value;
    };
    for (const Field& field :
         {Field{"bytes", decoded->bytes}, Field{"nranks", decoded->ranks}, Field{"rank", decoded->rank},
          Field{"device", decoded->device}, Field{"root", decoded->root}, Field{"peer", decoded->peer},
          Field{"redop", decoded->reduction}})
      if (field.value) add(builder_.intern(field.key), *field.value);
    return *decoded;
  }

  void nccl_call(const Event& event, TimeRange time, const NcclPayload& payload) {
    NcclCall call{.time = time, .role = CallRole::operation, .op = op_of_nccl_call(event.text), .payload = payload};
    if (event.text == "ncclGroupStart") call.role = CallRole::group_start;
    if (event.text == "ncclGroupEnd") call.role = CallRole::group_end;
    if (call.role == CallRole::operation && call.op.empty()) return;
    calls_[event.thread].nccl.push_back(call);
  }

  const Database& database_;
  Timeline& timeline_;
  RunBuilder& builder_;
  const PayloadSchemas& schemas_;
  Domains domains_;
  CallsByThread calls_;
  StringId index_key_ = builder_.intern(keys::index);
  StringId sequence_key_ = builder_.intern(keys::sequence_number);
  StringId op_id_key_ = builder_.intern(keys::record_function_id);
  StringId sizes_key_ = builder_.intern(keys::input_dims);
  StringId inputs_key_ = builder_.intern("input_op_ids");
  StringId domain_key_ = builder_.intern("domain");
  StringId category_key_ = builder_.intern("category");
  StringId color_key_ = builder_.intern("color");
  StringId payload_key_ = builder_.intern("payload");
  StringId communicator_key_ = builder_.intern("communicator");
};

bool holds_payloads(const Database& database) {
  constexpr std::array<std::string_view, 1> wanted{"binaryData"};
  if (!database.has(nvtx_table, wanted[0])) return false;
  auto rows = database.rows(nvtx_table, wanted, "WHERE binaryData IS NOT NULL LIMIT 1");
  return rows && rows->next();
}

}  // namespace

Result<std::vector<Joined>> read_communicators(const Database& database, const PayloadSchemas& schemas) {
  std::vector<Joined> joined;
  if (!database.has(nvtx_table, "binaryData")) return joined;
  constexpr std::array<std::string_view, 2> wanted{"globalTid", "binaryData"};
  RS_TRY(Rows rows, database.rows(nvtx_table, wanted, "WHERE binaryData IS NOT NULL"));
  while (rows.next()) {
    const auto payload = schemas.decode(payload_bytes(rows, 1));
    if (!payload || !payload->communicator || !payload->rank || !payload->ranks) continue;
    if (*payload->rank < 0 || *payload->ranks <= *payload->rank) continue;
    joined.push_back({ProcessKey::of(rows.integer_or(0, 0)), *payload->communicator, *payload->ranks, *payload->rank});
  }
  RS_TRY_VOID(rows.finish());
  return joined;
}

Result<CallsByThread> read_nvtx(const Database& database, Timeline& timeline, const PayloadSchemas& schemas) {
  if (!database.has(nvtx_table)) return CallsByThread{};
  RS_TRY(Domains domains, Domains::read(database, timeline, schemas));
  return NvtxTable(database, timeline, schemas, std::move(domains)).read();
}

std::string export_with_payloads(const Database& database, const PayloadSchemas& schemas) {
  const std::string told = database.setting("META_DATA_EXPORT", "EXPORT_PARAM_INCLUDE_BLOBS");
  if (schemas.empty() || told == "true" || (told.empty() && holds_payloads(database))) return {};
  std::string report = database.setting("META_DATA_EXPORT", "EXPORT_PARAM_INPUT_FILE");
  if (report.empty()) report = database.path().stem().string() + ".nsys-rep";
  return format("nsys export --type sqlite --include-blobs=true --force-overwrite=true --output {} {}",
                database.file_name(), report);
}

}  // namespace rankscope::analyzer::nsys
