package lockkeeper_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"lockkeeper.io/lockkeeper"
	"lockkeeper.io/lockkeeper/lockkeepertest"

	pb "lockkeeper.io/gen/lockkeeper/v1"
)

// newShards starts shards a, which serves orders and which clients are given, and b, which serves billing.
func newShards(t *testing.T) (*lockkeepertest.Shards, *lockkeepertest.Server, *lockkeepertest.Server) {
	t.Helper()
	shards := lockkeepertest.NewShards(t, "a", "b")
	if shards.ShardOf("orders") != "a" || shards.ShardOf("billing") != "b" {
		t.Fatal("they are hashed otherwise")
	}
	return shards, shards.Of("a"), shards.Of("b")
}

// await waits until something is so.
func await(ctx context.Context, t *testing.T, what string, isSo func() bool) {
	t.Helper()
	for !isSo() {
		select {
		case <-ctx.Done():
			t.Fatalf("not in time: %s", what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func refusedFor(t *testing.T, err error, reason string) *lockkeeper.RefusedError {
	t.Helper()
	var refused *lockkeeper.RefusedError
	if !errors.As(err, &refused) || refused.Reason != reason {
		t.Fatalf("%v", err)
	}
	return refused
}

// lagging has shard b go by a table that is older than that of a, and gives billing to a. What is asked of it is refused for as long.
func lagging(shards *lockkeepertest.Shards) (catchUp func()) {
	older, newer := shards.Table(), shards.Table()
	older.Namespaces = []*pb.PlacedNamespace{{Namespace: "billing", Shard: "a"}}
	newer.Namespaces = []*pb.PlacedNamespace{{Namespace: "billing", Shard: "b"}}
	newer.Version++
	shards.Of("b").SetTable("b", older)
	shards.Of("a").SetTable("a", newer)
	return func() { shards.Of("b").SetTable("b", newer) }
}

func TestWhereThereIsOneShardNobodyAsksForATable(t *testing.T) {
	server := lockkeepertest.NewServer(t)
	ctx, client := limited(t), newClient(t, server.Address())
	unlock(ctx, t, must[*lockkeeper.Lock](t)(client.Lock(ctx, "orders/1")))
	must[lockkeeper.Info](t)(client.GetLock(ctx, "billing/1"))
	both := []lockkeeper.Spec{lockkeeper.Exclusive("orders/1"), lockkeeper.Exclusive("billing/1")}
	unlock(ctx, t, must[*lockkeeper.Lock](t)(client.Acquire(ctx, both)))
	if server.TableRequests() != 0 || server.Requests() != 4 {
		t.Errorf("%d requests for the table, %d requests", server.TableRequests(), server.Requests())
	}
}

func TestRequestFollowsToTheRightShardAndTheNextOneGoesThereAtOnce(t *testing.T) {
	shards, a, b := newShards(t)
	ctx, client := limited(t), newClient(t, shards.Address())
	first := must[*lockkeeper.Lock](t)(client.Lock(ctx, "billing/1"))
	if asked, tables := a.Requests(), a.TableRequests(); asked != 1 || tables != 1 || b.Requests() != 1 {
		t.Errorf("%d requests and %d for the table, %d at the other", asked, tables, b.Requests())
	}
	second := must[*lockkeeper.Lock](t)(client.Lock(ctx, "billing/2", lockkeeper.Wait(0)))
	own := must[*lockkeeper.Lock](t)(client.Lock(ctx, "orders/1"))
	if a.Requests() != 2 || b.Requests() != 2 || a.TableRequests()+b.TableRequests() != 1 || a.Leases() != 1 || b.Leases() != 1 {
		t.Errorf("%d and %d requests, %d and %d leases", a.Requests(), b.Requests(), a.Leases(), b.Leases())
	}
	for _, lock := range []*lockkeeper.Lock{first, second, own} {
		if err := lock.UpdateMetadata(ctx, map[string]string{"step": "2"}); err != nil || !lock.Valid() {
			t.Error(err)
		}
		unlock(ctx, t, lock)
	}
}

func TestManyRequestsShareOneLeaseAShardAndOneTableRequest(t *testing.T) {
	shards, a, b := newShards(t)
	ctx, client := limited(t), newClient(t, shards.Address())
	var outcomes []chan outcome
	for i := range 40 {
		got := make(chan outcome, 1)
		name := []string{"billing/", "orders/"}[i%2] + string(rune('a'+i/2))
		go func() {
			lock, err := client.Lock(ctx, name)
			got <- outcome{lock, err}
		}()
		outcomes = append(outcomes, got)
	}
	for _, each := range outcomes {
		unlock(ctx, t, granted(t, each))
	}
	if a.Leases() != 1 || b.Leases() != 1 || b.TableRequests() != 0 || a.TableRequests() != 1 {
		t.Errorf("%d and %d leases, %d and %d table requests", a.Leases(), b.Leases(), a.TableRequests(), b.TableRequests())
	}
	client.Close()
	await(ctx, t, "both leases are closed", func() bool { return a.Leases()+b.Leases() == 0 })
}

func TestShardThatIsComeBackToIsTheOneThatTheClientWasGiven(t *testing.T) {
	shards, a, b := newShards(t)
	ctx, client := limited(t), newClient(t, shards.Address())
	unlock(ctx, t, must[*lockkeeper.Lock](t)(client.Lock(ctx, "billing/1")))
	shards.Place("billing", "a")
	unlock(ctx, t, must[*lockkeeper.Lock](t)(client.Lock(ctx, "billing/1"))) // the second shard tells of the first
	if a.Leases() != 1 || b.Leases() != 1 || b.TableRequests() != 1 {
		t.Errorf("%d and %d leases", a.Leases(), b.Leases())
	}
}

func TestLeaseThatIsLostAtOneShardLeavesTheLocksOfTheOther(t *testing.T) {
	shards, _, b := newShards(t)
	ctx, client := limited(t), newClient(t, shards.Address())
	here := must[*lockkeeper.Lock](t)(client.Lock(ctx, "orders/1"))
	there := must[*lockkeeper.Lock](t)(client.Lock(ctx, "billing/1"))
	b.ExpireLeases()
	mustBeLost(t, there, "EXPIRED")
	if !here.Valid() {
		t.Error(here.Err())
	}
	unlock(ctx, t, must[*lockkeeper.Lock](t)(client.Lock(ctx, "billing/1")))
	unlock(ctx, t, here)
}

func TestLocksOfSeveralShardsAreRefused(t *testing.T) {
	shards, a, b := newShards(t)
	ctx, client := limited(t), newClient(t, shards.Address())
	both := []lockkeeper.Spec{lockkeeper.Exclusive("orders/1"), lockkeeper.Exclusive("billing/1")}
	_, err := client.Acquire(ctx, both)
	refusedFor(t, err, "ACROSS_SHARDS") // by the server
	unlock(ctx, t, must[*lockkeeper.Lock](t)(client.Lock(ctx, "billing/1")))
	before := a.Requests() + b.Requests()
	_, err = client.Acquire(ctx, both)
	refused := refusedFor(t, err, "ACROSS_SHARDS")
	if refused.Code != codes.FailedPrecondition || !strings.Contains(refused.Message, "orders/1") || !strings.Contains(refused.Message, "billing/1") {
		t.Errorf("%+v", refused)
	}
	if asked := a.Requests() + b.Requests(); asked != before {
		t.Errorf("%d requests more", asked-before)
	}
	for _, err := range client.Watch(ctx, "orders/1", "billing/1") {
		refusedFor(t, err, "ACROSS_SHARDS")
	}
	two := []lockkeeper.Spec{lockkeeper.Exclusive("billing/1"), lockkeeper.Exclusive("billing/2")}
	unlock(ctx, t, must[*lockkeeper.Lock](t)(client.Acquire(ctx, two)))
}

func TestWithoutATableWrongShardSaysWhoServesTheNamespace(t *testing.T) {
	shards, a, b := newShards(t)
	a.HideTable()
	ctx, client := limited(t), newClient(t, shards.Address(), lockkeeper.RequestTimeout(3*time.Second))
	unlock(ctx, t, must[*lockkeeper.Lock](t)(client.Lock(ctx, "billing/1")))
	asked := a.Requests()
	unlock(ctx, t, must[*lockkeeper.Lock](t)(client.Lock(ctx, "billing/1")))
	if a.Requests() != asked || b.Requests() != 4 {
		t.Errorf("%d requests more, %d", a.Requests()-asked, b.Requests())
	}
	unlock(ctx, t, must[*lockkeeper.Lock](t)(client.Lock(ctx, "orders/1")))
}

func TestLargestTableIsTaken(t *testing.T) {
	shards, a, b := newShards(t)
	largest := shards.Table()
	for i := range 10_000 {
		name := fmt.Sprintf("%05d-%s", i, strings.Repeat("x", 420))
		largest.Namespaces = append(largest.Namespaces, &pb.PlacedNamespace{Namespace: name, Shard: "b"})
	}
	largest.Namespaces = largest.Namespaces[:10_000]
	a.SetTable("a", largest)
	ctx, client := limited(t), newClient(t, shards.Address())
	unlock(ctx, t, must[*lockkeeper.Lock](t)(client.Lock(ctx, "billing/1")))
	unlock(ctx, t, must[*lockkeeper.Lock](t)(client.Lock(ctx, largest.Namespaces[0].GetNamespace()+"/1")))
	if a.Requests() != 1 || b.Requests() != 4 { // without the table, the second would have asked there, too
		t.Errorf("%d and %d requests", a.Requests(), b.Requests())
	}
}

func TestOwnerIsGrantedWhatItHoldsOnceMoreWhileItsNamespaceMoves(t *testing.T) {
	shards, _, b := newShards(t)
	ctx, client := limited(t), newClient(t, shards.Address())
	owner := lockkeeper.Owner("o")
	outer := must[*lockkeeper.Lock](t)(client.Lock(ctx, "billing/1", owner))
	shards.Move("billing", "a")
	_, err := client.Lock(ctx, "billing/2", owner, lockkeeper.Wait(100*time.Millisecond)) // by now it is known that it moves
	notAcquired(t, err, "TIMED_OUT")
	inner := must[*lockkeeper.Lock](t)(client.Lock(ctx, "billing/1", owner))
	if count := inner.Grants()[0].HoldCount; count != 2 || b.Leases() != 1 {
		t.Errorf("%d levels, %d leases", count, b.Leases())
	}
	unlock(ctx, t, inner)
	unlock(ctx, t, outer)
}

func TestWaitLimitRunsWhileARequestIsBetweenTwoShards(t *testing.T) {
	shards, a, b := newShards(t)
	a.HideTable()
	ctx, client := limited(t), newClient(t, shards.Address()) // would ask for the table for 15 s
	_, err := client.Lock(ctx, "billing/1", lockkeeper.Wait(200*time.Millisecond))
	notAcquired(t, err, "TIMED_OUT")
	if b.Requests() != 0 {
		t.Error("it has gone on")
	}
}

func TestTryFollowsAndEndsWhereNobodyServesTheNamespace(t *testing.T) {
	shards, _, b := newShards(t)
	ctx, client := limited(t), newClient(t, shards.Address())
	try := func(name string, wants bool) {
		t.Helper()
		lock, free, err := client.TryLock(ctx, name)
		if err != nil || free != wants {
			t.Fatalf("%v, %v", free, err)
		}
		if free {
			unlock(ctx, t, lock)
		}
	}
	try("billing/1", true)
	shards.Move("billing", "a")
	try("billing/1", false)
	shards.Place("billing", "a")
	try("billing/1", true)
	shards.Place("billing", "b")
	catchUp := lagging(shards)
	try("billing/1", false)
	before := b.Requests()
	_, err := client.Lock(ctx, "billing/1", lockkeeper.Wait(100*time.Millisecond)) // the pause is longer
	notAcquired(t, err, "TIMED_OUT")
	if asked := b.Requests() - before; asked != 1 {
		t.Errorf("%d requests", asked)
	}
	catchUp()
	try("billing/1", true)
}

func TestRequestWaitsUntilTheShardThatTheTableNamesKnowsIt(t *testing.T) {
	shards, _, b := newShards(t)
	ctx, client := limited(t), newClient(t, shards.Address())
	catchUp := lagging(shards)
	outcomes := errorOf(ctx, client, "billing/1")
	await(ctx, t, "b has refused it twice", func() bool { return b.Requests() >= 2 })
	catchUp()
	if err := <-outcomes; err != nil {
		t.Error(err)
	}
}

func TestRequestIsAskedAgainWhileItsNamespaceMoves(t *testing.T) {
	shards, a, b := newShards(t)
	ctx, client := limited(t), newClient(t, shards.Address())
	shards.Move("billing", "a")
	outcomes := errorOf(ctx, client, "billing/1")
	await(ctx, t, "it was refused some times", func() bool { return a.Requests()+b.Requests() > 3 })
	_, err := client.Lock(ctx, "billing/2", lockkeeper.Wait(200*time.Millisecond))
	notAcquired(t, err, "TIMED_OUT")
	shards.Place("billing", "a")
	if err := <-outcomes; err != nil {
		t.Error(err)
	}
	if holders := must[lockkeeper.Info](t)(newClient(t, a.Address()).GetLock(ctx, "billing/1")).Holders; len(holders) != 1 {
		t.Errorf("%v", holders)
	}
}

func TestWhoWaitsWhenItsNamespaceMovesIsGrantedAtItsNewShard(t *testing.T) {
	shards, a, b := newShards(t)
	ctx, client, other := limited(t), newClient(t, shards.Address()), newClient(t, shards.Address())
	held := must[*lockkeeper.Lock](t)(other.Lock(ctx, "billing/1"))
	waiting := queued(ctx, t, client, []lockkeeper.Spec{lockkeeper.Exclusive("billing/1")})
	brief := make(chan error, 1)
	queuedBriefly := queued(ctx, t, client, []lockkeeper.Spec{lockkeeper.Exclusive("billing/1")}, lockkeeper.Wait(2*time.Second))
	go func() { brief <- (<-queuedBriefly).err }()
	shards.Move("billing", "a")
	notAcquired(t, <-brief, "TIMED_OUT")
	if !held.Valid() {
		t.Error(held.Err())
	}
	unlock(ctx, t, held)
	shards.Place("billing", "a")
	lock := granted(t, waiting)
	if !lock.Valid() || a.Leases() != 2 || b.Leases() != 2 {
		t.Errorf("%v, %d and %d leases", lock.Err(), a.Leases(), b.Leases())
	}
	unlock(ctx, t, lock)
}

func TestRequestBetweenTwoShardsEndsWithItsContextAndItsClient(t *testing.T) {
	for name, bringBetween := range map[string]func(shards *lockkeepertest.Shards) func() bool{
		"no table": func(shards *lockkeepertest.Shards) func() bool {
			shards.Of("a").HideTable()
			return func() bool { return shards.Of("a").TableRequests() > 0 }
		},
		"pause": func(shards *lockkeepertest.Shards) func() bool {
			lagging(shards)
			return func() bool { return shards.Of("b").TableRequests() > 0 }
		},
		"moving": func(shards *lockkeepertest.Shards) func() bool {
			shards.Move("billing", "a")
			return func() bool { return shards.Of("a").Requests() > 3 }
		},
	} {
		t.Run(name, func(t *testing.T) {
			before := goroutinesOfClients()
			shards, a, b := newShards(t)
			ctx, client := limited(t), newClient(t, shards.Address())
			isBetween := bringBetween(shards)
			cancelled, cancel := context.WithCancelCause(ctx)
			withdrawn, closed := errorOf(cancelled, client, "billing/1"), errorOf(ctx, client, "billing/2")
			await(ctx, t, "it is between the shards", isBetween)
			why := errors.New("no more need")
			cancel(why)
			if err := <-withdrawn; !errors.Is(err, why) {
				t.Errorf("%v", err)
			}
			client.Close()
			if err := <-closed; !errors.Is(err, lockkeeper.ErrClosed) {
				t.Errorf("%v", err)
			}
			await(ctx, t, "nothing runs", func() bool { return goroutinesOfClients() <= before })
			await(ctx, t, "no lease is left", func() bool { return a.Leases()+b.Leases() == 0 })
		})
	}
}

func TestLockIsKeptAtASecondShardUntilOthersWantIt(t *testing.T) {
	shards, a, b := newShards(t)
	ctx, client, other := limited(t), newClient(t, shards.Address()), newClient(t, shards.Address())
	first := must[*lockkeeper.Lock](t)(client.Lock(ctx, "billing/1", kept))
	unlock(ctx, t, first)
	asked := a.Requests() + b.Requests()
	for range 3 {
		again := must[*lockkeeper.Lock](t)(client.Lock(ctx, "billing/1", kept))
		if again.FencingToken() != first.FencingToken() {
			t.Errorf("%v", again.Grants())
		}
		unlock(ctx, t, again)
	}
	if a.Requests()+b.Requests() != asked {
		t.Error("a server was asked")
	}
	next := must[*lockkeeper.Lock](t)(other.Lock(ctx, "billing/1"))
	if next.FencingToken() <= first.FencingToken() {
		t.Errorf("%v", next.Grants())
	}
	unlock(ctx, t, next)
}

func TestRequestsThatWaitInTheClientForAKeptLockFollowTogether(t *testing.T) {
	shards, a, b := newShards(t)
	shards.Place("billing", "a")
	ctx, client := limited(t), newClient(t, shards.Address())
	held := must[*lockkeeper.Lock](t)(client.Lock(ctx, "billing/1", kept))
	outcomes := make(chan outcome)
	for range 4 {
		waiting := queued(ctx, t, client, []lockkeeper.Spec{lockkeeper.Exclusive("billing/1")}, kept)
		go func() {
			got := <-waiting
			outcomes <- got
			if got.err == nil {
				got.lock.Unlock(ctx)
			}
		}()
	}
	shards.Place("billing", "b")
	a.RequestReleaseOf("billing/1", "a move", "")
	var tokens []int64
	for range 4 { // a second later, since it is not released
		tokens = append(tokens, granted(t, outcomes).FencingToken())
	}
	if len(slices.Compact(tokens)) != 1 || b.Requests() != 1 || a.Requests() != 2 || a.TableRequests() != 1 {
		t.Errorf("tokens %v, %d requests, %d at the other", tokens, b.Requests(), a.Requests())
	}
	unlock(ctx, t, held)
}

func TestReadsFollow(t *testing.T) {
	shards, a, b := newShards(t)
	ctx, client := limited(t), newClient(t, shards.Address(), lockkeeper.RequestTimeout(5*time.Second))
	lock := must[*lockkeeper.Lock](t)(newClient(t, b.Address()).Lock(ctx, "billing/1"))
	for range 2 {
		if info := must[lockkeeper.Info](t)(client.GetLock(ctx, "billing/1")); len(info.Holders) != 1 {
			t.Errorf("%+v", info)
		}
	}
	if a.TableRequests() != 1 {
		t.Errorf("%d requests for the table", a.TableRequests())
	}
	count := func(prefix string) int {
		count := 0
		for _, err := range client.Locks(ctx, prefix) {
			if err != nil {
				t.Error(err)
			}
			count++
		}
		return count
	}
	if below, all := count("billing/"), count("bill"); below != 1 || all != 0 { // the latter is of the shard that was given
		t.Errorf("%d, %d", below, all)
	}
	unlock(ctx, t, lock)
	shards.Place("billing", "a")
	if info := must[lockkeeper.Info](t)(client.GetLock(ctx, "billing/1")); len(info.Holders) != 0 {
		t.Errorf("%+v", info)
	}
	shards.Move("billing", "b")
	brief := newClient(t, shards.Address(), lockkeeper.RequestTimeout(300*time.Millisecond))
	var unavailable *lockkeeper.UnavailableError
	if _, err := brief.GetLock(ctx, "billing/1"); !errors.As(err, &unavailable) {
		t.Errorf("%v", err)
	}
	shards.Place("billing", "b")
	lagging(shards)
	if _, err := brief.GetLock(ctx, "billing/1"); !errors.As(err, &unavailable) {
		t.Errorf("%v", err)
	}
}
