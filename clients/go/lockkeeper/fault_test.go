package lockkeeper_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"lockkeeper.io/lockkeeper"
	"lockkeeper.io/lockkeeper/lockkeepertest"
)

func TestPanicOfWorkReleasesItsLock(t *testing.T) {
	client := newClient(t, lockkeepertest.NewServer(t).Address())
	ctx, name := limited(t), lockOf(t)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_ = client.Do(ctx, name, func(context.Context, *lockkeeper.Lock) error { panic("work fails") })
	}()
	lock, err := client.Lock(ctx, name, lockkeeper.Wait(0))
	if err != nil {
		t.Fatal(err)
	}
	unlock(ctx, t, lock)
}

func TestTryThatNoServerHearsIsNoTakenLock(t *testing.T) {
	client := newClient(t, "127.0.0.1:1", lockkeeper.RequestTimeout(time.Second))
	ctx := limited(t)
	_, _, err := client.TryLock(ctx, lockOf(t))
	var unavailable *lockkeeper.UnavailableError
	if !errors.As(err, &unavailable) || !strings.Contains(err.Error(), "127.0.0.1:1: ") || !strings.Contains(err.Error(), "refused") {
		t.Errorf("said %v", err)
	}
	if _, err := client.GetLock(ctx, "a"); !errors.As(err, &unavailable) {
		t.Errorf("said %v", err)
	}
}

func TestOptionThatIsNilSaysNothing(t *testing.T) {
	client := newClient(t, lockkeepertest.NewServer(t).Address(), nil)
	ctx := limited(t)
	lock, err := client.Lock(ctx, lockOf(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	unlock(ctx, t, lock)
}

type panicking struct{ lockkeeper.NoObserver }

func (panicking) Acquiring(context.Context, []string) lockkeeper.Observation { panic("observer fails") }

func (panicking) StreamOpened(string, bool) { panic("observer fails") }

func TestObserverThatPanicsHarmsNothing(t *testing.T) {
	client := newClient(t, lockkeepertest.NewServer(t).Address(), lockkeeper.Observe(panicking{}))
	ctx := limited(t)
	lock, err := client.Lock(ctx, lockOf(t))
	if err != nil {
		t.Fatal(err)
	}
	unlock(ctx, t, lock)
}

func TestTokenFunctionThatNeverReturnsDoesNotKeepTheClientFromClosing(t *testing.T) {
	never := make(chan struct{})
	defer close(never)
	asked := make(chan struct{}, 16)
	token := func(context.Context) (string, error) {
		asked <- struct{}{}
		<-never
		return "", errors.New("no token")
	}
	client := newClient(t, lockkeepertest.NewServer(t).Address(), lockkeeper.BearerToken(token))
	ctx, cancel := context.WithCancel(limited(t))
	defer cancel()
	outcomes := errorOf(ctx, client, lockOf(t))
	<-asked
	client.Close()
	if err := <-outcomes; !errors.Is(err, lockkeeper.ErrClosed) {
		t.Errorf("said %v", err)
	}
}

func errorOf(ctx context.Context, client *lockkeeper.Client, name string) <-chan error {
	outcomes := make(chan error, 1)
	go func() {
		_, err := client.Lock(ctx, name)
		outcomes <- err
	}()
	return outcomes
}

func TestListenerThatPanicsHarmsNothing(t *testing.T) {
	server := lockkeepertest.NewServer(t)
	client := newClient(t, server.Address())
	ctx := limited(t)
	for range 2 {
		name := lockOf(t)
		lost := make(chan string, 1)
		_, err := client.Lock(ctx, name, lockkeeper.Listen(lockkeeper.Listener{Lost: func(reason string) {
			lost <- reason
			panic("listener fails")
		}}))
		if err != nil {
			t.Fatal(err)
		}
		server.Lose(name)
		if reason := <-lost; reason != "FORCED" {
			t.Errorf("lost: %s", reason)
		}
	}
}

func TestLevelsAboveALimitedHoldEndWithIt(t *testing.T) {
	server := lockkeepertest.NewServer(t)
	ctx, client := limited(t), newClient(t, server.Address())
	owner := lockkeeper.Owner("o")
	outer := must[*lockkeeper.Lock](t)(client.Lock(ctx, "a", owner, lockkeeper.MaxHold(2*time.Second)))
	inner := must[*lockkeeper.Lock](t)(client.Lock(ctx, "a", owner))
	if left := inner.Remaining(); left > 2*time.Second {
		t.Errorf("%s left", left)
	}
	server.Freeze()
	defer server.Thaw()
	for _, lock := range []*lockkeeper.Lock{outer, inner} {
		mustBeLost(t, lock, "MAX_HOLD")
	}
}

func TestCloseEndsTheContextsOfLocksAtOnce(t *testing.T) {
	server := lockkeepertest.NewServer(t)
	ctx, client := limited(t), newClient(t, server.Address())
	lock := must[*lockkeeper.Lock](t)(client.Lock(ctx, "a"))
	server.Freeze()
	defer server.Thaw()
	closed := make(chan error, 1)
	go func() { closed <- client.Close() }()
	select {
	case <-lock.Context().Done():
	case <-closed:
		t.Error("closed before the lock's context was done")
	}
	<-closed
}

func TestCallThatFailsCutsNoWatchOff(t *testing.T) {
	ctx, client := limited(t), newClient(t, realServer(t))
	name := lockOf(t)
	changes := make(chan lockkeeper.Event, 16)
	watching, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		for event := range client.Watch(watching, name) {
			changes <- event
		}
	}()
	<-changes
	for range 20 {
		gone, cancel := context.WithTimeout(ctx, time.Microsecond)
		_, _ = client.GetLock(gone, name)
		cancel()
	}
	unlock(ctx, t, must[*lockkeeper.Lock](t)(client.Lock(ctx, name)))
	for event := range changes {
		if event.Gap != "" {
			t.Fatal(event.Gap)
		}
		if event.Change != nil && event.Change.Cause == "RELEASED" {
			return
		}
	}
}
