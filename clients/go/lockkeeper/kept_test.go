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

func TestKeptLockIsGrantedAgainWithItsTokenAndOthersSeeItHeld(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		ctx, name := limited(t), lockOf(t)
		client, other := newClient(t, address), newClient(t, address)
		first := must[*lockkeeper.Lock](t)(client.Lock(ctx, name, kept))
		if result := first.Release(ctx); result.Outcome != "RELEASED" || first.Valid() || !errors.Is(first.Err(), lockkeeper.ErrReleased) {
			t.Errorf("%v, %v", result, first.Err())
		}
		if info := must[lockkeeper.Info](t)(other.GetLock(ctx, name)); len(info.Holders) != 1 {
			t.Errorf("%+v", info)
		}
		second, free, err := client.TryLock(ctx, name, kept)
		if err != nil || !free {
			t.Fatal(err)
		}
		if second.FencingToken() != first.FencingToken() || second.Grants()[0].PreviousEnd != "RELEASED" || !second.Valid() {
			t.Errorf("%v, %v", first.Grants(), second.Grants())
		}
		if first.Valid() || first.Release(ctx).Outcome != "RELEASED" || !second.Valid() {
			t.Error("the first user has it, or takes it away from the second")
		}
		if err := second.UpdateMetadata(ctx, map[string]string{"step": "2"}); err != nil {
			t.Error(err)
		}
		unlock(ctx, t, second)
	})
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
	for name, different := range map[string][]lockkeeper.Spec{
		"order": {both[1], both[0]}, "mode": {lockkeeper.Write("a"), both[1]}, "permits": {both[0], lockkeeper.Permits("b", 2, 3)}, "fewer": {both[0]},
	} {
		before := server.Requests()
		lock, err := client.Acquire(ctx, different, lockkeeper.Wait(10*time.Second))
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

func TestTryFindsAKeptLockTakenAndMakesItFree(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		ctx, name := limited(t), lockOf(t)
		client, other := newClient(t, address), newClient(t, address)
		unlock(ctx, t, must[*lockkeeper.Lock](t)(client.Lock(ctx, name, kept)))
		lock, free, err := other.TryLock(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		if free { // it has become so in time
			unlock(ctx, t, lock)
		}
		awaitFree(ctx, t, other, name)
	})
}

func TestKeptLockThatIsWantedGoesToOthersWhenItIsReleased(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		ctx, name := limited(t), lockOf(t)
		client, other := newClient(t, address), newClient(t, address)
		told := make(chan lockkeeper.Contended, 10)
		listen := lockkeeper.Listen(lockkeeper.Listener{Contended: func(contended lockkeeper.Contended) { told <- contended }})
		first := must[*lockkeeper.Lock](t)(client.Lock(ctx, name, kept, listen, lockkeeper.NotifyContention()))
		theirs := queued(ctx, t, other, []lockkeeper.Spec{lockkeeper.Exclusive(name)})
		if contended := <-told; contended != (lockkeeper.Contended{Name: name, Waiters: 1}) {
			t.Errorf("%+v", contended)
		}
		late := queued(ctx, t, client, []lockkeeper.Spec{lockkeeper.Exclusive(name)}, kept)
		if !first.Valid() {
			t.Error("it was taken away")
		}
		unlock(ctx, t, first)
		unlock(ctx, t, granted(t, theirs))
		unlock(ctx, t, granted(t, late))
		if len(told) > 0 {
			t.Errorf("told again: %+v", <-told)
		}
	})
}

func TestThoseWhoWaitInTheClientAreGrantedInTheirOrder(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		ctx, name, client := limited(t), lockOf(t), newClient(t, address)
		lock := must[*lockkeeper.Lock](t)(client.Lock(ctx, name, kept))
		token := lock.FencingToken()
		var waiting []<-chan outcome
		for range 5 {
			waiting = append(waiting, queued(ctx, t, client, []lockkeeper.Spec{lockkeeper.Exclusive(name)}, kept, lockkeeper.Wait(time.Minute)))
		}
		for _, next := range waiting {
			unlock(ctx, t, lock)
			lock = granted(t, next)
			if lock.FencingToken() != token {
				t.Errorf("token %d, %d", token, lock.FencingToken())
			}
		}
		unlock(ctx, t, lock)
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

func TestWhoWaitedInTheClientHasItsTurnWhenOthersWantTheLock(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		ctx, name := limited(t), lockOf(t)
		client, other := newClient(t, address), newClient(t, address)
		told := make(chan struct{}, 10)
		listen := lockkeeper.Listen(lockkeeper.Listener{Contended: func(lockkeeper.Contended) { told <- struct{}{} }})
		first := must[*lockkeeper.Lock](t)(client.Lock(ctx, name, kept, listen, lockkeeper.NotifyContention()))
		before := queued(ctx, t, client, []lockkeeper.Spec{lockkeeper.Exclusive(name)}, kept)
		theirs := queued(ctx, t, other, []lockkeeper.Spec{lockkeeper.Exclusive(name)})
		<-told
		after := queued(ctx, t, client, []lockkeeper.Spec{lockkeeper.Exclusive(name)}, kept)
		unlock(ctx, t, first)
		second := granted(t, before)
		if second.FencingToken() == first.FencingToken() && second.Grants()[0].Waiters != 1 {
			t.Errorf("%v, %v", first.Grants(), second.Grants())
		}
		// On a busy machine the second may be over: then it was asked for anew, behind the other.
		if second.FencingToken() == first.FencingToken() {
			unlock(ctx, t, second)
			unlock(ctx, t, granted(t, theirs))
		}
		third := granted(t, after)
		unlock(ctx, t, third)
	})
}

func TestWhoWaitsYetWhenTheSecondIsOverAsksTheServer(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		ctx, name := limited(t), lockOf(t)
		client, other := newClient(t, address), newClient(t, address)
		first := must[*lockkeeper.Lock](t)(client.Lock(ctx, name, kept))
		waits, asked := make(chan struct{}), make(chan struct{})
		places := 0
		waiting := make(chan outcome, 1)
		go func() {
			lock, err := client.Lock(ctx, name, kept, lockkeeper.Listen(lockkeeper.Listener{Queued: func([]lockkeeper.Place) {
				if places++; places == 1 {
					close(waits)
				} else if places == 2 {
					close(asked)
				}
			}}))
			waiting <- outcome{lock, err}
		}()
		<-waits
		theirs := queued(ctx, t, other, []lockkeeper.Spec{lockkeeper.Exclusive(name)})
		<-asked
		unlock(ctx, t, first)
		next := granted(t, theirs)
		unlock(ctx, t, next)
		last := granted(t, waiting)
		if last.FencingToken() <= next.FencingToken() {
			t.Errorf("tokens %d, %d", next.FencingToken(), last.FencingToken())
		}
		unlock(ctx, t, last)
	})
}

func TestKeptLockIsReleasedWhenItsTimeIsOver(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		ctx, name := limited(t), lockOf(t)
		client, other := newClient(t, address), newClient(t, address)
		brief := lockkeeper.KeepUnused(100 * time.Millisecond)
		first := must[*lockkeeper.Lock](t)(client.Lock(ctx, name, kept))
		unlock(ctx, t, first)
		unlock(ctx, t, must[*lockkeeper.Lock](t)(client.Lock(ctx, name, brief))) // the last one's time counts
		awaitFree(ctx, t, other, name)
		again := must[*lockkeeper.Lock](t)(client.Lock(ctx, name, brief))
		if again.FencingToken() <= first.FencingToken() {
			t.Errorf("tokens %d, %d", first.FencingToken(), again.FencingToken())
		}
		time.Sleep(300 * time.Millisecond) // its time does not run while it is used
		if !again.Valid() {
			t.Error("it is not valid")
		}
		unlock(ctx, t, again)
		awaitFree(ctx, t, other, name)
	})
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

func TestRequestsOfOneOwnerThatWaitInTheClientAreGrantedTogether(t *testing.T) {
	ctx, client := limited(t), newClient(t, lockkeepertest.NewServer(t).Address())
	held := must[*lockkeeper.Lock](t)(client.Lock(ctx, "a", kept))
	exclusive := []lockkeeper.Spec{lockkeeper.Exclusive("a")}
	outer := queued(ctx, t, client, exclusive, kept, lockkeeper.Owner("task"))
	another := queued(ctx, t, client, exclusive, kept)
	inner := queued(ctx, t, client, exclusive, kept, lockkeeper.Owner("task"), lockkeeper.Wait(time.Minute))
	unlock(ctx, t, held)
	levels := []*lockkeeper.Lock{granted(t, outer), granted(t, inner)}
	for _, level := range levels {
		select {
		case <-another:
			t.Fatal("two owners have it")
		default:
		}
		unlock(ctx, t, level)
	}
	unlock(ctx, t, granted(t, another))
}
