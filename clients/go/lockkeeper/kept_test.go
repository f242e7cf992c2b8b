package lockkeeper_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"lockkeeper.io/lockkeeper"
	"lockkeeper.io/lockkeeper/lockkeepertest"
)

// kept is what tests keep locks with, unless their time is to run out.
var kept = lockkeeper.KeepUnused(time.Hour)

func notAcquired(t *testing.T, err error, reason string) {
	t.Helper()
	var not *lockkeeper.NotAcquiredError
	if !errors.As(err, &not) || not.Reason != reason {
		t.Errorf("%v", err)
	}
}

// awaitFree waits until nobody holds a lock, and takes no part in it.
func awaitFree(ctx context.Context, t *testing.T, client *lockkeeper.Client, name string) {
	t.Helper()
	for len(must[lockkeeper.Info](t)(client.GetLock(ctx, name)).Holders) > 0 {
		time.Sleep(10 * time.Millisecond)
	}
}

func TestReuseOfAKeptLockSendsNothing(t *testing.T) {
	server := lockkeepertest.NewServer(t)
	ctx, client := limited(t), newClient(t, server.Address())
	both := []lockkeeper.Spec{lockkeeper.Exclusive("a"), lockkeeper.Permits("b", 1, 3)}
	options := [][]lockkeeper.Option{
		{kept}, {kept, lockkeeper.Owner("task")}, {kept, lockkeeper.Holder("somebody"), lockkeeper.Metadata(map[string]string{"step": "2"})},
	}
	for range 10 {
		for _, each := range options {
			unlock(ctx, t, must[*lockkeeper.Lock](t)(client.Acquire(ctx, both, each...)))
			if err := client.Do(ctx, "c", func(context.Context, *lockkeeper.Lock) error { return nil }, each...); err != nil {
				t.Fatal(err)
			}
		}
	}
	if heard := server.Requests(); heard != 2 {
		t.Errorf("the server has heard %d requests", heard)
	}
	lock := must[*lockkeeper.Lock](t)(client.Lock(ctx, "c", kept))
	if lock.Grants()[0].PreviousEnd != "RELEASED" {
		t.Errorf("%+v", lock.Grants())
	}
	if err := lock.UpdateMetadata(ctx, map[string]string{"step": "2"}); err != nil {
		t.Error(err)
	}
	unlock(ctx, t, lock)
	for name, different := range map[string][]lockkeeper.Spec{
		"order": {both[1], both[0]}, "mode": {lockkeeper.Write("a"), both[1]}, "permits": {both[0], lockkeeper.Permits("b", 2, 3)}, "fewer": {both[0]},
	} {
		before := server.Requests()
		lock, err := client.Acquire(ctx, different, lockkeeper.Wait(time.Minute))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		unlock(ctx, t, lock)
		if server.Requests() == before {
			t.Errorf("%s: it is alike", name)
		}
	}
}

func TestKeptLockGoesToOthersWhenItIsUnused(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		ctx, name := limited(t), lockOf(t)
		client, other := newClient(t, address), newClient(t, address)
		first := must[*lockkeeper.Lock](t)(client.Lock(ctx, name, kept))
		unlock(ctx, t, first)
		next := must[*lockkeeper.Lock](t)(other.Lock(ctx, name))
		if next.FencingToken() <= first.FencingToken() {
			t.Errorf("%v, %v", first.Grants(), next.Grants())
		}
		back := queued(ctx, t, client, []lockkeeper.Spec{lockkeeper.Exclusive(name)}, kept)
		unlock(ctx, t, next)
		unlock(ctx, t, granted(t, back))
	})
}

func TestWaitInTheClientEndsByItsLimitAndByItsContextAndATryAtOnce(t *testing.T) {
	server := lockkeepertest.NewServer(t)
	ctx, client := limited(t), newClient(t, server.Address())
	held := must[*lockkeeper.Lock](t)(client.Lock(ctx, "a", kept))
	if _, free, err := client.TryLock(ctx, "a", kept); free || err != nil {
		t.Errorf("%v, %v", free, err)
	}
	_, err := client.Lock(ctx, "a", kept, lockkeeper.Wait(50*time.Millisecond))
	notAcquired(t, err, "TIMED_OUT")
	cancelled, cancel := context.WithCancelCause(ctx)
	waiting := queued(cancelled, t, client, []lockkeeper.Spec{lockkeeper.Exclusive("a")}, kept)
	why := errors.New("no more need")
	cancel(why)
	if got := <-waiting; !errors.Is(got.err, why) {
		t.Errorf("%v", got.err)
	}
	unlock(ctx, t, held)
	unlock(ctx, t, must[*lockkeeper.Lock](t)(client.Lock(ctx, "a", kept)))
	if heard := server.Requests(); heard != 1 {
		t.Errorf("the server has heard %d requests", heard)
	}
}

func TestLastUserSaysForHowLongALockIsKept(t *testing.T) {
	server := lockkeepertest.NewServer(t)
	ctx, client, other := limited(t), newClient(t, server.Address()), newClient(t, server.Address())
	unlock(ctx, t, must[*lockkeeper.Lock](t)(client.Lock(ctx, "a", kept)))
	brief := must[*lockkeeper.Lock](t)(client.Lock(ctx, "a", lockkeeper.KeepUnused(100*time.Millisecond)))
	time.Sleep(300 * time.Millisecond) // its time does not run while it is used
	if !brief.Valid() || server.Requests() != 1 {
		t.Errorf("%v, %d requests", brief.Err(), server.Requests())
	}
	unlock(ctx, t, brief)
	awaitFree(ctx, t, other, "a")
}

func TestOwnerIsGrantedWhatItUsesAgainAndTheLastReleasePassesItOn(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		ctx, name, client := limited(t), lockOf(t), newClient(t, address)
		owner := lockkeeper.Owner("task")
		outer := must[*lockkeeper.Lock](t)(client.Lock(ctx, name, kept, owner))
		inner := must[*lockkeeper.Lock](t)(client.Lock(ctx, name, kept, owner, lockkeeper.Wait(0)))
		if inner.FencingToken() != outer.FencingToken() || inner.Grants()[0].HoldCount != 2 {
			t.Errorf("%v, %v", outer.Grants(), inner.Grants())
		}
		waiting := queued(ctx, t, client, []lockkeeper.Spec{lockkeeper.Exclusive(name)}, kept, lockkeeper.Owner("another"))
		if result := outer.Release(ctx); result != (lockkeeper.ReleaseResult{Outcome: "DECREMENTED", RemainingHolds: 1}) {
			t.Errorf("%v", result)
		}
		if outer.Valid() || !inner.Valid() {
			t.Error("not the level that was released has ended")
		}
		select {
		case <-waiting:
			t.Fatal("two owners have it")
		default:
		}
		unlock(ctx, t, inner)
		next := granted(t, waiting)
		if grant := next.Grants()[0]; grant.FencingToken != outer.FencingToken() || grant.HoldCount != 1 {
			t.Errorf("%v", grant)
		}
		unlock(ctx, t, next)
	})
}

func TestOwnerThatWouldWaitForItselfIsRefused(t *testing.T) {
	server := lockkeepertest.NewServer(t)
	ctx, client, owner := limited(t), newClient(t, server.Address()), lockkeeper.Owner("task")
	used := []*lockkeeper.Lock{
		must[*lockkeeper.Lock](t)(client.Lock(ctx, "a", kept, owner)),
		must[*lockkeeper.Lock](t)(client.Acquire(ctx, []lockkeeper.Spec{lockkeeper.Read("r"), lockkeeper.Read("s")}, kept, owner)),
		must[*lockkeeper.Lock](t)(client.Acquire(ctx, []lockkeeper.Spec{lockkeeper.Permits("p", 1, 3)}, kept, owner)),
	}
	heard := server.Requests()
	for name, refused := range map[string][]lockkeeper.Spec{
		"another mode":     {lockkeeper.Write("a")},
		"others besides":   {lockkeeper.Exclusive("b"), lockkeeper.Exclusive("a")},
		"reads, to write":  {lockkeeper.Write("r")},
		"reads and writes": {lockkeeper.Write("s"), lockkeeper.Read("r")},
	} {
		for _, options := range [][]lockkeeper.Option{{owner}, {owner, kept}} {
			if _, err := client.Acquire(ctx, refused, options...); err == nil {
				t.Errorf("%s: granted", name)
			} else {
				notAcquired(t, err, "WOULD_DEADLOCK")
			}
		}
	}
	_, err := client.Lock(ctx, "a", owner)
	notAcquired(t, err, "WOULD_DEADLOCK")
	if server.Requests() != heard {
		t.Error("a server was asked")
	}
	plain := must[*lockkeeper.Lock](t)(client.Lock(ctx, "c", owner))
	_, err = client.Lock(ctx, "c", owner, kept)
	notAcquired(t, err, "WOULD_DEADLOCK")
	unlock(ctx, t, plain)
	// What can be shared does not wait for itself, and each request has permits of its own.
	for _, shared := range [][]lockkeeper.Spec{{lockkeeper.Read("r")}, {lockkeeper.Permits("p", 1, 3)}, {lockkeeper.Permits("p", 1, 3)}} {
		used = append(used, must[*lockkeeper.Lock](t)(client.Acquire(ctx, shared, kept, owner)))
	}
	_, err = client.Acquire(ctx, []lockkeeper.Spec{lockkeeper.Permits("p", 1, 3)}, kept, owner, lockkeeper.Wait(0))
	notAcquired(t, err, "TIMED_OUT")
	for _, lock := range used {
		unlock(ctx, t, lock)
	}
	unlock(ctx, t, must[*lockkeeper.Lock](t)(client.Acquire(ctx, []lockkeeper.Spec{lockkeeper.Exclusive("b"), lockkeeper.Exclusive("a")}, owner)))
}

func TestWhatCanBeSharedIsAskedForWhileItIsInUseAndEachIsKept(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		ctx, name, client := limited(t), lockOf(t), newClient(t, address)
		read := []lockkeeper.Spec{lockkeeper.Read(name)}
		var tokens []int64
		for range 2 {
			one := must[*lockkeeper.Lock](t)(client.Acquire(ctx, read, kept))
			other := must[*lockkeeper.Lock](t)(client.Acquire(ctx, read, kept))
			tokens = append(tokens, one.FencingToken(), other.FencingToken())
			unlock(ctx, t, one)
			unlock(ctx, t, other)
		}
		if slices.Sort(tokens); tokens[0] != tokens[1] || tokens[2] != tokens[3] || tokens[0] == tokens[2] {
			t.Errorf("%v", tokens)
		}
		// A writer of the same client is somebody else.
		unlock(ctx, t, must[*lockkeeper.Lock](t)(client.Acquire(ctx, []lockkeeper.Spec{lockkeeper.Write(name)}, kept)))
	})
}
