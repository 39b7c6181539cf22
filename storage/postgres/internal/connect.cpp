#include <weir/storage/postgres/internal/connect.hpp>

#include <arpa/inet.h>
#include <netdb.h>

#include <array>
#include <cstring>

#include <libpq-fe.h>

#include <weir/storage/postgres/errc.hpp>
#include <weir/storage/postgres/internal/failure.hpp>

namespace weir::storage::postgres::internal {
namespace {

using InfoPointer = std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)>;

/// The host from the environment, which libpq would use.
std::string default_host() {
  const InfoPointer defaults(PQconndefaults(), &PQconninfoFree);
  for (auto* option = defaults.get(); option && option->keyword; ++option) {
    if (std::string_view(option->keyword) == "host" && option->val) return option->val;
  }
  return {};
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> items(1);
  for (const char letter : list) {
    if (letter == ',') {
      items.emplace_back();
    } else {
      items.back() += letter;
    }
  }
  return items;
}

bool is_numeric(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> address;
  const std::string bare = host.substr(0, host.find('%'));
  return ::inet_pton(AF_INET, host.c_str(), address.data()) == 1 ||
         ::inet_pton(AF_INET6, bare.c_str(), address.data()) == 1;
}

std::string item(const std::vector<std::string>& items, std::size_t at) {
  return items.size() == 1 ? items.front() : at < items.size() ? items[at] : std::string();
}

}  // namespace

std::string ConnectionParameters::get(std::string_view keyword) const {
  for (const auto& [known, value] : values) {
    if (known == keyword) return value;
  }
  return {};
}

void ConnectionParameters::set(std::string_view keyword, std::string value) {
  for (auto& [known, old] : values) {
    if (known == keyword) {
      old = std::move(value);
      return;
    }
  }
  values.emplace_back(keyword, std::move(value));
}

Result<ConnectionParameters> parse_connection(const Options& options) {
  char* problem = nullptr;
  const InfoPointer parsed(PQconninfoParse(options.connection.c_str(), &problem), &PQconninfoFree);
  if (!parsed) {
    const std::unique_ptr<char, decltype(&PQfreemem)> owned(problem, &PQfreemem);
    return Error(Errc::invalid_argument,
                 "Options::connection: " + trimmed(problem ? problem : "out of memory"));
  }
  ConnectionParameters parameters;
  for (auto* option = parsed.get(); option->keyword; ++option) {
    if (option->val) parameters.set(option->keyword, option->val);
  }
  const auto set_default = [&](std::string_view keyword, std::string value) {
    if (parameters.get(keyword).empty()) parameters.set(keyword, std::move(value));
  };
  set_default("application_name", options.name);
  set_default("client_encoding", "UTF8");
  set_default("gssencmode", "disable");  // it would ask other servers, and block
  if (parameters.get("service").empty() && parameters.get("hostaddr").empty()) {
    if (std::string host = default_host(); !host.empty()) set_default("host", std::move(host));
  }
  return parameters;
}

bool needs_lookup(const Host& host) {
  if (!host.address.empty() || host.name.empty()) return false;
  const bool is_path = host.name.front() == '/' || host.name.front() == '@';
  return !is_path && !is_numeric(host.name);
}

std::vector<Host> hosts_of(const ConnectionParameters& parameters) {
  const auto names = split(parameters.get("host"));
  const auto addresses = split(parameters.get("hostaddr"));
  const auto ports = split(parameters.get("port"));
  const bool has_addresses = !parameters.get("hostaddr").empty();
  std::vector<Host> hosts(has_addresses ? addresses.size() : names.size());
  for (std::size_t at = 0; at < hosts.size(); ++at) {
    hosts[at] = {at < names.size() ? names[at] : "", has_addresses ? addresses[at] : "",
                 item(ports, at)};
  }
  return hosts;
}

void set_hosts(ConnectionParameters& parameters, const std::vector<Host>& hosts) {
  std::string names;
  std::string addresses;
  std::string ports;
  for (const Host& host : hosts) {
    const char* comma = &host == hosts.data() ? "" : ",";
    names.append(comma).append(host.name);
    addresses.append(comma).append(host.address);
    ports.append(comma).append(host.port);
  }
  parameters.set("host", std::move(names));
  parameters.set("hostaddr", std::move(addresses));
  parameters.set("port", std::move(ports));
}

Result<std::vector<Host>> look_up(const std::vector<Host>& hosts) {
  std::vector<Host> found;
  std::string problem;
  for (const Host& host : hosts) {
    if (!needs_lookup(host)) {
      found.push_back(host);
      continue;
    }
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* first = nullptr;
    const int code = ::getaddrinfo(host.name.c_str(), nullptr, &hints, &first);
    if (code != 0) {
      problem = "cannot look up host \"" + host.name + "\": " + ::gai_strerror(code);
      continue;
    }
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(first, &::freeaddrinfo);
    for (const addrinfo* info = first; info; info = info->ai_next) {
      std::array<char, NI_MAXHOST> text;
      if (::getnameinfo(info->ai_addr, info->ai_addrlen, text.data(), text.size(), nullptr, 0,
                        NI_NUMERICHOST) == 0) {
        found.push_back({host.name, text.data(), host.port});
      }
    }
  }
  if (found.empty()) return Error(Errc::unavailable, std::move(problem));
  return found;
}

void FinishConnection::operator()(pg_conn* connection) const noexcept { PQfinish(connection); }

Result<ConnectionHandle> start_connecting(const ConnectionParameters& parameters) {
  std::vector<const char*> keywords;
  std::vector<const char*> values;
  for (const auto& [keyword, value] : parameters.values) {
    keywords.push_back(keyword.c_str());
    values.push_back(value.c_str());
  }
  keywords.push_back(nullptr);
  values.push_back(nullptr);
  ConnectionHandle connection(PQconnectStartParams(keywords.data(), values.data(), 0));
  if (!connection) return Error(Errc::unavailable, "out of memory");
  if (PQstatus(connection.get()) == CONNECTION_BAD) {
    return Error(Errc::unavailable, message_of(connection.get()));
  }
  return connection;
}

Polled poll_connecting(pg_conn* connection) {
  switch (PQconnectPoll(connection)) {
    case PGRES_POLLING_READING: return Polled::wants_read;
    case PGRES_POLLING_WRITING: return Polled::wants_write;
    case PGRES_POLLING_OK: return Polled::is_connected;
    default: return Polled::has_failed;
  }
}

int socket_of(const pg_conn* connection) { return PQsocket(connection); }

std::string message_of(const pg_conn* connection) { return trimmed(PQerrorMessage(connection)); }

}  // namespace weir::storage::postgres::internal
