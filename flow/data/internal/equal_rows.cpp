#include <weir/flow/data/internal/equal_rows.hpp>

#include <algorithm>
#include <bit>
#include <limits>

namespace weir::flow::data::internal {
namespace {

/// Where numbers are kept: a power of two of places, some of them for several. `Row` is as wide as
/// rows need: the less memory, the more of it is near.
template <class Row>
class Places {
 public:
  static constexpr Row none = std::numeric_limits<Row>::max();

  explicit Places(std::size_t count)
      : bits_(static_cast<std::size_t>(std::bit_width(count | 1))),
        rows_(std::size_t{1} << bits_, none) {}

  std::size_t of(std::uint64_t code) const noexcept {
    return code * 0x9E3779B97F4A7C15 >> (64 - bits_);
  }
  /// The same for loops, which then know that it does not change.
  struct Index {
    Row& operator[](std::uint64_t code) const noexcept {
      return rows[code * 0x9E3779B97F4A7C15 >> shift];
    }
    Row* rows;
    std::size_t shift;
  };
  Index index() noexcept { return {rows_.data(), 64 - bits_}; }
  std::size_t behind(std::size_t place) const noexcept { return (place + 1) & (rows_.size() - 1); }
  Row& operator[](std::size_t place) noexcept { return rows_[place]; }

 private:
  std::size_t bits_;
  Values<Row> rows_;
};

/// Finds the first row equal to another one, of those that it was asked for.
class FirstRows {
 public:
  FirstRows(const RowCodes& rows, std::size_t count)
      : rows_(rows), alike_left_(rows.alike_max), places_(count * 3 / 2) {}

  bool has_given_up() const noexcept { return has_given_up_; }
  bool are_equal(std::uint32_t a, std::uint32_t b) noexcept {
    if (rows_.codes[a] != rows_.codes[b]) return false;
    if (equal_rows(rows_.columns, a, rows_.columns, b)) return true;
    // For good: whoever asks once more must not find as many left as there can be.
    if (alike_left_ == 0) has_given_up_ = true;
    if (alike_left_ > 0) --alike_left_;
    return false;
  }
  /// The row itself, if no equal one was asked for before, or if it has given up.
  std::uint32_t first_like(std::uint32_t row) noexcept {
    for (std::size_t place = places_.of(rows_.codes[row]);; place = places_.behind(place)) {
      const std::uint32_t other = places_[place];
      if (other == Places<std::uint32_t>::none) return places_[place] = row;
      if (are_equal(other, row)) return other;
      if (has_given_up_) return row;
    }
  }

 private:
  const RowCodes& rows_;
  std::size_t alike_left_;
  bool has_given_up_ = false;
  Places<std::uint32_t> places_;
};

/// Gives each place to the first row that wants it, and the rows that came too late, in order.
template <class Row>
Values<std::uint32_t> give_places(std::span<const std::uint64_t> codes, Places<Row>& owners) {
  Values<std::uint32_t> late(codes.size());
  std::uint32_t* to = late.data();
  const auto index = owners.index();
  // Writes each row, and keeps it only if it was late: no branch to be guessed wrong.
  for (std::uint32_t row = 0; row < codes.size(); ++row) {
    Row& owner = index[codes[row]];
    // The greatest of all numbers is no row.
    const Row before = owner;
    owner = std::min(before, static_cast<Row>(row));
    *to = row;
    to += before != Places<Row>::none ? 1 : 0;
  }
  late.resize(static_cast<std::size_t>(to - late.data()));
  return late;
}

/// Few of many rows, in order.
class RowSet {
 public:
  explicit RowSet(std::size_t rows) : words_((rows + bits - 1) / bits, 0) {}

  void add(std::uint32_t row) noexcept { words_[row / bits] |= std::uint64_t{1} << row % bits; }
  template <class Visit>
  void for_each(Visit visit) const {
    for (std::size_t word = 0; word < words_.size(); ++word) {
      for (std::uint64_t left = words_[word]; left != 0; left &= left - 1)
        visit(static_cast<std::uint32_t>(word * bits) +
              static_cast<std::uint32_t>(std::countr_zero(left)));
    }
  }

 private:
  static constexpr std::size_t bits = 64;
  Values<std::uint64_t> words_;
};

/// The more places, the fewer rows come too late; but they must stay near.
template <class Row>
constexpr std::size_t places_of_a_row = 8 / sizeof(Row);

template <class Row>
std::optional<Values<std::uint32_t>> sum_rows(const RowCodes& rows, std::span<Weight> weights) {
  // Most rows get a place of their own, and nothing else has to be known of them.
  Places<Row> owners(rows.codes.size() * places_of_a_row<Row>);
  const Values<std::uint32_t> late = give_places(rows.codes, owners);
  FirstRows first(rows, late.size());
  RowSet changed(rows.codes.size());
  for (const std::uint32_t row : late) {
    const std::uint32_t owner = owners[owners.of(rows.codes[row])];
    const std::uint32_t same = first.are_equal(owner, row) ? owner : first.first_like(row);
    if (first.has_given_up()) return std::nullopt;
    if (same == row) continue;
    weights[same] += weights[row];
    weights[row] = 0;
    changed.add(same);
    changed.add(row);
  }
  Values<std::uint32_t> zero;
  changed.for_each([&](std::uint32_t row) {
    if (weights[row] == 0) zero.push_back(row);
  });
  return zero;
}

}  // namespace

std::optional<Values<std::uint32_t>> sum_equal_rows(const RowCodes& rows,
                                                    std::span<Weight> weights) {
  const bool is_small = rows.codes.size() <= Places<std::uint16_t>::none;
  return is_small ? sum_rows<std::uint16_t>(rows, weights) : sum_rows<std::uint32_t>(rows, weights);
}

}  // namespace weir::flow::data::internal
