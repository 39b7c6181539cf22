-module(bench_messaging).

-export([ping_pong/0, count/0, many_to_one/0, ring/0, big/0]).

-import(bench_measure, [scaled/1, now_ns/0, millions_per_second/2]).

ping_pong() ->
    Rounds = scaled(1_000_000),
    Main = self(),
    Pong = spawn(fun pong/0),
    spawn_link(fun() ->
        Start = now_ns(),
        ping(Pong, Rounds),
        Main ! {elapsed, now_ns() - Start}
    end),
    receive
        {elapsed, Elapsed} -> {Elapsed / Rounds, "ns", []}
    end.

pong() ->
    receive
        {From, Value} ->
            From ! Value,
            pong()
    end.

ping(_, 0) ->
    ok;
ping(Pong, Rounds) ->
    Pong ! {self(), Rounds},
    receive
        Value ->
            Rounds = Value,
            ping(Pong, Rounds - 1)
    end.

count() -> flood(1, scaled(10_000_000)).

many_to_one() -> flood(100, scaled(100_000)).

flood(Senders, Each) ->
    Messages = Senders * Each,
    Main = self(),
    Start = now_ns(),
    Counter = spawn(fun() -> Main ! {sum, receive_all(Messages, 0)} end),
    [spawn(fun() -> send_all(Counter, Each) end) || _ <- lists:seq(1, Senders)],
    receive
        {sum, Sum} ->
            Elapsed = now_ns() - Start,
            Sum = Senders * (Each * (Each + 1) div 2),
            {millions_per_second(Messages, Elapsed), "M/s", []}
    end.

receive_all(0, Sum) ->
    Sum;
receive_all(Left, Sum) ->
    receive
        Value -> receive_all(Left - 1, Sum + Value)
    end.

send_all(_, 0) ->
    ok;
send_all(Counter, Left) ->
    Counter ! Left,
    send_all(Counter, Left - 1).

ring() ->
    Actors = 100,
    Hops = scaled(2_000_000),
    Main = self(),
    Last = spawn(fun() ->
        receive
            {next, Next} -> pass_on(Actors - 1, Next, Main)
        end
    end),
    First = lists:foldl(
        fun(Position, Next) -> spawn(fun() -> pass_on(Position, Next, Main) end) end,
        Last,
        lists:seq(Actors - 2, 0, -1)
    ),
    Last ! {next, First},
    Start = now_ns(),
    First ! Hops,
    receive
        {ended_at, Position} ->
            Elapsed = now_ns() - Start,
            Position = Hops rem Actors,
            {Elapsed / Hops, "ns", []}
    end.

pass_on(Position, Next, Main) ->
    receive
        0 ->
            Main ! {ended_at, Position};
        Token ->
            Next ! (Token - 1),
            pass_on(Position, Next, Main)
    end.

-record(big, {self, actors, pings, main}).

big() ->
    Count = 120,
    Pings = scaled(20_000),
    Main = self(),
    Start = now_ns(),
    Actors = [
        spawn(fun() ->
            receive
                {actors, All} ->
                    send_ping(Self * 7919 + 1, #big{
                        self = Self, actors = All, pings = Pings, main = Main
                    })
            end
        end)
     || Self <- lists:seq(1, Count)
    ],
    [Actor ! {actors, list_to_tuple(Actors)} || Actor <- Actors],
    [receive finished -> ok end || _ <- Actors],
    {millions_per_second(2 * Count * Pings, now_ns() - Start), "M/s", []}.

%% A congruential generator, because 64-bit arithmetic leaves Erlang's small integers.
send_ping(Random, #big{self = Self, actors = Actors} = Big) ->
    Next = (Random * 1103515245 + 12345) band 16#7fffffff,
    Pick = (Next bsr 8) rem (tuple_size(Actors) - 1) + 1,
    Partner =
        if
            Pick >= Self -> Pick + 1;
            true -> Pick
        end,
    element(Partner, Actors) ! {ping, self()},
    big_actor(Next, Big).

%% Keeps one ping under way and answers the pings of others until the program ends.
big_actor(Random, #big{pings = Pings} = Big) ->
    receive
        {ping, From} ->
            From ! pong,
            big_actor(Random, Big);
        pong when Pings > 1 ->
            send_ping(Random, Big#big{pings = Pings - 1});
        pong ->
            Big#big.main ! finished,
            big_actor(Random, Big)
    end.
