package lockkeeper_test

import (
	"fmt"
	"strings"
	"testing"

	"lockkeeper.io/lockkeeper"
	"lockkeeper.io/lockkeeper/lockkeepertest"
)

func TestHolderIsToldOnceThatSomebodyWaits(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		ctx, name := limited(t), lockOf(t)
		one, other := newClient(t, address), newClient(t, address)
		exclusive := []lockkeeper.Spec{lockkeeper.Exclusive(name)}
		told := make(chan string, 10)
		notify := func(who string) []lockkeeper.Option {
			listener := lockkeeper.Listener{Contended: func(contended lockkeeper.Contended) {
				told <- fmt.Sprintf("%s: %d for %s %s", who, contended.Waiters, contended.Name, contended.Frozen)
			}}
			return []lockkeeper.Option{lockkeeper.NotifyContention(), lockkeeper.Listen(listener)}
		}
		first := must[*lockkeeper.Lock](t)(one.Lock(ctx, name, notify("first")...))
		if waiters := first.Grants()[0].Waiters; waiters != 0 {
			t.Errorf("%d wait", waiters)
		}
		second := make(chan outcome, 1)
		go func() {
			lock, err := other.Lock(ctx, name, notify("second")...)
			second <- outcome{lock, err}
		}()
		if said := <-told; strings.TrimSpace(said) != "first: 1 for "+name {
			t.Error(said)
		}
		third := queued(ctx, t, one, exclusive)
		unlock(ctx, t, first)
		next := granted(t, second)
		if waiters := next.Grants()[0].Waiters; waiters != 1 {
			t.Errorf("%d wait", waiters)
		}
		if said := <-told; strings.TrimSpace(said) != "second: 1 for "+name {
			t.Error(said)
		}
		unlock(ctx, t, next)
		unlock(ctx, t, granted(t, third))
		if len(told) > 0 {
			t.Errorf("told again: %s", <-told)
		}
	})
}

func TestHolderIsNotToldAgainAfterABrokenStream(t *testing.T) {
	server := lockkeepertest.NewServer(t)
	ctx, client, other := limited(t), newClient(t, server.Address()), newClient(t, server.Address())
	told := make(chan lockkeeper.Contended, 10)
	lock := must[*lockkeeper.Lock](t)(client.Lock(ctx, "a", lockkeeper.NotifyContention(), lockkeeper.Listen(lockkeeper.Listener{
		Contended: func(contended lockkeeper.Contended) { told <- contended },
	})))
	waiting := queued(ctx, t, other, []lockkeeper.Spec{lockkeeper.Exclusive("a")})
	<-told
	server.Disconnect()
	unlock(ctx, t, must[*lockkeeper.Lock](t)(client.Lock(ctx, "b"))) // over the next stream
	unlock(ctx, t, lock)
	unlock(ctx, t, granted(t, waiting))
	if len(told) > 0 {
		t.Errorf("told again: %+v", <-told)
	}
}
