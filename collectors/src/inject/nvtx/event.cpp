#include "inject/nvtx/event.h"

#include <charconv>
#include <cstddef>

#include "inject/nvtx/payload.h"
#include "inject/recorder/recorder.h"

namespace rankscope::inject {
namespace {

void write_real(const AttributePen& pen, std::string_view key, double value) {
  std::array<char, 32> text;
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc{})
    pen.attribute(key, std::string_view{text.data(), static_cast<std::size_t>(end - text.data())});
}

void write_payload(const AttributePen& pen, const Domain& domain, const nvtxEventAttributes_t& event) {
  constexpr std::string_view key = "payload";
  switch (event.payloadType) {
    case NVTX_PAYLOAD_UNKNOWN:
      return;
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT64:
      return pen.attribute(key, static_cast<std::int64_t>(event.payload.ullValue));
    case NVTX_PAYLOAD_TYPE_INT64:
      return pen.attribute(key, event.payload.llValue);
    case NVTX_PAYLOAD_TYPE_DOUBLE:
      return write_real(pen, key, event.payload.dValue);
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT32:
      return pen.attribute(key, std::int64_t{event.payload.uiValue});
    case NVTX_PAYLOAD_TYPE_INT32:
      return pen.attribute(key, std::int64_t{event.payload.iValue});
    case NVTX_PAYLOAD_TYPE_FLOAT:
      return write_real(pen, key, static_cast<double>(event.payload.fValue));
    default:
      break;
  }
  if (event.payloadType != NVTX_PAYLOAD_TYPE_EXT || event.reserved0 <= 0) return count(Trouble::payloads_undecoded);
  const auto* const data = reinterpret_cast<const nvtxPayloadData_t*>(event.payload.ullValue);
  write_payloads(pen, domain, {data, static_cast<std::size_t>(event.reserved0)});
}

}  // namespace

std::string_view message_of(const nvtxEventAttributes_t& event, Scratch& scratch) {
  constexpr std::size_t with_message = offsetof(nvtxEventAttributes_t, message) + sizeof event.message;
  if (event.size < with_message || event.message.ascii == nullptr) return {};
  switch (event.messageType) {
    case NVTX_MESSAGE_TYPE_ASCII:
      return event.message.ascii;
    case NVTX_MESSAGE_TYPE_UNICODE:
      return narrow(event.message.unicode, scratch.data(), scratch.size());
    case NVTX_MESSAGE_TYPE_REGISTERED:
      return reinterpret_cast<const RegisteredString*>(event.message.registered)->text;
    default:
      return {};
  }
}

void write_attributes(const AttributePen& pen, const Domain& domain, const nvtxEventAttributes_t& event) {
  if (event.category != 0) {
    const Category* const category = domain.categories.find(event.category);
    if (category != nullptr) {
      pen.attribute("category", std::string_view{category->name});
    } else {
      pen.attribute("category", std::int64_t{event.category});
    }
  }
  if (event.colorType == NVTX_COLOR_ARGB) pen.attribute("color", std::int64_t{event.color});
  write_payload(pen, domain, event);
}

}  // namespace rankscope::inject
