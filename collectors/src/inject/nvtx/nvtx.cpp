// The NVTX injection: takes the functions of every copy of NVTX in the process. No copy is special, none is remembered.
#include <unistd.h>

#include "inject/nccl/version.h"
#include "inject/nvtx/event.h"
#include "inject/nvtx/payload.h"
#include "inject/recorder/recorder.h"

namespace rankscope::inject {
namespace {

constexpr auto marked_by_nvtx = WindowControl::MarkedBy::nvtx;

std::string_view message_text(const char* value) {
  return value == nullptr ? std::string_view{} : std::string_view{value};
}

/// Calls with the UTF-8 of a wide text.
template <class Function>
auto with_narrow(const wchar_t* wide, Function&& function) {
  Scratch scratch;
  return function(narrow(wide, scratch.data(), scratch.size()));
}

// --- what an event does ---

int push(Domain& domain, std::string_view name) {
  return guarded([&]() -> int {
    ThreadState* const thread = here();
    if (thread == nullptr) return NVTX_NO_PUSH_POP_TRACKING;
    const int level = thread->push(&domain, domain.kind, name, marked_by_nvtx);
    if (domain.names_it && thread->takes_attributes(&domain)) {
      thread->pen().attribute("domain", std::string_view{domain.name});
    }
    return level;
  });
}

/// The thread if what is told now belongs to the innermost range of that domain.
ThreadState* described(const Domain& domain) {
  ThreadState* const thread = here();
  return thread != nullptr && thread->takes_attributes(&domain) ? thread : nullptr;
}

int push_event(Domain& domain, const nvtxEventAttributes_t& event) {
  Scratch scratch;
  const std::string_view name = message_of(event, scratch);
  const int level = push(domain, name);
  if (is_plain(event)) return level;
  guarded([&] {
    ThreadState* const thread = described(domain);
    if (thread == nullptr) return;
    if (domain.is_nccl) {
      nccl::report_version(thread->pen());
      thread->pen().attribute("op", name);
    }
    write_attributes({thread->pen()}, domain, event);
  });
  return level;
}

int pop(Domain& domain) {
  return guarded([&]() -> int {
    ThreadState* const thread = here();
    return thread == nullptr ? NVTX_NO_PUSH_POP_TRACKING : thread->pop(&domain);
  });
}

// Ranges that may end on another thread. Bit 63 of the id says that the start was not stored.
std::atomic<std::uint64_t> next_range{1};
constexpr std::uint64_t unstored = 1ULL << 63;

/// `describe` tells the attributes of the new range, once it is stored.
template <class Describe>
nvtxRangeId_t start(const Domain& domain, std::string_view name, Describe&& describe) {
  const std::uint64_t id = next_range.fetch_add(1, std::memory_order_relaxed);
  return guarded([&]() -> nvtxRangeId_t {
    ThreadState* const thread = here();
    if (thread == nullptr || !gate.open.load(std::memory_order_relaxed)) return id | unstored;
    if (!thread->pen().range_start(domain.kind, name, id)) return id | unstored;
    const AttributePen pen{thread->pen(), recording::Owner::range(id)};
    if (domain.names_it) pen.attribute("domain", std::string_view{domain.name});
    describe(pen);
    return id;
  });
}

template <class Describe>
void mark(const Domain& domain, std::string_view name, Describe&& describe) {
  guarded([&] {
    ThreadState* const thread = here();
    if (thread == nullptr || !thread->mark(name)) return;
    const AttributePen pen{thread->pen(), recording::Owner::latest_mark()};
    if (domain.names_it) pen.attribute("domain", std::string_view{domain.name});
    describe(pen);
  });
}

constexpr auto nothing_more = [](const AttributePen&) {};
nvtxRangeId_t start(std::string_view name) { return start(domain_of(nullptr), name, nothing_more); }
void mark(std::string_view name) { mark(domain_of(nullptr), name, nothing_more); }

nvtxRangeId_t start_event(const Domain& domain, const nvtxEventAttributes_t& event) {
  Scratch scratch;
  return start(domain, message_of(event, scratch),
               [&](const AttributePen& pen) { write_attributes(pen, domain, event); });
}

void mark_event(const Domain& domain, const nvtxEventAttributes_t& event) {
  Scratch scratch;
  mark(domain, message_of(event, scratch), [&](const AttributePen& pen) { write_attributes(pen, domain, event); });
}

/// `describe` may tell more of a range when it ends.
template <class Describe>
void end(nvtxRangeId_t id, Describe&& describe) {
  if ((id & unstored) != 0) return;
  guarded([&] {
    ThreadState* const thread = here();
    if (thread == nullptr) return;
    describe(AttributePen{thread->pen(), recording::Owner::range(id)});
    thread->pen().range_end(id);
  });
}
void end(nvtxRangeId_t id) { end(id, nothing_more); }

/// Only a thread can name itself in a recording; programs do not name others.
void name_thread(std::uint64_t id, std::string_view name) {
  guarded([&] {
    ThreadState* const thread = here();
    if (thread != nullptr && id == static_cast<std::uint64_t>(gettid())) thread->pen().thread_name(name);
  });
}

void name_category(Domain& domain, std::uint32_t id, std::string_view name) {
  guarded([&] {
    auto* const category = new Category;
    category->id = id;
    category->name = name;
    domain.categories.add(category);
  });
}

nvtxStringHandle_t register_string(std::string_view value) {
  return guarded([&] { return reinterpret_cast<nvtxStringHandle_t>(new RegisteredString{std::string{value}}); });
}

nvtxDomainHandle_t create_domain(std::string_view name) {
  return guarded([&] { return reinterpret_cast<nvtxDomainHandle_t>(new_domain(name)); });
}

/// A program that runs without a tool may give none.
const nvtxEventAttributes_t& given(const nvtxEventAttributes_t* event) {
  static constexpr nvtxEventAttributes_t none{};
  return event == nullptr ? none : *event;
}

// --- NVTX's functions, module CORE ---

void core_mark_ex(const nvtxEventAttributes_t* event) { mark_event(domain_of(nullptr), given(event)); }
void core_mark_a(const char* message) { mark(message_text(message)); }
void core_mark_w(const wchar_t* message) {
  with_narrow(message, [](std::string_view name) { mark(name); });
}
nvtxRangeId_t core_start_ex(const nvtxEventAttributes_t* event) {
  return start_event(domain_of(nullptr), given(event));
}
nvtxRangeId_t core_start_a(const char* message) { return start(message_text(message)); }
nvtxRangeId_t core_start_w(const wchar_t* message) {
  return with_narrow(message, [](std::string_view name) { return start(name); });
}
void core_end(nvtxRangeId_t id) { end(id); }
int core_push_ex(const nvtxEventAttributes_t* event) { return push_event(domain_of(nullptr), given(event)); }
int core_push_a(const char* message) { return push(domain_of(nullptr), message_text(message)); }
int core_push_w(const wchar_t* message) {
  return with_narrow(message, [](std::string_view name) { return push(domain_of(nullptr), name); });
}
int core_pop() { return pop(domain_of(nullptr)); }
void core_category_a(std::uint32_t id, const char* name) { name_category(domain_of(nullptr), id, message_text(name)); }
void core_category_w(std::uint32_t id, const wchar_t* name) {
  with_narrow(name, [&](std::string_view value) { name_category(domain_of(nullptr), id, value); });
}
void core_thread_a(std::uint32_t id, const char* name) { name_thread(id, message_text(name)); }
void core_thread_w(std::uint32_t id, const wchar_t* name) {
  with_narrow(name, [&](std::string_view value) { name_thread(id, value); });
}

// --- module CORE2 ---

void domain_mark_ex(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  mark_event(domain_of(domain), given(event));
}
nvtxRangeId_t domain_start_ex(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  return start_event(domain_of(domain), given(event));
}
void domain_end(nvtxDomainHandle_t, nvtxRangeId_t id) { end(id); }
int domain_push_ex(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  return push_event(domain_of(domain), given(event));
}
int domain_pop(nvtxDomainHandle_t domain) { return pop(domain_of(domain)); }
nvtxResourceHandle_t domain_resource_create(nvtxDomainHandle_t domain, nvtxResourceAttributes_t* resource) {
  if (resource != nullptr && resource->identifierType == NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE &&
      resource->messageType == NVTX_MESSAGE_TYPE_ASCII) {
    name_thread(resource->identifier.ullValue, message_text(resource->message.ascii));
  }
  return reinterpret_cast<nvtxResourceHandle_t>(&domain_of(domain));  // never looked into
}
void domain_category_a(nvtxDomainHandle_t domain, std::uint32_t id, const char* name) {
  name_category(domain_of(domain), id, message_text(name));
}
void domain_category_w(nvtxDomainHandle_t domain, std::uint32_t id, const wchar_t* name) {
  with_narrow(name, [&](std::string_view value) { name_category(domain_of(domain), id, value); });
}
nvtxStringHandle_t domain_string_a(nvtxDomainHandle_t, const char* value) {
  return register_string(message_text(value));
}
nvtxStringHandle_t domain_string_w(nvtxDomainHandle_t, const wchar_t* value) {
  return with_narrow(value, register_string);
}
nvtxDomainHandle_t domain_create_a(const char* name) { return create_domain(message_text(name)); }
nvtxDomainHandle_t domain_create_w(const wchar_t* name) {
  return with_narrow(name, [](std::string_view narrow) { return create_domain(narrow); });
}

// --- payload extension ---

std::uint64_t schema_register(nvtxDomainHandle_t domain, const nvtxPayloadSchemaAttr_t* schema) {
  return guarded([&] { return register_schema(domain_of(domain), *schema); });
}
std::uint64_t enum_register(nvtxDomainHandle_t domain, const nvtxPayloadEnumAttr_t* enumeration) {
  return guarded([&] { return register_enum(domain_of(domain), *enumeration); });
}
void describe(const Domain& domain, const nvtxPayloadData_t* payloads, std::size_t payload_count) {
  guarded([&] {
    if (ThreadState* const thread = described(domain))
      write_payloads({thread->pen()}, domain, {payloads, payload_count});
  });
}
std::string_view name_from(const Domain& domain, const nvtxPayloadData_t* payloads, std::size_t payload_count) {
  const PayloadSchema* const schema = payload_count > 0 ? domain.schemas.find(payloads->schemaId) : nullptr;
  return schema != nullptr ? std::string_view{schema->name} : std::string_view{};
}
void mark_payload(nvtxDomainHandle_t handle, const nvtxPayloadData_t* payloads, std::size_t payload_count) {
  const Domain& domain = domain_of(handle);
  mark(domain, name_from(domain, payloads, payload_count), [&](const AttributePen& pen) {
    write_payloads(pen, domain, {payloads, payload_count});
  });
}
int push_payload(nvtxDomainHandle_t handle, const nvtxPayloadData_t* payloads, std::size_t payload_count) {
  Domain& domain = domain_of(handle);
  const int level = push(domain, name_from(domain, payloads, payload_count));
  describe(domain, payloads, payload_count);
  return level;
}
/// NCCL tells rank and size of a new communicator here, when its range ends.
int pop_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* payloads, std::size_t payload_count) {
  describe(domain_of(domain), payloads, payload_count);
  return pop(domain_of(domain));
}
nvtxRangeId_t start_payload(nvtxDomainHandle_t handle, const nvtxPayloadData_t* payloads, std::size_t payload_count) {
  const Domain& domain = domain_of(handle);
  return start(domain, name_from(domain, payloads, payload_count), [&](const AttributePen& pen) {
    write_payloads(pen, domain, {payloads, payload_count});
  });
}
void end_payload(nvtxDomainHandle_t domain, nvtxRangeId_t id, const nvtxPayloadData_t* payloads,
                 std::size_t payload_count) {
  end(id, [&](const AttributePen& pen) { write_payloads(pen, domain_of(domain), {payloads, payload_count}); });
}
std::uint8_t domain_is_enabled(nvtxDomainHandle_t) { return 1; }
std::uint64_t scope_register(nvtxDomainHandle_t, const nvtxScopeAttr_t* scope) {
  static std::atomic<std::uint64_t> next_scope{NVTX_SCOPE_ID_DYNAMIC_START};
  return scope->scopeId != NVTX_SCOPE_NONE ? scope->scopeId : next_scope.fetch_add(1);
}
std::int64_t timestamp_get() { return static_cast<std::int64_t>(recording::TickClock::now_monotonic()); }
/// A mark of the moment at which the event is submitted: its own times, on a clock of the program, are among its
/// attributes.
void event_submit(nvtxDomainHandle_t handle, const nvtxPayloadData_t* payloads, std::size_t payload_count) {
  const Domain& domain = domain_of(handle);
  mark(domain, name_from(domain, payloads, payload_count), [&](const AttributePen& pen) {
    pen.attribute("deferred", std::int64_t{1});
    write_payloads(pen, domain, {payloads, payload_count});
  });
}

// --- installation ---

/// The functions of one module of one copy of NVTX; slots that a copy does not have are left alone.
class ModuleTable {
 public:
  ModuleTable(const NvtxExportTableCallbacks& callbacks, NvtxCallbackModule module) {
    if (callbacks.GetModuleFunctionTable(module, &table_, &size_) == 0) size_ = 0;
  }
  template <class Type>
  void take(unsigned index, Type function) {
    if (index < size_ && table_[index] != nullptr) *table_[index] = reinterpret_cast<NvtxFunctionPointer>(function);
  }

 private:
  NvtxFunctionTable table_ = nullptr;
  unsigned size_ = 0;
};

void take_core(const NvtxExportTableCallbacks& callbacks) {
  ModuleTable table{callbacks, NVTX_CB_MODULE_CORE};
  table.take<nvtxMarkEx_impl_fntype>(NVTX_CBID_CORE_MarkEx, core_mark_ex);
  table.take<nvtxMarkA_impl_fntype>(NVTX_CBID_CORE_MarkA, core_mark_a);
  table.take<nvtxMarkW_impl_fntype>(NVTX_CBID_CORE_MarkW, core_mark_w);
  table.take<nvtxRangeStartEx_impl_fntype>(NVTX_CBID_CORE_RangeStartEx, core_start_ex);
  table.take<nvtxRangeStartA_impl_fntype>(NVTX_CBID_CORE_RangeStartA, core_start_a);
  table.take<nvtxRangeStartW_impl_fntype>(NVTX_CBID_CORE_RangeStartW, core_start_w);
  table.take<nvtxRangeEnd_impl_fntype>(NVTX_CBID_CORE_RangeEnd, core_end);
  table.take<nvtxRangePushEx_impl_fntype>(NVTX_CBID_CORE_RangePushEx, core_push_ex);
  table.take<nvtxRangePushA_impl_fntype>(NVTX_CBID_CORE_RangePushA, core_push_a);
  table.take<nvtxRangePushW_impl_fntype>(NVTX_CBID_CORE_RangePushW, core_push_w);
  table.take<nvtxRangePop_impl_fntype>(NVTX_CBID_CORE_RangePop, core_pop);
  table.take<nvtxNameCategoryA_impl_fntype>(NVTX_CBID_CORE_NameCategoryA, core_category_a);
  table.take<nvtxNameCategoryW_impl_fntype>(NVTX_CBID_CORE_NameCategoryW, core_category_w);
  table.take<nvtxNameOsThreadA_impl_fntype>(NVTX_CBID_CORE_NameOsThreadA, core_thread_a);
  table.take<nvtxNameOsThreadW_impl_fntype>(NVTX_CBID_CORE_NameOsThreadW, core_thread_w);
}

void take_core2(const NvtxExportTableCallbacks& callbacks) {
  ModuleTable table{callbacks, NVTX_CB_MODULE_CORE2};
  table.take<nvtxDomainMarkEx_impl_fntype>(NVTX_CBID_CORE2_DomainMarkEx, domain_mark_ex);
  table.take<nvtxDomainRangeStartEx_impl_fntype>(NVTX_CBID_CORE2_DomainRangeStartEx, domain_start_ex);
  table.take<nvtxDomainRangeEnd_impl_fntype>(NVTX_CBID_CORE2_DomainRangeEnd, domain_end);
  table.take<nvtxDomainRangePushEx_impl_fntype>(NVTX_CBID_CORE2_DomainRangePushEx, domain_push_ex);
  table.take<nvtxDomainRangePop_impl_fntype>(NVTX_CBID_CORE2_DomainRangePop, domain_pop);
  table.take<nvtxDomainResourceCreate_impl_fntype>(NVTX_CBID_CORE2_DomainResourceCreate, domain_resource_create);
  table.take<nvtxDomainNameCategoryA_impl_fntype>(NVTX_CBID_CORE2_DomainNameCategoryA, domain_category_a);
  table.take<nvtxDomainNameCategoryW_impl_fntype>(NVTX_CBID_CORE2_DomainNameCategoryW, domain_category_w);
  table.take<nvtxDomainRegisterStringA_impl_fntype>(NVTX_CBID_CORE2_DomainRegisterStringA, domain_string_a);
  table.take<nvtxDomainRegisterStringW_impl_fntype>(NVTX_CBID_CORE2_DomainRegisterStringW, domain_string_w);
  table.take<nvtxDomainCreateA_impl_fntype>(NVTX_CBID_CORE2_DomainCreateA, domain_create_a);
  table.take<nvtxDomainCreateW_impl_fntype>(NVTX_CBID_CORE2_DomainCreateW, domain_create_w);
}

template <class Function>
void take_slot(const nvtxExtModuleSegment_t& segment, std::size_t index, Function* function) {
  if (index < segment.slotCount) segment.functionSlots[index] = reinterpret_cast<std::intptr_t>(function);
}

void take_payload(const nvtxExtModuleSegment_t& segment) {
  take_slot(segment, NVTX3EXT_CBID_nvtxPayloadSchemaRegister, schema_register);
  take_slot(segment, NVTX3EXT_CBID_nvtxPayloadEnumRegister, enum_register);
  take_slot(segment, NVTX3EXT_CBID_nvtxMarkPayload, mark_payload);
  take_slot(segment, NVTX3EXT_CBID_nvtxRangePushPayload, push_payload);
  take_slot(segment, NVTX3EXT_CBID_nvtxRangePopPayload, pop_payload);
  take_slot(segment, NVTX3EXT_CBID_nvtxRangeStartPayload, start_payload);
  take_slot(segment, NVTX3EXT_CBID_nvtxRangeEndPayload, end_payload);
  take_slot(segment, NVTX3EXT_CBID_nvtxDomainIsEnabled, domain_is_enabled);
  take_slot(segment, NVTX3EXT_CBID_nvtxScopeRegister, scope_register);
  take_slot(segment, NVTX3EXT_CBID_nvtxTimestampGet, timestamp_get);
  take_slot(segment, NVTX3EXT_CBID_nvtxEventSubmit, event_submit);
}

/// 1 = attached. 0 makes the copy of NVTX forget us: its functions stay no-ops.
int attach(NvtxGetExportTableFunc_t export_table) {
  if (export_table == nullptr || !collects(collectors::Source::nvtx)) return 0;
  const auto* const callbacks = static_cast<const NvtxExportTableCallbacks*>(export_table(NVTX_ETID_CALLBACKS));
  if (callbacks == nullptr || callbacks->struct_size < sizeof(NvtxExportTableCallbacks)) return 0;
  take_core(*callbacks);
  take_core2(*callbacks);
  return 1;
}

constexpr std::uint16_t payload_module = 2;

}  // namespace
}  // namespace rankscope::inject

#define RANKSCOPE_EXPORT extern "C" __attribute__((visibility("default")))

RANKSCOPE_EXPORT int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t export_table) {
  return rankscope::inject::attach(export_table);
}
/// The same for the NVTX 2 library libnvToolsExt.so.
RANKSCOPE_EXPORT int InitializeInjectionNvtx(NvtxGetExportTableFunc_t export_table) {
  return rankscope::inject::attach(export_table);
}
RANKSCOPE_EXPORT int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t* module) {
  using namespace rankscope::inject;
  if (module == nullptr || module->moduleId != payload_module || module->segmentsCount == 0) return 0;
  if (!collects(rankscope::collectors::Source::nvtx)) return 0;
  take_payload(module->segments[0]);
  return 1;
}
