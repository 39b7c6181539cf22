#pragma once

#include <cstdint>
#include <string_view>

#include <weir/runtime/actor_info.hpp>
#include <weir/runtime/actor_system_options.hpp>

// What a system says where no hook takes it: a line of the log if its telemetry has one that goes
// somewhere, else one on standard error.
namespace weir::internal {

struct Core;

/// One of `count` since the last line.
void tell(Core& core, const DeadLetter& letter, std::uint64_t count) noexcept;
void tell(Core& core, const ActorFailure& failure) noexcept;
void tell(Core& core, const PhaseEvent& event) noexcept;
void tell_that_it_did_not_stop(Core& core, const ActorInfo& actor) noexcept;
void tell_that_posted_function_threw(Core& core, std::string_view message) noexcept;

}  // namespace weir::internal
