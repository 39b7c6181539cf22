#include <weir/flow/workflow/engine.hpp>

#include <chrono>

#include <gtest/gtest.h>

#include <weir/tests/flow/workflow/support/engine_fixture.hpp>
#include <weir/tests/flow/workflow/support/patient.hpp>

// Suspending and signals through the engine: across crashes, by its clock, and who waits is woken.
namespace weir::flow::workflow {
namespace {

using namespace std::chrono_literals;
using testing::ask;
using testing::EngineTest;
using testing::IsTaken;
using testing::Patient;
using testing::Take;
using testing::Taken;

SuspendRequest waiting_for(std::vector<std::string> waitpoints) {
  return {.condition = WaitCondition::all_of(std::move(waitpoints))};
}

TEST_F(EngineTest, ASignalResumesWhatIsSuspendedAlsoAcrossACrash) {
  const ExecutionId id = create();
  const Handle handle = claim_one().handle;
  const auto waits = run(engine().suspend(handle, waiting_for({"paid", "packed"}))).value();
  ASSERT_EQ(waits.tokens.size(), 2U);
  EXPECT_TRUE(claim({.worker = "w"}).empty());
  crash();
  EXPECT_EQ(state_of(id), PublicState::suspended);
  EXPECT_EQ(run(engine().signal({id, "paid", "42"}, waits.tokens[0].token)), SignalEffect::kept);
  crash();
  EXPECT_EQ(run(engine().signal({id, "packed", "box"}, waits.tokens[0].token)).error(),
            Errc::invalid_token);
  EXPECT_EQ(run(engine().signal({id, "packed", "box"}, waits.tokens[1].token)),
            SignalEffect::resumed);
  crash();
  const Claimed again = claim_one();
  EXPECT_EQ(again.handle.attempt, handle.attempt);
  ASSERT_EQ(again.resumed->signals.size(), 2U);
  EXPECT_EQ(again.resumed->signals[0].payload, "42");
  EXPECT_EQ(again.resumed->signals[1].payload, "box");
  EXPECT_EQ(run(engine().signals(id)).value().size(), 2U);
  EXPECT_EQ(run(engine().suspension(id)).value()->state, SuspensionState::satisfied);
  ASSERT_TRUE(run(engine().complete(again.handle, "sent")));
  EXPECT_FALSE(run(engine().suspension(id)).value());
}

TEST_F(EngineTest, ASuspensionTimesOutByTheClockOfTheStoreAlsoAfterARestart) {
  const ExecutionId id = create();
  SuspendRequest request = waiting_for({"paid"});
  request.timeout = 60s;
  request.on_timeout = OnTimeout::resume;
  ASSERT_TRUE(run(engine().suspend(claim_one().handle, request)));
  crash();
  pass(59s);
  EXPECT_EQ(state_of(id), PublicState::suspended);
  pass(2s);
  EXPECT_EQ(state_of(id), PublicState::waiting);
  EXPECT_EQ(claim_one().resumed->state, SuspensionState::timed_out);
}

TEST_F(EngineTest, TheSecretOfHandlesIsMadeOnceAndStaysWhateverBecomesOfOtherKeys) {
  const std::string secret = run(engine().handle_secret()).value();
  EXPECT_EQ(secret.size(), 32u);
  EXPECT_EQ(run(engine().handle_secret()).value(), secret);
  ASSERT_TRUE(run(engine().waitpoint_token(create(), "p")));
  ASSERT_TRUE(run(engine().rotate_signing_key("second")));
  ASSERT_TRUE(run(engine().retire_signing_key("initial")));
  crash();
  EXPECT_EQ(run(engine().handle_secret()).value(), secret);
}

TEST_F(EngineTest, TokensAreGoodAfterTheirKeyWasRotatedAndUntilItRetires) {
  const ExecutionId id = create();
  const std::string first = run(engine().waitpoint_token(id, "p")).value();
  crash();
  ASSERT_TRUE(run(engine().rotate_signing_key("second")));
  const std::string second = run(engine().waitpoint_token(id, "p")).value();
  EXPECT_NE(first, second);
  crash();
  EXPECT_EQ(run(engine().waitpoint_token(id, "p")).value(), second);
  EXPECT_EQ(run(engine().signal({id, "p"}, first)), SignalEffect::kept);
  ASSERT_TRUE(run(engine().retire_signing_key("initial")));
  EXPECT_EQ(run(engine().signal({id, "p"}, first)).error(), Errc::invalid_token);
  EXPECT_EQ(run(engine().signal({id, "p"}, second)), SignalEffect::kept);
}

TEST_F(EngineTest, WhoWaitsForWorkIsWokenByASignal) {
  const ExecutionId id = create();
  ASSERT_TRUE(run(engine().suspend(claim_one().handle, waiting_for({"paid"}))));
  auto patient = system().spawn<Patient>(&engine());
  patient.send<Take>();
  pass(10s);
  EXPECT_FALSE(run(ask<IsTaken>(patient)).value());
  EXPECT_EQ(run(engine().approve({id, "paid", "yes", "", "anna"})), SignalEffect::resumed);
  pass(1s);
  const Claimed taken = run(ask<Taken>(patient)).value();
  EXPECT_TRUE(taken.resumed->signals.at(0).is_approval);
  EXPECT_EQ(taken.resumed->signals.at(0).source, "anna");
}

TEST_F(EngineTest, AHandleOfAnotherStoreSuspendsNothing) {
  const ExecutionId id = create();
  Handle handle = claim_one().handle;
  handle.store ^= 1;
  EXPECT_EQ(run(engine().suspend(handle, waiting_for({"p"}))).error(), Errc::foreign_handle);
  EXPECT_EQ(state_of(id), PublicState::active);
}

}  // namespace
}  // namespace weir::flow::workflow
