// SPDX-License-Identifier: MIT
#include <sys/resource.h>

#include "cli/http.hpp"
#include "cli/support.hpp"
#include "cli/watch_server.hpp"

namespace udv::cli {
namespace watch_test {

TEST(WatchFiles, AreThoseOfTheRunAlone) {
  io::TemporaryFolder folder;
  std::filesystem::create_directories(folder / "run/inside/.udv-new");
  for (const char* name : {"secret.txt", "run/a.txt", "run/foreign.txt", "run/.hidden",
                           "run/inside/b.txt", "run/inside/grows.csv", "run/inside/other.csv"})
    folder.write(name, "text");
  folder.write("run/run.json", R"({"files":["a.txt",".hidden","link.txt","up","../secret.txt"]})");
  folder.write("run/inside/run.json", R"({"files":["b.txt"]})");
  folder.write("run/inside/.udv-new/.growing.json", R"({"files":["grows.csv"]})");
  std::filesystem::create_symlink(folder / "secret.txt", folder / "run/link.txt");
  std::filesystem::create_directory_symlink(folder / "", folder / "run/up");
  const auto run = folder / "run";
  for (const char* name : {"a.txt", "run.json", "inside/run.json", "inside/b.txt",
                           "inside/grows.csv", "inside/../a.txt"})
    EXPECT_FALSE(file_inside(run, name).empty()) << name;
  for (const char* name :
       {"../secret.txt", "inside/../../secret.txt", "link.txt", "up/secret.txt", "/etc/passwd", "",
        ".", "inside", "nothing", "..", "....//secret.txt", "foreign.txt", ".hidden",
        "inside/other.csv", "inside/.udv-new/.growing.json", "a.txt/", "x/y/z/w/run.json"})
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
    process_ = cli_.run_words(
        {"/bin/sh", "-c",
         std::string("echo $$; exec ") + UDV_PROGRAM + " watch run --time-limit 30"});
    ASSERT_TRUE(process_->catches(SIGHUP));
    const std::string text = process_->output();
    id_ = text.substr(0, text.find('\n'));
    const auto port = text.find("127.0.0.1:") + 10, token = text.find('/', port);
    port_ = std::stoi(text.substr(port));
    token_ = text.substr(token, text.find('/', token + 1) - token);
    ASSERT_EQ(token_.size(), 33u) << text;
  }
  // `path` without the token.
  httplib::Result get(const std::string& path, const httplib::Headers& headers = {}) {
    return get_whole(token_ + path, headers);
  }
  httplib::Result get_whole(const std::string& path, const httplib::Headers& headers = {}) {
    httplib::Client client("127.0.0.1", port_);
    client.set_read_timeout(5);
    return client.Get(path, headers);
  }
  std::string own_host() const { return "127.0.0.1:" + std::to_string(port_); }
  // A connection that says this much and no more.
  std::unique_ptr<Socket> say(const std::string& bytes) const {
    auto socket = std::make_unique<Socket>(port_);
    socket->send(bytes);
    return socket;
  }
  // Kilobytes that the server takes.
  long memory() const {
    const std::string status = file_text("/proc/" + id_ + "/status");
    const auto at = status.find("VmRSS:");
    return at == status.npos ? 0 : std::stol(status.substr(at + 6));
  }
  // Seconds of processor time that the server has taken.
  double processor_time() const {
    std::istringstream words(file_text("/proc/" + id_ + "/stat"));
    std::string word;
    for (int i = 0; i < 13; ++i) words >> word;
    double user = 0, system = 0;
    words >> user >> system;
    return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  }
  // Somebody who asks properly gets the page at once.
  void expect_answers() {
    const auto start = std::chrono::steady_clock::now();
    const auto answer = get("/");
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, 200);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
  }
  // Reads /events until the text has been seen.
  bool follows(const std::string& wanted) {
    httplib::Client client("127.0.0.1", port_);
    client.set_read_timeout(10);
    std::string all;
    client.Get(token_ + "/events", [&](const char* data, size_t size) {
      all.append(data, size);
      return all.find(wanted) == all.npos;
    });
    return all.find(wanted) != all.npos;
  }

  Cli cli_;
  std::unique_ptr<Process> process_;
  int port_ = 0;
  std::string token_, id_;
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
  EXPECT_EQ(client.Post(token_ + "/", "x", "text/plain")->status, 413);
  EXPECT_EQ(client.Options(token_ + "/")->status, 405);
  EXPECT_TRUE(follows("event: end"));
  process_->send(SIGINT);
  EXPECT_EQ(process_->wait().code, 0);
}

TEST_F(WatchCommand, FollowsARunFromItsStartToItsEnd) {
  std::filesystem::create_directories(cli_.path("run"));
  start();
  EXPECT_TRUE(follows("Waiting for a run"));
  const Cli other;
  const auto run =
      other.run_words({UDV_PROGRAM, "planted", "completion", "--polish", "off", "--step", "0.1",
                       "--scale", "unit", "--method", "bm", "--max-iterations", "100000000",
                       "--time-limit", "4", "--threads", "1", "--out", cli_.path("run").string()});
  EXPECT_TRUE(follows("iteration"));
  EXPECT_TRUE(follows("\"state\":\"running\""));
  EXPECT_TRUE(follows("event: end"));
  EXPECT_EQ(run->wait().code, 4);  // the time limit: as long on every machine
}

TEST_F(WatchCommand, AsksForTheTokenAndSendsSecurityHeaders) {
  std::filesystem::create_directories(cli_.path("run"));
  cli_.write("run/run.json", "{}");
  start();
  std::string wrong = token_;
  wrong.back() = wrong.back() == '0' ? '1' : '0';
  for (const std::string& path :
       {std::string("/"), std::string("/events"), wrong + "/", std::string("/files/run.json"),
        wrong + "/files/run.json", token_, token_.substr(0, 20) + "/", token_ + "0/"}) {
    const auto answer = get_whole(path);
    ASSERT_TRUE(answer) << path;
    EXPECT_EQ(answer->status, 403) << path;
  }
  for (const char* path : {"/", "/files/run.json", "/files/nothing"}) {
    const auto answer = get(path);
    ASSERT_TRUE(answer) << path;
    const std::string policy = answer->get_header_value("Content-Security-Policy");
    EXPECT_NE(policy.find("default-src 'none'"), policy.npos) << policy;
    EXPECT_NE(policy.find("frame-ancestors 'none'"), policy.npos) << policy;
    EXPECT_EQ(answer->get_header_value("X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(answer->get_header_value("Referrer-Policy"), "no-referrer");
    EXPECT_EQ(answer->get_header_value("X-Frame-Options"), "DENY");
  }
}

TEST_F(WatchCommand, SendsOnePartOfAFile) {
  std::filesystem::create_directories(cli_.path("run"));
  cli_.write("run/run.json", "{\"a\": \"0123456789\"}");
  const std::string all = cli_.text("run/run.json"), size = std::to_string(all.size());
  start();
  const auto part = get("/files/run.json", {{"Range", "bytes=2-4"}});
  EXPECT_EQ(part->status, 206);
  EXPECT_EQ(part->body, all.substr(2, 3));
  EXPECT_EQ(part->get_header_value("Content-Range"), "bytes 2-4/" + size);
  const auto beyond = get("/files/run.json", {{"Range", "bytes=1000-"}});
  EXPECT_EQ(beyond->status, 416);
  EXPECT_EQ(beyond->get_header_value("Content-Range"), "bytes */" + size);
  std::string many = "bytes=0-1";
  for (int i = 0; i < 1000; ++i) many += ",0-1";
  const auto whole = get("/files/run.json", {{"Range", many}});
  EXPECT_EQ(whole->status, 200);
  EXPECT_EQ(whole->body, all);
}

TEST_F(WatchCommand, AnswersWhileOthersAreSlowIdleOrRude) {
  std::filesystem::create_directories(cli_.path("run"));
  cli_.write("run/run.json", "{}");
  start();
  const long before = memory();
  std::vector<std::unique_ptr<Socket>> others;
  for (int i = 0; i < 500; ++i) others.push_back(say(i % 2 ? "" : "GET / HT"));
  expect_answers();
  for (int i = 0; i < 40; ++i)
    others.push_back(say("GET " + token_ + "/events HTTP/1.1\r\nHost: " + own_host() + "\r\n\r\n"));
  for (int i = 0; i < 40; ++i) {  // all of them are shown the run
    const std::string events = others[static_cast<size_t>(500 + i)]->receive_until("event: end");
    EXPECT_NE(events.find("event: end"), events.npos) << events;
  }
  expect_answers();
  for (int i = 0; i < 20; ++i) {
    std::string garbage = "GET / HTTP/1.1\r\n";
    while (garbage.size() < 1'000'000) garbage += "X-A: " + std::string(1000, 'a') + "\r\n";
    const std::string answer = say(garbage)->receive_until("\n");
    EXPECT_TRUE(answer.empty() || answer.find(" 431 ") != answer.npos) << answer;
  }
  expect_answers();
  EXPECT_LT(memory() - before, 20'000);
#ifndef __SANITIZE_ADDRESS__  // which has memory of its own
  EXPECT_LT(memory(), 100'000);
#endif
}

TEST_F(WatchCommand, KeepsOneCopyOfThePageForThoseWhoDoNotTakeIt) {
  std::filesystem::create_directories(cli_.path("run"));
  cli_.write("run/run.json", "{}");
  start();
  const std::string whole = get("/")->body;
  const std::string head = "GET " + token_ + "/ HTTP/1.1\r\nHost: " + own_host() + "\r\n\r\n";
  const long before = memory();
  std::vector<std::unique_ptr<Socket>> deaf;
  for (int i = 0; i < 300; ++i) deaf.push_back(say(head + head + head));
  expect_answers();
  EXPECT_LT(memory() - before, 20'000);
  EXPECT_EQ(get("/")->body, whole);
  httplib::Client client("127.0.0.1", port_);
  const auto only_head = client.Head(token_ + "/");
  EXPECT_EQ(only_head->get_header_value("Content-Length"), std::to_string(whole.size()));
  EXPECT_TRUE(only_head->body.empty());
}

// More than the server has room for.
TEST_F(WatchCommand, AnswersWhileAThousandDoNotTakeTheirAnswers) {
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = std::min<rlim_t>(4096, files.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &files);
  std::filesystem::create_directories(cli_.path("run"));
  cli_.write("run/run.json", R"({"files":["large.bin"]})");
  cli_.write("run/large.bin", std::string(4 << 20, 'x'));
  start();
  std::vector<std::unique_ptr<Socket>> deaf;
  for (int i = 0; i < 1000; ++i) {
    const std::string path = token_ + (i % 2 ? "/" : "/files/large.bin");
    deaf.push_back(say("GET " + path + " HTTP/1.1\r\nHost: " + own_host() + "\r\n\r\n"));
    if (i % 250 == 249) expect_answers();
  }
  const double before = processor_time();
  std::this_thread::sleep_for(std::chrono::seconds(1));
  EXPECT_LT(processor_time() - before, 0.5) << "it is busy though nobody asks";
  for (int i = 0; i < 3; ++i) expect_answers();
  EXPECT_TRUE(follows("event: end"));
#ifndef __SANITIZE_ADDRESS__  // which has memory of its own
  EXPECT_LT(memory(), 100'000);
#endif
}

// A new viewer is shown the run though as many as it has room for only pretend to watch.
TEST_F(WatchCommand, ShowsTheRunToTheNewestViewer) {
  std::filesystem::create_directories(cli_.path("run"));
  cli_.write("run/run.json", "{}");
  start();
  std::vector<std::unique_ptr<Socket>> others;
  for (int i = 0; i < 300; ++i)
    others.push_back(say("GET " + token_ + "/events HTTP/1.1\r\nHost: " + own_host() + "\r\n\r\n"));
  EXPECT_NE(others.back()->receive_until("event: end").find("event: end"), std::string::npos);
  expect_answers();
}

TEST_F(WatchCommand, RefusalsHaveSecurityHeadersToo) {
  std::filesystem::create_directories(cli_.path("run"));
  cli_.write("run/run.json", "{}");
  start();
  const std::string host = "Host: " + own_host() + "\r\n";
  for (const std::string& request :
       {std::string("nonsense\r\n\r\n"), "GET /" + std::string(3000, 'a') + " HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\n" + host + "X: " + std::string(9000, 'a') + "\r\n\r\n",
        "GET / HTTP/3.0\r\n" + host + "\r\n",
        "POST / HTTP/1.1\r\n" + host + "Content-Length: 1\r\n\r\nx"}) {
    const std::string answer = say(request)->receive_until("\r\n\r\n");
    for (const char* header :
         {"HTTP/1.1 ", "Content-Security-Policy: default-src 'none'; sandbox", "frame-ancestors",
          "X-Content-Type-Options: nosniff", "Referrer-Policy: no-referrer"})
      EXPECT_NE(answer.find(header), answer.npos) << request.substr(0, 20) << "\n" << answer;
  }
}

TEST_F(WatchCommand, GoesOnWhereARunCannotBeRead) {
  for (const char* name : {"run/good", "run/other/run.json"})
    std::filesystem::create_directories(cli_.path(name));
  cli_.write("run/good/live.json", R"({"progress":{"state":1,"text":[],"done":{}}})");
  std::filesystem::create_symlink(cli_.path("run/loop"), cli_.path("run/loop"));
  start();
  EXPECT_TRUE(follows("left out"));
  cli_.write("run/good/live.json", R"({"column_sizes":1,"progress":{"state":1}})");
  EXPECT_TRUE(follows("Waiting for a run"));
  expect_answers();
  process_->send(SIGINT);
  EXPECT_EQ(process_->wait().code, 0);
}

// A page for the browser, which alone knows the address; not where nobody would see it.
TEST(WatchBrowser, IsOpenedInAGraphicalSessionAlone) {
  if (!std::filesystem::exists("/usr/bin/script")) GTEST_SKIP() << "no terminal to be had";
  const Cli cli;
  for (const char* name : {"run", "private"}) std::filesystem::create_directories(cli.path(name));
  cli.write("run/run.json", "{}");
  cli.write("browser", "#!/bin/sh\necho \"$1 $#\" >words; cat \"$1\" >page; sleep 2\n");
  std::filesystem::permissions(cli.path("browser"), std::filesystem::perms::owner_all);
  const auto opens = [&](const std::string& settings, const std::string& flags, bool terminal) {
    const std::string watch = "env -u DISPLAY -u WAYLAND_DISPLAY XDG_RUNTIME_DIR=private BROWSER=" +
                              cli.path("browser").string() + " " + settings + " " + UDV_PROGRAM +
                              " watch run --time-limit 0.5 " + flags;
    const Outcome outcome =
        terminal ? cli.run_words({"/usr/bin/script", "-qec", watch, "/dev/null"})->wait()
                 : cli.run_words({"/bin/sh", "-c", watch})->wait();
    EXPECT_EQ(outcome.code, 0) << outcome;
    EXPECT_TRUE(std::filesystem::is_empty(cli.path("private")));
    return std::filesystem::remove(cli.path("page"));
  };
  EXPECT_FALSE(opens("", "", true));
  EXPECT_FALSE(opens("DISPLAY=:7", "--open off", true));
  EXPECT_FALSE(opens("DISPLAY=:7", "", false));
  EXPECT_TRUE(opens("WAYLAND_DISPLAY=x", "", true));
  EXPECT_NE(cli.text("words").find("/watch.html 1"), std::string::npos) << cli.text("words");
  EXPECT_EQ(cli.text("words").find("127.0.0.1"), std::string::npos) << cli.text("words");
  EXPECT_TRUE(opens("DISPLAY=:7 BROWSER=" + cli.path("browser").string() + ":other", "", true));
  EXPECT_FALSE(opens("DISPLAY=:7 BROWSER=nothing-of-this-name", "", true));
}

TEST_F(WatchCommand, RefusesWhatIsNoFolder) {
  const Outcome outcome = cli_.run("watch nowhere");
  EXPECT_EQ(outcome.code, 3) << outcome;
  EXPECT_NE(outcome.err.find("nowhere"), std::string::npos);
}

}  // namespace watch_test
}  // namespace udv::cli
