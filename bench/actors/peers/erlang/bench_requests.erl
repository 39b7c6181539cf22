-module(bench_requests).
-behaviour(gen_server).

-export([ask/0, ask_deadline/0, latency/0]).
-export([init/1, handle_call/3, handle_cast/2]).

-import(bench_measure, [scaled/1, now_ns/0, new_histogram/0, record/2, quantile/2]).

ask() ->
    Responder = spawn(fun respond/0),
    sequential_requests(fun(Value) -> ask_once(Responder, Value) end).

%% gen_server:call arms the deadline and a monitor, as every request in OTP does.
ask_deadline() ->
    {ok, Responder} = gen_server:start(?MODULE, [], []),
    sequential_requests(fun(Value) -> gen_server:call(Responder, Value, 5000) end).

sequential_requests(Ask) ->
    Requests = scaled(1_000_000),
    Main = self(),
    spawn_link(fun() ->
        Start = now_ns(),
        ask_all(Ask, Requests),
        Main ! {elapsed, now_ns() - Start}
    end),
    receive
        {elapsed, Elapsed} -> {Elapsed / Requests, "ns", []}
    end.

ask_all(_, 0) ->
    ok;
ask_all(Ask, Value) ->
    Reply = Ask(Value),
    Reply = Value + 1,
    ask_all(Ask, Value - 1).

ask_once(Responder, Value) ->
    Id = make_ref(),
    Responder ! {self(), Id, Value},
    receive
        {Id, Reply} -> Reply
    end.

respond() ->
    receive
        {From, Id, Value} ->
            From ! {Id, Value + 1},
            respond()
    end.

init([]) -> {ok, nothing}.

handle_call(Value, _From, State) -> {reply, Value + 1, State}.

handle_cast(_, State) -> {noreply, State}.

%% Times each request while a busy process saturates the other scheduler.
latency() ->
    Requests = scaled(200_000),
    Main = self(),
    Histogram = new_histogram(),
    Responder = spawn(fun respond/0),
    Load = spawn(fun() ->
        self() ! turn,
        Main ! {load_turns, keep_busy(0, 1)}
    end),
    spawn_link(fun() ->
        ask_timed(Responder, Requests, Histogram),
        Load ! stop
    end),
    receive
        {load_turns, Turns} when Turns > 0 ->
            [P50, P99, P999, Max] = [quantile(Histogram, F) || F <- [0.5, 0.99, 0.999, 1]],
            {P50, "ns", [
                {"p50_ns", P50},
                {"p99_ns", P99},
                {"p999_ns", P999},
                {"max_ns", Max},
                {"load_turns", Turns}
            ]}
    end.

ask_timed(_, 0, _) ->
    ok;
ask_timed(Responder, Value, Histogram) ->
    Start = now_ns(),
    Reply = ask_once(Responder, Value),
    record(Histogram, now_ns() - Start),
    Reply = Value + 1,
    ask_timed(Responder, Value - 1, Histogram).

%% Computes for a moment and sends itself the next message; the scheduler preempts it.
keep_busy(Turns, Random) ->
    receive
        turn ->
            Next = compute(100, Random),
            self() ! turn,
            keep_busy(Turns + 1, Next);
        stop ->
            Turns
    end.

compute(0, Random) -> Random;
compute(Steps, Random) -> compute(Steps - 1, (Random * 1103515245 + 12345) band 16#7fffffff).
