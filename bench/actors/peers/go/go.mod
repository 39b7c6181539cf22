module weir/bench/actors

go 1.23
