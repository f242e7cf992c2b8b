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

func TestOneOfAlikeRequestsAsksAndTheOthersAreServedByItsGrant(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		ctx, name := limited(t), lockOf(t)
		client, other := newClient(t, address), newClient(t, address)
		theirs := must[*lockkeeper.Lock](t)(other.Lock(ctx, name))
		exclusive := []lockkeeper.Spec{lockkeeper.Exclusive(name)}
		var waiting []<-chan outcome
		for range 4 {
			waiting = append(waiting, queued(ctx, t, client, exclusive, kept))
		}
		if _, free, err := client.TryLock(ctx, name, kept); free || err != nil {
			t.Errorf("%v, %v", free, err)
		}
		mustQueue(ctx, t, other, name, 1)
		unlock(ctx, t, theirs)
		token := int64(0)
		for i, next := range waiting {
			lock := granted(t, next)
			for _, later := range waiting[i+1:] {
				mustWait(t, later)
			}
			if grant := lock.Grants()[0]; i > 0 && (grant.FencingToken != token || grant.PreviousEnd != "RELEASED" || grant.HoldCount != 1) {
				t.Errorf("token %d, %+v", token, grant)
			}
			token = lock.FencingToken()
			unlock(ctx, t, lock)
		}
		unlock(ctx, t, must[*lockkeeper.Lock](t)(client.Lock(ctx, name, kept)))
	})
}

func TestNextOneAsksWhenTheOneThatAskedEndsWithoutAGrant(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		ctx, name := limited(t), lockOf(t)
		client, other := newClient(t, address), newClient(t, address)
		theirs := must[*lockkeeper.Lock](t)(other.Lock(ctx, name))
		exclusive := []lockkeeper.Spec{lockkeeper.Exclusive(name)}
		timed := queued(ctx, t, client, exclusive, kept, lockkeeper.Wait(300*time.Millisecond))
		cancelled, cancel := context.WithCancel(ctx)
		first := queued(cancelled, t, client, exclusive, kept)
		second := queued(ctx, t, client, exclusive, kept)
		third := queued(ctx, t, client, exclusive, kept)
		mustQueue(ctx, t, other, name, 1)
		notAcquired(t, (<-timed).err, "TIMED_OUT")
		mustQueueOne := func() { // the request and the end of the one before it are under way
			for must[lockkeeper.Info](t)(other.GetLock(ctx, name)).QueueLength != 1 {
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
	})
}

func TestRequestsThatNoServerHearsDoNotFailOneAfterTheOther(t *testing.T) {
	client := newClient(t, "127.0.0.1:1", lockkeeper.RequestTimeout(500*time.Millisecond))
	ctx, start := limited(t), time.Now()
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			_, err := client.Lock(ctx, "a", kept)
			var unavailable *lockkeeper.UnavailableError
			if !errors.As(err, &unavailable) {
				t.Errorf("%v", err)
			}
		})
	}
	all.Wait()
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
}

func TestOneOfThoseWhoComeAfterItIsWantedAsksAndThoseWhoWaitedForTooLongGoBeforeTheOthers(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		ctx, name := limited(t), lockOf(t)
		client, other := newClient(t, address), newClient(t, address)
		exclusive := []lockkeeper.Spec{lockkeeper.Exclusive(name)}
		told := make(chan struct{}, 1)
		listen := lockkeeper.Listen(lockkeeper.Listener{Contended: func(lockkeeper.Contended) { told <- struct{}{} }})
		used := must[*lockkeeper.Lock](t)(client.Lock(ctx, name, kept, listen, lockkeeper.NotifyContention()))
		waited := []<-chan outcome{queued(ctx, t, client, exclusive, kept), queued(ctx, t, client, exclusive, kept)}
		theirs := queued(ctx, t, other, exclusive)
		<-told
		asks := queued(ctx, t, client, exclusive, kept)
		behind := queued(ctx, t, client, exclusive, kept)
		mustQueue(ctx, t, other, name, 2)
		time.Sleep(1100 * time.Millisecond) // the last turns are over
		mustQueue(ctx, t, other, name, 2)
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
	})
}

// withinTheSecond repeats what must be done within a second, which a busy machine may be too slow for.
func withinTheSecond(t *testing.T, try func() bool) {
	t.Helper()
	for range 5 {
		if try() {
			return
		}
	}
	t.Error("none of those who waited had a turn")
}

func TestThoseWhoWaitedWhenTheGrantToldOfOthersHaveTheirTurns(t *testing.T) {
	server := lockkeepertest.NewServer(t)
	ctx, client, other := limited(t), newClient(t, server.Address()), newClient(t, server.Address())
	withinTheSecond(t, func() bool {
		held := must[*lockkeeper.Lock](t)(other.Lock(ctx, "a"))
		asks := queued(ctx, t, client, exclusiveA, kept)
		behind := queued(ctx, t, client, exclusiveA, kept, lockkeeper.NotifyContention())
		theirs := queued(ctx, t, other, exclusiveA)
		unlock(ctx, t, held)
		first := granted(t, asks)
		later := queued(ctx, t, client, exclusiveA, kept) // asks a server
		mustQueue(ctx, t, other, "a", 2)
		unlock(ctx, t, first)
		var second *lockkeeper.Lock
		select {
		case got := <-behind:
			second = got.lock
		case got := <-theirs: // the second was over
			unlock(ctx, t, got.lock)
			unlock(ctx, t, granted(t, later))
			unlock(ctx, t, granted(t, behind))
			return false
		}
		if second.FencingToken() != first.FencingToken() || second.Grants()[0].Waiters != 1 || first.Grants()[0].Waiters != 1 {
			t.Errorf("%+v, %+v", first.Grants(), second.Grants())
		}
		mustWait(t, theirs)
		unlock(ctx, t, second)
		unlock(ctx, t, granted(t, theirs))
		unlock(ctx, t, granted(t, later))
		return true
	})
}

func TestWhoIsHandedAWantedLockIsToldWhyItIs(t *testing.T) {
	server := lockkeepertest.NewServer(t)
	ctx, client, other := limited(t), newClient(t, server.Address()), newClient(t, server.Address())
	listening := func(told chan<- any) []lockkeeper.Option {
		return []lockkeeper.Option{kept, lockkeeper.NotifyContention(), lockkeeper.Listen(lockkeeper.Listener{
			Contended:        func(contended lockkeeper.Contended) { told <- contended },
			ReleaseRequested: func(asked lockkeeper.ReleaseRequested) { told <- asked },
			Jeopardy:         func(validFor time.Duration) { told <- validFor },
		})}
	}
	withinTheSecond(t, func() bool {
		heard, told := make(chan any, 10), make(chan any, 10)
		first := must[*lockkeeper.Lock](t)(client.Lock(ctx, "a", listening(heard)...))
		waiting := make(chan outcome, 1)
		owner := append(listening(told), lockkeeper.Owner("task"))
		go func() {
			lock, err := client.Lock(ctx, "a", owner...)
			waiting <- outcome{lock, err}
		}()
		time.Sleep(100 * time.Millisecond) // nothing tells that it waits
		theirs := queued(ctx, t, other, exclusiveA)
		server.RequestReleaseOf("a", "anna", "first")
		server.RequestReleaseOf("a", "anna", "again")
		server.Jeopardize(time.Minute)
		for range 4 {
			<-heard
		}
		unlock(ctx, t, first)
		second := granted(t, waiting)
		inTime := second.FencingToken() == first.FencingToken()
		if inTime {
			mustHearAll(t, told)
			third := must[*lockkeeper.Lock](t)(client.Lock(ctx, "a", owner...))
			mustHearAll(t, told)
			unlock(ctx, t, third)
		}
		unlock(ctx, t, second)
		unlock(ctx, t, granted(t, theirs))
		return inTime
	})
}

func mustHearAll(t *testing.T, told <-chan any) {
	t.Helper()
	if said := <-told; said != (lockkeeper.Contended{Name: "a", Waiters: 1}) {
		t.Errorf("%+v", said)
	}
	if said := <-told; said != (lockkeeper.ReleaseRequested{Name: "a", Requester: "anna", Reason: "again"}) {
		t.Errorf("%+v", said)
	}
	if left, is := (<-told).(time.Duration); !is || left > time.Minute || left < 30*time.Second {
		t.Errorf("%v, %s", is, left)
	}
}
