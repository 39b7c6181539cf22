package main

import (
	"runtime"
	"sync/atomic"
	"time"
)

// request carries its own reply channel: the Go way to match a reply to its request.
type request struct {
	value int
	reply chan int
}

func startResponder() chan<- request {
	inbox := make(chan request, smallMailbox)
	go func() {
		for r := range inbox {
			r.reply <- r.value + 1
		}
	}()
	return inbox
}

func askOnce(responder chan<- request, value int) {
	r := request{value, make(chan int, 1)}
	responder <- r
	verify(<-r.reply == value+1, "reply to the request")
}

func askOnceWithDeadline(responder chan<- request, value int) {
	r := request{value, make(chan int, 1)}
	responder <- r
	deadline := time.NewTimer(5 * time.Second)
	select {
	case reply := <-r.reply:
		verify(reply == value+1, "reply to the request")
	case <-deadline.C:
		verify(false, "the deadline passed")
	}
	deadline.Stop()
}

func ask() result {
	return sequentialRequests(askOnce)
}

func askDeadline() result {
	return sequentialRequests(askOnceWithDeadline)
}

func sequentialRequests(once func(chan<- request, int)) result {
	requests := scaled(1_000_000)
	responder := startResponder()
	elapsed := make(chan float64)
	go func() {
		start := time.Now()
		for i := range requests {
			once(responder, i)
		}
		elapsed <- nanosecondsSince(start)
	}()
	return result{value: <-elapsed / float64(requests), unit: "ns"}
}

// latency times each request while a busy actor saturates the other thread.
func latency() result {
	requests := scaled(200_000)
	responder := startResponder()
	var finished atomic.Bool
	turns := make(chan int)
	go func() { turns <- keepBusy(&finished) }()
	histograms := make(chan *histogram)
	go func() {
		latencies := new(histogram)
		for i := range requests {
			start := time.Now()
			askOnce(responder, i)
			latencies.record(uint64(time.Since(start).Nanoseconds()))
		}
		finished.Store(true)
		histograms <- latencies
	}()
	latencies := <-histograms
	load := <-turns
	verify(load > 0, "the load actor ran")
	return result{
		value: latencies.quantile(0.5),
		unit:  "ns",
		extras: []extra{
			{"p50_ns", latencies.quantile(0.5)},
			{"p99_ns", latencies.quantile(0.99)},
			{"p999_ns", latencies.quantile(0.999)},
			{"max_ns", latencies.quantile(1)},
			{"load_turns", float64(load)},
		},
	}
}

// keepBusy computes for a moment, sends itself a message and yields, as an actor would between two
// messages.
func keepBusy(finished *atomic.Bool) int {
	inbox := make(chan uint64, smallMailbox)
	random := newXorShift(1)
	inbox <- 1
	turns := 0
	for !finished.Load() {
		<-inbox
		for range 100 {
			random.next()
		}
		inbox <- uint64(random)
		turns++
		runtime.Gosched()
	}
	return turns
}
