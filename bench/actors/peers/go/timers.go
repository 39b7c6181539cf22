package main

import "time"

// timers arms one-shots due between one and two seconds ahead, cancels every second one and waits
// for the rest; each expiry is a message to one actor.
func timers() result {
	armed := scaled(1_000_000)
	inbox := make(chan int, armed)
	handles := make([]*time.Timer, armed)
	random := newXorShift(7)
	expected := 0

	cpu, start := cpuNanoseconds(), time.Now()
	for i := range handles {
		delay := time.Duration(1_000_000+random.next()%1_000_000) * time.Microsecond
		handles[i] = time.AfterFunc(delay, func() { inbox <- i })
	}
	arming := nanosecondsSince(start)
	start = time.Now()
	pending := armed
	for i := range handles {
		if i%2 == 0 && handles[i].Stop() {
			pending--
		} else {
			expected += i
		}
	}
	cancelling := nanosecondsSince(start)
	sum := 0
	for range pending {
		sum += <-inbox
	}
	cpu = cpuNanoseconds() - cpu

	verify(sum == expected, "the timers that expired are those not cancelled")
	return result{
		value: cpu / float64(armed),
		unit:  "cpu_ns",
		extras: []extra{
			{"arm_ns", arming / float64(armed)},
			{"cancel_ns", cancelling / float64(max(1, armed/2))},
			{"expired", float64(pending)},
		},
	}
}
