// Kept locks that are lost or given back, on the server in memory, where a test says when.

package lockkeeper_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lockkeeper.io/lockkeeper"
	"lockkeeper.io/lockkeeper/lockkeepertest"
)

func TestLossOfAnUnusedLockIsToldToNobody(t *testing.T) {
	server := lockkeepertest.NewServer(t)
	ctx := limited(t)
	count := &counting{}
	client := newClient(t, server.Address(), lockkeeper.Observe(count))
	lost := make(chan string, 1)
	listen := lockkeeper.Listen(lockkeeper.Listener{Lost: func(reason string) { lost <- reason }})
	first := must[*lockkeeper.Lock](t)(client.Lock(ctx, "a", kept, listen))
	unlock(ctx, t, first)
	server.Lose("a")
	unlock(ctx, t, must[*lockkeeper.Lock](t)(client.Lock(ctx, "b"))) // an answer that comes after the loss
	second := must[*lockkeeper.Lock](t)(client.Lock(ctx, "a", kept, listen))
	if second.FencingToken() <= first.FencingToken() {
		t.Errorf("tokens %d, %d", first.FencingToken(), second.FencingToken())
	}
	waiting := queued(ctx, t, client, []lockkeeper.Spec{lockkeeper.Exclusive("a")}, kept)
	server.Lose("a")
	mustBeLost(t, second, "FORCED")
	if reason := <-lost; reason != "FORCED" || count.lost.Load() != 1 {
		t.Errorf("%s, %d losses", reason, count.lost.Load())
	}
	third := granted(t, waiting)
	if third.FencingToken() <= second.FencingToken() {
		t.Errorf("tokens %d, %d", second.FencingToken(), third.FencingToken())
	}
	var err *lockkeeper.LostError
	if !errors.As(second.Unlock(ctx), &err) || !third.Valid() {
		t.Errorf("%v, %v", err, third.Err())
	}
	unlock(ctx, t, third)
	if acquired, released := count.acquired.Load(), count.released.Load(); acquired != 4 || released != 3 {
		t.Errorf("%d acquired, %d released", acquired, released)
	}
}

type counting struct {
	lockkeeper.NoObserver
	lockkeeper.NoObservation
	acquired, released, lost atomic.Int32
}

func (c *counting) Acquiring(context.Context, []string) lockkeeper.Observation { return c }
func (c *counting) Acquired([]lockkeeper.Grant, time.Duration)                 { c.acquired.Add(1) }
func (c *counting) Released(time.Duration)                                     { c.released.Add(1) }
func (c *counting) Lost(string, time.Duration)                                 { c.lost.Add(1) }

func TestObserverCountsEachUserOfAKeptLock(t *testing.T) {
	count := &counting{}
	ctx, client := limited(t), newClient(t, lockkeepertest.NewServer(t).Address(), lockkeeper.Observe(count))
	for range 3 {
		unlock(ctx, t, must[*lockkeeper.Lock](t)(client.Lock(ctx, "a", kept)))
	}
	if acquired, released := count.acquired.Load(), count.released.Load(); acquired != 3 || released != 3 {
		t.Errorf("%d acquired, %d released", acquired, released)
	}
}

func TestResumeRepeatsWhatIsKept(t *testing.T) {
	server := lockkeepertest.NewServer(t)
	ctx, client, other := limited(t), newClient(t, server.Address()), newClient(t, server.Address())
	unused := must[*lockkeeper.Lock](t)(client.Lock(ctx, "a", kept))
	unlock(ctx, t, unused)
	used := must[*lockkeeper.Lock](t)(client.Lock(ctx, "b", kept, lockkeeper.Owner("task")))
	server.Disconnect()
	unlock(ctx, t, must[*lockkeeper.Lock](t)(client.Lock(ctx, "c"))) // over the next stream
	before := server.Requests()
	again := must[*lockkeeper.Lock](t)(client.Lock(ctx, "a", kept))
	if again.FencingToken() != unused.FencingToken() || !used.Valid() || server.Requests() != before {
		t.Errorf("%v, %v", again.Grants(), used.Err())
	}
	unlock(ctx, t, again)
	for range 2 { // it is given back over whichever stream
		unlock(ctx, t, must[*lockkeeper.Lock](t)(other.Lock(ctx, "a")))
		unlock(ctx, t, must[*lockkeeper.Lock](t)(client.Lock(ctx, "a", kept)))
		server.Disconnect()
	}
	unlock(ctx, t, used)
}

func TestContentionThatBeganWhileTheClientWasAwayIsHeardOfAfterIt(t *testing.T) {
	server := lockkeepertest.NewServer(t)
	ctx, other := limited(t), newClient(t, server.Address())
	client := newClient(t, server.Address())
	unlock(ctx, t, must[*lockkeeper.Lock](t)(client.Lock(ctx, "a", kept)))
	for range 5 {
		server.Disconnect()
		unlock(ctx, t, must[*lockkeeper.Lock](t)(other.Lock(ctx, "a")))
		unlock(ctx, t, must[*lockkeeper.Lock](t)(client.Lock(ctx, "a", kept)))
	}
}

func TestKeptLocksAreWantedBackByARequestToReleaseAndInJeopardy(t *testing.T) {
	for name, want := range map[string]func(*lockkeepertest.Server){
		"asked":    func(server *lockkeepertest.Server) { server.RequestReleaseOf("a", "anna", "maintenance") },
		"jeopardy": func(server *lockkeepertest.Server) { server.Jeopardize(time.Minute) },
	} {
		t.Run(name, func(t *testing.T) {
			server := lockkeepertest.NewServer(t)
			ctx, client, other := limited(t), newClient(t, server.Address()), newClient(t, server.Address())
			unlock(ctx, t, must[*lockkeeper.Lock](t)(client.Lock(ctx, "a", kept)))
			want(server)
			awaitFree(ctx, t, other, "a")
			told := make(chan struct{}, 10)
			used := must[*lockkeeper.Lock](t)(client.Lock(ctx, "a", kept, lockkeeper.Listen(lockkeeper.Listener{
				ReleaseRequested: func(lockkeeper.ReleaseRequested) { told <- struct{}{} },
				Jeopardy:         func(time.Duration) { told <- struct{}{} },
			})))
			want(server)
			<-told
			server.MakeSafe() // what is wanted back stays so
			if err := used.Unlock(ctx); err != nil {
				t.Error(err)
			}
			awaitFree(ctx, t, other, "a")
		})
	}
}

func TestJeopardyThatIsOverLosesAKeptLockInUse(t *testing.T) {
	server := lockkeepertest.NewServer(t)
	ctx, client := limited(t), newClient(t, server.Address())
	used := must[*lockkeeper.Lock](t)(client.Lock(ctx, "a", kept))
	server.Jeopardize(200 * time.Millisecond)
	mustBeLost(t, used, "DEADLINE_PASSED")
	next := must[*lockkeeper.Lock](t)(client.Lock(ctx, "a", kept))
	if next.FencingToken() <= used.FencingToken() {
		t.Errorf("tokens %d, %d", used.FencingToken(), next.FencingToken())
	}
	unlock(ctx, t, next)
}

func TestClientKeepsAThousandLocksUnused(t *testing.T) {
	server := lockkeepertest.NewServer(t)
	ctx, client := limited(t), newClient(t, server.Address())
	held := make([]*lockkeeper.Lock, 1_001)
	for i := range held {
		held[i] = must[*lockkeeper.Lock](t)(client.Lock(ctx, strconv.Itoa(i), kept))
	}
	for _, lock := range held {
		unlock(ctx, t, lock)
	}
	if heard := server.Requests(); heard != 1_002 {
		t.Errorf("the server has heard %d requests", heard)
	}
	unlock(ctx, t, must[*lockkeeper.Lock](t)(client.Lock(ctx, "0", kept)))
	if heard := server.Requests(); heard != 1_002 {
		t.Errorf("the first is not kept: %d requests", heard)
	}
	if info := must[lockkeeper.Info](t)(client.GetLock(ctx, "1000")); len(info.Holders) != 0 {
		t.Errorf("%+v", info)
	}
}

func TestLeaseThatEndsTakesWhatIsKeptAndThoseWhoWaitForIt(t *testing.T) {
	server := lockkeepertest.NewServer(t)
	ctx, client := limited(t), newClient(t, server.Address())
	unused := must[*lockkeeper.Lock](t)(client.Lock(ctx, "a", kept))
	unlock(ctx, t, unused)
	used := must[*lockkeeper.Lock](t)(client.Lock(ctx, "b", kept))
	waiting := queued(ctx, t, client, []lockkeeper.Spec{lockkeeper.Exclusive("b")}, kept)
	server.ExpireLeases()
	var lease *lockkeeper.LeaseLostError
	if got := <-waiting; !errors.As(got.err, &lease) || lease.Lock != "b" {
		t.Errorf("%v", got.err)
	}
	mustBeLost(t, used, "EXPIRED")
	again := must[*lockkeeper.Lock](t)(client.Lock(ctx, "a", kept))
	if again.FencingToken() <= unused.FencingToken() {
		t.Errorf("tokens %d, %d", unused.FencingToken(), again.FencingToken())
	}
	unlock(ctx, t, again)
}

func TestKeptLockIsNotGrantedAfterTheDeadline(t *testing.T) {
	server := lockkeepertest.NewServer(t)
	ctx, client := limited(t), newClient(t, server.Address(), lockkeeper.TTL(2*time.Second))
	unused := must[*lockkeeper.Lock](t)(client.Lock(ctx, "a", kept))
	unlock(ctx, t, unused)
	used := must[*lockkeeper.Lock](t)(client.Lock(ctx, "b", kept))
	server.Freeze()
	for used.Valid() { // by the clock, whatever timers do
	}
	server.Thaw()
	again := must[*lockkeeper.Lock](t)(client.Lock(ctx, "a", kept))
	if again.FencingToken() <= unused.FencingToken() {
		t.Errorf("tokens %d, %d", unused.FencingToken(), again.FencingToken())
	}
	mustBeLost(t, used, "DEADLINE_PASSED")
	unlock(ctx, t, again)
}

func TestClosingTheClientGivesBackWhatIsKeptAndEndsThoseWhoWaitForIt(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		ctx, name := limited(t), lockOf(t)
		client, other := newClient(t, address), newClient(t, address)
		unlock(ctx, t, must[*lockkeeper.Lock](t)(client.Lock(ctx, name+"-unused", kept)))
		used := must[*lockkeeper.Lock](t)(client.Lock(ctx, name, kept))
		waiting := queued(ctx, t, client, []lockkeeper.Spec{lockkeeper.Exclusive(name)}, kept)
		client.Close()
		if got := <-waiting; !errors.Is(got.err, lockkeeper.ErrClosed) {
			t.Errorf("%v", got.err)
		}
		mustBeLost(t, used, "LEASE_CLOSED")
		for _, free := range []string{name, name + "-unused"} {
			unlock(ctx, t, must[*lockkeeper.Lock](t)(other.Lock(ctx, free)))
		}
	})
}

func TestTimeToKeepThatIsOutOfRangeOrBesidesALongestHoldIsRefused(t *testing.T) {
	client := newClient(t, "localhost")
	for _, options := range [][]lockkeeper.Option{
		{lockkeeper.KeepUnused(0)}, {lockkeeper.KeepUnused(99 * time.Millisecond)}, {lockkeeper.KeepUnused(time.Hour + 1)}, {lockkeeper.KeepUnused(-1)},
		{kept, lockkeeper.MaxHold(time.Minute)},
	} {
		_, err := client.Lock(t.Context(), "a", options...)
		if err == nil || !strings.Contains(err.Error(), "keep unused") {
			t.Errorf("%v", err)
		}
		if len(options) == 2 && !strings.Contains(err.Error(), "max hold") {
			t.Errorf("%v", err)
		}
	}
	if _, err := client.Election("a").Campaign(t.Context(), "me", kept); err == nil || !strings.Contains(err.Error(), "election") {
		t.Errorf("%v", err)
	}
}
