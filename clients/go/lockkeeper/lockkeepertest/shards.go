package lockkeepertest

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	pb "lockkeeper.io/gen/lockkeeper/v1"
)

const movingRetry = 50 * time.Millisecond

// Shards are servers in memory that share the namespaces among them: each is one shard. Their methods may be called by any goroutine.
type Shards struct {
	t       TB
	servers map[string]*Server
	first   string

	mu    sync.Mutex
	table *pb.ShardTable
}

// NewShards starts a server for each id, which end with the test. Namespaces are hashed, and each knows who serves what.
func NewShards(t TB, ids ...string) *Shards {
	t.Helper()
	if len(ids) == 0 {
		t.Fatalf("lockkeepertest: shards must have ids")
	}
	s := &Shards{t: t, servers: map[string]*Server{}, first: ids[0], table: &pb.ShardTable{Lead: ids[0]}}
	for _, id := range slices.Sorted(slices.Values(ids)) {
		s.servers[id] = NewServer(t)
		s.table.Shards = append(s.table.Shards, &pb.Shard{Id: id, Addresses: []string{s.servers[id].Address()}, Hashed: true})
	}
	s.change(func() {})
	return s
}

// Address returns where the server of the first id listens: a client finds the others.
func (s *Shards) Address() string { return s.Of(s.first).Address() }

// Of returns the server of an id; one that there is not fails the test.
func (s *Shards) Of(id string) *Server {
	s.t.Helper()
	server := s.servers[id]
	if server == nil {
		s.t.Fatalf("lockkeepertest: there is no shard %q", id)
	}
	return server
}

// ShardOf returns the id of the shard that serves a namespace, or did, while it moves.
func (s *Shards) ShardOf(namespace string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return shardOf(s.table, namespace).GetId()
}

// Table returns a copy of the table.
func (s *Shards) Table() *pb.ShardTable {
	s.mu.Lock()
	defer s.mu.Unlock()
	return proto.CloneOf(s.table)
}

// Move has nobody serve a namespace until [Shards.Place]. Who waits there is told so; who holds its locks keeps them.
func (s *Shards) Move(namespace, id string) {
	s.t.Helper()
	s.Of(id)
	from := s.ShardOf(namespace)
	s.change(func() {
		s.put(namespace, from)
		s.table.Moves = append(s.table.Moves, &pb.NamespaceMove{Namespace: namespace, To: id})
	})
}

// Place has a shard serve a namespace from now on. Locks that are held at another one stay there until they are released.
func (s *Shards) Place(namespace, id string) {
	s.t.Helper()
	s.Of(id)
	s.change(func() {
		s.put(namespace, id)
		s.table.Moves = slices.DeleteFunc(s.table.Moves, func(move *pb.NamespaceMove) bool { return move.GetNamespace() == namespace })
	})
}

func (s *Shards) put(namespace, id string) {
	s.table.Namespaces = slices.DeleteFunc(s.table.Namespaces, func(placed *pb.PlacedNamespace) bool { return placed.GetNamespace() == namespace })
	s.table.Namespaces = append(s.table.Namespaces, &pb.PlacedNamespace{Namespace: namespace, Shard: id})
}

func (s *Shards) change(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	s.table.Version++
	for id, server := range s.servers {
		server.SetTable(id, proto.CloneOf(s.table))
	}
}

// SetTable makes the server the shard of that id, by a table that is its own: it may be older than that of the others.
func (s *Server) SetTable(self string, table *pb.ShardTable) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.self, s.table = self, table
	for _, l := range s.leases {
		for _, r := range l.requests {
			if r.tokens == nil && s.notServed(namesOf(r.message)...) != nil {
				s.tell(r, notAcquired(pb.NotAcquiredReason_NOT_ACQUIRED_REASON_NAMESPACE_MOVED))
				s.drop(r)
			}
		}
	}
	s.decide()
}

// HideTable has the server answer no more that it is asked for its table.
func (s *Server) HideTable() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hidden = true
}

// TableRequests returns how often it was asked for its table.
func (s *Server) TableRequests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tables
}

// Leases returns how many leases it has.
func (s *Server) Leases() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.leases)
}

// shardService is what clients call.
type shardService struct {
	pb.UnimplementedShardServiceServer
	*Server
}

// GetShards is the contract's.
func (s shardService) GetShards(context.Context, *pb.GetShardsRequest) (*pb.GetShardsResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tables++
	if s.hidden {
		return nil, status.Error(codes.Unavailable, "hidden by a test")
	}
	return &pb.GetShardsResponse{Table: proto.CloneOf(s.table), Self: s.self}, nil
}

// shardOf returns who serves a namespace; nil: there is no table.
func shardOf(table *pb.ShardTable, namespace string) *pb.Shard {
	for _, placed := range table.GetNamespaces() {
		if placed.GetNamespace() == namespace {
			return shardNamed(table, placed.GetShard())
		}
	}
	var heaviest *pb.Shard
	highest := uint64(0)
	for _, shard := range table.GetShards() {
		sum := sha256.Sum256([]byte(shard.GetId() + "/" + namespace))
		if weight := binary.BigEndian.Uint64(sum[:]); shard.GetHashed() && (heaviest == nil || weight > highest) {
			heaviest, highest = shard, weight
		}
	}
	return heaviest
}

func shardNamed(table *pb.ShardTable, id string) *pb.Shard {
	at := slices.IndexFunc(table.GetShards(), func(shard *pb.Shard) bool { return shard.GetId() == id })
	if at < 0 {
		return nil
	}
	return table.GetShards()[at]
}

func namesOf(message *pb.AcquireRequest) []string {
	var names []string
	for _, lock := range message.GetLocks() {
		names = append(names, lock.GetName())
	}
	return names
}

// notServed is why locks are not served here; nil: they are. Called with the mutex held.
func (s *Server) notServed(names ...string) *pb.Refused {
	if s.table.GetVersion() == 0 {
		return nil
	}
	first := ""
	var refused *pb.Refused
	for _, name := range names {
		namespace, _, _ := strings.Cut(name, "/")
		shard := shardOf(s.table, namespace)
		if first == "" {
			first = shard.GetId()
		}
		moves := slices.ContainsFunc(s.table.GetMoves(), func(move *pb.NamespaceMove) bool { return move.GetNamespace() == namespace })
		switch {
		case shard.GetId() != first:
			return &pb.Refused{
				Code: int32(codes.FailedPrecondition), Reason: pb.ErrorReason_ERROR_REASON_ACROSS_SHARDS,
				Message: fmt.Sprintf("%q and %q are of several shards", names[0], name),
			}
		case moves:
			refused = &pb.Refused{
				Code: int32(codes.Unavailable), Reason: pb.ErrorReason_ERROR_REASON_NAMESPACE_MOVING,
				Message: fmt.Sprintf("namespace %q is on its way", namespace), RetryAfter: durationpb.New(movingRetry),
			}
		case refused == nil && first != s.self:
			refused = &pb.Refused{
				Code: int32(codes.FailedPrecondition), Reason: pb.ErrorReason_ERROR_REASON_WRONG_SHARD,
				Message:    fmt.Sprintf("shard %s serves namespace %q", first, namespace),
				WrongShard: &pb.WrongShard{Namespace: namespace, Shard: shard, TableVersion: s.table.GetVersion()},
			}
		}
	}
	return refused
}

// callRefused is the same of a call; nil: they are served.
func (s *Server) callRefused(names ...string) error {
	refused := s.notServed(names...)
	if refused == nil {
		return nil
	}
	reason := strings.TrimPrefix(refused.GetReason().String(), "ERROR_REASON_")
	details := []protoadapt.MessageV1{&errdetails.ErrorInfo{Domain: "lockkeeper.io", Reason: reason}}
	if refused.GetWrongShard() != nil {
		details = append(details, protoadapt.MessageV1Of(refused.GetWrongShard()))
	}
	if refused.RetryAfter != nil {
		details = append(details, &errdetails.RetryInfo{RetryDelay: refused.GetRetryAfter()})
	}
	said, err := status.New(codes.Code(refused.GetCode()), refused.GetMessage()).WithDetails(details...) //nolint:gosec // a status code
	if err != nil {
		return err
	}
	return said.Err()
}
