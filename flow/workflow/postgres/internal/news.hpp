#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weir/flow/workflow/postgres/internal/batch_run.hpp>

// What engines tell each other by `notify`: hints, which may be lost, that there is something to
// do.
//
//     <owner> r <lane>   there may be something to claim in the lane
//     <owner> d          something will be due soon
//     <owner> c          there is something to cancel
//     <owner> o          there is another owner
//     <owner> l          there is more room under some limit, in whichever lanes
//     <owner> e <id> ... these executions have ended
namespace weir::flow::workflow::postgres::internal {

// What an engine does not know it leaves alone: it may be of a newer one.
enum class NewsKind : char {
  ready = 'r',
  due = 'd',
  cancel = 'c',
  owners = 'o',
  limits = 'l',
  ended = 'e'
};

struct News {
  NewsKind kind;
  std::string lane = {};
  std::vector<ExecutionId> ended = {};
};

std::string write_news(const Context& context, NewsKind kind, std::string_view lane = {});
/// None if it is our own, or not understood.
std::optional<News> read_news(const Context& context, std::string_view text);

/// What a batch has to tell others.
std::vector<std::string> news_of(const Context& context, const Effects& effects);

}  // namespace weir::flow::workflow::postgres::internal
