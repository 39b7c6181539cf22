package main

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// skynetLeaves is the largest power of ten within the scale, because the tree is ten-ary.
func skynetLeaves() int {
	leaves := 10
	for leaves*10 <= scaled(1_000_000) {
		leaves *= 10
	}
	return leaves
}

func skynet() result {
	leaves := skynetLeaves()
	root := make(chan int, 1)
	start := time.Now()
	go skynetActor(root, 0, leaves)
	sum := <-root
	elapsed := nanosecondsSince(start)
	verify(sum == leaves*(leaves-1)/2, "sum of the leaves")
	return perMillion(elapsed, leaves)
}

func skynetActor(parent chan<- int, first, leaves int) {
	if leaves == 1 {
		parent <- first
		return
	}
	inbox := make(chan int, 10)
	share := leaves / 10
	for i := range 10 {
		go skynetActor(inbox, first+i*share, share)
	}
	sum := 0
	for range 10 {
		sum += <-inbox
	}
	parent <- sum
}

// perMillion states milliseconds per million actors, so that a scaled run stays comparable.
func perMillion(nanoseconds float64, actors int) result {
	return result{
		value:  nanoseconds / float64(actors),
		unit:   "ms",
		extras: []extra{{"actors", float64(actors)}, {"elapsed_ms", nanoseconds / 1e6}},
	}
}

func forkJoin() result {
	actors := scaled(1_000_000)
	expected := int64(actors) * int64(actors+1) / 2
	var sum atomic.Int64
	elapsed := make(chan float64)
	start := time.Now()
	for i := 1; i <= actors; i++ {
		inbox := make(chan int, smallMailbox)
		go func() {
			if sum.Add(int64(<-inbox)) == expected {
				elapsed <- nanosecondsSince(start)
			}
		}()
		inbox <- i
	}
	return perMillion(<-elapsed, actors)
}

func memory() result {
	actors := scaled(1_000_000)
	inboxes := make([]chan int, actors)
	var ready, answered sync.WaitGroup
	var sum atomic.Int64
	ready.Add(actors)
	answered.Add(actors)
	runtime.GC()
	before := residentBytes()
	start := time.Now()
	for i := range inboxes {
		inbox := make(chan int, smallMailbox)
		inboxes[i] = inbox
		go func() {
			ready.Done()
			sum.Add(int64(<-inbox))
			answered.Done()
		}()
	}
	spawned := nanosecondsSince(start)
	ready.Wait()
	readied := nanosecondsSince(start)
	bytes := residentBytes() - before - float64(8*actors)
	for _, inbox := range inboxes {
		inbox <- 1
	}
	answered.Wait()
	verify(sum.Load() == int64(actors), "every idle actor answers")
	return result{
		value: bytes / float64(actors),
		unit:  "B",
		extras: []extra{
			{"spawn_ns", spawned / float64(actors)},
			{"ready_ns", readied / float64(actors)},
			{"actors", float64(actors)},
		},
	}
}
