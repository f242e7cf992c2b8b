package lockkeeper

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"lockkeeper.io/lockkeeper/lockkeepertest"

	pb "lockkeeper.io/gen/lockkeeper/v1"
)

func TestWeightIsTheBeginningOfTheHash(t *testing.T) {
	for of, weight := range map[string]uint64{ // printf '%s' a/orders | sha256sum
		"a/orders": 0xebf83eb83f9203e6, "b/orders": 0x84ef9421b677d214, "c/orders": 0x5e02275c2649cc0d, "b/ä": 0xfee6fbfabe2b724d,
		"c/stock": 0xf35d73cb46c42100, "a/stock": 0x75e01d2bb853259f, "b/stock": 0x56d69fd8461c16fe, "b/billing": 0xfe31e2771712af78,
	} {
		id, namespace, _ := strings.Cut(of, "/")
		if got := weightOf(id, namespace); got != weight {
			t.Errorf("%s weighs %x", of, got)
		}
	}
}

func shardMessage(id string, hashed bool) *pb.Shard {
	return &pb.Shard{Id: id, Addresses: []string{"host-" + id + ":7420"}, Hashed: hashed}
}

func TestNamespaceIsOfTheShardThatIsNamedOrElseOfTheHeaviestThatIsHashed(t *testing.T) {
	said, err := newTable(&pb.ShardTable{
		Version: 7, Shards: []*pb.Shard{shardMessage("c", true), shardMessage("a", true), shardMessage("b", true), shardMessage("z", false)},
		Namespaces: []*pb.PlacedNamespace{{Namespace: "billing", Shard: "z"}},
		Moves:      []*pb.NamespaceMove{{Namespace: "billing", To: "a"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // weighed, and remembered
		for namespace, id := range map[string]string{"orders": "a", "stock": "c", "ä": "b", "billing": "z"} {
			if got := said.shardOf(namespace); got != id {
				t.Errorf("%s is of %s", namespace, got)
			}
		}
	}
	for i := range 3 * maxNamespaces {
		said.shardOf(fmt.Sprint(i))
	}
	if len(said.weighed) > maxNamespaces {
		t.Errorf("%d namespaces are remembered", len(said.weighed))
	}
	if none := (&table{weighed: map[string]string{}}).shardOf("orders"); none != "" {
		t.Errorf("of no shards: %q", none)
	}
}

func TestTableThatIsTooLargeOrMalformedIsNotTaken(t *testing.T) {
	many := func(count int) (said []*pb.Shard) {
		for i := range count {
			said = append(said, shardMessage(fmt.Sprint(i), true))
		}
		return said
	}
	largest := &pb.ShardTable{
		Version: 1, Shards: many(maxShards), Namespaces: make([]*pb.PlacedNamespace, maxNamespaces), Moves: make([]*pb.NamespaceMove, maxMoves),
	}
	for i := range largest.Namespaces {
		largest.Namespaces[i] = &pb.PlacedNamespace{Namespace: fmt.Sprint(i), Shard: "1"}
	}
	if _, err := newTable(largest); err != nil {
		t.Errorf("the largest: %v", err)
	}
	for name, said := range map[string]*pb.ShardTable{
		"none":               nil,
		"no version":         {Shards: many(1)},
		"too many shards":    {Version: 1, Shards: many(maxShards + 1)},
		"too many names":     {Version: 1, Shards: many(2), Namespaces: append(largest.Namespaces, largest.Namespaces[0])},
		"too many moves":     {Version: 1, Shards: many(2), Moves: make([]*pb.NamespaceMove, maxMoves+1)},
		"no addresses":       {Version: 1, Shards: []*pb.Shard{{Id: "a"}}},
		"too many addresses": {Version: 1, Shards: []*pb.Shard{{Id: "a", Addresses: make([]string, maxAddresses+1)}}},
		"no address":         {Version: 1, Shards: []*pb.Shard{{Id: "a", Addresses: []string{"http://host"}}}},
		"an id":              {Version: 1, Shards: []*pb.Shard{shardMessage("A", true)}},
		"a long id":          {Version: 1, Shards: []*pb.Shard{shardMessage(strings.Repeat("a", 33), true)}},
		"a shard":            {Version: 1, Shards: many(1), Namespaces: []*pb.PlacedNamespace{{Namespace: "orders", Shard: "b"}}},
	} {
		if _, err := newTable(said); err == nil {
			t.Errorf("%s: it is taken", name)
		}
	}
}

func TestOlderTableIsNotTakenAndANewerOneSaysWhereTheServersAre(t *testing.T) {
	client, err := New("host-a")
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	c := client.core
	c.mu.Lock()
	defer c.mu.Unlock()
	of := func(version int64, id, address string) *table {
		said, err := newTable(&pb.ShardTable{Version: version, Shards: []*pb.Shard{{Id: id, Addresses: []string{address}, Hashed: true}}})
		if err != nil {
			t.Fatal(err)
		}
		return said
	}
	c.note(&pb.WrongShard{Namespace: "orders", Shard: shardMessage("hinted", true), TableVersion: 4})
	c.note(&pb.WrongShard{Namespace: "orders", Shard: shardMessage("late", true), TableVersion: 4})
	c.note(&pb.WrongShard{Namespace: "orders", Shard: &pb.Shard{Id: "nowhere"}, TableVersion: 5})
	for _, step := range []struct {
		said *table
		at   string
	}{{of(3, "b", "one:1"), "late"}, {of(4, "b", "one:1"), "b"}, {of(4, "c", "one:1"), "b"}, {of(2, "c", "one:1"), "b"}} {
		c.take(step.said)
		if at, err := c.route([]string{"orders/42"}); err != nil || at.id != step.at {
			t.Errorf("%v, %v; not %s", at, err, step.at)
		}
	}
	b := c.shards["b"]
	if moved := c.take(of(5, "b", "other:2")); len(moved) != 1 || moved[b][0] != (target{"other", 2}) {
		t.Errorf("%v", moved)
	}
	for i := range 3 * maxHints {
		c.note(&pb.WrongShard{Namespace: fmt.Sprint(i), Shard: shardMessage("b", true), TableVersion: 6})
	}
	if len(c.hints) > maxHints {
		t.Errorf("%d hints", len(c.hints))
	}
}

func TestWordOfAShardCountsForANamespaceThatTheTableLeavesOut(t *testing.T) {
	client, err := New("host-a")
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	c := client.core
	c.mu.Lock()
	defer c.mu.Unlock()
	said, err := newTable(&pb.ShardTable{Version: 4, Shards: []*pb.Shard{shardMessage("a", true), shardMessage("b", false)}})
	if err != nil {
		t.Fatal(err)
	}
	c.take(said)
	for _, step := range []struct {
		version int64
		shard   string
		at      string
		hints   int
	}{{3, "b", "a", 0}, {4, "a", "a", 0}, {4, "b", "b", 1}, {4, "b", "b", 1}} {
		c.note(&pb.WrongShard{Namespace: "orders", Shard: shardMessage(step.shard, false), TableVersion: step.version})
		if at, err := c.route([]string{"orders/42"}); err != nil || at.id != step.at || len(c.hints) != step.hints {
			t.Errorf("%v: %v, %v, %d hints", step, at, err, len(c.hints))
		}
	}
}

func TestWaitIsCountedFromWhenItsCallerAskedAndATryIsTriedAnew(t *testing.T) {
	for wait, giveUp := range map[time.Duration]instant{0: 20, 5: 15} {
		if got := (&request{wait: &wait}).giveUp(10, 20); got != giveUp {
			t.Errorf("%d: %d", wait, got)
		}
	}
	if (&request{}).giveUp(10, 20) != never {
		t.Error("it has a limit")
	}
}

func TestNothingIsLeftOfRequestsThatAreWithdrawnBetweenShards(t *testing.T) {
	shards := lockkeepertest.NewShards(t, "a", "b")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	client, err := New(shards.Address())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	shards.Move("billing", "a")
	requests, withdraw := context.WithCancel(ctx)
	outcomes := make(chan error)
	all := [][]Option{nil, {KeepUnused(time.Minute)}, {KeepUnused(time.Minute)}, {KeepUnused(time.Minute), Owner("o")}, {Owner("o"), Wait(time.Hour)}}
	for _, options := range all {
		go func() {
			_, err := client.Lock(requests, "billing/1", options...)
			outcomes <- err
		}()
	}
	for shards.Of("a").Requests()+shards.Of("b").Requests() < 10 {
		if !sleep(ctx, 5*time.Millisecond) {
			t.Fatal("not asked again in time")
		}
	}
	withdraw()
	for range all {
		if err := <-outcomes; !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	}
	for left := leftOf(client); left != ""; left = leftOf(client) {
		if !sleep(ctx, 5*time.Millisecond) {
			t.Fatal(left)
		}
	}
}

func TestLimitsCountForAllShards(t *testing.T) {
	shards := lockkeepertest.NewShards(t, "a", "b")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	client, err := New(shards.Address())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	kept := KeepUnused(time.Hour)
	var locks []*Lock
	for _, name := range []string{"orders/1", "billing/1", "billing/2"} {
		lock, err := client.Lock(ctx, name, kept)
		if err != nil {
			t.Fatal(err)
		}
		locks = append(locks, lock)
	}
	client.core.unused.Store(maxUnused - 2)
	for i, requests := range []int{0, 0, 1} { // the third is given back
		before := shards.Of("a").Requests() + shards.Of("b").Requests()
		if outcome := locks[i].Release(ctx).Outcome; outcome != "RELEASED" {
			t.Error(outcome)
		}
		if sent := shards.Of("a").Requests() + shards.Of("b").Requests() - before; sent != requests {
			t.Errorf("%d requests for lock %d", sent, i)
		}
	}
	there := client.core.shards["b"].lease
	there.mu.Lock()
	there.keeper.inside += maxRequests
	there.mu.Unlock()
	if _, err := client.Lock(ctx, "orders/3"); !errors.Is(err, ErrTooMany) {
		t.Errorf("%v", err)
	}
}
