// What the loader says of a program that lacks libraries, and what users are told.
#include "needed_libraries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace rankscope::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(MissingLibraries, AreThoseThatAreNotFound) {
  EXPECT_THAT(missing_libraries("\tlinux-vdso.so.1 (0x00007ffe)\n"
                                "\tlibexpat.so.1 => not found\n"
                                "\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f01)\n"
                                "\tlibQt6Core.so.6 => not found\n"),
              ElementsAre("libexpat.so.1", "libQt6Core.so.6"));
}

TEST(MissingLibraries, AreThoseThatAreTooOld) {
  EXPECT_THAT(missing_libraries("/opt/a b/rankscope-gui: /lib/x86_64-linux-gnu/libstdc++.so.6: version "
                                "`GLIBCXX_3.4.30' not found (required by /opt/a b/libQt6Core.so.6)\n"
                                "\tlibstdc++.so.6 => /lib/x86_64-linux-gnu/libstdc++.so.6 (0x00007f01)\n"),
              ElementsAre("libstdc++.so.6"));
}

TEST(MissingLibraries, AreNamedOnce) {
  EXPECT_THAT(missing_libraries("p: /lib/libc.so.6: version `GLIBC_2.35' not found (required by p)\n"
                                "p: /lib/libc.so.6: version `GLIBC_2.36' not found (required by q)\n"
                                "\tlibexpat.so.1 => not found\n"
                                "\tlibexpat.so.1 => not found\n"),
              ElementsAre("libc.so.6", "libexpat.so.1"));
}

TEST(MissingLibraries, AreNoneWhereTheLoaderSaysNothing) {
  EXPECT_THAT(missing_libraries(""), IsEmpty());
  EXPECT_THAT(missing_libraries("\n\n"), IsEmpty());
}

TEST(MissingLibraries, MayBeOnALastLineThatDoesNotEnd) {
  EXPECT_THAT(missing_libraries("\n\tlibexpat.so.1 => not found"), ElementsAre("libexpat.so.1"));
  EXPECT_THAT(missing_libraries("p: /lib/libm.so.6: version `GLIBC_2.35' not found"), ElementsAre("libm.so.6"));
}

TEST(MissingLibraries, OfTheHostAreInstalledWithItsPackages) {
  EXPECT_THAT(why_viewer_cannot_start({"libexpat.so.1", "libgcc_s.so.1"}),
              HasSubstr("than the viewer needs: libexpat.so.1, libgcc_s.so.1. Run `apt install libexpat1 libgcc-s1` "
                        "(Debian, Ubuntu) or `dnf install expat libgcc` (Fedora, RHEL), or write a page: "));
}

/// Neither pip nor the package manager helps there.
TEST(MissingLibraries, OfTheCLibraryMeanThatTheSystemIsTooOld) {
  for (const char* const library : {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}) {
    const std::string said = why_viewer_cannot_start({"libstdc++.so.6", library});
    EXPECT_THAT(said, HasSubstr(std::string{"libstdc++.so.6, "} + library +
                                ". This system is too old for the viewer: use a newer one (docs/install.md says "
                                "which), or write a page: rankscope report RUN --html page.html"));
    EXPECT_THAT(said, Not(HasSubstr("Run `")));
  }
}

TEST(MissingLibraries, AreNotSaidToBeThereIfTheLoaderCannotBeAsked) {
  const auto asked = check_libraries("/absent/viewer");
  ASSERT_FALSE(asked);
  EXPECT_EQ(asked.error().message, "cannot start /absent/viewer: No such file or directory");
}

}  // namespace
}  // namespace rankscope::cli
