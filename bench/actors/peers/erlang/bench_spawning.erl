-module(bench_spawning).

-export([skynet/0, fork_join/0, memory/0]).

-import(bench_measure, [scaled/1, now_ns/0, per_million/2, resident_bytes/0]).

skynet() ->
    Leaves = leaves(10, scaled(1_000_000)),
    Main = self(),
    Start = now_ns(),
    spawn(fun() -> skynet_actor(Main, 0, Leaves) end),
    receive
        Sum ->
            Elapsed = now_ns() - Start,
            Sum = Leaves * (Leaves - 1) div 2,
            per_million(Elapsed, Leaves)
    end.

%% The largest power of ten within the scale, because the tree is ten-ary.
leaves(Leaves, Limit) when Leaves * 10 =< Limit -> leaves(Leaves * 10, Limit);
leaves(Leaves, _) -> Leaves.

skynet_actor(Parent, First, 1) ->
    Parent ! First;
skynet_actor(Parent, First, Leaves) ->
    Self = self(),
    Share = Leaves div 10,
    [spawn(fun() -> skynet_actor(Self, First + I * Share, Share) end) || I <- lists:seq(0, 9)],
    Parent ! sum_of(10, 0).

sum_of(0, Sum) ->
    Sum;
sum_of(Left, Sum) ->
    receive
        Value -> sum_of(Left - 1, Sum + Value)
    end.

fork_join() ->
    Actors = scaled(1_000_000),
    Total = atomics:new(1, []),
    Expected = Actors * (Actors + 1) div 2,
    Main = self(),
    Start = now_ns(),
    fork(Actors, fun() ->
        receive
            Value ->
                case atomics:add_get(Total, 1, Value) of
                    Expected -> Main ! joined;
                    _ -> ok
                end
        end
    end),
    receive
        joined -> per_million(now_ns() - Start, Actors)
    end.

fork(0, _) ->
    ok;
fork(Left, Body) ->
    spawn(Body) ! Left,
    fork(Left - 1, Body).

memory() ->
    Actors = scaled(1_000_000),
    Ready = counters:new(1, [atomics]),
    Main = self(),
    Before = resident_bytes(),
    Start = now_ns(),
    Pids = spawn_idle(Actors, [], fun() ->
        counters:add(Ready, 1, 1),
        receive
            Value -> Main ! {answer, Value}
        end
    end),
    Spawned = now_ns() - Start,
    wait_until(Ready, Actors),
    Readied = now_ns() - Start,
    %% A list cell of two words holds each reference.
    Bytes = resident_bytes() - Before - Actors * 16,
    [Pid ! 1 || Pid <- Pids],
    Actors = sum_answers(Actors, 0),
    {Bytes / Actors, "B", [
        {"spawn_ns", Spawned / Actors}, {"ready_ns", Readied / Actors}, {"actors", Actors}
    ]}.

spawn_idle(0, Pids, _) -> Pids;
spawn_idle(Left, Pids, Body) -> spawn_idle(Left - 1, [spawn(Body) | Pids], Body).

wait_until(Counter, Wanted) ->
    case counters:get(Counter, 1) of
        Wanted ->
            ok;
        _ ->
            erlang:yield(),
            wait_until(Counter, Wanted)
    end.

sum_answers(0, Sum) ->
    Sum;
sum_answers(Left, Sum) ->
    receive
        {answer, Value} -> sum_answers(Left - 1, Sum + Value)
    end.
