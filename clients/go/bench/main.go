// Program load acquires and releases without a pause, for the benchmarks: load lockkeeper|etcd HOST:PORT; orders come on standard input.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"lockkeeper.io/lockkeeper"
)

type order struct {
	Shape      string `json:"shape"`
	Clients    int    `json:"clients"`
	WarmMillis int64  `json:"warmMillis"`
	Millis     int64  `json:"millis"`
}

// cycle acquires a lock and releases it, and returns how long the grant took.
type cycle func(lock string) (time.Duration, error)

// tally counts cycles and how long grants took.
type tally struct {
	mu    sync.Mutex
	waits []time.Duration
	first chan struct{}
}

func (t *tally) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waits, t.first = nil, make(chan struct{})
}

func (t *tally) add(wait time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.waits) == 0 {
		close(t.first)
	}
	t.waits = append(t.waits, wait)
}

// cut returns what was counted so far.
func (t *tally) cut() []time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.waits)
}

func (t *tally) awaitFirst() {
	t.mu.Lock()
	first := t.first
	t.mu.Unlock()
	select {
	case <-first:
	case <-time.After(30 * time.Second):
	}
}

func carryOut(o order, start func() cycle) map[string]any {
	count := &tally{}
	count.begin()
	var stopping atomic.Bool
	var failure atomic.Value
	var all sync.WaitGroup
	for number := range o.Clients {
		lock := fmt.Sprintf("bench/own-%d", number)
		if o.Shape == "HOT" {
			lock = "bench/hot"
		}
		all.Go(func() {
			cycle := start()
			for !stopping.Load() {
				wait, err := cycle(lock)
				if err != nil {
					failure.Store(err.Error())
					return
				}
				count.add(wait)
			}
		})
	}
	count.awaitFirst()
	time.Sleep(time.Duration(o.WarmMillis) * time.Millisecond)
	say("begin")
	count.begin()
	began, spent := time.Now(), cpu()
	time.Sleep(time.Duration(o.Millis) * time.Millisecond)
	count.awaitFirst()
	waits, nanos, used := count.cut(), time.Since(began).Nanoseconds(), cpu()-spent
	stopping.Store(true)
	report := map[string]any{"cycles": len(waits), "nanos": nanos, "cpuNanos": used, "acquire": latency(waits), "failure": ""}
	if why := failure.Load(); why != nil {
		report["failure"] = why
	}
	text, err := json.Marshal(report)
	if err != nil {
		log.Fatal(err)
	}
	say("end " + string(text))
	all.Wait()
	return report
}

func cpu() int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		log.Fatal(err)
	}
	return usage.Utime.Nano() + usage.Stime.Nano()
}

func latency(waits []time.Duration) map[string]any {
	slices.Sort(waits)
	at := func(part float64) float64 {
		if len(waits) == 0 {
			return 0
		}
		return float64(waits[int(part*float64(len(waits)-1))].Nanoseconds()) / 1e3
	}
	sum := time.Duration(0)
	for _, wait := range waits {
		sum += wait
	}
	return map[string]any{
		"count": len(waits), "p50": at(0.5), "p90": at(0.9), "p99": at(0.99), "p999": at(0.999), "max": at(1),
		"mean": float64(sum.Nanoseconds()) / 1e3 / float64(max(1, len(waits))),
	}
}

func say(what string) { fmt.Println("@load " + what) }

func ofLockkeeper(address string) func() cycle {
	client, err := lockkeeper.New(address)
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	return func() cycle {
		return func(lock string) (time.Duration, error) {
			asked := time.Now()
			held, err := client.Lock(ctx, lock)
			if err != nil {
				return 0, err
			}
			wait := time.Since(asked)
			held.Release(ctx)
			return wait, nil
		}
	}
}

// ofEtcd has one client, and a session for each task, as is usual there.
func ofEtcd(address string) func() cycle {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{address}, DialTimeout: 5 * time.Second})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	return func() cycle {
		session, err := concurrency.NewSession(client, concurrency.WithTTL(15))
		if err != nil {
			log.Fatal(err)
		}
		return func(lock string) (time.Duration, error) {
			mutex := concurrency.NewMutex(session, lock)
			asked := time.Now()
			if err := mutex.Lock(ctx); err != nil {
				return 0, err
			}
			wait := time.Since(asked)
			return wait, mutex.Unlock(ctx)
		}
	}
}

func main() {
	start := ofLockkeeper
	if os.Args[1] == "etcd" {
		start = ofEtcd
	}
	begin := start(os.Args[2])
	say("ready")
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var o order
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
			log.Fatal(err)
		}
		carryOut(o, begin)
		say("idle")
	}
}
