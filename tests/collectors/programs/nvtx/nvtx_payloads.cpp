// Scenes with the payload extension.
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <thread>

#include "nvtx_actor.h"

namespace {

enum class Mode : std::uint32_t { slow = 1, fast = 2 };

struct Inner {
  std::int16_t x;
  std::int16_t y;
};

struct Payload {
  std::int32_t number;
  float real;
  const char* text;
  char name[8];
  Mode mode;
  std::int16_t pair[2];
  Inner inner;
  std::uint8_t last;
};

#define FIELD(kind, field) \
  { 0, kind, #field, nullptr, 0, offsetof(Payload, field), nullptr, nullptr }

std::uint64_t register_schemas(nvtxDomainHandle_t domain) {
  const nvtxPayloadEnum_t modes[] = {{"slow", 1, 0}, {"fast", 2, 0}};
  nvtxPayloadEnumAttr_t mode{};
  mode.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES |
                   NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE;
  mode.entries = modes;
  mode.numEntries = 2;
  mode.sizeOfEnum = sizeof(Mode);
  const std::uint64_t mode_id = nvtxPayloadEnumRegister(domain, &mode);
  const nvtxPayloadSchemaEntry_t inner_fields[] = {
      {0, NVTX_PAYLOAD_ENTRY_TYPE_INT16, "x", nullptr, 0, 0, nullptr, nullptr},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_INT16, "y", nullptr, 0, 0, nullptr, nullptr},  // offset by natural alignment
  };
  nvtxPayloadSchemaAttr_t inner{};
  inner.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                    NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES;
  inner.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  inner.entries = inner_fields;
  inner.numEntries = 2;
  const std::uint64_t inner_id = nvtxPayloadSchemaRegister(domain, &inner);
  nvtxPayloadSchemaEntry_t fields[] = {
      FIELD(NVTX_PAYLOAD_ENTRY_TYPE_INT32, number),
      FIELD(NVTX_PAYLOAD_ENTRY_TYPE_FLOAT, real),
      FIELD(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, text),
      FIELD(NVTX_PAYLOAD_ENTRY_TYPE_CHAR, name),
      FIELD(mode_id, mode),
      FIELD(NVTX_PAYLOAD_ENTRY_TYPE_INT16, pair),
      FIELD(inner_id, inner),
      FIELD(NVTX_PAYLOAD_ENTRY_TYPE_UINT8, last),
  };
  fields[3].flags = fields[5].flags = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE;
  fields[3].arrayOrUnionDetail = 8;
  fields[5].arrayOrUnionDetail = 2;
  nvtxPayloadSchemaAttr_t schema = inner;
  schema.fieldMask |= NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
  schema.payloadStaticSize = sizeof(Payload);
  schema.entries = fields;
  schema.numEntries = sizeof fields / sizeof fields[0];
  return nvtxPayloadSchemaRegister(domain, &schema);
}

nvtxEventAttributes_t event_with(const char* name, const nvtxPayloadData_t* data) {
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = name;
  event.payloadType = NVTX_PAYLOAD_TYPE_EXT;
  event.reserved0 = 1;
  event.payload.ullValue = reinterpret_cast<std::uint64_t>(data);
  return event;
}

int payloads(int, char**) {
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("app");
  const std::uint64_t id = register_schemas(domain);
  const Payload payload{.number = -3,
                        .real = 0.5F,
                        .text = "pointed",
                        .name = "inplace",
                        .mode = Mode::fast,
                        .pair = {4, -5},
                        .inner = {6, -7},
                        .last = 200};
  const nvtxPayloadData_t data{id, sizeof payload, &payload};
  const nvtxEventAttributes_t event = event_with("with payload", &data);
  nvtxDomainRangePushEx(domain, &event);
  nvtxDomainRangePop(domain);
  nvtxRangePushPayload(domain, &data, 1);
  nvtxDomainRangePop(domain);
  return nvtxDomainIsEnabled(domain) == 1 && id >= NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START ? 0 : 1;
}

/// Category, colour and a plain payload on a mark and on a started range of a domain.
int described(int, char**) {
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("app");
  nvtxDomainNameCategoryA(domain, 4, "io");
  nvtxEventAttributes_t event = event_with("mark", nullptr);
  event.category = 4;
  event.colorType = NVTX_COLOR_ARGB;
  event.color = 0xFF112233;
  event.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
  event.payload.dValue = 2.5;
  nvtxDomainMarkEx(domain, &event);
  event.message.ascii = "range";
  const nvtxRangeId_t range = nvtxDomainRangeStartEx(domain, &event);
  std::thread{[&] { nvtxDomainRangeEnd(domain, range); }}.join();
  event.message.ascii = "of no domain";
  nvtxMarkEx(&event);
  nvtxRangeEnd(nvtxRangeStartEx(&event));
  return 0;
}

/// Payloads of the extension on marks and on started ranges; one is told when the range ends, by another thread.
int described_by_payload(int, char**) {
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("app");
  const nvtxPayloadSchemaEntry_t field{0, NVTX_PAYLOAD_ENTRY_TYPE_INT32, "number", nullptr, 0, 0, nullptr, nullptr};
  nvtxPayloadSchemaAttr_t schema{};
  schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES;
  schema.name = "counted";
  schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  schema.entries = &field;
  schema.numEntries = 1;
  const std::uint64_t id = nvtxPayloadSchemaRegister(domain, &schema);
  const std::int32_t number = 7;
  const std::int32_t text_bytes = 5;
  const nvtxPayloadData_t data{id, sizeof number, &number};
  const nvtxPayloadData_t text{NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, text_bytes, "text"};
  const nvtxEventAttributes_t event = event_with("with payload", &data);
  nvtxDomainMarkEx(domain, &event);
  nvtxMarkPayload(domain, &data, 1);
  nvtxDomainRangeEnd(domain, nvtxDomainRangeStartEx(domain, &event));
  const nvtxRangeId_t range = nvtxRangeStartPayload(domain, &data, 1);
  std::thread{[&] { nvtxRangeEndPayload(domain, range, &text, 1); }}.join();
  return 0;
}

/// As NCCL does: the schema names an enumeration that is registered later.
int late_enum(int, char**) {
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("app");
  constexpr std::uint64_t enum_id = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 9;
  const nvtxPayloadSchemaEntry_t field{0, enum_id, "mode", nullptr, 0, 0, nullptr, nullptr};
  nvtxPayloadSchemaAttr_t schema{};
  schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES;
  schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  schema.entries = &field;
  schema.numEntries = 1;
  const std::uint64_t id = nvtxPayloadSchemaRegister(domain, &schema);
  const Mode mode = Mode::slow;
  const nvtxPayloadData_t data{id, sizeof mode, &mode};
  const nvtxEventAttributes_t before = event_with("before", &data);
  nvtxDomainRangePushEx(domain, &before);
  nvtxDomainRangePop(domain);
  const nvtxPayloadEnum_t names[] = {{"slow", 1, 0}};
  nvtxPayloadEnumAttr_t known{};
  known.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES |
                    NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE | NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID;
  known.entries = names;
  known.numEntries = 1;
  known.sizeOfEnum = sizeof(Mode);
  known.schemaId = enum_id;
  nvtxPayloadEnumRegister(domain, &known);
  const nvtxEventAttributes_t after = event_with("after", &data);
  nvtxDomainRangePushEx(domain, &after);
  nvtxDomainRangePop(domain);
  return 0;
}

int undecodable(int, char**) {
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("app");
  const std::uint64_t id = register_schemas(domain);
  const char shortened[4] = {};
  const nvtxPayloadData_t unknown{NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 77, 4, shortened};
  const nvtxPayloadData_t cut{id, sizeof shortened, shortened};
  for (const nvtxPayloadData_t* data : {&unknown, &cut}) {
    const nvtxEventAttributes_t event = event_with("undecodable", data);
    nvtxDomainRangePushEx(domain, &event);
    nvtxDomainRangePop(domain);
  }
  return 0;
}

/// As NCCL does at the end of ncclCommInitRank: rank and size come with the pop.
int communicator(int, char**) {
  struct Init {
    std::uint64_t comm;
    std::int32_t nranks, rank, device, padding;
  };
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("NCCL");
  const nvtxPayloadSchemaEntry_t fields[] = {
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "NCCL communicator ID", nullptr, 0, 0, nullptr, nullptr},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_INT, "No. of ranks", nullptr, 0, offsetof(Init, nranks), nullptr, nullptr},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_INT, "Rank", nullptr, 0, offsetof(Init, rank), nullptr, nullptr},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_INT, "CUDA device", nullptr, 0, offsetof(Init, device), nullptr, nullptr},
  };
  nvtxPayloadSchemaAttr_t schema{};
  schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID;
  schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  schema.entries = fields;
  schema.numEntries = 4;
  schema.payloadStaticSize = sizeof(Init);
  schema.schemaId = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START;
  const std::uint64_t id = nvtxPayloadSchemaRegister(domain, &schema);
  nvtxEventAttributes_t event = event_with("ncclCommInitRank", nullptr);
  event.payloadType = NVTX_PAYLOAD_UNKNOWN;
  nvtxDomainRangePushEx(domain, &event);
  const Init init{0xABCDEF0123456789, 8, 3, 1, -1};
  const nvtxPayloadData_t data{id, sizeof init, &init};
  nvtxRangePopPayload(domain, &data, 1);
  return id == NVTX_PAYLOAD_SCHEMA_ID_STATIC_START ? 0 : 1;
}

/// An event that happened earlier and is submitted with its payload.
int deferred(int, char**) {
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("app");
  const nvtxPayloadSchemaEntry_t field{0, NVTX_PAYLOAD_ENTRY_TYPE_INT64, "begin", nullptr, 0, 0, nullptr, nullptr};
  nvtxPayloadSchemaAttr_t schema{};
  schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES;
  schema.name = "late news";
  schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  schema.entries = &field;
  schema.numEntries = 1;
  const std::uint64_t id = nvtxPayloadSchemaRegister(domain, &schema);
  const std::int64_t begin = 42;
  const nvtxPayloadData_t data{id, sizeof begin, &begin};
  nvtxEventSubmit(domain, &data, 1);
  return 0;
}

/// nccl PATH: the real library's ncclAllReduce and ncclReduce with a communicator that is none.
int nccl(int, char** words) {
  void* const library = dlopen(words[0], RTLD_NOW);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 77;
  }
  using AllReduce = int (*)(const void*, void*, std::size_t, int type, int op, void* comm, void* stream);
  using Reduce = int (*)(const void*, void*, std::size_t, int type, int op, int root, void* comm, void* stream);
  const auto all_reduce = reinterpret_cast<AllReduce>(dlsym(library, "ncclAllReduce"));
  const auto reduce = reinterpret_cast<Reduce>(dlsym(library, "ncclReduce"));
  constexpr int bfloat16 = 9;
  constexpr int max = 2;
  const bool refused = all_reduce(nullptr, nullptr, 1000, bfloat16, max, nullptr, nullptr) != 0;
  return refused && reduce(nullptr, nullptr, 10, bfloat16, 0, 5, nullptr, nullptr) != 0 ? 0 : 1;
}

}  // namespace

void add_payload_scenes(std::map<std::string, Scene>& scenes) {
  scenes["payloads"] = payloads;
  scenes["described"] = described;
  scenes["described_by_payload"] = described_by_payload;
  scenes["late_enum"] = late_enum;
  scenes["undecodable"] = undecodable;
  scenes["communicator"] = communicator;
  scenes["deferred"] = deferred;
  scenes["nccl"] = nccl;
}
