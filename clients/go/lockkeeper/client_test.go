package lockkeeper_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lockkeeper.io/lockkeeper"
	"lockkeeper.io/lockkeeper/lockkeepertest"
)

// onBoth runs a test on the server in memory and on a real one, of which it must hold alike.
func onBoth(t *testing.T, test func(t *testing.T, address string)) {
	t.Helper()
	t.Run("fake", func(t *testing.T) { test(t, lockkeepertest.NewServer(t).Address()) })
	t.Run("real", func(t *testing.T) { test(t, realServer(t)) })
}

func limited(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// newClient makes a client whose lease no slow machine ends, unless options choose its time to live.
func newClient(t *testing.T, address string, options ...lockkeeper.ClientOption) *lockkeeper.Client {
	t.Helper()
	client, err := lockkeeper.New(address, append([]lockkeeper.ClientOption{lockkeeper.TTL(time.Hour)}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

func lockOf(t *testing.T) string {
	t.Helper()
	return "go/" + strings.ReplaceAll(t.Name(), "/", "-")
}

func must[T any](t *testing.T) func(value T, err error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

type outcome struct {
	lock *lockkeeper.Lock
	err  error
}

// queued asks for locks, and returns when the request waits in the queue.
func queued(ctx context.Context, t *testing.T, client *lockkeeper.Client, specs []lockkeeper.Spec, options ...lockkeeper.Option) <-chan outcome {
	t.Helper()
	waits, outcomes := make(chan struct{}), make(chan outcome, 1)
	once := sync.OnceFunc(func() { close(waits) })
	listener := lockkeeper.Listener{Queued: func([]lockkeeper.Place) { once() }}
	go func() {
		lock, err := client.Acquire(ctx, specs, append(options, lockkeeper.Listen(listener))...)
		outcomes <- outcome{lock, err}
	}()
	select {
	case <-waits:
	case got := <-outcomes:
		t.Fatalf("it does not wait: %v", got)
	}
	return outcomes
}

func granted(t *testing.T, outcomes <-chan outcome) *lockkeeper.Lock {
	t.Helper()
	got := <-outcomes
	if got.err != nil {
		t.Fatal(got.err)
	}
	return got.lock
}

func unlock(ctx context.Context, t *testing.T, lock *lockkeeper.Lock) {
	t.Helper()
	if err := lock.Unlock(ctx); err != nil {
		t.Fatal(err)
	}
}

func TestNextInTheQueueIsGrantedWithAHigherTokenWhenTheHolderReleases(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		ctx, name := limited(t), lockOf(t)
		one, other := newClient(t, address), newClient(t, address)
		held := must[*lockkeeper.Lock](t)(one.Lock(ctx, name))
		if !held.Valid() || held.Remaining() <= 0 || held.Err() != nil {
			t.Fatal("it is not valid")
		}
		waiting := queued(ctx, t, other, []lockkeeper.Spec{lockkeeper.Exclusive(name)})
		unlock(ctx, t, held)
		if cause := context.Cause(held.Context()); !errors.Is(cause, lockkeeper.ErrReleased) {
			t.Errorf("the context's cause is %v", cause)
		}
		next := granted(t, waiting)
		if next.FencingToken() <= held.FencingToken() || held.Valid() {
			t.Errorf("tokens %d, %d", held.FencingToken(), next.FencingToken())
		}
		if result := next.Release(ctx); result.Outcome != "RELEASED" {
			t.Errorf("released: %v", result)
		}
	})
}

func TestTryIsFalseWhereSomebodyHoldsAndATimedWaitEnds(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		ctx, name := limited(t), lockOf(t)
		one, other := newClient(t, address), newClient(t, address)
		held := must[*lockkeeper.Lock](t)(one.Lock(ctx, name))
		if _, free, err := other.TryLock(ctx, name); free || err != nil {
			t.Errorf("free: %v, %v", free, err)
		}
		_, err := other.Lock(ctx, name, lockkeeper.Wait(50*time.Millisecond))
		var not *lockkeeper.NotAcquiredError
		if !errors.As(err, &not) || not.Reason != "TIMED_OUT" || not.Lock != name || !strings.Contains(err.Error(), name) {
			t.Errorf("%v", err)
		}
		unlock(ctx, t, held)
		lock, free, err := other.TryLock(ctx, name)
		if !free || err != nil {
			t.Fatalf("not free: %v", err)
		}
		unlock(ctx, t, lock)
	})
}

func TestLockPassesOnWhenItsLongestHoldIsOver(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		ctx, name, client := limited(t), lockOf(t), newClient(t, address)
		lock := must[*lockkeeper.Lock](t)(client.Lock(ctx, name, lockkeeper.MaxHold(200*time.Millisecond)))
		<-lock.Context().Done()
		var lost *lockkeeper.LostError
		if err := lock.Unlock(ctx); !errors.As(err, &lost) || lost.Reason != "MAX_HOLD" {
			t.Errorf("%v", err)
		}
		next := must[*lockkeeper.Lock](t)(client.Lock(ctx, name))
		if end := next.Grants()[0].PreviousEnd; end == "RELEASED" {
			t.Errorf("the one before ended by %s", end)
		}
		unlock(ctx, t, next)
	})
}

func TestReadersShareAndExcludeWriters(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		ctx, name, client := limited(t), lockOf(t), newClient(t, address)
		read := []lockkeeper.Spec{lockkeeper.Read(name)}
		first := must[*lockkeeper.Lock](t)(client.Acquire(ctx, read))
		second := must[*lockkeeper.Lock](t)(client.Acquire(ctx, read))
		writer := queued(ctx, t, client, []lockkeeper.Spec{lockkeeper.Write(name)})
		unlock(ctx, t, first)
		select {
		case <-writer:
			t.Fatal("a writer beside a reader")
		default:
		}
		unlock(ctx, t, second)
		unlock(ctx, t, granted(t, writer))
	})
}

func TestPermitsAreGrantedUpToTheLimitAndSeveralLocksTogether(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		ctx, name, client := limited(t), lockOf(t), newClient(t, address)
		two := must[*lockkeeper.Lock](t)(client.Acquire(ctx, []lockkeeper.Spec{lockkeeper.Permits(name, 2, 3)}))
		one := must[*lockkeeper.Lock](t)(client.Acquire(ctx, []lockkeeper.Spec{lockkeeper.Permits(name, 1, 3)}))
		both := []lockkeeper.Spec{lockkeeper.Permits(name, 1, 3), lockkeeper.Exclusive(name + "-other")}
		if _, err := client.Acquire(ctx, both, lockkeeper.Wait(0)); err == nil {
			t.Error("a fourth permit of three")
		}
		unlock(ctx, t, two)
		lock := must[*lockkeeper.Lock](t)(client.Acquire(ctx, both))
		if grants := lock.Grants(); len(grants) != 2 || grants[1].Name != name+"-other" {
			t.Errorf("grants %v", grants)
		}
		unlock(ctx, t, lock)
		unlock(ctx, t, one)
	})
}

func TestOwnerIsGrantedItsLockAgainAndTheLastReleaseFreesIt(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		ctx, name, client := limited(t), lockOf(t), newClient(t, address)
		outer := must[*lockkeeper.Lock](t)(client.Lock(ctx, name, lockkeeper.Owner("task")))
		inner := must[*lockkeeper.Lock](t)(client.Lock(ctx, name, lockkeeper.Owner("task")))
		if inner.FencingToken() != outer.FencingToken() || inner.Grants()[0].HoldCount != 2 {
			t.Errorf("%v, %v", outer.Grants(), inner.Grants())
		}
		if result := inner.Release(ctx); result != (lockkeeper.ReleaseResult{Outcome: "DECREMENTED", RemainingHolds: 1}) {
			t.Errorf("%v", result)
		}
		if !outer.Valid() {
			t.Error("the outer hold is not valid")
		}
		unlock(ctx, t, outer)
	})
}

func TestCancelledWaitLeavesTheQueue(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		ctx, name := limited(t), lockOf(t)
		one, other := newClient(t, address), newClient(t, address)
		held := must[*lockkeeper.Lock](t)(one.Lock(ctx, name))
		cancelled, cancel := context.WithCancelCause(ctx)
		waiting := queued(cancelled, t, other, []lockkeeper.Spec{lockkeeper.Exclusive(name)})
		behind := queued(ctx, t, one, []lockkeeper.Spec{lockkeeper.Exclusive(name)})
		why := errors.New("no more need")
		cancel(why)
		if got := <-waiting; !errors.Is(got.err, why) {
			t.Errorf("%v", got.err)
		}
		unlock(ctx, t, held)
		unlock(ctx, t, granted(t, behind))
	})
}

func TestManyGoroutinesOfOneClientExcludeEachOther(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		ctx, name, client := limited(t), lockOf(t), newClient(t, address)
		var tokens []int64
		var all sync.WaitGroup
		for range 40 {
			all.Go(func() {
				for range 5 {
					err := client.Do(ctx, name, func(_ context.Context, lock *lockkeeper.Lock) error {
						tokens = append(tokens, lock.FencingToken()) // a race, but for the lock
						return nil
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		if len(tokens) != 200 || !slices.IsSorted(tokens) || len(slices.Compact(tokens)) != 200 {
			t.Errorf("%d tokens", len(tokens))
		}
	})
}

func TestOthersSeeWhoHoldsAndWhatItSaysOfItself(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		ctx, name := limited(t), lockOf(t)
		client, other := newClient(t, address), newClient(t, address)
		lock := must[*lockkeeper.Lock](t)(client.Lock(ctx, name, lockkeeper.Holder("a task"), lockkeeper.Metadata(map[string]string{"step": "1"})))
		if err := lock.UpdateMetadata(ctx, map[string]string{"step": "2"}); err != nil {
			t.Fatal(err)
		}
		info := must[lockkeeper.Info](t)(other.GetLock(ctx, name))
		if len(info.Holders) != 1 || info.Holders[0].Holder != "a task" || info.Holders[0].Metadata["step"] != "2" {
			t.Errorf("%+v", info)
		}
		found := false
		for info, err := range other.Locks(ctx, name) {
			found = found || err == nil && info.Name == name
		}
		if !found {
			t.Error("it is not listed")
		}
		unlock(ctx, t, lock)
	})
}

func TestClosingTheClientFreesWhatItHeldAndEndsWhatWaits(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		ctx, name := limited(t), lockOf(t)
		client, other := newClient(t, address), newClient(t, address)
		held := must[*lockkeeper.Lock](t)(client.Lock(ctx, name))
		used := must[*lockkeeper.Lock](t)(client.Lock(ctx, name+"-used", kept))
		unlock(ctx, t, must[*lockkeeper.Lock](t)(client.Lock(ctx, name+"-unused", kept)))
		waiting := queued(ctx, t, client, []lockkeeper.Spec{lockkeeper.Exclusive(name)})
		inClient := queued(ctx, t, client, []lockkeeper.Spec{lockkeeper.Exclusive(name + "-used")}, kept)
		client.Close()
		for _, outcomes := range []<-chan outcome{waiting, inClient} {
			if got := <-outcomes; !errors.Is(got.err, lockkeeper.ErrClosed) {
				t.Errorf("%v", got.err)
			}
		}
		if held.Valid() {
			t.Error("it is still valid")
		}
		mustBeLost(t, used, "LEASE_CLOSED")
		for _, free := range []string{name, name + "-used", name + "-unused"} {
			unlock(ctx, t, must[*lockkeeper.Lock](t)(other.Lock(ctx, free)))
		}
		if _, err := client.Lock(ctx, name); !errors.Is(err, lockkeeper.ErrClosed) {
			t.Errorf("%v", err)
		}
	})
}

func TestWatchTokenLimitAndRefusalsOnARealServer(t *testing.T) {
	ctx, name, client := limited(t), lockOf(t), newClient(t, realServer(t))
	lock := must[*lockkeeper.Lock](t)(client.Lock(ctx, name))
	if current := must[bool](t)(client.CheckToken(ctx, name, lock.FencingToken())); !current {
		t.Error("the token is not current")
	}
	if asked := must[[]lockkeeper.Contender](t)(client.RequestRelease(ctx, name, "please")); len(asked) != 1 {
		t.Errorf("asked %v", asked)
	}
	_, err := client.Acquire(ctx, []lockkeeper.Spec{lockkeeper.Read(name)})
	var refused *lockkeeper.RefusedError
	if !errors.As(err, &refused) || refused.Reason != "WRONG_KIND" {
		t.Errorf("%v", err)
	}
	for event, err := range client.Watch(ctx, name) {
		if err != nil {
			t.Fatal(err)
		}
		if event.Snapshot != nil && event.Snapshot.Holders[0].FencingToken != lock.FencingToken() {
			t.Errorf("%+v", event.Snapshot)
		}
		if event.SnapshotEnd {
			unlock(ctx, t, lock)
		}
		if event.Change != nil && event.Change.Cause == "RELEASED" {
			break
		}
	}
	if before := must[int](t)(client.ConfigureLock(ctx, name+"-permits", 2)); before != 0 {
		t.Errorf("%d before", before)
	}
	if before := must[int](t)(client.ConfigureLock(ctx, name+"-permits", 0)); before != 2 {
		t.Errorf("%d before", before)
	}
}

func TestLeaderIsSeenByOthersAndItsEndToo(t *testing.T) {
	ctx, name := limited(t), lockOf(t)
	client, other := newClient(t, realServer(t)), newClient(t, realServer(t))
	leading := must[*lockkeeper.Lock](t)(client.Election(name).Campaign(ctx, "http://me"))
	var seen []string
	for leader, err := range other.Election(name).Observe(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		if leader == nil {
			break
		}
		seen = append(seen, leader.Value)
		unlock(ctx, t, leading)
	}
	if !slices.Equal(seen, []string{"http://me"}) {
		t.Errorf("%v", seen)
	}
}

// Losses, on the server in memory, where a test says when.

func TestContextOfALockIsCancelledWithTheReasonWhenItIsLost(t *testing.T) {
	server := lockkeepertest.NewServer(t)
	ctx, client := limited(t), newClient(t, server.Address())
	lock := must[*lockkeeper.Lock](t)(client.Lock(ctx, "orders/43"))
	server.Lose("orders/43")
	<-lock.Context().Done()
	var lost *lockkeeper.LostError
	if cause := context.Cause(lock.Context()); !errors.As(cause, &lost) || lock.Valid() {
		t.Errorf("%v", cause)
	}
	if err := lock.Unlock(ctx); !errors.As(err, &lost) {
		t.Errorf("unlocked with %v", err)
	}
}

func TestHolderIsAskedToGiveWayAndToldOfJeopardy(t *testing.T) {
	server := lockkeepertest.NewServer(t)
	ctx, client := limited(t), newClient(t, server.Address(), lockkeeper.TTL(time.Hour))
	asked, doubt, safe := make(chan lockkeeper.ReleaseRequested, 1), make(chan time.Duration, 1), make(chan struct{})
	lock := must[*lockkeeper.Lock](t)(client.Lock(ctx, "a", lockkeeper.Listen(lockkeeper.Listener{
		ReleaseRequested: func(who lockkeeper.ReleaseRequested) { asked <- who },
		Jeopardy:         func(validFor time.Duration) { doubt <- validFor },
		Safe:             func() { close(safe) },
	})))
	server.RequestReleaseOf("a", "anna", "maintenance")
	if who := <-asked; who.Requester != "anna" || who.Reason != "maintenance" {
		t.Errorf("%+v", who)
	}
	if err := lock.AnswerRelease(ctx, time.Second); err != nil {
		t.Error(err)
	}
	server.Jeopardize(time.Minute)
	if validFor := <-doubt; validFor != time.Minute || lock.Remaining() > validFor {
		t.Errorf("%s, %s left", validFor, lock.Remaining())
	}
	server.MakeSafe()
	<-safe
	if lock.Remaining() <= time.Minute {
		t.Errorf("%s left", lock.Remaining())
	}
}

// mustBeLost waits until a lock is lost, for this reason.
func mustBeLost(t *testing.T, lock *lockkeeper.Lock, reason string) {
	t.Helper()
	<-lock.Context().Done()
	var lost *lockkeeper.LostError
	if cause := context.Cause(lock.Context()); !errors.As(cause, &lost) || lost.Reason != reason {
		t.Errorf("%v", cause)
	}
}

func TestLeaderThatLosesItsLockGoesBackToTheQueue(t *testing.T) {
	server := lockkeepertest.NewServer(t)
	ctx, client := limited(t), newClient(t, server.Address())
	var terms []int64
	err := client.Election("leader").Run(ctx, "me", func(ctx context.Context, leadership *lockkeeper.Lock) error {
		terms = append(terms, leadership.FencingToken())
		if len(terms) == 1 {
			server.Lose("leader")
			<-ctx.Done()
			return ctx.Err()
		}
		return nil
	})
	if err != nil || len(terms) != 2 || terms[0] >= terms[1] {
		t.Errorf("%v, %v", err, terms)
	}
}

func TestWhatIsOutOfRangeIsRefusedAndNamed(t *testing.T) {
	client := newClient(t, "localhost")
	for said, specs := range map[string][]lockkeeper.Spec{
		"name":           {lockkeeper.Exclusive("")},
		"empty segments": {lockkeeper.Exclusive("a//b")},
		"control":        {lockkeeper.Exclusive("a\nb")},
		"512 bytes":      {lockkeeper.Exclusive(strings.Repeat("x", 513))},
		"16 segments":    {lockkeeper.Exclusive("a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q")},
		"1 to 64":        {},
		"once":           {lockkeeper.Exclusive("a"), lockkeeper.Read("a")},
		"permits":        {lockkeeper.Permits("a", 2, 1)},
		"limit must be":  {lockkeeper.Permits("a", 1, 1_000_001)},
		"mode of":        {lockkeeper.Custom("a", "")},
	} {
		if _, err := client.Acquire(t.Context(), specs); err == nil || !strings.Contains(err.Error(), said) {
			t.Errorf("%s: %v", said, err)
		}
	}
	for said, option := range map[string]lockkeeper.Option{
		"wait": lockkeeper.Wait(-1), "owner": lockkeeper.Owner(strings.Repeat("x", 257)), "holder": lockkeeper.Holder(strings.Repeat("x", 257)),
		"metadata": lockkeeper.Metadata(map[string]string{"": "x"}), "max hold": lockkeeper.MaxHold(time.Millisecond),
		"lock delay": lockkeeper.LockDelay(2 * time.Hour), "position": lockkeeper.PositionEvery(time.Millisecond),
	} {
		if _, err := client.Lock(t.Context(), "a", option); err == nil || !strings.Contains(err.Error(), said) {
			t.Errorf("%s: %v", said, err)
		}
	}
	for _, servers := range []string{"", "a,,b", "a:0", "a:65536", "a:x", "http://a", "a b"} {
		if _, err := lockkeeper.New(servers); err == nil {
			t.Errorf("%q is taken for servers", servers)
		}
	}
}

// What is left.

func TestNothingRunsAfterClose(t *testing.T) {
	server := lockkeepertest.NewServer(t)
	before := goroutinesOfClients()
	for range 5 {
		client := must[*lockkeeper.Client](t)(lockkeeper.New(server.Address()))
		must[*lockkeeper.Lock](t)(client.Lock(limited(t), "a", lockkeeper.MaxHold(time.Hour)))
		client.Close()
	}
	deadline := time.Now().Add(time.Minute)
	for goroutinesOfClients() > before {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines are left:\n%s", goroutinesOfClients()-before, stacks())
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func goroutinesOfClients() int { return strings.Count(stacks(), "lockkeeper.io/lockkeeper.(*") }

func stacks() string {
	text := make([]byte, 1<<20)
	return string(text[:runtime.Stack(text, true)])
}

func TestForgottenClientGivesItsLocksBack(t *testing.T) {
	server := lockkeepertest.NewServer(t)
	ctx := limited(t)
	func() {
		client := must[*lockkeeper.Client](t)(lockkeeper.New(server.Address(), lockkeeper.TTL(time.Hour)))
		must[*lockkeeper.Lock](t)(client.Lock(ctx, "a"))
	}()
	other := newClient(t, server.Address())
	for {
		runtime.GC()
		lock, free, err := other.TryLock(ctx, "a", lockkeeper.Wait(100*time.Millisecond))
		if err != nil {
			t.Fatal(err)
		}
		if free {
			unlock(ctx, t, lock)
			return
		}
	}
}
