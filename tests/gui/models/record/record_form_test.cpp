// A filled in form and the command line that comes of it.
#include <gtest/gtest.h>

#include <QProcess>
#include <QRegularExpression>
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <set>

#include "rankscope/core/recording/manifest.h"
#include "rankscope/gui/models/base/words.h"
#include "rankscope/gui/models/record/record_form.h"
#include "support/temporary_folder.h"

namespace rankscope::gui {
namespace {

namespace fs = std::filesystem;
using testing::TemporaryFolder;

QString text(const fs::path& path) { return QString::fromStdString(path.string()); }

RecordForm good_form(const TemporaryFolder& folder) {
  RecordForm form;
  form.command = QStringLiteral("sh -c 'exit 0'");
  form.folder = text(folder.path());
  form.out = QStringLiteral("run.rankscope");
  return form;
}

/// The sentence about a field; empty: none.
std::string problem(const RecordForm& form, RecordField field) {
  const auto problems = problems_of(form);
  const auto found = std::ranges::find(problems, field, &RecordProblem::field);
  return found == problems.end() ? "" : found->sentence.toStdString();
}

TEST(RecordForm, BecomesTheArgumentsOfRecord) {
  const TemporaryFolder folder;
  RecordForm form = good_form(folder);
  EXPECT_TRUE(problems_of(form).empty());
  EXPECT_EQ(arguments_of(form).join(QLatin1Char{'|'}), QStringLiteral("record|--out|run.rankscope|--|sh|-c|exit 0"));
  form.collect = {QStringLiteral("annotate"), QStringLiteral("host")};
  form.window = QStringLiteral("10,2,5,1");
  form.sample_hz = 2.5;
  form.duration_s = 60;
  form.flags = {QStringLiteral("shapes"), QStringLiteral("no-pytorch")};
  form.more = QStringLiteral("--nccl 'proxy,kernel'");
  EXPECT_TRUE(problems_of(form).empty());
  EXPECT_EQ(command_line_of(form, QStringLiteral("rankscope")),
            QStringLiteral("cd %1 && rankscope record --out run.rankscope --collect annotate,host --window 10,2,5,1 "
                           "--sample-hz 2.5 --duration 60 --no-pytorch --shapes --nccl proxy,kernel -- sh -c 'exit 0'")
                .arg(form.folder));
}

TEST(RecordForm, ALineForTheShellIsOneWord) {
  const TemporaryFolder folder;
  RecordForm form = good_form(folder);
  form.what = RecordWhat::shell_line;
  form.command = QStringLiteral("N=4 python train.py | tee log");
  EXPECT_TRUE(problems_of(form).empty());
  EXPECT_EQ(arguments_of(form).mid(3),
            (QStringList{QStringLiteral("--"), QStringLiteral("/bin/sh"), QStringLiteral("-c"), form.command}));
}

TEST(RecordForm, TheTrainerHasItsOptions) {
  const TemporaryFolder folder;
  RecordForm form = good_form(folder);
  form.what = RecordWhat::trainer;
  form.command.clear();
  form.trainer = {.mode = QStringLiteral("pp"),
                  .ranks = 4,
                  .model = QStringLiteral("gpt"),
                  .steps = 8,
                  .fault = QStringLiteral("slow:rank=2,factor=1.5 data:rank=0,ms=20"),
                  .more = QStringLiteral("--schedule zb-h1")};
  EXPECT_TRUE(problems_of(form).empty());
  EXPECT_EQ(arguments_of(form).join(QLatin1Char{' '}),
            QStringLiteral("train --out run.rankscope --parallel pp --ranks 4 --model gpt --scale tiny --steps 8 "
                           "--fault slow:rank=2,factor=1.5 --fault data:rank=0,ms=20 --schedule zb-h1"));
}

TEST(RecordForm, SaysWhatIsWrongBesideTheField) {
  const TemporaryFolder folder;
  RecordForm form = good_form(folder);
  form.command.clear();
  EXPECT_TRUE(problem(form, RecordField::command).starts_with("Enter the command to run"));
  form.command = QStringLiteral("\\\n");
  EXPECT_TRUE(problem(form, RecordField::command).starts_with("Enter the command to run"));
  form.command = QStringLiteral("sh 'open");
  EXPECT_EQ(problem(form, RecordField::command), "A single quote is not closed.");
  form.command = QStringLiteral("no-such-program-here x");
  EXPECT_EQ(problem(form, RecordField::command), "Program 'no-such-program-here' was not found in PATH.");
  form.command = QStringLiteral("./train.sh");
  EXPECT_EQ(problem(form, RecordField::command), "File " + (folder / "train.sh").string() + " does not exist.");
  std::ofstream{folder / "train.sh"} << "#!/bin/sh\n";
  EXPECT_EQ(problem(form, RecordField::command), (folder / "train.sh").string() + " is not an executable program.");
  fs::permissions(folder / "train.sh", fs::perms::owner_all);
  EXPECT_EQ(problem(form, RecordField::command), "");
  form.command = QStringLiteral("N=4 python x.py");
  EXPECT_EQ(problem(form, RecordField::command),
            "'N=4' sets a variable, which only a shell can do; run the line in a shell, or put env before it.");
  form.window = QStringLiteral("10,2,0,1");
  EXPECT_TRUE(problem(form, RecordField::window).starts_with("Write wait,warmup,active,repeat"));
  form.more = QStringLiteral("--out other");
  EXPECT_EQ(problem(form, RecordField::more), "--out cannot be used in this dialog.");
  form.more = QStringLiteral("extra");
  EXPECT_EQ(problem(form, RecordField::more), "'extra' is not an option.");
  form.folder = text(folder / "absent");
  EXPECT_EQ(problem(form, RecordField::folder), "Folder " + (folder / "absent").string() + " does not exist.");
  form.folder = QStringLiteral("relative");
  EXPECT_EQ(problem(form, RecordField::folder), "Enter the full path of the folder.");
}

TEST(RecordForm, FaultsAndRanksOfTheTrainerAreTried) {
  const TemporaryFolder folder;
  RecordForm form = good_form(folder);
  form.what = RecordWhat::trainer;
  form.trainer.mode = QStringLiteral("dp");
  EXPECT_EQ(problem(form, RecordField::ranks), "Mode dp runs on one rank; set the number of ranks to 1.");
  form.trainer.ranks = 1;
  EXPECT_EQ(problem(form, RecordField::ranks), "");
  form.trainer.fault = QStringLiteral("sloow:rank=0,factor=2");
  EXPECT_TRUE(problem(form, RecordField::fault).starts_with("'sloow:rank=0,factor=2' is not a fault"));
  form.trainer.fault = QStringLiteral("slow:rank=1,factor=2");
  EXPECT_EQ(problem(form, RecordField::fault),
            "'slow:rank=1,factor=2' is for a rank that does not exist; the ranks are 0 to 0.");
  form.trainer.fault = QStringLiteral("slow:factor=2,rank=1");
  EXPECT_EQ(problem(form, RecordField::fault),
            "'slow:factor=2,rank=1' is for a rank that does not exist; the ranks are 0 to 0.");
  for (const char* const fault : {"slow:factor=2,rank=0", "slow:rank=0,factor=1.5e1", "pause:ms=20,rank=0,every=3"}) {
    form.trainer.fault = QLatin1String{fault};
    EXPECT_EQ(problem(form, RecordField::fault), "") << "the trainer takes " << fault;
  }
  for (const char* const fault :
       {"slow", "slow:", "slow:factor=2", "slow:rank=0,", "slow:rank=0,factor", "slow:rank=0,factor=x",
        "slow:rank=", "slow:rank=-1,factor=2", "slow:rank=0.5,factor=2", "slow:rank=0,rank=0,factor=2",
        "slow:rank=99999999999999999999,factor=2"}) {
    form.trainer.fault = QLatin1String{fault};
    EXPECT_TRUE(problem(form, RecordField::fault).starts_with(std::string{"'"} + fault + "' is not a fault")) << fault;
  }
  form.trainer.more = QStringLiteral("--no-record");
  EXPECT_EQ(problem(form, RecordField::trainer_more), "--no-record cannot be used in this dialog.");
}

TEST(RecordForm, ARecordingMayBeReplacedAndNothingElse) {
  const TemporaryFolder folder;
  RecordForm form = good_form(folder);
  const fs::path out = folder / "run.rankscope";
  fs::create_directories(out / recording::segment_folder);
  ASSERT_TRUE(recording::write_manifest(out, {}));
  EXPECT_EQ(problem(form, RecordField::out), "");
  std::ofstream{out / "notes.txt"} << "mine";
  EXPECT_EQ(problem(form, RecordField::out), out.string() + " exists and is not a recording; choose another name.");
  form.out = QStringLiteral("absent/run.rankscope");
  EXPECT_EQ(problem(form, RecordField::out), "Folder " + (folder / "absent").string() + " does not exist.");
  form.out.clear();
  EXPECT_TRUE(problem(form, RecordField::out).starts_with("Enter the folder to record into"));
}

TEST(RecordForm, TheNextNameIsFree) {
  const TemporaryFolder folder;
  const QString here = text(folder.path());
  const auto next = [&](const char* name) { return free_name(QLatin1String{name}, here).toStdString(); };
  EXPECT_EQ(next("run.rankscope"), "run.rankscope");
  fs::create_directory(folder / "run.rankscope");
  EXPECT_EQ(next("run.rankscope"), "run-2.rankscope");
  fs::create_directory(folder / "run-2.rankscope");
  EXPECT_EQ(next("run-2.rankscope"), "run-3.rankscope");
  fs::create_directory(folder / "my-test.rankscope");
  EXPECT_EQ(next("my-test.rankscope"), "my-test-2.rankscope");
  EXPECT_EQ(next((folder / "run.rankscope").string().c_str()), (folder / "run-3.rankscope").string());
}

TEST(RecordForm, IsKeptFromOneDayToTheNext) {
  const TemporaryFolder folder;
  QSettings settings{text(folder / "settings.conf"), QSettings::IniFormat};
  EXPECT_EQ(kept_form(settings).out, QStringLiteral("run.rankscope"));
  RecordForm form = good_form(folder);
  form.what = RecordWhat::trainer;
  form.trainer = {.mode = QStringLiteral("tp"),
                  .ranks = 3,
                  .model = QStringLiteral("gpt"),
                  .scale = QStringLiteral("full"),
                  .steps = 7,
                  .fault = QStringLiteral("hang:rank=0,step=1"),
                  .more = QStringLiteral("--seed 3")};
  form.collect = {QStringLiteral("host")};
  form.window = QStringLiteral("1,1,1");
  form.sample_hz = 0;
  form.duration_s = 1.5;
  form.flags = {QStringLiteral("memory")};
  form.more = QStringLiteral("--ring-kib 128");
  form.open_at_end = false;
  keep(settings, form);
  EXPECT_EQ(kept_form(settings), form);
  fs::create_directory(folder / "run.rankscope");
  EXPECT_EQ(kept_form(settings).out, QStringLiteral("run-2.rankscope")) << "what is there is not written over";
}

QString help_of(const char* verb) {
  QProcess program;
  program.start(QStringLiteral(RANKSCOPE_PROGRAM), {QLatin1String{verb}, QStringLiteral("-h")});
  EXPECT_TRUE(program.waitForFinished());
  return QString::fromUtf8(program.readAllStandardOutput());
}

/// The long names at the beginning of the lines of a help, without their dashes.
std::set<std::string> options_in(const QString& help) {
  static const QRegularExpression option{QStringLiteral("^ {1,12}(?:-\\w, *)?--([a-z0-9-]+)"),
                                         QRegularExpression::MultilineOption};
  std::set<std::string> options;
  for (auto match = option.globalMatch(help); match.hasNext();) options.insert(match.next().captured(1).toStdString());
  return options;
}

TEST(RecordForm, HasAPlaceForEachOptionOfTheProgramButForAFew) {
  std::set<std::string> offered{"out", "collect", "window", "sample-hz", "duration"};
  for (const RecordFlag& flag : record_flags()) offered.insert(std::string{flag.id});
  const std::array left_out{
      "help",     // nothing is recorded
      "recover",  // nor here
      "toggle",   // somebody must send the signal
      "quiet",    // the dialog shows what record prints
      "pytorch",  // says more of containers
      "nccl",     // of these few have need: a line for other options takes them
      "cuda-graphs", "ring-kib", "rank-env", "no-stacks",  "pm-sampling",
      "or-run",      "budget",   "keep",     "hang-after", "on-hang",
  };
  for (const char* const option : left_out)
    EXPECT_TRUE(offered.insert(option).second) << option << " has a place by now";
  EXPECT_EQ(offered, options_in(help_of("record")));
}

TEST(RecordForm, OffersTheSourcesOfTheProgramButForOne) {
  const QString flat = help_of("record").replace(QRegularExpression{QStringLiteral("\\s+")}, QStringLiteral(" "));
  const auto listed = QRegularExpression{QStringLiteral("any of ([a-z,]+) \\(default: all")}.match(flat);
  ASSERT_TRUE(listed.hasMatch()) << flat.toStdString();
  QStringList sources;
  for (const RecordFlag& source : record_sources()) sources.push_back(qt_text(source.id));
  sources.push_back(QStringLiteral("pm"));  // needs permission and may lock clocks: --pm-sampling asks for it
  EXPECT_EQ(sources.join(QLatin1Char{','}).toStdString(), listed.captured(1).toStdString());
}

}  // namespace
}  // namespace rankscope::gui
