#include <weir/storage/encoded.hpp>

#include <gtest/gtest.h>

#include <weir/runtime/actor_system.hpp>
#include <weir/storage/errc.hpp>
#include <weir/storage/store.hpp>

namespace weir::storage {
namespace {

using Typed = StateSpace<std::uint64_t, std::string>;

class EncodedTest : public ::testing::Test {
 protected:
  Result<EncodedState> open_encoded(std::string key, std::string value) {
    return system_.run(open_encoded_state(&store_, "s", std::move(key), std::move(value)));
  }
  Result<EncodedState> open_encoded() {
    return open_encoded(KeyCodec<std::uint64_t>::signature(), ValueCodec<std::string>::signature());
  }
  Result<Typed> open_typed() {
    return system_.run(store_.open_state<std::uint64_t, std::string>("s"));
  }
  template <class K, class V>
  std::optional<V> find(const StateSpace<K, V>& space, K key) {
    return store_.current_state().get(space, key).blocking().value();
  }
  static Encoded key_of(std::uint64_t key) { return {encode_key(key)}; }
  static Encoded value_of(const std::string& value) { return {encode_value(value)}; }

  ActorSystem system_{{.threads = 1}};
  Store store_ = Store::open(system_, {}).value();
};

TEST_F(EncodedTest, BothReadWhatEitherWrites) {
  const EncodedState encoded = open_encoded().value();
  const Typed typed = open_typed().value();
  auto transaction = store_.begin();
  transaction.put(encoded, key_of(7), value_of("by bytes"));
  transaction.put(typed, 300, "by type");
  ASSERT_TRUE(system_.run(transaction.commit()));
  EXPECT_EQ(find(typed, std::uint64_t{7}), "by bytes");
  EXPECT_EQ(find(encoded, key_of(300)), value_of("by type"));
  EXPECT_EQ(find(encoded, key_of(8)), std::nullopt);
}

TEST_F(EncodedTest, KeysAreInTheOrderOfTheirType) {
  const Typed typed = open_typed().value();
  auto transaction = store_.begin();
  for (const std::uint64_t key : {300U, 2U, 70'000U, 256U}) transaction.put(typed, key, "");
  ASSERT_TRUE(system_.run(transaction.commit()));
  auto scan = store_.current_state().scan(open_encoded().value());
  for (const std::uint64_t key : {2U, 256U, 300U, 70'000U}) {
    const auto row = scan.next_blocking().value();
    ASSERT_TRUE(row);
    EXPECT_EQ(row->key, key_of(key));
  }
  EXPECT_FALSE(scan.next_blocking().value());
}

TEST_F(EncodedTest, OtherSignaturesAreRefusedWhoeverCameFirst) {
  ASSERT_TRUE(open_typed());
  EXPECT_TRUE(open_encoded());
  const std::string key = KeyCodec<std::uint64_t>::signature();
  const std::string value = ValueCodec<std::string>::signature();
  for (const auto& refused : {open_encoded(key, key), open_encoded(value, value)}) {
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error(), Errc::wrong_type);
    EXPECT_NE(refused.error().message().find("\"s\""), std::string::npos);
  }
  ASSERT_TRUE(system_.run(open_encoded_state(&store_, "t", key, key)));
  EXPECT_EQ(system_.run(store_.open_state<std::uint64_t, std::string>("t")).error(),
            Errc::wrong_type);
}

}  // namespace
}  // namespace weir::storage
