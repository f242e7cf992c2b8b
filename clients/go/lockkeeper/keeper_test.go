package lockkeeper

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lockkeeper.io/lockkeeper/lockkeepertest"

	pb "lockkeeper.io/gen/lockkeeper/v1"
)

// leftOf says what a client still knows of locks; empty: nothing.
func leftOf(c *Client) string {
	c.core.mu.Lock()
	l := c.core.lease
	c.core.mu.Unlock()
	if l == nil {
		return ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.keeper
	if len(l.acquisitions)+len(k.unused)+len(k.next)+len(k.owners)+len(k.waits)+k.count+k.inside == 0 {
		return ""
	}
	return fmt.Sprintf("%d acquisitions, %v, %v, %v, %v, %d unused, %d inside", len(l.acquisitions), k.unused, k.next, k.owners, k.waits, k.count, k.inside)
}

func TestNothingIsLeftOfLocksThatAreKeptNoMore(t *testing.T) {
	server := lockkeepertest.NewServer(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var clients []*Client
	for range 2 {
		client, err := New(server.Address())
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		clients = append(clients, client)
	}
	var holders [3]atomic.Int32
	var all sync.WaitGroup
	for number := range 12 {
		client, owner := clients[number%2], fmt.Sprint("task ", number)
		all.Go(func() {
			for range 150 {
				useAtRandom(ctx, t, client, owner, &holders)
			}
		})
	}
	over := make(chan struct{})
	var troubles sync.WaitGroup
	troubles.Go(func() {
		for round := 0; ; round++ {
			select {
			case <-over:
				return
			case <-time.After(20 * time.Millisecond):
			}
			switch {
			case round == 5 || round == 25: // more of them, and the clients would stay away longer
				server.Disconnect()
			default:
				server.RequestReleaseOf(fmt.Sprint(round%3), "a test", "")
			}
		}
	})
	all.Wait()
	close(over)
	troubles.Wait()
	for _, client := range clients {
		for left := leftOf(client); left != ""; left = leftOf(client) {
			if ctx.Err() != nil {
				t.Fatal(left)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}

func useAtRandom(ctx context.Context, t *testing.T, client *Client, owner string, holders *[3]atomic.Int32) {
	name := rand.IntN(3)
	options := []Option{KeepUnused(100 * time.Millisecond)}
	var another sync.WaitGroup
	switch rand.IntN(5) {
	case 0:
		options = append(options, Wait(time.Duration(rand.IntN(5))*time.Millisecond))
	case 1:
		limited, cancel := context.WithTimeout(ctx, time.Duration(rand.IntN(5))*time.Millisecond)
		defer cancel()
		ctx = limited
	case 2:
		options = append(options, Owner(owner))
	case 3: // a level, made together
		options = append(options, Owner(owner))
		another.Go(func() { lockAtRandom(ctx, t, client, name, options, func() {}) })
	}
	lockAtRandom(ctx, t, client, name, options, func() {
		if holders[name].Add(1) != 1 {
			t.Error("two have the lock")
		}
		if rand.IntN(4) == 0 {
			time.Sleep(time.Duration(rand.IntN(3)) * time.Millisecond)
		}
		another.Wait()
		holders[name].Add(-1)
	})
}

func lockAtRandom(ctx context.Context, t *testing.T, client *Client, name int, options []Option, work func()) {
	lock, err := client.Lock(ctx, fmt.Sprint(name), options...)
	var not *NotAcquiredError
	if errors.As(err, &not) && not.Reason == "TIMED_OUT" || errors.Is(err, context.DeadlineExceeded) {
		return
	}
	if err != nil {
		t.Error(err)
		return
	}
	work()
	if err := lock.Unlock(context.WithoutCancel(ctx)); err != nil {
		t.Error(err)
	}
}

func TestNothingIsLeftOfLevelsThatAreLost(t *testing.T) {
	server := lockkeepertest.NewServer(t)
	client, err := New(server.Address())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for range 3 {
		lock, err := client.Lock(t.Context(), "a", KeepUnused(time.Hour), Owner("task"))
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, err := client.Lock(t.Context(), "a", KeepUnused(time.Hour), Owner("task")); err != nil {
				t.Fatal(err)
			}
		}
		server.Lose("a")
		<-lock.Context().Done()
	}
	if left := leftOf(client); left != "" {
		t.Error(left)
	}
}

func TestRequestOverTheLimitOfAClientIsRefused(t *testing.T) {
	_, client := newTestClient(t)
	within(acquire(t, client, "a"), func(l *lease, _ *acquisition) { l.keeper.inside += maxRequests })
	if _, err := client.Lock(t.Context(), "b"); !errors.Is(err, ErrTooMany) {
		t.Errorf("%v", err)
	}
}

func TestCyclesOnAKeptLockSetOneTimer(t *testing.T) {
	client, err := New(lockkeepertest.NewServer(t).Address())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	var timer *time.Timer
	for range 100 {
		lock, err := client.Lock(t.Context(), "a", KeepUnused(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		lock.Release(t.Context())
		lock.lease.mu.Lock()
		set := lock.acquisition.known().timers
		lock.lease.mu.Unlock()
		if timer == nil {
			timer = set["kept"]
		}
		if len(set) != 1 || set["kept"] != timer {
			t.Fatal("another timer was set")
		}
	}
}

func TestKeptRequestIsSentWithoutAnOwnerAndWantsToKnowWhoWaits(t *testing.T) {
	r, err := newRequest([]Spec{Exclusive("a")}, []Option{KeepUnused(time.Minute), Owner("task"), DeadlockCheck(true), LockDelay(time.Second)})
	if err != nil {
		t.Fatal(err)
	}
	message := r.wire().message("1", nil, nil, 0)
	if !message.GetNotifyContention() || message.GetOwner() != "" || message.GetDeadlockCheck() != pb.DeadlockCheck_DEADLOCK_CHECK_OFF ||
		message.GetLockDelay().AsDuration() != time.Second || message.MaxHold != nil {
		t.Errorf("%v", message)
	}
}
