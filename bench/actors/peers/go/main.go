// Command actors is the Go peer of the actor benchmark: a goroutine is an actor, a buffered channel
// its mailbox. It runs one workload, verifies the outcome and prints one RESULT line.
package main

import (
	"fmt"
	"os"
	"runtime"
	"sort"
	"strings"
)

// A Go channel always has a capacity, so the bounded and the unbounded workload of a pair are the
// same program here.
var workloads = map[string]func() result{
	"ping_pong":           pingPong,
	"count":               count,
	"count_bounded":       count,
	"many_to_one":         manyToOne,
	"many_to_one_bounded": manyToOne,
	"ring":                ring,
	"skynet":              skynet,
	"fork_join":           forkJoin,
	"big":                 big,
	"ask":                 ask,
	"ask_deadline":        askDeadline,
	"memory":              memory,
	"timers":              timers,
	"latency":             latency,
}

func main() {
	if len(os.Args) != 2 || workloads[os.Args[1]] == nil {
		fmt.Fprintf(os.Stderr, "usage: %s <workload>, one of: %s\n", os.Args[0], names())
		os.Exit(2)
	}
	runtime.GOMAXPROCS(threads())
	workloads[os.Args[1]]().print(os.Args[1])
}

func names() string {
	var all []string
	for name := range workloads {
		all = append(all, name)
	}
	sort.Strings(all)
	return strings.Join(all, ", ")
}
