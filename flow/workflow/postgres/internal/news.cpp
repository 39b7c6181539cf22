#include <weir/flow/workflow/postgres/internal/news.hpp>

#include <algorithm>

namespace weir::flow::workflow::postgres::internal {
namespace {

/// What one notification can hold, with room to spare: of 8,000 bytes.
constexpr std::size_t ids_at_once = 100;

/// What is no id is of no use, but no harm either.
std::vector<ExecutionId> ids_in(std::string_view text) {
  std::vector<ExecutionId> ids;
  while (!text.empty()) {
    const std::size_t space = std::min(text.find(' '), text.size());
    if (auto id = parse_execution_id(std::string(text.substr(0, space)))) ids.push_back(*id);
    text.remove_prefix(std::min(space + 1, text.size()));
  }
  return ids;
}

void add_ended(const Context& context, const std::vector<ExecutionId>& ended,
               std::vector<std::string>& news) {
  std::string ids;
  for (std::size_t i = 0; i < ended.size(); ++i) {
    if (!ids.empty()) ids += ' ';
    ids += to_string(ended[i]);
    if ((i + 1) % ids_at_once != 0 && i + 1 < ended.size()) continue;
    news.push_back(write_news(context, NewsKind::ended, ids));
    ids.clear();
  }
}

}  // namespace

std::string write_news(const Context& context, NewsKind kind, std::string_view lane) {
  std::string text = std::to_string(context.owner) + " " + static_cast<char>(kind);
  if (!lane.empty()) text.append(" ").append(lane);
  return text;
}

std::optional<News> read_news(const Context& context, std::string_view text) {
  const auto space = text.find(' ');
  if (space == std::string_view::npos || space + 1 >= text.size()) return std::nullopt;
  if (text.substr(0, space) == std::to_string(context.owner)) return std::nullopt;
  News news{static_cast<NewsKind>(text[space + 1])};
  if (space + 3 > text.size()) return news;
  if (news.kind == NewsKind::ended) {
    news.ended = ids_in(text.substr(space + 3));
  } else {
    news.lane = text.substr(space + 3);
  }
  return news;
}

std::vector<std::string> news_of(const Context& context, const Effects& effects) {
  std::vector<std::string> news;
  if (!context.has_others.load(std::memory_order_relaxed)) return news;
  for (const std::string& lane : effects.lanes) {
    news.push_back(write_news(context, NewsKind::ready, lane));
  }
  // What is due later, its owner finds by itself.
  if (effects.is_due_within(context.options.poll)) {
    news.push_back(write_news(context, NewsKind::due));
  }
  if (effects.frees_limits) news.push_back(write_news(context, NewsKind::limits));
  if (effects.has_cancels) news.push_back(write_news(context, NewsKind::cancel));
  add_ended(context, effects.ended, news);
  return news;
}

}  // namespace weir::flow::workflow::postgres::internal
