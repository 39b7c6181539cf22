#pragma once

/// The workloads of the Boost.Asio peer; each verifies its outcome and prints one result line.
namespace weir::bench::actors::peers {

void ping_pong();
void count();
void count_bounded();
void many_to_one();
void many_to_one_bounded();
void ring();
void big();

void skynet();
void fork_join();
void memory();

void ask();
void ask_deadline();
void latency();

void timers();

}  // namespace weir::bench::actors::peers
