// What cannot be read is refused with one sentence that names the file and says what to do.
#include <fcntl.h>
#include <gmock/gmock.h>

#include <fstream>

#include "importers/nsys/nsys_export.h"
#include "rankscope/core/model/run.h"
#include "support/temporary_folder.h"

namespace rankscope::analyzer {
namespace {

using namespace rankscope::testing;  // NOLINT: the builders of rows
using ::testing::AllOf;
using ::testing::HasSubstr;

std::string refusal(const std::filesystem::path& path) {
  const auto run = read_export(path);
  if (run) return "it was read";
  EXPECT_EQ(run.error().kind, ErrorKind::unreadable);
  EXPECT_THAT(run.error().message, HasSubstr(path.filename().string()));
  EXPECT_EQ(run.error().message.find('\n'), std::string::npos);
  return run.error().message;
}

void write(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream{path, std::ios::binary}.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

TEST(NsysRefusals, AbsentEmptyAndForeignFiles) {
  const TemporaryFolder folder;
  EXPECT_THAT(refusal(folder / "absent.sqlite"), HasSubstr("is not a readable file"));
  write(folder / "empty.sqlite", "");
  EXPECT_THAT(refusal(folder / "empty.sqlite"), HasSubstr("is empty"));
  write(folder / "text.sqlite", "these are words, and more of them");
  EXPECT_THAT(refusal(folder / "text.sqlite"), HasSubstr("nsys export --type sqlite"));
  write(folder / "a.nsys-rep", "QDREP something, in a format of its own");
  EXPECT_THAT(refusal(folder / "a.nsys-rep"), HasSubstr("--include-blobs=true"));
}

TEST(NsysRefusals, ADatabaseOfSomethingElse) {
  const TemporaryFolder folder;
  run_sql(folder / "other.sqlite", "CREATE TABLE songs (title TEXT);");
  EXPECT_THAT(refusal(folder / "other.sqlite"), HasSubstr("not an export of Nsight Systems"));
}

TEST(NsysRefusals, AnExportWithoutEvents) {
  const TemporaryFolder folder;
  run_sql(folder / "none.sqlite", "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);");
  EXPECT_THAT(refusal(folder / "none.sqlite"), HasSubstr("without any event table"));
  run_sql(folder / "hollow.sqlite", modern_tables);
  EXPECT_THAT(refusal(folder / "hollow.sqlite"), HasSubstr("contains no events"));
}

TEST(NsysRefusals, ASchemaOfANewerMajorVersion) {
  const TemporaryFolder folder;
  run_sql(folder / "new.sqlite", modern_tables + insert(Kernel{.begin = 0, .end = 5}) +
                                     "UPDATE META_DATA_EXPORT SET value='4.0.0' WHERE name='EXPORT_SCHEMA_VERSION';");
  EXPECT_THAT(refusal(folder / "new.sqlite"), AllOf(HasSubstr("4.0.0"), HasSubstr("newer")));
}

TEST(NsysRefusals, AnExportThatIsStillBeingWritten) {
  const TemporaryFolder folder;
  run_sql(folder / "a.sqlite", modern_tables + insert(Kernel{.begin = 0, .end = 5}));
  for (const std::string suffix : {"-wal", "-journal"}) {
    write(folder / ("a.sqlite" + suffix), "unfinished");
    EXPECT_THAT(refusal(folder / "a.sqlite"), HasSubstr("unfinished changes"));
    std::filesystem::remove(folder / ("a.sqlite" + suffix));
  }
  EXPECT_TRUE(read_export(folder / "a.sqlite"));
}

TEST(NsysRefusals, AnExportThatAWriterHasLocked) {
  const TemporaryFolder folder;
  run_sql(folder / "a.sqlite", modern_tables + insert(Kernel{.begin = 0, .end = 5}));
  const int file = ::open((folder / "a.sqlite").c_str(), O_RDWR | O_CLOEXEC);
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = 0x40000001;  // SQLite's reserved byte
  lock.l_len = 1;
  ASSERT_EQ(::fcntl(file, F_OFD_SETLK, &lock), 0);
  EXPECT_THAT(refusal(folder / "a.sqlite"), HasSubstr("is locked"));
  ::close(file);
}

TEST(NsysRefusals, ADamagedExport) {
  const TemporaryFolder folder;
  std::string rows;
  for (int i = 0; i < 2000; ++i) rows += insert(Kernel{.begin = i * 10, .end = i * 10 + 5});
  run_sql(folder / "a.sqlite", modern_tables + rows);
  const std::string whole = read_file(folder / "a.sqlite");
  write(folder / "a.sqlite", std::string_view{whole}.substr(0, whole.size() / 2));
  EXPECT_THAT(refusal(folder / "a.sqlite"), HasSubstr("damaged"));
}

TEST(NsysRefusals, AnExportCutAnywhereNeitherCrashesNorHangs) {
  const TemporaryFolder folder;
  std::string rows;
  for (int i = 0; i < 300; ++i) rows += insert(Kernel{.begin = i * 10, .end = i * 10 + 5});
  run_sql(folder / "a.sqlite", modern_tables + rows);
  const std::string whole = read_file(folder / "a.sqlite");
  for (std::size_t percent = 0; percent < 100; ++percent) {
    write(folder / "cut.sqlite", std::string_view{whole}.substr(0, whole.size() * percent / 100));
    EXPECT_NE(refusal(folder / "cut.sqlite"), "it was read") << percent;
  }
}

TEST(NsysRefusals, AViewIsNoTable) {
  const TemporaryFolder folder;
  // It would never end.
  run_sql(
      folder / "a.sqlite",
      "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
      "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE n(start) AS (SELECT 1 UNION ALL SELECT start+1 FROM "
      "n) SELECT start, start AS end FROM n;");
  EXPECT_THAT(refusal(folder / "a.sqlite"), HasSubstr("without any event table"));
}

}  // namespace
}  // namespace rankscope::analyzer
