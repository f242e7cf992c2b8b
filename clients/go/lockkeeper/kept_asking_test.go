// Requests for kept locks of which one asks a server, and the others wait for it in the client.

package lockkeeper_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"lockkeeper.io/lockkeeper"
	"lockkeeper.io/lockkeeper/lockkeepertest"
)

var exclusiveA = []lockkeeper.Spec{lockkeeper.Exclusive("a")}

// mustWait fails a test whose request has been answered.
func mustWait(t *testing.T, outcomes <-chan outcome) {
	t.Helper()
	select {
	case got := <-outcomes:
		t.Fatalf("it does not wait: %+v", got)
	default:
	}
}

func mustQueue(ctx context.Context, t *testing.T, client *lockkeeper.Client, name string, length int) {
	t.Helper()
	if info := must[lockkeeper.Info](t)(client.GetLock(ctx, name)); info.QueueLength != length {
		t.Fatalf("%d wait at the server: %+v", info.QueueLength, info)
	}
}

func TestGoroutinesThatShareAKeptLockMakeOneRequest(t *testing.T) {
	server := lockkeepertest.NewServer(t)
	ctx, client := limited(t), newClient(t, server.Address())
	count := 0 // which the lock guards
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				err := client.Do(ctx, "a", func(context.Context, *lockkeeper.Lock) error {
					count++
					return nil
				}, kept)
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if heard := server.Requests(); count != 400 || heard != 1 {
		t.Errorf("%d counted, the server has heard %d requests", count, heard)
	}
}

func TestNextOneAsksWhenTheOneThatAskedEndsWithoutAGrant(t *testing.T) {
	server := lockkeepertest.NewServer(t)
	ctx, client, other := limited(t), newClient(t, server.Address()), newClient(t, server.Address())
	theirs := must[*lockkeeper.Lock](t)(other.Lock(ctx, "a"))
	timed := queued(ctx, t, client, exclusiveA, kept, lockkeeper.Wait(2*time.Second))
	cancelled, cancel := context.WithCancel(ctx)
	first := queued(cancelled, t, client, exclusiveA, kept)
	second := queued(ctx, t, client, exclusiveA, kept)
	third := queued(ctx, t, client, exclusiveA, kept)
	notAcquired(t, (<-timed).err, "TIMED_OUT")
	mustQueueOne := func() { // the request and the end of the one before it are under way
		for must[lockkeeper.Info](t)(other.GetLock(ctx, "a")).QueueLength != 1 {
			time.Sleep(10 * time.Millisecond)
		}
	}
	mustQueueOne()
	cancel()
	if got := <-first; !errors.Is(got.err, context.Canceled) {
		t.Errorf("%v", got.err)
	}
	mustQueueOne()
	mustWait(t, second)
	unlock(ctx, t, theirs)
	unlock(ctx, t, granted(t, second))
	unlock(ctx, t, granted(t, third))
}

func TestRequestsThatNoServerHearsDoNotFailOneAfterTheOther(t *testing.T) {
	client := newClient(t, "127.0.0.1:1", lockkeeper.RequestTimeout(500*time.Millisecond))
	ctx := limited(t) // one after the other they would take 100 seconds
	var all sync.WaitGroup
	for range 200 {
		all.Go(func() {
			_, err := client.Lock(ctx, "a", kept)
			var unavailable *lockkeeper.UnavailableError
			if !errors.As(err, &unavailable) {
				t.Errorf("%v", err)
			}
		})
	}
	all.Wait()
}

func TestOneOfThoseWhoComeAfterItIsWantedAsksAndThoseWhoWaitedForTooLongGoBeforeTheOthers(t *testing.T) {
	server := lockkeepertest.NewServer(t)
	ctx, client, other := limited(t), newClient(t, server.Address(), lockkeeper.LongTurns), newClient(t, server.Address())
	told := make(chan struct{}, 1)
	listen := lockkeeper.Listen(lockkeeper.Listener{Contended: func(lockkeeper.Contended) { told <- struct{}{} }})
	used := must[*lockkeeper.Lock](t)(client.Lock(ctx, "a", kept, listen, lockkeeper.NotifyContention()))
	waited := []<-chan outcome{queued(ctx, t, client, exclusiveA, kept), queued(ctx, t, client, exclusiveA, kept)}
	theirs := queued(ctx, t, other, exclusiveA)
	<-told
	asks := queued(ctx, t, client, exclusiveA, kept)
	behind := queued(ctx, t, client, exclusiveA, kept)
	mustQueue(ctx, t, other, "a", 2)
	lockkeeper.EndTurns(used)
	unlock(ctx, t, used)
	lock := granted(t, theirs)
	token := lock.FencingToken()
	unlock(ctx, t, lock)
	rest := []<-chan outcome{asks, waited[0], waited[1], behind}
	for i, next := range rest {
		lock := granted(t, next)
		for _, later := range rest[i+1:] {
			mustWait(t, later)
		}
		if lock.FencingToken() <= token || i > 1 && lock.FencingToken() != token+1 && lock.Grants()[0].PreviousEnd != "RELEASED" {
			t.Errorf("token %d, %+v", token, lock.Grants())
		}
		unlock(ctx, t, lock)
	}
}

func TestThoseWhoWaitedWhenTheGrantToldOfOthersHaveTheirTurns(t *testing.T) {
	server := lockkeepertest.NewServer(t)
	ctx, client, other := limited(t), newClient(t, server.Address(), lockkeeper.LongTurns), newClient(t, server.Address())
	held := must[*lockkeeper.Lock](t)(other.Lock(ctx, "a"))
	asks := queued(ctx, t, client, exclusiveA, kept)
	behind := queued(ctx, t, client, exclusiveA, kept, lockkeeper.NotifyContention())
	theirs := queued(ctx, t, other, exclusiveA)
	unlock(ctx, t, held)
	first := granted(t, asks)
	later := queued(ctx, t, client, exclusiveA, kept) // asks a server
	mustQueue(ctx, t, other, "a", 2)
	unlock(ctx, t, first)
	second := granted(t, behind)
	if second.FencingToken() != first.FencingToken() || second.Grants()[0].Waiters != 1 || first.Grants()[0].Waiters != 1 {
		t.Errorf("%+v, %+v", first.Grants(), second.Grants())
	}
	mustWait(t, theirs)
	unlock(ctx, t, second)
	unlock(ctx, t, granted(t, theirs))
	unlock(ctx, t, granted(t, later))
}

func TestWhoIsHandedAWantedLockIsToldWhyItIs(t *testing.T) {
	server := lockkeepertest.NewServer(t)
	ctx, client, other := limited(t), newClient(t, server.Address(), lockkeeper.LongTurns), newClient(t, server.Address())
	listening := func(told chan<- any, waits func()) []lockkeeper.Option {
		return []lockkeeper.Option{kept, lockkeeper.NotifyContention(), lockkeeper.Listen(lockkeeper.Listener{
			Queued:           func([]lockkeeper.Place) { waits() },
			Contended:        func(contended lockkeeper.Contended) { told <- contended },
			ReleaseRequested: func(asked lockkeeper.ReleaseRequested) { told <- asked },
			Jeopardy:         func(validFor time.Duration) { told <- validFor },
		})}
	}
	heard, told := make(chan any, 10), make(chan any, 10)
	first := must[*lockkeeper.Lock](t)(client.Lock(ctx, "a", listening(heard, func() {})...))
	waiting, waits := make(chan outcome, 1), make(chan struct{})
	owner := append(listening(told, sync.OnceFunc(func() { close(waits) })), lockkeeper.Owner("task"))
	go func() {
		lock, err := client.Lock(ctx, "a", owner...)
		waiting <- outcome{lock, err}
	}()
	<-waits
	theirs := queued(ctx, t, other, exclusiveA)
	server.RequestReleaseOf("a", "anna", "first")
	server.RequestReleaseOf("a", "anna", "again")
	server.Jeopardize(time.Minute)
	for range 4 {
		<-heard
	}
	unlock(ctx, t, first)
	second := granted(t, waiting)
	if second.FencingToken() != first.FencingToken() {
		t.Errorf("%+v, %+v", first.Grants(), second.Grants())
	}
	mustHearAll(t, told)
	third := must[*lockkeeper.Lock](t)(client.Lock(ctx, "a", owner...))
	mustHearAll(t, told)
	unlock(ctx, t, third)
	unlock(ctx, t, second)
	unlock(ctx, t, granted(t, theirs))
}

func mustHearAll(t *testing.T, told <-chan any) {
	t.Helper()
	if said := <-told; said != (lockkeeper.Contended{Name: "a", Waiters: 1}) {
		t.Errorf("%+v", said)
	}
	if said := <-told; said != (lockkeeper.ReleaseRequested{Name: "a", Requester: "anna", Reason: "again"}) {
		t.Errorf("%+v", said)
	}
	if left, is := (<-told).(time.Duration); !is || left > time.Minute || left < 0 {
		t.Errorf("%v, %s", is, left)
	}
}
