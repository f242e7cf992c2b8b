// Owners that ask for kept locks by several requests at the same time.

package lockkeeper_test

import (
	"testing"

	"lockkeeper.io/lockkeeper"
	"lockkeeper.io/lockkeeper/lockkeepertest"
)

var owned = lockkeeper.Owner("task")

func TestRequestsThatAnOwnerMakesTogetherAreGrantedTogether(t *testing.T) {
	for name, specs := range map[string][]lockkeeper.Spec{
		"exclusive": exclusiveA,
		"several":   {lockkeeper.Read("b"), lockkeeper.Write("a")},
		"read":      {lockkeeper.Read("a")}, // each of which asks a server
	} {
		t.Run(name, func(t *testing.T) {
			server := lockkeepertest.NewServer(t)
			ctx, client, other := limited(t), newClient(t, server.Address()), newClient(t, server.Address())
			held := must[*lockkeeper.Lock](t)(other.Lock(ctx, "a"))
			outer := queued(ctx, t, client, specs, kept, owned)
			another := queued(ctx, t, client, exclusiveA, kept)
			inner := queued(ctx, t, client, specs, kept, owned)
			unlock(ctx, t, held)
			levels := []*lockkeeper.Lock{granted(t, outer), granted(t, inner)}
			mustWait(t, another)
			one, two := levels[0].Grants()[0], levels[1].Grants()[0]
			if one.FencingToken != two.FencingToken || one.HoldCount+two.HoldCount != 3 {
				t.Errorf("%+v, %+v", one, two)
			}
			unlock(ctx, t, levels[0])
			if !levels[1].Valid() {
				t.Error("the other level has ended, too")
			}
			unlock(ctx, t, levels[1])
			unlock(ctx, t, granted(t, another))
		})
	}
}

func TestRequestOfAnOwnerThatAsksAServerIsGrantedWithTheOneThatHasItsTurn(t *testing.T) {
	server := lockkeepertest.NewServer(t)
	ctx, client, other := limited(t), newClient(t, server.Address(), lockkeeper.LongTurns), newClient(t, server.Address())
	told := make(chan struct{}, 1)
	listen := lockkeeper.Listen(lockkeeper.Listener{Contended: func(lockkeeper.Contended) { told <- struct{}{} }})
	used := must[*lockkeeper.Lock](t)(client.Lock(ctx, "a", kept, listen, lockkeeper.NotifyContention()))
	outer := queued(ctx, t, client, exclusiveA, kept, owned)
	theirs := queued(ctx, t, other, exclusiveA)
	<-told
	inner := queued(ctx, t, client, exclusiveA, kept, owned)
	mustQueue(ctx, t, other, "a", 2)
	unlock(ctx, t, used)
	one, two := granted(t, outer), granted(t, inner)
	if one.FencingToken() != used.FencingToken() || one.FencingToken() != two.FencingToken() {
		t.Errorf("%+v, %+v", one.Grants(), two.Grants())
	}
	unlock(ctx, t, one)
	unlock(ctx, t, two)
	unlock(ctx, t, granted(t, theirs))
}

func TestWhatAnOwnerWaitsForWhenItIsGrantedAnythingThatExcludesItIsRefused(t *testing.T) {
	mixed := []lockkeeper.Spec{lockkeeper.Exclusive("a"), lockkeeper.Permits("p", 1, 3)}
	custom := []lockkeeper.Spec{lockkeeper.Exclusive("a"), lockkeeper.Custom("c", "SEMI")}
	for name, each := range map[string]struct {
		first, second []lockkeeper.Spec
		one, other    []lockkeeper.Option
	}{
		"permits of its own":    {mixed, mixed, []lockkeeper.Option{kept}, []lockkeeper.Option{kept}},
		"custom modes":          {custom, custom, []lockkeeper.Option{kept}, []lockkeeper.Option{kept}},
		"both kept":             {exclusiveA, []lockkeeper.Spec{lockkeeper.Write("a")}, []lockkeeper.Option{kept}, []lockkeeper.Option{kept}},
		"the first one is kept": {exclusiveA, exclusiveA, []lockkeeper.Option{kept}, nil},
		"the second is kept":    {exclusiveA, exclusiveA, nil, []lockkeeper.Option{kept}},
	} {
		t.Run(name, func(t *testing.T) {
			server := lockkeepertest.NewServer(t)
			ctx, client, other := limited(t), newClient(t, server.Address()), newClient(t, server.Address())
			held := must[*lockkeeper.Lock](t)(other.Lock(ctx, "a"))
			first := queued(ctx, t, client, each.first, append([]lockkeeper.Option{owned}, each.one...)...)
			second := queued(ctx, t, client, each.second, append([]lockkeeper.Option{owned}, each.other...)...)
			unlock(ctx, t, held)
			lock := granted(t, first)
			notAcquired(t, (<-second).err, "WOULD_DEADLOCK")
			_, err := client.Acquire(ctx, each.second, append([]lockkeeper.Option{owned}, each.other...)...)
			notAcquired(t, err, "WOULD_DEADLOCK")
			unlock(ctx, t, lock)
			unlock(ctx, t, must[*lockkeeper.Lock](t)(other.Lock(ctx, "a")))
		})
	}
}

func TestEachRequestOfAnOwnerTakesPermitsAndCustomModesOfItsOwn(t *testing.T) {
	for name, spec := range map[string]lockkeeper.Spec{"permits": lockkeeper.Permits("a", 1, 1), "custom": lockkeeper.Custom("a", "SEMI")} {
		t.Run(name, func(t *testing.T) {
			server := lockkeepertest.NewServer(t)
			ctx, client := limited(t), newClient(t, server.Address())
			used := must[*lockkeeper.Lock](t)(client.Acquire(ctx, []lockkeeper.Spec{spec}, kept, owned))
			_, err := client.Acquire(ctx, []lockkeeper.Spec{spec}, kept, owned, lockkeeper.Wait(0))
			notAcquired(t, err, "TIMED_OUT") // by the server, which takes it for somebody else
			if heard := server.Requests(); heard != 2 {
				t.Errorf("the server has heard %d requests", heard)
			}
			unlock(ctx, t, used)
		})
	}
}
