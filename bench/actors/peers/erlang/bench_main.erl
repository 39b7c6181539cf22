%% The actor benchmark in Erlang/OTP: a process is an actor. Runs one workload, verifies the outcome
%% and prints one RESULT line. Mailboxes are unbounded, so the bounded workloads are missing.
-module(bench_main).

-export([main/1]).

main([Name]) ->
    case lists:keyfind(Name, 1, workloads()) of
        {Name, Run} ->
            {_, Monitor} = spawn_monitor(fun() -> exit({result, Run()}) end),
            receive
                {'DOWN', Monitor, process, _, {result, {Value, Unit, Extras}}} ->
                    print_result(Name, Value, Unit, Extras),
                    halt(0);
                {'DOWN', Monitor, process, _, Reason} ->
                    io:format(standard_error, "wrong result: ~p~n", [Reason]),
                    halt(1)
            end;
        false ->
            Names = lists:join(" ", [Known || {Known, _} <- workloads()]),
            io:format(standard_error, "usage: run.sh <workload>, one of: ~s~n", [Names]),
            halt(2)
    end.

workloads() ->
    [
        {"ping_pong", fun bench_messaging:ping_pong/0},
        {"count", fun bench_messaging:count/0},
        {"many_to_one", fun bench_messaging:many_to_one/0},
        {"ring", fun bench_messaging:ring/0},
        {"skynet", fun bench_spawning:skynet/0},
        {"fork_join", fun bench_spawning:fork_join/0},
        {"big", fun bench_messaging:big/0},
        {"ask", fun bench_requests:ask/0},
        {"ask_deadline", fun bench_requests:ask_deadline/0},
        {"memory", fun bench_spawning:memory/0},
        {"timers", fun bench_timers:timers/0},
        {"latency", fun bench_requests:latency/0}
    ].

print_result(Name, Value, Unit, Extras) ->
    io:format("RESULT ~s ~.3f ~s", [Name, float(Value), Unit]),
    [io:format(" ~s=~.1f", [Key, float(Extra)]) || {Key, Extra} <- Extras],
    io:format("~n").
