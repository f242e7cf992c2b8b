// Kept locks whose time is over by the clock, where no timer has said so yet; and what only a server of another kind says.

package lockkeeper

import (
	"context"
	"errors"
	"testing"
	"time"

	"lockkeeper.io/lockkeeper/lockkeepertest"

	pb "lockkeeper.io/gen/lockkeeper/v1"
)

func acquire(t *testing.T, client *Client, name string, options ...Option) *Lock {
	t.Helper()
	lock, err := client.Lock(t.Context(), name, append([]Option{KeepUnused(time.Hour)}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	return lock
}

func newTestClient(t *testing.T, options ...ClientOption) (*lockkeepertest.Server, *Client) {
	t.Helper()
	server := lockkeepertest.NewServer(t)
	client, err := New(server.Address(), options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return server, client
}

// within calls an action with the mutex of a lock's lease held.
func within(lock *Lock, action func(l *lease, wire *acquisition)) {
	lock.lease.mu.Lock()
	defer lock.lease.mu.Unlock()
	action(lock.lease, lock.acquisition.known())
}

// inLine asks for a kept lock of the same client, and returns when the request waits in the client.
func inLine(t *testing.T, lock *Lock, name string, options ...Option) <-chan error {
	t.Helper()
	before, inside := -1, -1
	within(lock, func(l *lease, _ *acquisition) { before = l.keeper.inside })
	outcome := make(chan error, 1)
	go func() {
		_, err := lock.client.Lock(t.Context(), name, append([]Option{KeepUnused(time.Hour)}, options...)...)
		outcome <- err
	}()
	for inside <= before {
		time.Sleep(time.Millisecond)
		within(lock, func(l *lease, _ *acquisition) { inside = l.keeper.inside })
	}
	return outcome
}

func TestUsedLockIsNotGrantedToItsOwnerAfterTheDeadlineThoughNoTimerHasRun(t *testing.T) {
	_, client := newTestClient(t, TTL(2*time.Second)) // until the server gives it to the next lease
	first := acquire(t, client, "a", Owner("task"))
	within(first, func(l *lease, _ *acquisition) {
		l.stop("deadline")
		l.deadline = now()
	})
	for _, owner := range []string{"", "task"} {
		if next := acquire(t, client, owner+"a", Owner(owner)); next.lease == first.lease {
			t.Error("it is granted over the lease that is over")
		}
	}
	if next := acquire(t, client, "taska", Owner("task")); next.FencingToken() <= first.FencingToken() {
		t.Errorf("tokens %d, %d", first.FencingToken(), next.FencingToken())
	}
}

func TestLevelOfAKeptLockIsNotGrantedAfterAJeopardyThoughNoTimerHasRun(t *testing.T) {
	_, client := newTestClient(t)
	first := acquire(t, client, "a", Owner("task"))
	within(first, func(_ *lease, wire *acquisition) { wire.doubt = now() })
	next := acquire(t, client, "a", Owner("task"))
	if next.FencingToken() <= first.FencingToken() {
		t.Errorf("tokens %d, %d", first.FencingToken(), next.FencingToken())
	}
	var lost *LostError
	if !errors.As(first.Unlock(t.Context()), &lost) || lost.Reason != "DEADLINE_PASSED" || !next.Valid() {
		t.Errorf("%v, %v", lost, next.Err())
	}
}

func TestLockThatWasUnusedForTooLongIsNotGrantedThoughNoTimerHasRun(t *testing.T) {
	server, client := newTestClient(t)
	first := acquire(t, client, "a")
	first.Release(t.Context())
	within(first, func(l *lease, wire *acquisition) {
		stopTimers(wire)
		l.keeper.unused[first.acquisition.request.alike()][0].until = now()
	})
	next := acquire(t, client, "a")
	if next.FencingToken() <= first.FencingToken() || server.Requests() != 3 {
		t.Errorf("tokens %d, %d, %d requests", first.FencingToken(), next.FencingToken(), server.Requests())
	}
}

func TestWhoHasWaitedForTooLongInTheClientIsNotGrantedThoughNoTimerHasRun(t *testing.T) {
	_, client := newTestClient(t)
	first := acquire(t, client, "a")
	late, next := inLine(t, first, "a", Wait(time.Hour)), inLine(t, first, "a")
	within(first, func(_ *lease, wire *acquisition) {
		u := wire.keeps.queue[0]
		stopTimers(u)
		u.giveUp = now()
	})
	first.Release(t.Context())
	var not *NotAcquiredError
	if err := <-late; !errors.As(err, &not) || not.Reason != "TIMED_OUT" {
		t.Errorf("%v", err)
	}
	if err := <-next; err != nil {
		t.Error(err)
	}
}

func TestUserIsToldWhenARepeatedGrantSaysThatOthersWait(t *testing.T) {
	server, client := newTestClient(t)
	told := make(chan Contended, 1)
	lock := acquire(t, client, "a", NotifyContention(), Listen(Listener{Contended: func(contended Contended) { told <- contended }}))
	within(lock, func(l *lease, wire *acquisition) {
		l.onEvent(&pb.AcquireResponse{
			RequestId: wire.id, Epoch: wire.epoch, Sequence: wire.last + 1,
			Event: &pb.AcquireResponse_Granted{Granted: &pb.Granted{Grants: []*pb.Grant{{Name: "a", FencingToken: lock.FencingToken(), Waiters: 2}}}},
		})
	})
	if contended := <-told; contended.Waiters != 2 {
		t.Errorf("%+v", contended)
	}
	lock.Release(t.Context())
	for leftOf(client) != "" {
		time.Sleep(time.Millisecond)
	}
	if heard := server.Requests(); heard != 2 {
		t.Errorf("the server has heard %d requests", heard)
	}
}

func TestNextOneAsksWhenTheOneThatAskedIsRefused(t *testing.T) {
	server, client := newTestClient(t)
	other, err := New(server.Address())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	held, err := other.Lock(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	opened := acquire(t, client, "b")
	first, waits := make(chan error, 1), make(chan struct{})
	go func() {
		_, err := client.Lock(t.Context(), "a", KeepUnused(time.Hour), Listen(Listener{Queued: func([]Place) { close(waits) }}))
		first <- err
	}()
	<-waits
	second, third := inLine(t, opened, "a"), inLine(t, opened, "a")
	within(opened, func(l *lease, _ *acquisition) {
		asks := l.keeper.next[(&request{specs: []Spec{Exclusive("a")}}).alike()].wire
		if err := l.onRefused(&pb.Refused{Request: &pb.Refused_Acquire{Acquire: asks.id}, Reason: pb.ErrorReason_ERROR_REASON_WRONG_KIND}); err != nil {
			t.Error(err)
		}
	})
	var refused *RefusedError
	if err := <-first; !errors.As(err, &refused) {
		t.Errorf("%v", err)
	}
	held.Release(t.Context())
	if err := <-second; err != nil {
		t.Error(err)
	}
	select {
	case err := <-third:
		t.Errorf("it does not wait: %v", err)
	default:
	}
}

func TestNothingIsLeftOfAnOwnerWhoHasGivenUp(t *testing.T) {
	server, client := newTestClient(t)
	other, err := New(server.Address())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	held, err := other.Lock(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release(t.Context())
	for _, options := range [][]Option{nil, {KeepUnused(time.Hour)}} {
		ctx, cancel := context.WithCancel(t.Context())
		waits := Listen(Listener{Queued: func([]Place) { cancel() }})
		if _, err := client.Lock(ctx, "a", append([]Option{Owner("task"), waits}, options...)...); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		deadline := time.Now().Add(time.Minute)
		for left := leftOf(client); left != ""; left = leftOf(client) {
			if time.Now().After(deadline) {
				t.Fatal(left)
			}
			time.Sleep(time.Millisecond)
		}
	}
}
