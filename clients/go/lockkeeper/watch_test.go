package lockkeeper_test

import (
	"context"
	"iter"
	"net"
	"slices"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"lockkeeper.io/lockkeeper"

	pb "lockkeeper.io/gen/lockkeeper/v1"
)

// watched is a server whose streams break: the first in the snapshot, the others after it.
type watched struct {
	pb.UnimplementedLockServiceServer
	begun []int64 // the revision from which each watch began
}

func (w *watched) Watch(request *pb.WatchRequest, events grpc.ServerStreamingServer[pb.WatchResponse]) error {
	w.begun = append(w.begun, request.GetStartRevision())
	event := &pb.WatchResponse{Revision: 7, Event: &pb.WatchResponse_SnapshotEnd{SnapshotEnd: &pb.SnapshotEnd{}}}
	if len(w.begun) == 1 {
		event = &pb.WatchResponse{Event: &pb.WatchResponse_Snapshot{Snapshot: &pb.LockState{Name: "billing/1"}}}
	}
	heartbeat := &pb.WatchResponse{Event: &pb.WatchResponse_Heartbeat{Heartbeat: &pb.Heartbeat{}}}
	for _, message := range []*pb.WatchResponse{event, heartbeat} {
		if err := events.Send(message); err != nil {
			return err
		}
	}
	return status.Error(codes.Unavailable, "broken by a test")
}

func TestWatchBeginsAnewWithAGapOrResumesFromItsRevision(t *testing.T) {
	for name, watch := range map[string]func(ctx context.Context, client *lockkeeper.Client) iter.Seq2[lockkeeper.Event, error]{
		"names": func(ctx context.Context, client *lockkeeper.Client) iter.Seq2[lockkeeper.Event, error] {
			return client.Watch(ctx, "billing/1")
		},
		"prefix": func(ctx context.Context, client *lockkeeper.Client) iter.Seq2[lockkeeper.Event, error] {
			return client.WatchPrefix(ctx, "billing/")
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := &watched{}
			listener := must[net.Listener](t)(net.Listen("tcp", "127.0.0.1:0"))
			server := grpc.NewServer()
			pb.RegisterLockServiceServer(server, w)
			go server.Serve(listener) //nolint:errcheck // it ends with Stop
			t.Cleanup(server.Stop)
			ctx, client := limited(t), newClient(t, listener.Addr().String())
			var seen []string
			for event, err := range watch(ctx, client) {
				switch {
				case err != nil:
					t.Fatal(err)
				case event.Gap != "":
					seen = append(seen, "gap")
				case event.Snapshot != nil:
					seen = append(seen, "snapshot")
				case event.SnapshotEnd:
					seen = append(seen, "end")
				}
				if len(seen) == 4 {
					break
				}
			}
			if !slices.Equal(seen, []string{"snapshot", "gap", "end", "end"}) || !slices.Equal(w.begun, []int64{0, 0, 7}) {
				t.Errorf("%v, %v", seen, w.begun)
			}
		})
	}
}
