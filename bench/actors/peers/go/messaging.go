package main

import (
	"sync"
	"time"
)

const (
	smallMailbox   = 16
	boundedMailbox = 1024
)

func pingPong() result {
	rounds := scaled(1_000_000)
	pings, pongs := make(chan int, smallMailbox), make(chan int, smallMailbox)
	elapsed := make(chan float64)
	go func() {
		for range rounds {
			pongs <- <-pings
		}
	}()
	go func() {
		start := time.Now()
		for i := range rounds {
			pings <- i
			verify(<-pongs == i, "pong does not echo its ping")
		}
		elapsed <- nanosecondsSince(start)
	}()
	return result{value: <-elapsed / float64(rounds), unit: "ns"}
}

// receiveAll sums what arrives and reports the sum after the last message.
func receiveAll(inbox <-chan int, messages int, sum chan<- int) {
	total := 0
	for range messages {
		total += <-inbox
	}
	sum <- total
}

func sendAll(outbox chan<- int, messages int) {
	for i := range messages {
		outbox <- i
	}
}

func count() result {
	messages := scaled(10_000_000)
	return flood(1, messages)
}

func manyToOne() result {
	return flood(100, scaled(100_000))
}

func flood(senders, each int) result {
	inbox := make(chan int, boundedMailbox)
	sum := make(chan int)
	start := time.Now()
	go receiveAll(inbox, senders*each, sum)
	for range senders {
		go sendAll(inbox, each)
	}
	total := <-sum
	elapsed := nanosecondsSince(start)
	verify(total == senders*(each*(each-1)/2), "sum of the messages received")
	return result{value: millionsPerSecond(senders*each, elapsed), unit: "M/s"}
}

func ring() result {
	const actors = 100
	hops := scaled(2_000_000)
	inboxes := make([]chan int, actors)
	for i := range inboxes {
		inboxes[i] = make(chan int, smallMailbox)
	}
	last := make(chan int)
	for i := range inboxes {
		go passOn(i, inboxes[i], inboxes[(i+1)%actors], last)
	}
	start := time.Now()
	inboxes[0] <- hops
	position := <-last
	elapsed := nanosecondsSince(start)
	verify(position == hops%actors, "the token ended at the wrong actor")
	return result{value: elapsed / float64(hops), unit: "ns"}
}

func passOn(position int, inbox <-chan int, next chan<- int, last chan<- int) {
	for token := range inbox {
		if token == 0 {
			last <- position
			return
		}
		next <- token - 1
	}
}

type bigMessage struct {
	from int
	ping bool
}

func big() result {
	const actors = 120
	pings := scaled(20_000)
	inboxes := make([]chan bigMessage, actors)
	for i := range inboxes {
		inboxes[i] = make(chan bigMessage, 256)
	}
	var finished sync.WaitGroup
	finished.Add(actors)
	start := time.Now()
	for self := range inboxes {
		go bigActor(self, inboxes, pings, &finished)
	}
	finished.Wait()
	return result{value: millionsPerSecond(2*actors*pings, nanosecondsSince(start)), unit: "M/s"}
}

// bigActor keeps one ping under way and answers the pings of others until the program ends.
func bigActor(self int, inboxes []chan bigMessage, pings int, finished *sync.WaitGroup) {
	random := newXorShift(self + 1)
	pick := func() chan<- bigMessage {
		partner := int(random.next() % uint64(len(inboxes)-1))
		if partner >= self {
			partner++
		}
		return inboxes[partner]
	}
	pongs := 0
	pick() <- bigMessage{self, true}
	for message := range inboxes[self] {
		if message.ping {
			inboxes[message.from] <- bigMessage{self, false}
		} else if pongs++; pongs == pings {
			finished.Done()
		} else {
			pick() <- bigMessage{self, true}
		}
	}
}
