// Program driver speaks the conformance kit's line protocol (docs/writing-a-client.md) for the client.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"lockkeeper.io/lockkeeper"
)

type command struct {
	Do      string   `json:"do"`
	ID      string   `json:"id"`
	Servers []string `json:"servers"`
	TTL     int64    `json:"ttl_ms"`
	Locks   []string `json:"locks"`
	Wait    *int64   `json:"wait_ms"`
	Keep    *int64   `json:"keep_ms"`
}

type report struct {
	Is      string   `json:"is"`
	ID      string   `json:"id,omitempty"`
	Tokens  []string `json:"tokens,omitempty"`
	Reason  string   `json:"reason,omitempty"`
	Holding *bool    `json:"holding,omitempty"`
}

// asked is one request of the kit.
type asked struct {
	cancel context.CancelFunc
	told   chan struct{} // closed when the grant, or why there is none, was reported
	mu     sync.Mutex
	lock   *lockkeeper.Lock
	lost   bool
}

type driver struct {
	client *lockkeeper.Client
	asked  map[string]*asked
	out    sync.Mutex
}

func main() {
	d := &driver{asked: map[string]*asked{}}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var c command
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			fmt.Fprintln(os.Stderr, "not a command:", lines.Text())
			os.Exit(2)
		}
		d.on(c)
	}
}

func (d *driver) on(c command) {
	switch c.Do {
	case "open":
		client, err := lockkeeper.New(strings.Join(c.Servers, ","), lockkeeper.TTL(time.Duration(c.TTL)*time.Millisecond),
			lockkeeper.RequestTimeout(time.Minute), lockkeeper.FirstServer())
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		d.client = client
	case "acquire":
		ctx, cancel := context.WithCancel(context.Background())
		a := &asked{cancel: cancel, told: make(chan struct{})}
		d.asked[c.ID] = a
		go d.acquire(ctx, a, c)
	case "release":
		if a := d.asked[c.ID]; a != nil {
			go d.release(a, c.ID)
		}
	case "holding":
		holding := false
		if a := d.asked[c.ID]; a != nil {
			a.mu.Lock()
			holding = a.lock != nil && a.lock.Valid()
			a.mu.Unlock()
		}
		d.say(report{Is: "holding", ID: c.ID, Holding: &holding})
	case "close":
		go func() {
			d.client.Close()
			d.say(report{Is: "closed"})
		}()
	}
}

func (d *driver) acquire(ctx context.Context, a *asked, c command) {
	defer close(a.told)
	specs := make([]lockkeeper.Spec, len(c.Locks))
	for i, name := range c.Locks {
		specs[i] = lockkeeper.Exclusive(name)
	}
	options := []lockkeeper.Option{lockkeeper.Listen(lockkeeper.Listener{
		Lost:     func(reason string) { go d.onLost(a, c.ID, reason) },
		Jeopardy: func(time.Duration) { d.say(report{Is: "jeopardy", ID: c.ID}) },
		Safe:     func() { d.say(report{Is: "safe", ID: c.ID}) },
	})}
	if c.Wait != nil {
		options = append(options, lockkeeper.Wait(time.Duration(*c.Wait)*time.Millisecond))
	}
	if c.Keep != nil {
		options = append(options, lockkeeper.KeepUnused(time.Duration(*c.Keep)*time.Millisecond))
	}
	lock, err := d.client.Acquire(ctx, specs, options...)
	if err != nil {
		d.say(report{Is: "not_acquired", ID: c.ID, Reason: reason(err)})
		return
	}
	a.mu.Lock()
	a.lock = lock
	a.mu.Unlock()
	var tokens []string
	for _, grant := range lock.Grants() {
		tokens = append(tokens, strconv.FormatInt(grant.FencingToken, 10))
	}
	d.say(report{Is: "granted", ID: c.ID, Tokens: tokens})
}

func reason(err error) string {
	var not *lockkeeper.NotAcquiredError
	var lease *lockkeeper.LeaseLostError
	switch {
	case errors.As(err, &not):
		return not.Reason
	case errors.As(err, &lease):
		return lease.Reason
	case errors.Is(err, context.Canceled):
		return "WITHDRAWN"
	default:
		return err.Error()
	}
}

func (d *driver) onLost(a *asked, id, why string) {
	<-a.told
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.lost {
		a.lost = true
		d.say(report{Is: "lost", ID: id, Reason: why})
	}
}

func (d *driver) release(a *asked, id string) {
	a.mu.Lock()
	lock := a.lock
	a.mu.Unlock()
	if lock == nil {
		a.cancel()
		<-a.told
		a.mu.Lock()
		lock = a.lock // a grant that crossed the withdrawal
		a.mu.Unlock()
		if lock == nil {
			return
		}
	}
	lost := lock.Err() != nil
	lock.Release(context.Background())
	a.mu.Lock()
	defer a.mu.Unlock()
	if !lost && !a.lost {
		d.say(report{Is: "released", ID: id})
	}
}

func (d *driver) say(r report) {
	d.out.Lock()
	defer d.out.Unlock()
	line, err := json.Marshal(r)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(line))
}
