package lockkeeper_test

import (
	"context"
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"lockkeeper.io/lockkeeper"

	pb "lockkeeper.io/gen/lockkeeper/v1"
)

// watched is a shard that serves watches of one namespace, unless its table says that another one does.
type watched struct {
	pb.UnimplementedLockServiceServer
	pb.UnimplementedShardServiceServer
	id      string
	address string

	mu      sync.Mutex
	table   *pb.ShardTable
	changed chan struct{} // closed with the next table
	begun   []string      // the shard and the revision from which each watch began
}

func newWatched(t *testing.T, id string) *watched {
	t.Helper()
	w := &watched{id: id, changed: make(chan struct{})}
	listener := must[net.Listener](t)(net.Listen("tcp", "127.0.0.1:0"))
	w.address = listener.Addr().String()
	server := grpc.NewServer()
	pb.RegisterLockServiceServer(server, w)
	pb.RegisterShardServiceServer(server, w)
	go server.Serve(listener) //nolint:errcheck // it ends with Stop
	t.Cleanup(server.Stop)
	return w
}

func (w *watched) setTable(table *pb.ShardTable) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.table = table
	close(w.changed)
	w.changed = make(chan struct{})
}

func (w *watched) watches() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.begun)
}

func (w *watched) GetShards(context.Context, *pb.GetShardsRequest) (*pb.GetShardsResponse, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return &pb.GetShardsResponse{Table: w.table, Self: w.id}, nil
}

// refused is until when something holds, and why a watch is not served until then; nil: it is.
func (w *watched) refused() (<-chan struct{}, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	placed := w.table.GetNamespaces()[0]
	if placed.GetShard() == w.id {
		return w.changed, nil
	}
	at := slices.IndexFunc(w.table.GetShards(), func(shard *pb.Shard) bool { return shard.GetId() == placed.GetShard() })
	said, err := status.New(codes.FailedPrecondition, "another shard serves it").WithDetails(
		&errdetails.ErrorInfo{Domain: "lockkeeper.io", Reason: "WRONG_SHARD"},
		&pb.WrongShard{Namespace: placed.GetNamespace(), Shard: w.table.GetShards()[at], TableVersion: w.table.GetVersion()},
	)
	if err != nil {
		return w.changed, err
	}
	return w.changed, said.Err()
}

func (w *watched) Watch(request *pb.WatchRequest, events grpc.ServerStreamingServer[pb.WatchResponse]) error {
	changed, refused := w.refused()
	if refused != nil {
		return refused
	}
	w.mu.Lock()
	w.begun = append(w.begun, fmt.Sprintf("%s from %d", w.id, request.GetStartRevision()))
	w.mu.Unlock()
	if err := events.Send(&pb.WatchResponse{Revision: 7, Event: &pb.WatchResponse_SnapshotEnd{SnapshotEnd: &pb.SnapshotEnd{}}}); err != nil {
		return err
	}
	for refused == nil {
		select {
		case <-changed:
			changed, refused = w.refused()
		case <-events.Context().Done():
			return nil
		}
	}
	return refused
}

func TestWatchBeginsAnewAtTheShardThatServesItsNamespaceWithAGap(t *testing.T) {
	a, b := newWatched(t, "a"), newWatched(t, "b")
	place := func(version int64, id string) {
		table := &pb.ShardTable{Version: version, Namespaces: []*pb.PlacedNamespace{{Namespace: "billing", Shard: id}}}
		for _, each := range []*watched{a, b} {
			table.Shards = append(table.Shards, &pb.Shard{Id: each.id, Addresses: []string{each.address}, Hashed: true})
		}
		a.setTable(table)
		b.setTable(table)
	}
	place(1, "b")
	ctx, client := limited(t), newClient(t, a.address)
	for name, watch := range map[string]func(ctx context.Context, tell func(lockkeeper.Event, error) bool){
		"names": func(ctx context.Context, tell func(lockkeeper.Event, error) bool) {
			client.Watch(ctx, "billing/1")(tell)
		},
		"prefix": func(ctx context.Context, tell func(lockkeeper.Event, error) bool) {
			client.WatchPrefix(ctx, "billing/")(tell)
		},
	} {
		t.Run(name, func(t *testing.T) {
			place(a.table.GetVersion()+1, "b")
			before, beforeB := len(a.watches()), len(b.watches())
			ends, gaps := 0, 0
			watch(ctx, func(event lockkeeper.Event, err error) bool {
				switch {
				case err != nil:
					t.Error(err)
				case event.Gap != "":
					gaps++
				case event.SnapshotEnd:
					ends++
				}
				if ends == 1 && gaps == 0 {
					place(a.table.GetVersion()+1, "a")
				}
				return ends < 2 && err == nil
			})
			atA, atB := a.watches()[before:], b.watches()[beforeB:]
			if ends != 2 || gaps != 1 || !slices.Equal(atB, []string{"b from 0"}) || !slices.Equal(atA, []string{"a from 0"}) {
				t.Errorf("%d snapshots, %d gaps, %v, %v", ends, gaps, atB, atA)
			}
		})
	}
}
