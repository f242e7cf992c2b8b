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
	count, server := &counting{}, lockkeepertest.NewServer(t)
	ctx, client := limited(t), newClient(t, server.Address(), lockkeeper.Observe(count))
	for range 3 {
		unlock(ctx, t, must[*lockkeeper.Lock](t)(client.Lock(ctx, "a", kept)))
	}
	told := make(chan string, 1)
	must[*lockkeeper.Lock](t)(client.Lock(ctx, "a", kept, lockkeeper.Listen(lockkeeper.Listener{Lost: func(reason string) { told <- reason }})))
	server.Lose("a")
	<-told
	if acquired, released, lost := count.acquired.Load(), count.released.Load(), count.lost.Load(); acquired != 4 || released != 3 || lost != 1 {
		t.Errorf("%d acquired, %d released, %d lost", acquired, released, lost)
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
	must[*lockkeeper.Lock](t)(client.Lock(ctx, "c"))
	waiting := map[string]<-chan outcome{
		"b": queued(ctx, t, client, []lockkeeper.Spec{lockkeeper.Exclusive("b")}, kept),
		"c": queued(ctx, t, client, []lockkeeper.Spec{lockkeeper.Exclusive("c")}),
	}
	server.ExpireLeases()
	for name, outcomes := range waiting {
		var lease *lockkeeper.LeaseLostError
		if got := <-outcomes; !errors.As(got.err, &lease) || lease.Lock != name {
			t.Errorf("%v", got.err)
		}
	}
	mustBeLost(t, used, "EXPIRED")
	again := must[*lockkeeper.Lock](t)(client.Lock(ctx, "a", kept))
	if again.FencingToken() <= unused.FencingToken() {
		t.Errorf("tokens %d, %d", unused.FencingToken(), again.FencingToken())
	}
	unlock(ctx, t, again)
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
