#include "rankscope/trainer/checkpoint/manifest.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "rankscope/core/format.h"

namespace rankscope::trainer {
namespace {

using Json = nlohmann::json;

CheckpointManifest sample() {
  return {.created_by = "rankscope 0.1.0",
          .facts = {.step = 120,
                    .world_size = 4,
                    .sizes = {"ddp", 2, 2, 1},
                    .seed = ~std::uint64_t{0},
                    .global_batch = 32,
                    .model = {{"kind", "mlp"}, {"hidden", "64"}},
                    .optimizer = "adamw",
                    .optimizer_steps = 119,
                    .cursor = {3, 64}},
          .tensors = {{"w", ElementType::f32, {4, 3}}, {"empty", ElementType::bf16, {0}}},
          .files = {{"rank-00000.safetensors", 100, 0x0000ABCD, {{"w", {0, 6}}}},
                    {"rank-00001.safetensors", 100, 0xFFFFFFFF, {{"w", {6, 12}}}}}};
}

/// Changes a sound manifest and puts its checksum right, so that what stands behind the checksum is tested.
std::string changed(const std::function<void(Json&)>& change) {
  Json json = Json::parse(manifest_text(sample()));
  json.erase("checksum");
  change(json);
  const std::string text = json.dump();
  const auto crc = ::crc32_z(0, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  json["checksum"] = format("{:08x}", crc);
  return json.dump();
}

TEST(Manifest, WhatWasWrittenIsReadBack) {
  EXPECT_EQ(parse_manifest(manifest_text(sample()), "m").value(), sample());
  EXPECT_EQ(parse_manifest(manifest_text({.created_by = "", .facts = {}}), "m").value().files.size(), 0u);
}

TEST(Manifest, HasALineForEachTensorAndFile) {
  const std::string text = manifest_text(sample());
  EXPECT_NE(text.find("\n  {\"dtype\":\"F32\",\"name\":\"w\",\"shape\":[4,3]},\n"), std::string::npos) << text;
  EXPECT_NE(
      text.find(
          "\n  {\"bytes\":100,\"crc32\":\"0000abcd\",\"name\":\"rank-00000.safetensors\",\"ranges\":[[\"w\",0,6]]},\n"),
      std::string::npos)
      << text;
}

TEST(Manifest, TextThatIsNotUtf8IsKeptReadable) {
  CheckpointManifest manifest = sample();
  manifest.facts.model["data"] = "/data/\xFF";
  EXPECT_EQ(parse_manifest(manifest_text(manifest), "m").value().facts.model.at("data"), "/data/\xEF\xBF\xBD");
}

TEST(Manifest, CutAnywhereItIsRefused) {
  const std::string whole = manifest_text(sample());
  for (std::size_t bytes = 0; bytes + 1 < whole.size(); ++bytes) {  // the last byte ends the line, no more
    const auto read = parse_manifest(whole.substr(0, bytes), "m.json");
    ASSERT_FALSE(read) << bytes;
    EXPECT_TRUE(read.error().message.starts_with("m.json: ")) << read.error().message;
  }
}

TEST(Manifest, WithAnyBitFlippedItIsRefusedOrSaysTheSame) {
  const std::string whole = manifest_text(sample());
  for (std::size_t at = 0; at < whole.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = whole;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
      const auto read = parse_manifest(flipped, "m.json");
      EXPECT_TRUE(!read || *read == sample()) << at;  // one blank for another
    }
}

TEST(Manifest, FingerprintsTellModelsApart) {
  EXPECT_EQ(fingerprint_of({{"a", "1"}, {"b", "2"}}), fingerprint_of({{"b", "2"}, {"a", "1"}}));
  EXPECT_NE(fingerprint_of({{"a", "1"}, {"b", "2"}}), fingerprint_of({{"a", "12"}, {"b", ""}}));
}

TEST(Manifest, ARangeThatIsNotAllOfItsTensorIsFlatInItsFile) {
  EXPECT_EQ(name_in_file({"w", ElementType::f32, {4, 3}}, {0, 12}), "w");
  EXPECT_EQ(name_in_file({"w", ElementType::f32, {4, 3}}, {0, 6}), "w[0:6]");
}

struct HostileManifest {
  std::function<void(Json&)> change;
  const char* reason;
};

TEST(Manifest, HostileOnesAreRefusedWithTheReason) {
  const auto set = [](const char* pointer, const Json& value) {
    return [pointer, value](Json& json) { json[Json::json_pointer{pointer}] = value; };
  };
  const HostileManifest table[]{
      {set("/schema", "rankscope.recording"), "is not the manifest of a rankscope checkpoint"},
      {set("/format", 2), "has format 2, but this version of rankscope reads formats up to 1: use a newer version"},
      {set("/format", "1"), "\"format\""},
      {set("/step", -1), "\"step\""},
      {set("/step", 18446744073709551615u), "\"step\""},
      {set("/step", 1.5), "\"step\""},
      {set("/world_size", 0), "\"world_size\""},
      {set("/seed", -1), "\"seed\""},
      {set("/parallel", Json::array()), "\"parallel\" must be an object"},
      {set("/parallel/tp", 0), "parallel: \"tp\""},
      {set("/model/options/kind", "gpt"), "its fingerprint does not match"},
      {set("/model/options/kind", 7), "every value must be a string"},
      {set("/optimizer/kind", nullptr), "optimizer: \"kind\" must be a string"},
      {set("/data/samples", "many"), "data: \"samples\""},
      {set("/tensors", Json::object()), "\"tensors\" must be a list"},
      {set("/tensors/0", 5), "tensors: \"name\" must be a string"},
      {set("/tensors/0/name", "a[0:1]"), "is not a valid tensor name"},
      {set("/tensors/1/name", "w"), "\"w\" appears twice"},
      {set("/tensors/0/dtype", "F31"), "tensor w: the type \"F31\" is not known"},
      {set("/tensors/0/shape", Json{4294967296, 4294967296}), "2^63 bytes or more"},
      {set("/files/0/name", "../../etc/passwd"), "is not a valid file name"},
      {set("/files/0/name", ".."), "is not a valid file name"},
      {set("/files/0/name", "rank-00001.safetensors"), "appears twice"},
      {set("/files/0/bytes", -1), "\"bytes\""},
      {set("/files/0/crc32", "ABCD"), "\"crc32\" must be 8 hexadecimal digits"},
      {set("/files/0/ranges/0", Json{"w", 0}), "a range must be [name, begin, end]"},
      {set("/files/0/ranges/0", Json{"w", 6, 6}), "a range must be [name, begin, end]"},
      {set("/files/0/ranges/0", Json{"w", -1, 6}), "a range must be [name, begin, end]"},
      {set("/files/0/ranges/0", Json{"v", 0, 6}), "contains \"v\", which is not in the list of tensors"},
      {set("/files/0/ranges/0", Json{"w", 0, 13}), "contains w up to element 13, but the tensor has only 12"},
      {set("/files/0/ranges/0", Json{"w", 0, 7}), "element 6 of w is stored twice"},
  };
  for (const auto& [change, reason] : table) {
    const auto read = parse_manifest(changed(change), "m.json");
    ASSERT_FALSE(read) << reason;
    EXPECT_EQ(read.error().kind, ErrorKind::unreadable);
    EXPECT_TRUE(read.error().message.starts_with("m.json: ")) << read.error().message;
    EXPECT_NE(read.error().message.find(reason), std::string::npos) << read.error().message;
  }
}

TEST(Manifest, ElementsThatNobodyWroteAreCounted) {
  CheckpointManifest manifest = sample();
  EXPECT_TRUE(check_complete(manifest));
  manifest.files.pop_back();
  EXPECT_EQ(check_complete(manifest).error().message,
            "the files lack 6 of the 12 elements of w, since no rank wrote them");
}

}  // namespace
}  // namespace rankscope::trainer
