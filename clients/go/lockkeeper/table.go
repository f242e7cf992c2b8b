package lockkeeper

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"regexp"
	"slices"
	"strings"

	pb "lockkeeper.io/gen/lockkeeper/v1"
)

const (
	maxShards     = 1_000
	maxAddresses  = 16 // of a shard
	maxNamespaces = 10_000
	maxMoves      = 100
	maxTableBytes = 16 << 20 // the largest table is above the 4 MiB that gRPC takes
)

var shardPattern = regexp.MustCompile(`^[a-z0-9-]{1,32}$`)

// table says which shard serves a namespace.
type table struct {
	version int64
	shards  map[string][]target
	placed  map[string]string
	hashed  []string
	weighed map[string]string // what hashing has said, of up to maxNamespaces
}

// newTable checks what a server has said: it is kept for as long as the client lives.
func newTable(said *pb.ShardTable) (*table, error) {
	switch {
	case said.GetVersion() < 1:
		return nil, fmt.Errorf("its version is %d", said.GetVersion())
	case len(said.GetShards()) > maxShards || len(said.GetNamespaces()) > maxNamespaces || len(said.GetMoves()) > maxMoves:
		return nil, fmt.Errorf("it has %d shards, %d namespaces and %d moves; %d, %d and %d are the most",
			len(said.GetShards()), len(said.GetNamespaces()), len(said.GetMoves()), maxShards, maxNamespaces, maxMoves)
	}
	t := &table{version: said.GetVersion(), shards: map[string][]target{}, placed: map[string]string{}, weighed: map[string]string{}}
	for _, each := range said.GetShards() {
		targets, err := targetsOf(each)
		if err != nil {
			return nil, err
		}
		t.shards[each.GetId()] = targets
		if each.GetHashed() {
			t.hashed = append(t.hashed, each.GetId())
		}
	}
	for _, each := range said.GetNamespaces() {
		if t.shards[each.GetShard()] == nil {
			return nil, fmt.Errorf("it gives namespace %.80q to shard %.80q, which it does not have", each.GetNamespace(), each.GetShard())
		}
		t.placed[each.GetNamespace()] = each.GetShard()
	}
	slices.Sort(t.hashed)
	return t, nil
}

// targetsOf returns where a shard's servers are.
func targetsOf(s *pb.Shard) ([]target, error) {
	if !shardPattern.MatchString(s.GetId()) {
		return nil, fmt.Errorf("shard %.80q must be 1 to 32 of a-z, 0-9 and '-'", s.GetId())
	}
	if count := len(s.GetAddresses()); count < 1 || count > maxAddresses {
		return nil, fmt.Errorf("shard %s has %d addresses, not 1 to %d", s.GetId(), count, maxAddresses)
	}
	var targets []target
	for _, address := range s.GetAddresses() {
		target, err := parseTarget(address)
		if err != nil {
			return nil, fmt.Errorf("shard %s: %w", s.GetId(), err)
		}
		targets = append(targets, target)
	}
	return targets, nil
}

// shardOf returns the id of the shard that serves a namespace; empty: the table names none, and nothing is hashed.
func (t *table) shardOf(namespace string) string {
	if id, placed := t.placed[namespace]; placed {
		return id
	}
	id, weighed := t.weighed[namespace]
	if !weighed {
		id = heaviest(t.hashed, namespace)
		if len(t.weighed) >= maxNamespaces {
			clear(t.weighed)
		}
		t.weighed[namespace] = id
	}
	return id
}

// heaviest returns which shard has a namespace by rendezvous hashing: the one of the highest weight; of two with one weight the one whose id
// comes first. The ids are sorted.
func heaviest(ids []string, namespace string) string {
	chosen, highest := "", uint64(0)
	for _, id := range ids {
		if weight := weightOf(id, namespace); chosen == "" || weight > highest {
			chosen, highest = id, weight
		}
	}
	return chosen
}

func weightOf(id, namespace string) uint64 {
	sum := sha256.Sum256([]byte(id + "/" + namespace))
	return binary.BigEndian.Uint64(sum[:8])
}

// namespaceOf returns the namespace of a lock, or of a prefix with a '/' in it: the first segment.
func namespaceOf(name string) string {
	namespace, _, _ := strings.Cut(name, "/")
	return namespace
}
