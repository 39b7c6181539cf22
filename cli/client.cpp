#include <weir/cli/client.hpp>

#include <curl/curl.h>

#include <fstream>
#include <optional>
#include <utility>

#include <boost/json/parse.hpp>
#include <weir/cli/errc.hpp>
#include <weir/cli/json.hpp>
#include <weir/cli/output.hpp>
#include <weir/cli/progress.hpp>
#include <weir/cli/terminal.hpp>
#include <weir/cli/version.hpp>
#include <weir/runtime/check.hpp>
#include <weir/runtime/error.hpp>

namespace weir::cli {
namespace {

constexpr std::size_t answer_bytes_max = std::size_t{64} << 20;

struct Easy {
  void operator()(CURL* handle) const noexcept { curl_easy_cleanup(handle); }
};
struct Multi {
  void operator()(CURLM* handle) const noexcept { curl_multi_cleanup(handle); }
};
struct Address {
  void operator()(CURLU* handle) const noexcept { curl_url_cleanup(handle); }
};
struct Headers {
  void operator()(curl_slist* list) const noexcept { curl_slist_free_all(list); }
};

std::string part_of(CURLU* address, CURLUPart part) {
  char* text = nullptr;
  if (curl_url_get(address, part, &text, 0) != CURLUE_OK) return {};
  std::string copy = text;
  curl_free(text);
  return copy;
}

struct Target {
  std::string url;
  bool is_local = false;
};

Result<Target> parse_url(const std::string& url) {
  const std::unique_ptr<CURLU, Address> address(curl_url());
  const CURLUcode code = curl_url_set(address.get(), CURLUPART_URL, url.c_str(), 0);
  const std::string scheme = part_of(address.get(), CURLUPART_SCHEME);
  const std::string host = part_of(address.get(), CURLUPART_HOST);
  if (code != CURLUE_OK || (scheme != "http" && scheme != "https") || host.empty() ||
      !part_of(address.get(), CURLUPART_QUERY).empty()) {
    return Error(Errc::usage, "'" + url +
                                  "' is no address of a server: give one such as "
                                  "http://127.0.0.1:8080 by --url or WEIR_URL");
  }
  Target target{.url = url,
                .is_local = host == "localhost" || host.starts_with("127.") || host == "[::1]"};
  while (target.url.ends_with('/')) target.url.pop_back();
  return target;
}

Result<std::string> read_token(const ServerOptions& options) {
  if (options.token_file.empty()) return options.token;
  std::ifstream file(options.token_file);
  std::string token;
  if (!file || !std::getline(file, token)) {
    return Error(Errc::not_found, options.token_file.string() +
                                      " cannot be read, or is empty: --token-file names a file "
                                      "whose first line is a token");
  }
  return token;
}

std::size_t take(char* bytes, std::size_t size, std::size_t count, void* body) {
  auto* text = static_cast<std::string*>(body);
  if (text->size() + size * count > answer_bytes_max) return 0;
  text->append(bytes, size * count);
  return size * count;
}

std::optional<boost::json::value> parse(const std::string& text) {
  boost::system::error_code error;
  boost::json::value value = boost::json::parse(text, error);
  if (error) return {};
  return value;
}

/// What to do about an answer that refuses.
Error explain(const std::string& url, const std::string& path, long status,
              const std::string& body) {
  const auto problem = parse(body);
  const std::string code = problem ? text(*problem, "code") : "";
  const std::string detail = problem ? text(*problem, "detail") : "";
  if (code.empty()) {
    return {Errc::failed, "what answers at " + url + " is no Weir server: status " +
                              std::to_string(status) + " for " + path + "; look at --url"};
  }
  if (code == "no_token") {
    return {Errc::refused, url +
                               " asks who you are: give a token by --token-file, --token or "
                               "WEIR_TOKEN; `weir token make` makes one"};
  }
  if (code == "wrong_token") {
    return {Errc::refused, url +
                               " does not know the token: look at --token-file, --token or "
                               "WEIR_TOKEN, and at the file that the server was given"};
  }
  if (status == 401 || status == 403) {
    return {Errc::refused, detail + ": ask for a token that may (`weir token make --help`)"};
  }
  if (code == "unknown_path" || code == "wrong_method") {
    return {Errc::unsupported, url + " does not know " + path.substr(0, path.find('?')) +
                                   ": it needs a server of Weir " + version + " or later"};
  }
  if (status == 400) return {Errc::usage, detail};
  return {status == 404 ? Errc::not_found : Errc::failed, detail};
}

}  // namespace

struct Client::State {
  Target target;
  std::string token;
  ServerOptions options;
  Signals* signals = nullptr;
  bool is_quiet = false;
  Reach reach = Reach::unsent;
  std::unique_ptr<CURLM, Multi> multi;
  std::unique_ptr<CURL, Easy> easy;
  std::unique_ptr<curl_slist, Headers> headers;

  void prepare(const char* method, const std::string& url, std::string* body,
               std::chrono::milliseconds wait);
  Result<CURLcode> perform();
  Reach reach_of(CURLcode code) const;
  Error unreachable(CURLcode code) const;
};

Client::Client(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
Client::Client(Client&&) noexcept = default;
Client::~Client() = default;
void Client::obey(Signals* signals) noexcept { state_->signals = signals; }
void Client::be_quiet() noexcept { state_->is_quiet = true; }
const std::string& Client::url() const noexcept { return state_->target.url; }
Reach Client::reach() const noexcept { return state_->reach; }

Result<Client> Client::open(const ServerOptions& options) {
  auto target = parse_url(options.url);
  if (!target) return target.error();
  auto token = read_token(options);
  if (!token) return token.error();
  if (token->find_first_of("\r\n") != std::string::npos)
    return Error(Errc::usage, "a token is one line");
  auto state = std::make_unique<State>();
  state->target = *std::move(target);
  state->token = *std::move(token);
  state->options = options;
  static const bool is_ready = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  state->multi.reset(curl_multi_init());
  state->easy.reset(curl_easy_init());
  check(is_ready && state->multi && state->easy, "libcurl can be used");
  curl_slist* headers = curl_slist_append(nullptr, "Accept: application/json");
  if (!state->token.empty()) {
    const std::string header = "Authorization: Bearer " + state->token;
    headers = curl_slist_append(headers, header.c_str());
  }
  state->headers.reset(headers);
  return Client(std::move(state));
}

void Client::State::prepare(const char* method, const std::string& url, std::string* body,
                            std::chrono::milliseconds wait) {
  CURL* handle = easy.get();
  const auto time = static_cast<long>(options.timeout_seconds * 1000);
  curl_easy_reset(handle);  // connections stay
  curl_easy_setopt(handle, CURLOPT_URL, url.c_str());
  curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, method);
  curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, &take);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, body);
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, time);
  curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, time + static_cast<long>(wait.count()));
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  // A proxy would ask itself, not this machine.
  if (target.is_local) curl_easy_setopt(handle, CURLOPT_PROXY, "");
  if (!options.authority_file.empty())
    curl_easy_setopt(handle, CURLOPT_CAINFO, options.authority_file.c_str());
}

Result<CURLcode> Client::State::perform() {
  check(curl_multi_add_handle(multi.get(), easy.get()) == CURLM_OK, "a request can begin");
  CURLcode code = CURLE_OK;
  bool is_cancelled = false;
  for (int running = 1; running > 0 && !is_cancelled;) {
    curl_multi_perform(multi.get(), &running);
    if (running == 0) break;
    curl_waitfd awaited{
        .fd = signals ? signals->descriptor() : -1, .events = CURL_WAIT_POLLIN, .revents = 0};
    curl_multi_poll(multi.get(), &awaited, signals ? 1 : 0, 1000, nullptr);
    is_cancelled = signals && signals->is_ended();
  }
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi.get(), &left))
    if (message->msg == CURLMSG_DONE) code = message->data.result;
  curl_multi_remove_handle(multi.get(), easy.get());
  if (is_cancelled) return Error(weir::Errc::cancelled);
  return code;
}

Reach Client::State::reach_of(CURLcode code) const {
  if (code == CURLE_OK) return Reach::answered;
  if (code == CURLE_COULDNT_CONNECT) return Reach::nobody;
  long bytes_sent = 0;
  curl_easy_getinfo(easy.get(), CURLINFO_REQUEST_SIZE, &bytes_sent);
  return bytes_sent > 0 ? Reach::lost : Reach::unsent;
}

Error Client::State::unreachable(CURLcode code) const {
  const std::string why = target.url + ": " + curl_easy_strerror(code);
  if (code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE) {
    return {Errc::unreachable, why + "; --authority names the file of who signed its certificate"};
  }
  if (code == CURLE_OPERATION_TIMEDOUT) {
    return {Errc::unreachable, why + "; --timeout gives it more time"};
  }
  if (code == CURLE_WRITE_ERROR) return {Errc::failed, target.url + ": the answer is too long"};
  return {Errc::unreachable,
          why +
              "; is the server running there? `weir serve` starts one, --url or WEIR_URL names "
              "another"};
}

Result<std::string> Client::request(const char* method, const std::string& path,
                                    std::chrono::milliseconds wait) {
  std::string body;
  state_->prepare(method, state_->target.url + path, &body, wait);
  const Progress progress("waiting for " + state_->target.url,
                          state_->is_quiet ? ShowProgress::never : ShowProgress::automatic);
  const auto code = state_->perform();
  state_->reach = state_->reach_of(code ? *code : CURLE_ABORTED_BY_CALLBACK);
  if (!code) return code.error();
  if (*code != CURLE_OK) return state_->unreachable(*code);
  long status = 0;
  curl_easy_getinfo(state_->easy.get(), CURLINFO_RESPONSE_CODE, &status);
  if (status < 200 || status > 299) return explain(url(), path, status, body);
  return body;
}

Result<Answer> Client::get(const std::string& path, std::chrono::milliseconds wait) {
  auto body = request("GET", path, wait);
  if (!body) return body.error();
  auto value = parse(*body);
  if (!value) {
    return Error(Errc::failed,
                 "what answers at " + url() + " is no Weir server: no JSON; look at --url");
  }
  return Answer{*std::move(body), *std::move(value)};
}

Result<Answer> Client::send(const char* method, const std::string& path,
                            std::chrono::milliseconds wait) {
  auto body = request(method, path, wait);
  if (!body) return body.error();
  auto value = parse(*body);
  return Answer{*std::move(body), value ? *std::move(value) : boost::json::value()};
}

Result<> show(const ServerOptions& server, const std::string& path, Output& output,
              const std::function<void(const boost::json::value& answer)>& print) {
  auto client = Client::open(server);
  if (!client) return client.error();
  const auto answer = client->get(path);
  if (!answer) return answer.error();
  if (output.is_json()) {
    output.line(answer->body);
  } else {
    print(answer->json);
  }
  return {};
}

std::string encoded(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  constexpr std::string_view plain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~";
  std::string result;
  for (const char character : text) {
    if (plain.find(character) != std::string_view::npos) {
      result += character;
      continue;
    }
    const auto byte = static_cast<unsigned char>(character);
    result += {'%', digits[byte >> 4U], digits[byte & 15U]};
  }
  return result;
}

Query& Query::add(std::string_view name, std::string_view value) {
  text_ += std::exchange(separator_, '&');
  text_ += std::string(name) + "=" + encoded(value);
  return *this;
}

Query& Query::add_if_any(std::string_view name, std::string_view value) {
  return value.empty() ? *this : add(name, value);
}

}  // namespace weir::cli
