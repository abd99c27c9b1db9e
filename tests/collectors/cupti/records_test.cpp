// Activity records as bytes -> what they say.
#include "cupti/records.h"

#include <gmock/gmock.h>

#include "programs/cupti/cupti_builder.h"

namespace rankscope::collectors::cupti {
namespace {

using namespace rankscope::testing;
using recording::Item;

Texts plain_texts() {
  const auto text = [](void*, std::uint64_t address) {
    const auto* const name = reinterpret_cast<const char*>(static_cast<std::uintptr_t>(address));
    return std::string_view{name == nullptr ? "" : name};
  };
  return {
      .kernel = text, .text = text, .call = [](void*, CallDomain, std::uint32_t) { return std::string_view{"call"}; }};
}

class Decoding {
 public:
  explicit Decoding(std::uint32_t version) : version_(version), decoder_(version, 4711, plain_texts(), contexts_) {}
  const Decoded& operator()(const ActivityRecord& record) { return decoder_.decode(record.bytes()); }
  const Decoded& operator()(std::span<const std::byte> bytes) { return decoder_.decode(bytes); }
  [[nodiscard]] std::uint32_t version() const { return version_; }

 private:
  std::uint32_t version_;
  Contexts contexts_;
  RecordDecoder decoder_;
};

std::string text_of(const Item& item) {
  return std::string{item.key} + "=" +
         (item.text.data() == nullptr ? std::to_string(item.number) : std::string{item.text});
}
std::vector<std::string> texts_of(const Decoded& decoded) {
  std::vector<std::string> texts;
  for (const Item& item : decoded.items()) texts.push_back(text_of(item));
  return texts;
}

TEST(CuptiRecords, ARecordThatIsCutIsUnknownAtEveryLength) {
  Decoding decode{130001};
  const Numbers n{.start = 5, .end = 9, .correlation = 3};
  for (const ActivityRecord& record :
       {make_kernel(130001, n, "k"), make_copy(130001, n, 1), make_peer_copy(130001, n, 1), make_set(130001, n, 1),
        make_call(5, 1, 2, n), make_event(130001, n, 1, 1), make_wait(130001, n, 1, 1), make_overhead(130001, 1, 1, n),
        make_memory(130001, true, 1, n), make_pool(130001, 1, 1, n), make_device(130001, 0, "d"),
        make_graph(130001, n, 1)}) {
    std::size_t shortest = 0;
    while (shortest <= record.bytes().size() &&
           decode(std::span{record.bytes()}.first(shortest)).shape == Decoded::Shape::unknown)
      ++shortest;
    EXPECT_GT(shortest, 20U);
    EXPECT_LE(shortest, record.bytes().size());
  }
}

TEST(CuptiRecords, AWaitIsOnTheDeviceOfItsContext) {
  Decoding decode{130001};
  EXPECT_EQ(decode(make_context(130001, 3, 2)).shape, Decoded::Shape::left_out);
  EXPECT_EQ(decode(make_wait(130001, {.start = 1, .end = 2, .context = 3}, 5, 6)).activity.device, 2U);
  EXPECT_EQ(decode(make_wait(130001, {.start = 1, .end = 2, .context = 4}, 5, 6)).activity.device, 0U) << "not known";
  decode(make_context(130001, 3, 1));
  EXPECT_EQ(decode(make_wait(130001, {.start = 1, .end = 2, .context = 3}, 5, 6)).activity.device, 1U)
      << "its number was used again";
}

TEST(CuptiRecords, MoreContextsThanAreRememberedAreOfNoHarm) {
  Decoding decode{130001};
  for (std::uint32_t context = 1; context < 200; ++context) decode(make_context(130001, context, 1));
  EXPECT_EQ(decode(make_wait(130001, {.start = 1, .end = 2, .context = 64}, 5, 6)).activity.device, 1U);
  EXPECT_EQ(decode(make_wait(130001, {.start = 1, .end = 2, .context = 150}, 5, 6)).activity.device, 0U);
}

TEST(CuptiRecords, NumbersOfEventsAreReadOnlyWhereTheVersionHasThem) {
  // In 12.4 what lies behind is the next record.
  auto bytes = make_wait(22, {.start = 1, .end = 2}, 5, 0).bytes();
  bytes.resize(96, std::byte{0x77});
  Decoding old{22};
  EXPECT_THAT(texts_of(old(bytes)), ::testing::ElementsAre("wait_on_cuda_event_id=5"));
  Decoding numbered{26};
  EXPECT_THAT(texts_of(numbered(make_wait(26, {.start = 1, .end = 2}, 5, 6))),
              ::testing::ElementsAre("wait_on_cuda_event_id=5", "event_sync_id=6"));
}

TEST(CuptiRecords, TheDeviceTimeOfAnEventExistsFrom13On) {
  Decoding older{28};
  EXPECT_EQ(older(make_event(28, {.start = 99}, 1, 2)).activity.begin, 0);
  Decoding newer{130001};
  EXPECT_EQ(newer(make_event(130001, {.start = 99}, 1, 2)).activity.begin, 99);
}

TEST(CuptiRecords, KernelsOfGraphsAndClustersSaySo) {
  Decoding decode{130001};
  auto kernel = make_kernel(130001, {.start = 1, .end = 2}, "k");
  kernel.put(144, std::uint64_t{1} << 40).put(156, std::uint32_t{6}).put(176, std::uint32_t{2});
  const auto texts = texts_of(decode(kernel));
  EXPECT_THAT(texts, ::testing::IsSupersetOf({"graph node id=1099511627776", "graph id=6", "cluster=[2,0,0]"}));
}

TEST(CuptiRecords, AGraphThatIsRecordedAsAWholeIsOneSpan) {
  Decoding decode{130001};
  const Decoded& graph = decode(make_graph(130001, {.start = 10, .end = 30, .correlation = 4}, 12));
  EXPECT_EQ(graph.kind, SpanKind::graph);
  EXPECT_EQ(graph.name, "CUDA graph 12");
  EXPECT_EQ(graph.activity.end - graph.activity.begin, 20);
}

TEST(CuptiRecords, OverheadOfNoThreadIsOnTheProcess) {
  Decoding decode{130001};
  auto overhead = make_overhead(130001, 1, 99, {.start = 1, .end = 2});
  EXPECT_EQ(decode(overhead).call.thread, 99);
  overhead.put(8, std::uint32_t{1});
  EXPECT_EQ(decode(overhead).call.thread, 4711);
  EXPECT_EQ(decode(overhead).name, "Driver Compiler");
}

TEST(CuptiRecords, WordsBeyondTheTablesAreUnknown) {
  Decoding decode{130001};
  auto copy = make_copy(130001, {.start = 1, .end = 2}, 7);
  copy.put(4, std::uint8_t{200}).put(5, std::uint8_t{200}).put(6, std::uint8_t{200});
  EXPECT_EQ(decode(copy).name, "Memcpy Unknown (Unknown -> Unknown)");
}

TEST(CuptiRecords, UnknownKindsAreUnknown) {
  Decoding decode{130001};
  EXPECT_EQ(decode(ActivityRecord{0xFFFFFFFF, 256}).shape, Decoded::Shape::unknown);
  EXPECT_EQ(decode(std::span<const std::byte>{}).shape, Decoded::Shape::unknown);
}

TEST(CuptiRecords, APartOfADeviceHasTheIdentityOfTheDeviceAndItsOwn) {
  for (const std::uint32_t version : {22U, 130001U, 130500U}) {
    Decoding decode{version};
    ActivityRecord part = make_device_part(version, 0, "d");
    EXPECT_EQ(decode(part).uuid, "GPU-10111213-1415-1617-1819-1a1b1c1d1e1f") << version;
    EXPECT_THAT(texts_of(decode(part)), ::testing::IsSupersetOf({"mig=MIG-40414243-4445-4647-4849-4a4b4c4d4e4f",
                                                                 "gpuInstance=7", "computeInstance=1"}));
    for (std::size_t i = 0; i < 16; ++i) part.put(120 + i, static_cast<std::uint8_t>(0x40 + i));
    EXPECT_EQ(decode(part).uuid, "MIG-40414243-4445-4647-4849-4a4b4c4d4e4f") << "NVML knows no such GPU";
  }
}

}  // namespace
}  // namespace rankscope::collectors::cupti
