%% Sizes, clocks and the latency histogram of the benchmark.
-module(bench_measure).

-export([scaled/1, now_ns/0, resident_bytes/0, cpu_ns/0]).
-export([per_million/2, millions_per_second/2]).
-export([new_histogram/0, record/2, quantile/2]).

scaled(Base) -> max(1, trunc(Base * scale())).

scale() ->
    case os:getenv("SCALE") of
        false -> 1.0;
        Text -> to_float(string:to_float(Text), Text)
    end.

to_float({error, no_float}, Text) -> float(list_to_integer(Text));
to_float({Value, _}, _) -> Value.

now_ns() -> erlang:monotonic_time(nanosecond).

millions_per_second(Messages, Nanoseconds) -> Messages / Nanoseconds * 1.0e3.

%% Milliseconds per million actors, so that a scaled run stays comparable.
per_million(Nanoseconds, Actors) ->
    {Nanoseconds / Actors, "ms", [{"actors", Actors}, {"elapsed_ms", Nanoseconds / 1.0e6}]}.

resident_bytes() ->
    {ok, Statm} = file:read_file("/proc/self/statm"),
    [_, Resident | _] = binary:split(Statm, <<" ">>, [global]),
    binary_to_integer(Resident) * 4096.

%% User and system time of the whole virtual machine, in the kernel's ticks of 10 ms.
cpu_ns() ->
    {ok, Stat} = file:read_file("/proc/self/stat"),
    [_, AfterName] = binary:split(Stat, <<") ">>),
    Fields = binary:split(AfterName, <<" ">>, [global]),
    User = binary_to_integer(lists:nth(12, Fields)),
    System = binary_to_integer(lists:nth(13, Fields)),
    (User + System) * 10_000_000.

%% 32 buckets per power of two: a resolution of 3 %.
new_histogram() -> counters:new(1920, []).

record(Histogram, Nanoseconds) -> counters:add(Histogram, bucket_of(Nanoseconds) + 1, 1).

bucket_of(Nanoseconds) when Nanoseconds < 32 -> Nanoseconds;
bucket_of(Nanoseconds) ->
    Exponent = trunc(math:log2(Nanoseconds)),
    (Exponent - 4) * 32 + ((Nanoseconds bsr (Exponent - 5)) band 31).

%% Lower edge of the bucket that holds the given fraction of all samples.
quantile(Histogram, Fraction) ->
    Samples = [counters:get(Histogram, Index) || Index <- lists:seq(1, 1920)],
    find_bucket(Samples, 0, 0, Fraction * lists:sum(Samples)).

find_bucket([Here | Rest], Index, Seen, Wanted) ->
    case Seen + Here >= Wanted of
        true -> lower_edge(Index);
        false -> find_bucket(Rest, Index + 1, Seen + Here, Wanted)
    end.

lower_edge(Index) when Index < 32 -> Index;
lower_edge(Index) -> (32 + Index rem 32) bsl (Index div 32 - 1).
