// SPDX-License-Identifier: MIT
#include "cli/http.hpp"
#include "cli/support.hpp"
#include "cli/watch_server.hpp"

namespace udv::cli {
namespace {

TEST(WatchFiles, StayInsideTheFolder) {
  io::TemporaryFolder folder, other;
  std::filesystem::create_directories(folder / "run/inside");
  folder.write("secret.txt", "s");
  folder.write("run/a.txt", "a");
  folder.write("run/inside/b.txt", "b");
  std::filesystem::create_symlink(folder / "secret.txt", folder / "run/link.txt");
  std::filesystem::create_symlink(folder / "run/a.txt", folder / "run/own.txt");
  std::filesystem::create_directory_symlink(folder / "", folder / "run/up");
  const auto run = folder / "run";
  EXPECT_FALSE(file_inside(run, "a.txt").empty());
  EXPECT_FALSE(file_inside(run, "inside/b.txt").empty());
  EXPECT_FALSE(file_inside(run, "own.txt").empty());
  for (const char* name : {"../secret.txt", "inside/../../secret.txt", "link.txt", "up/secret.txt",
                           "/etc/passwd", "", ".", "inside", "nothing", "..", "....//secret.txt"})
    EXPECT_TRUE(file_inside(run, name).empty()) << name;
  EXPECT_TRUE(file_inside(run, std::string("a.txt\0x", 7)).empty());
}

TEST(WatchHost, IsThisMachineByItsOwnName) {
  EXPECT_TRUE(is_own_host("127.0.0.1:8080", 8080));
  EXPECT_TRUE(is_own_host("localhost:8080", 8080));
  for (const char* host : {"", "example.org", "example.org:8080", "127.0.0.1", "127.0.0.1:81",
                           "localhost.example.org:8080", "127.0.0.1:8080.example.org"})
    EXPECT_FALSE(is_own_host(host, 8080)) << host;
}

/// `udv watch` on a folder with a run, and a client.
class WatchCommand : public ::testing::Test {
 protected:
  void start() {
    process_ = cli_.start("watch run --time-limit 30");
    ASSERT_TRUE(process_->catches(SIGINT));
    const std::string text = process_->output();
    port_ = std::stoi(text.substr(text.find("127.0.0.1:") + 10));
  }
  httplib::Result get(const std::string& path, const httplib::Headers& headers = {}) {
    httplib::Client client("127.0.0.1", port_);
    client.set_read_timeout(5);
    return client.Get(path, headers);
  }
  // Reads /events until the text has been seen.
  bool follows(const std::string& wanted) {
    httplib::Client client("127.0.0.1", port_);
    client.set_read_timeout(10);
    std::string all;
    client.Get("/events", [&](const char* data, size_t size) {
      all.append(data, size);
      return all.find(wanted) == all.npos;
    });
    return all.find(wanted) != all.npos;
  }

  Cli cli_;
  std::unique_ptr<Process> process_;
  int port_ = 0;
};

TEST_F(WatchCommand, ServesThePageAndTheFilesOfTheRun) {
  EXPECT_EQ(cli_.run("planted completion --rows 25 --rank 2 --measurements 250 --out run").code, 0);
  cli_.write("secret.txt", "s");
  std::filesystem::create_symlink(cli_.path("secret.txt"), cli_.path("run/link.txt"));
  start();
  EXPECT_EQ(get("/")->status, 200);
  EXPECT_EQ(get("/files/run.json")->body, cli_.text("run/run.json"));
  for (const char* path : {"/files/../secret.txt", "/files/%2e%2e/secret.txt",
                           "/files/..%2fsecret.txt", "/files/%2e%2e%2fsecret.txt",
                           "/files/link.txt", "/files//etc/passwd", "/files/%2fetc%2fpasswd",
                           "/files/..%5csecret.txt", "/files/", "/secret.txt", "/../secret.txt"}) {
    const auto answer = get(path);
    ASSERT_TRUE(answer) << path;
    EXPECT_EQ(answer->status, 404) << path;
  }
  EXPECT_EQ(get("/", {{"Host", "example.org"}})->status, 403);
  httplib::Client client("127.0.0.1", port_);
  EXPECT_EQ(client.Post("/", "x", "text/plain")->status, 405);
  EXPECT_TRUE(follows("event: end"));
  process_->send(SIGINT);
  EXPECT_EQ(process_->wait().code, 0);
}

TEST_F(WatchCommand, FollowsARunFromItsStartToItsEnd) {
  std::filesystem::create_directories(cli_.path("run"));
  start();
  EXPECT_TRUE(follows("Waiting for a run"));
  const Cli other;
  const auto run = other.run_words(
      {UDV_PROGRAM, "planted", "completion", "--polish", "off", "--step", "0.1", "--scale", "unit",
       "--method", "bm", "--max-iterations", "60000", "--out", cli_.path("run").string()});
  EXPECT_TRUE(follows("iteration"));
  EXPECT_TRUE(follows("\"state\":\"running\""));
  EXPECT_TRUE(follows("event: end"));
}

TEST_F(WatchCommand, RefusesWhatIsNoFolder) {
  const Outcome outcome = cli_.run("watch nowhere");
  EXPECT_EQ(outcome.code, 3) << outcome;
  EXPECT_NE(outcome.err.find("nowhere"), std::string::npos);
}

}  // namespace
}  // namespace udv::cli
