-module(bench_timers).

-export([timers/0]).

-import(bench_measure, [scaled/1, now_ns/0, cpu_ns/0]).

%% Arms one-shots due between one and two seconds ahead, cancels every second one and waits for the
%% rest; each expiry is a message to one process. Erlang's timers have a resolution of 1 ms.
timers() ->
    Main = self(),
    spawn_link(fun() -> Main ! {timers, run(scaled(1_000_000))} end),
    receive
        {timers, Result} -> Result
    end.

run(Armed) ->
    rand:seed(exsss, 7),
    Cpu = cpu_ns(),
    Start = now_ns(),
    Timers = arm(Armed, []),
    AfterArming = now_ns(),
    {Pending, Expected} = cancel_every_second(Timers, 0, 0),
    AfterCancelling = now_ns(),
    Expected = sum_expired(Pending, 0),
    {(cpu_ns() - Cpu) / Armed, "cpu_ns", [
        {"arm_ns", (AfterArming - Start) / Armed},
        {"cancel_ns", (AfterCancelling - AfterArming) / max(1, Armed div 2)},
        {"expired", Pending}
    ]}.

arm(0, Timers) ->
    Timers;
arm(Index, Timers) ->
    Delay = 1000 + rand:uniform(1000),
    arm(Index - 1, [{Index, erlang:send_after(Delay, self(), Index)} | Timers]).

%% Returns how many stay armed and the sum of their indices.
cancel_every_second([], Pending, Sum) ->
    {Pending, Sum};
cancel_every_second([{Index, Timer} | Rest], Pending, Sum) when Index rem 2 =:= 0 ->
    case erlang:cancel_timer(Timer) of
        false -> cancel_every_second(Rest, Pending + 1, Sum + Index);
        _ -> cancel_every_second(Rest, Pending, Sum)
    end;
cancel_every_second([{Index, _} | Rest], Pending, Sum) ->
    cancel_every_second(Rest, Pending + 1, Sum + Index).

sum_expired(0, Sum) ->
    Sum;
sum_expired(Left, Sum) ->
    receive
        Index -> sum_expired(Left - 1, Sum + Index)
    end.
