#include <nlohmann/json.hpp>

#include "bench/verify/contender.hpp"
#include "bench/verify/cpu.hpp"

namespace bench {
namespace {

class VerifyWorker : public Worker {
 public:
  VerifyWorker(const std::string& socket, const std::vector<std::string>& requests, Runtime runtime)
      : client_(socket), requests_(requests), runtime_(runtime) {
    if (!client_.connected()) give_up("no connection to " + socket);
  }
  bool judge(std::size_t problem) override {
    answer_ = client_.call("POST", "/v1/verify", requests_[problem]);
    if (is_warm(runtime_) && says_cold(answer_)) ++ran_cold_;
    return not_passed(answer_, 1) == 0;
  }
  std::size_t ran_cold() const override { return ran_cold_; }
  std::string why() const override { return answer_; }

 private:
  Client client_;
  const std::vector<std::string>& requests_;
  Runtime runtime_;
  std::size_t ran_cold_ = 0;
  std::string answer_;
};

std::string verify_one(const std::string& socket, const std::vector<Problem>& problems,
                       Runtime runtime) {
  Client client(socket);
  return client.call("POST", "/v1/verify", verify_request(problems, 0, 1, runtime));
}

// What a refusal says for people; an answer that is none, as it is.
std::string message_of(const std::string& answer) {
  const std::size_t head = answer.find("\r\n\r\n");
  const std::string body = head == std::string::npos ? answer : answer.substr(head + 4);
  const auto json = nlohmann::json::parse(body, nullptr, false);
  const auto message = nlohmann::json::json_pointer("/error/message");
  return json.is_object() && json.contains(message) ? json[message].dump() : body;
}

// The records of an answer's runs, one after the other.
std::string records_of(Client& client, const std::string& answer) {
  constexpr std::size_t id_length = 18;  // r- and 16 digits
  std::string records;
  const std::size_t runs = answer.find(R"("runs":[)");
  for (std::size_t at = answer.find("\"r-", runs); at != std::string::npos && runs < at;
       at = answer.find("\"r-", at + id_length))
    records += client.call("GET", "/v1/runs/" + answer.substr(at + 1, id_length));
  return records;
}

}  // namespace

Contender paddock_contender(const RealDaemon& daemon, const std::vector<Problem>& problems,
                            Runtime runtime) {
  auto requests = std::make_shared<std::vector<std::string>>();
  for (std::size_t i = 0; i < problems.size(); ++i)
    requests->push_back(verify_request(problems, i, 1, runtime));
  return {std::string("paddock ") + name_of(runtime) + " STRICT",
          [socket = daemon.socket(), requests, runtime](int) {
            return std::make_unique<VerifyWorker>(socket, *requests, runtime);
          },
          "", [pid = daemon.pid()] { return tree_cpu_us(pid); }};
}

std::string why_not_warm(const std::string& socket, const std::vector<Problem>& problems) {
  // The first ones may find no zygote ready yet.
  constexpr int attempts = 20;
  constexpr std::chrono::milliseconds pause{250};
  std::string answer;
  std::string records;
  for (int i = 0; i < attempts; ++i) {
    answer = verify_one(socket, problems, Runtime::warm);
    if (!answer.starts_with("HTTP/1.1 200")) return message_of(answer);
    if (not_passed(answer, 1) > 0) return message_of(answer);
    if (says_warm(answer)) return "";
    Client client(socket);
    records = records_of(client, answer);
    if (says_warm(records)) return "";
    if (!says_cold(answer) && !says_cold(records)) break;
    std::this_thread::sleep_for(pause);
  }
  const std::size_t because = records.find("cold_because");
  return "it ran cold" +
         (because == std::string::npos
              ? std::string()
              : ": " + records.substr(because, records.find(',', because) - because));
}

Runtime cold_runtime(const std::string& socket, const std::vector<Problem>& problems) {
  if (verify_one(socket, problems, Runtime::cold).starts_with("HTTP/1.1 200")) return Runtime::cold;
  const std::string answer = verify_one(socket, problems, Runtime::unasked);
  Client client(socket);
  if (says_warm(answer) || says_warm(records_of(client, answer)))
    give_up("the daemon runs warm and cannot be asked to run cold");
  return Runtime::unasked;
}

Runtime best_runtime(const std::string& socket, const std::vector<Problem>& problems) {
  return why_not_warm(socket, problems).empty() ? Runtime::warm : cold_runtime(socket, problems);
}

}  // namespace bench
