package main

import (
	"fmt"
	"math/bits"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// result is what one workload measured; extras are printed as key=value.
type result struct {
	value  float64
	unit   string
	extras []extra
}

type extra struct {
	key   string
	value float64
}

func (r result) print(workload string) {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	line := fmt.Sprintf("RESULT %s %.6g %s", workload, r.value, r.unit)
	for _, e := range append(r.extras, extra{"peak_rss_mb", float64(usage.Maxrss / 1024)}) {
		line += fmt.Sprintf(" %s=%.6g", e.key, e.value)
	}
	fmt.Println(line)
}

func scale() float64 {
	if value, err := strconv.ParseFloat(os.Getenv("SCALE"), 64); err == nil {
		return value
	}
	return 1
}

func threads() int {
	if value, err := strconv.Atoi(os.Getenv("THREADS")); err == nil {
		return value
	}
	return 2
}

func scaled(base int) int {
	return max(1, int(float64(base)*scale()))
}

// verify ends the program when a workload did not do the work it was timed for. Small enough to be
// inlined, because some workloads verify every message.
func verify(ok bool, what string) {
	if !ok {
		fail(what)
	}
}

func fail(what string) {
	fmt.Fprintln(os.Stderr, "wrong result:", what)
	os.Exit(1)
}

func nanosecondsSince(start time.Time) float64 {
	return float64(time.Since(start).Nanoseconds())
}

func millionsPerSecond(messages int, nanoseconds float64) float64 {
	return float64(messages) / nanoseconds * 1e3
}

func residentBytes() float64 {
	statm, err := os.ReadFile("/proc/self/statm")
	verify(err == nil, "/proc/self/statm cannot be read")
	pages, _ := strconv.Atoi(strings.Fields(string(statm))[1])
	return float64(pages * os.Getpagesize())
}

// cpuNanoseconds is the user and system time of the whole process.
func cpuNanoseconds() float64 {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return float64(usage.Utime.Nano() + usage.Stime.Nano())
}

// xorShift is the generator every peer uses, so that all choose the same partners and delays.
type xorShift uint64

func newXorShift(seed int) xorShift {
	return xorShift(uint64(seed)*0x9E3779B97F4A7C15 + 1)
}

func (x *xorShift) next() uint64 {
	*x ^= *x << 13
	*x ^= *x >> 7
	*x ^= *x << 17
	return uint64(*x)
}

// histogram has 32 buckets per power of two: a resolution of 3 %.
type histogram struct {
	buckets [1920]int
	total   int
}

func (h *histogram) record(nanoseconds uint64) {
	h.total++
	if nanoseconds < 32 {
		h.buckets[nanoseconds]++
		return
	}
	exponent := bits.Len64(nanoseconds) - 1
	h.buckets[(exponent-4)*32+int(nanoseconds>>(exponent-5)&31)]++
}

// quantile returns the lower edge of the bucket that holds the given fraction of all samples.
func (h *histogram) quantile(fraction float64) float64 {
	seen := 0
	for index, samples := range h.buckets {
		seen += samples
		if float64(seen) >= fraction*float64(h.total) {
			return bucketEdge(index)
		}
	}
	return 0
}

func bucketEdge(index int) float64 {
	if index < 32 {
		return float64(index)
	}
	return float64(uint64(32+index%32) << (index/32 - 1))
}
