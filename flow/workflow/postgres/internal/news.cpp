#include <weir/flow/workflow/postgres/internal/news.hpp>

namespace weir::flow::workflow::postgres::internal {

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
  if (space + 3 <= text.size()) news.lane = text.substr(space + 3);
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
  if (effects.has_cancels) news.push_back(write_news(context, NewsKind::cancel));
  return news;
}

}  // namespace weir::flow::workflow::postgres::internal
