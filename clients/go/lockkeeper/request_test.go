package lockkeeper

import (
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	pb "lockkeeper.io/gen/lockkeeper/v1"
)

func TestBatchHasNoMoreBytesThanAServerTakes(t *testing.T) {
	var out []*pb.SessionRequest
	for range maxBatch {
		acquire := &pb.AcquireRequest{RequestId: "1", Locks: []*pb.LockRequest{{Name: strings.Repeat("n", 500)}}}
		out = append(out, &pb.SessionRequest{Request: &pb.SessionRequest_Acquire{Acquire: acquire}})
	}
	taken := 0
	for taken < len(out) {
		size := fitting(out[taken:], maxBatch)
		message := &pb.SessionRequest{Request: &pb.SessionRequest_Batch{Batch: &pb.SessionRequestBatch{Requests: out[taken : taken+size]}}}
		if bytes := proto.Size(message); bytes > 64<<10 {
			t.Fatalf("a batch of %d requests has %d bytes", size, bytes)
		}
		taken += size
	}
}

func TestBatchHasNoMoreRequestsThanAServerTakes(t *testing.T) {
	out := make([]*pb.SessionRequest, 300)
	for i := range out {
		out[i] = &pb.SessionRequest{}
	}
	if size := fitting(out, maxBatch); size != maxBatch {
		t.Errorf("a batch has %d requests", size)
	}
	if size := fitting(out, 1); size != 1 {
		t.Errorf("without batches a message has %d requests", size)
	}
}

func TestWhatIsNotUTF8OrNoWholeMillisecondIsRefused(t *testing.T) {
	for limit, option := range map[string]Option{
		"metadata":   Metadata(map[string]string{"who": "\xff"}),
		"lock delay": LockDelay(1500 * time.Microsecond),
		"owner":      Owner("\xff"),
	} {
		_, err := newRequest([]Spec{Exclusive("a")}, []Option{option})
		if err == nil || !strings.Contains(err.Error(), limit) {
			t.Errorf("%s: %v", limit, err)
		}
	}
	if _, err := newRequest([]Spec{Custom("a", "\xff")}, nil); err == nil || !strings.Contains(err.Error(), "mode") {
		t.Errorf("mode: %v", err)
	}
}

func TestCandidateKeepsItsOwnMetadataBesideItsValue(t *testing.T) {
	r, err := newRequest([]Spec{Exclusive("a")}, []Option{Metadata(map[string]string{"zone": "b"}), leads("host-1")})
	if err != nil {
		t.Fatal(err)
	}
	if r.metadata["zone"] != "b" || r.metadata[leaderKey] != "host-1" {
		t.Errorf("metadata is %v", r.metadata)
	}
}

func TestMetadataIsNotChangedByItsMapAfterwards(t *testing.T) {
	metadata := map[string]string{"zone": "b"}
	option := Metadata(metadata)
	metadata["zone"] = "c"
	r, err := newRequest([]Spec{Exclusive("a")}, []Option{option})
	if err != nil || r.metadata["zone"] != "b" {
		t.Errorf("metadata is %v, %v", r.metadata, err)
	}
}

func TestFrozenLockIsContendedThoughNobodyWaits(t *testing.T) {
	said := &pb.Contended{Name: "a", Frozen: &pb.Frozen{Reason: "maintenance"}}
	if contended := toContended(said); contended != (Contended{Name: "a", Frozen: "maintenance"}) {
		t.Errorf("%+v", contended)
	}
}
