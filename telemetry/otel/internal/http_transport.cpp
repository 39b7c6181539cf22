#include <weir/telemetry/otel/internal/transport.hpp>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <new>
#include <stdexcept>
#include <utility>

#include <curl/curl.h>
#include <google/protobuf/message.h>
#include <zlib.h>

#include <weir/telemetry/otel/internal/diagnostics.hpp>

namespace weir::telemetry::otel {
namespace {

template <auto function>
struct Calling {
  template <class T>
  void operator()(T* pointer) const noexcept {
    function(pointer);
  }
};
using Easy = std::unique_ptr<CURL, Calling<&curl_easy_cleanup>>;
using Multi = std::unique_ptr<CURLM, Calling<&curl_multi_cleanup>>;
using HeaderList = std::unique_ptr<curl_slist, Calling<&curl_slist_free_all>>;

std::string gzip(std::string_view text) {
  constexpr int window_bits_of_gzip = 15 + 16;
  ::z_stream stream{};
  if (::deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window_bits_of_gzip, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::runtime_error("zlib: deflateInit2 failed");
  }
  std::string out(::deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int result = ::deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  ::deflateEnd(&stream);
  if (result != Z_STREAM_END) throw std::runtime_error("zlib: deflate failed");
  return out;
}

void append(HeaderList& list, const std::string& line) {
  curl_slist* longer = curl_slist_append(list.get(), line.c_str());
  if (longer == nullptr) throw std::bad_alloc();
  (void)list.release();
  list.reset(longer);
}

// As libcurl wants it, which leaves out a header that has nothing but blanks behind its colon.
std::string header_line(const std::string& name, const std::string& value) {
  const bool is_empty = value.find_first_not_of(' ') == std::string::npos;
  return is_empty ? name + ";" : name + ": " + value;
}

HeaderList header_lines(const ExportOptions& options) {
  HeaderList list;
  append(list, "Content-Type: application/x-protobuf");
  if (options.uses_gzip) append(list, "Content-Encoding: gzip");
  // Without it a large body would wait a second for a collector that does not know of it.
  append(list, "Expect:");
  for (const auto& [name, value] : options.headers) append(list, header_line(name, value));
  return list;
}

// The answer's body says nothing that we could act on.
std::size_t ignore(char*, std::size_t size, std::size_t count, void*) noexcept {
  return size * count;
}

template <class Value>
void set(const Easy& easy, CURLoption option, Value value) {
  const CURLcode code = curl_easy_setopt(easy.get(), option, value);
  if (code == CURLE_OK) return;
  throw std::invalid_argument(std::string("telemetry: libcurl: ") + curl_easy_strerror(code));
}

class HttpTransport final : public Transport {
 public:
  HttpTransport(const ExportOptions& options, std::string endpoint)
      : endpoint_(std::move(endpoint)),
        uses_gzip_(options.uses_gzip),
        headers_(header_lines(options)),
        easy_(curl_easy_init()),
        multi_(curl_multi_init()) {
    if (!easy_ || !multi_) throw std::bad_alloc();
    set(easy_, CURLOPT_URL, endpoint_.c_str());
    set(easy_, CURLOPT_PROTOCOLS_STR, "http,https");
    set(easy_, CURLOPT_HTTPHEADER, headers_.get());
    set(easy_, CURLOPT_USERAGENT, "weir/" WEIR_VERSION);
    set(easy_, CURLOPT_POST, 1L);
    set(easy_, CURLOPT_WRITEFUNCTION, &ignore);
    const auto timeout = std::max(options.timeout, std::chrono::milliseconds{1}).count();
    set(easy_, CURLOPT_TIMEOUT_MS, static_cast<long>(timeout));
    set(easy_, CURLOPT_NOSIGNAL, 1L);
    set(easy_, CURLOPT_QUICK_EXIT, 1L);
    if (!options.certificate.empty()) {
      set(easy_, CURLOPT_CAINFO, options.certificate.c_str());
    }
    if (!options.client_certificate.empty()) {
      set(easy_, CURLOPT_SSLCERT, options.client_certificate.c_str());
      set(easy_, CURLOPT_SSLKEY, options.client_key.c_str());
    }
  }

  bool send(const google::protobuf::Message& request) override {
    return send_encoded(request.SerializeAsString(), request);
  }

  bool send_encoded(std::string_view request, const google::protobuf::Message&) override {
    const std::string compressed = uses_gzip_ ? gzip(request) : std::string();
    if (!begin()) return false;
    struct Ending {
      ~Ending() { transport->end(); }
      HttpTransport* transport;
    } const ending{this};
    return post(uses_gzip_ ? std::string_view(compressed) : request);
  }

  void shut_down(std::chrono::milliseconds within) override {
    std::unique_lock lock(mutex_);
    is_closed_ = true;
    idle_.wait_for(lock, within, [this] { return !is_sending_; });
    gives_up_.store(true, std::memory_order_release);
    curl_multi_wakeup(multi_.get());
  }

 private:
  bool begin() {
    const std::lock_guard lock(mutex_);
    is_sending_ = !is_closed_;
    return is_sending_;
  }

  void end() {
    const std::lock_guard lock(mutex_);
    is_sending_ = false;
    idle_.notify_all();
  }

  bool post(std::string_view body) {
    curl_easy_setopt(easy_.get(), CURLOPT_POSTFIELDS, body.data());
    curl_easy_setopt(easy_.get(), CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(body.size()));
    curl_multi_add_handle(multi_.get(), easy_.get());
    const CURLcode code = run();
    long status = 0;
    curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
    curl_multi_remove_handle(multi_.get(), easy_.get());
    if (code == CURLE_OK && status >= 200 && status < 300) return true;
    complain(endpoint_ + ": " + reason(code, status));
    return false;
  }

  static std::string reason(CURLcode code, long status) {
    if (code == CURLE_OK) return "answered " + std::to_string(status);
    if (code == CURLE_ABORTED_BY_CALLBACK) return "no answer before the shutdown";
    return curl_easy_strerror(code);
  }

  // Until the request has ended, by itself or by its timeout, or `shut_down` has lost patience.
  CURLcode run() noexcept {
    int running = 1;
    while (!gives_up_.load(std::memory_order_acquire)) {
      if (curl_multi_perform(multi_.get(), &running) != CURLM_OK) return CURLE_FAILED_INIT;
      if (running == 0) return outcome();
      curl_multi_poll(multi_.get(), nullptr, 0, 1000, nullptr);
    }
    return CURLE_ABORTED_BY_CALLBACK;
  }

  CURLcode outcome() noexcept {
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi_.get(), &left)) {
      if (message->msg == CURLMSG_DONE) return message->data.result;
    }
    return CURLE_FAILED_INIT;
  }

  const std::string endpoint_;
  const bool uses_gzip_;

  // Of the thread that sends. The multi handle comes last: it lets go of the others first.
  HeaderList headers_;
  Easy easy_;
  Multi multi_;

  // Guarded by mutex_.
  std::mutex mutex_;
  std::condition_variable idle_;
  bool is_sending_ = false;
  bool is_closed_ = false;

  std::atomic<bool> gives_up_{false};
};

}  // namespace

std::unique_ptr<Transport> http_transport(const ExportOptions& options, const std::string& path) {
  static const CURLcode initialised = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (initialised != CURLE_OK) throw std::runtime_error("telemetry: libcurl cannot start");
  return std::make_unique<HttpTransport>(
      options, options.endpoint.empty() ? "http://localhost:4318" + path : options.endpoint);
}

}  // namespace weir::telemetry::otel
