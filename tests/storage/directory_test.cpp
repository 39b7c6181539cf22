// Directories that are not what a store expects.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <weir/storage/errc.hpp>
#include <weir/storage/internal/store_directory.hpp>
#include <weir/storage/store.hpp>
#include <weir/storage/verify.hpp>
#include <weir/tests/storage/support/temporary_directory.hpp>
#include <weir/tests/storage/support/unprivileged.hpp>

namespace weir::storage {
namespace {

namespace fs = std::filesystem;

class DirectoryTest : public ::testing::Test {
 protected:
  Result<Store> open(const fs::path& path) { return Store::open(system_, {.directory = path}); }
  void expect_refused(const fs::path& path, Errc code, const std::string& text) {
    const auto opened = open(path);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error(), code) << opened.error().message();
    EXPECT_NE(opened.error().message().find(text), std::string::npos) << opened.error().message();
  }
  void set_mode(const std::string& name, mode_t mode) {
    ASSERT_EQ(::chmod((directory_ / name).c_str(), mode), 0);
  }
  static void write(const fs::path& file, const std::string& text) { std::ofstream(file) << text; }

  ActorSystem system_{{.threads = 1}};
  test::TemporaryDirectory directory_;
};

TEST_F(DirectoryTest, ASecondStoreInThisProcessIsRefusedAndToldSo) {
  const auto first = open(directory_ / "store");
  ASSERT_TRUE(first);
  expect_refused(directory_ / "store", Errc::locked,
                 "process " + std::to_string(::getpid()) + ", this one");
}

TEST_F(DirectoryTest, CanBeOpenedAgainOnceClosed) {
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(open(directory_ / "store"));
}

TEST_F(DirectoryTest, AFormatThatIsTooNewIsRefusedWithItsNumber) {
  {
    ASSERT_TRUE(open(directory_ / "store"));
  }
  write(directory_ / "store/FORMAT", "weir store\nformat 2\n");
  expect_refused(directory_ / "store", Errc::unsupported_format, "format 2");
  EXPECT_EQ(verify(directory_ / "store").error(), Errc::unsupported_format);
}

TEST_F(DirectoryTest, AFormatThatIsNoneIsRefused) {
  {
    ASSERT_TRUE(open(directory_ / "store"));
  }
  write(directory_ / "store/FORMAT", "weir store\nformat one\n");
  expect_refused(directory_ / "store", Errc::corruption, "FORMAT");
  write(directory_ / "store/FORMAT", "something else");
  expect_refused(directory_ / "store", Errc::not_a_store, "FORMAT");
}

TEST_F(DirectoryTest, ADirectoryWithSomethingElseIsNotTouched) {
  fs::create_directory(directory_ / "photos");
  write(directory_ / "photos/summer.jpg", "jpg");
  expect_refused(directory_ / "photos", Errc::not_a_store, "photos");
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_ / "photos"), {}), 1);
  EXPECT_EQ(verify(directory_ / "photos").error(), Errc::not_a_store);
}

TEST_F(DirectoryTest, AStoreThatLostItsFormatIsNotBegunAgain) {
  {
    ASSERT_TRUE(open(directory_ / "store"));
  }
  fs::remove(directory_ / "store/FORMAT");
  expect_refused(directory_ / "store", Errc::not_a_store, "no file FORMAT");
}

TEST_F(DirectoryTest, AFileIsNotAStore) {
  write(directory_ / "file", "text");
  expect_refused(directory_ / "file", Errc::not_a_store, "file is not a directory");
}

TEST_F(DirectoryTest, AMissingParentIsNamed) {
  expect_refused(directory_ / "no/store", Errc::not_found, "no/store");
}

TEST_F(DirectoryTest, ADirectoryThatCannotBeWrittenToIsReadOnly) {
  {
    ASSERT_TRUE(open(directory_ / "store"));
  }
  set_mode(".", 0755);
  set_mode("store", 0777);
  set_mode("store/LOCK", 0666);
  set_mode("store/data", 0555);
  {
    const test::Unprivileged unprivileged;
    expect_refused(directory_ / "store", Errc::read_only, "store/data");
  }
  set_mode("store/data", 0755);
}

TEST_F(DirectoryTest, AStoreOfAnotherUserIsReadOnly) {
  {
    ASSERT_TRUE(open(directory_ / "store"));
  }
  set_mode(".", 0755);
  set_mode("store/LOCK", 0444);
  {
    const test::Unprivileged unprivileged;
    expect_refused(directory_ / "store", Errc::read_only, "store/LOCK");
  }
}

TEST_F(DirectoryTest, IsNotOpenedWhileItIsVerified) {
  {
    ASSERT_TRUE(open(directory_ / "store"));
  }
  {
    const auto reader = internal::StoreDirectory::open_to_read(directory_ / "store");
    ASSERT_TRUE(reader) << reader.error().message();
    EXPECT_TRUE(verify(directory_ / "store")) << "others may read as well";
    expect_refused(directory_ / "store", Errc::locked, "is being verified");
  }
  EXPECT_TRUE(open(directory_ / "store"));
}

TEST_F(DirectoryTest, AStoreThatLostItsDataIsNotBegunAgain) {
  {
    ASSERT_TRUE(open(directory_ / "store"));
  }
  fs::remove_all(directory_ / "store/data");
  expect_refused(directory_ / "store", Errc::corruption, "store/data");
  EXPECT_EQ(verify(directory_ / "store").error(), Errc::corruption);
  EXPECT_FALSE(fs::exists(directory_ / "store/data"));
}

TEST_F(DirectoryTest, AStoreKeepsItsIdentityAndNoOtherHasIt) {
  const std::uint64_t first = open(directory_ / "store")->identity();
  EXPECT_EQ(open(directory_ / "store")->identity(), first);
  EXPECT_NE(open(directory_ / "other")->identity(), first);
  EXPECT_NE(Store::open(system_)->identity(), Store::open(system_)->identity());
  write(directory_ / "store/IDENTITY", "not sixteen digits");
  const std::uint64_t second = open(directory_ / "store")->identity();
  EXPECT_NE(second, first);
  EXPECT_EQ(open(directory_ / "store")->identity(), second);
}

TEST_F(DirectoryTest, AStoreThatWasBeingMadeIsMade) {
  fs::create_directories(directory_ / "store/data");
  write(directory_ / "store/FORMAT.new", "weir st");
  write(directory_ / "store/LOCK", "");
  EXPECT_TRUE(open(directory_ / "store"));
  EXPECT_TRUE(verify(directory_ / "store"));
}

}  // namespace
}  // namespace weir::storage
