// The example of a test, as it stands in the README.

package lockkeeper_test

import (
	"context"
	"errors"
	"testing"

	"lockkeeper.io/lockkeeper"
	"lockkeeper.io/lockkeeper/lockkeepertest"
)

func TestWorkStopsWhenItsLockIsLost(t *testing.T) {
	server := lockkeepertest.NewServer(t)
	client, err := lockkeeper.New(server.Address())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	err = client.Do(context.Background(), "orders/42", func(ctx context.Context, _ *lockkeeper.Lock) error {
		server.Lose("orders/42")
		<-ctx.Done() // the client hears of it a moment later
		return ctx.Err()
	})
	var lost *lockkeeper.LostError
	if !errors.As(err, &lost) || lost.Reason != "FORCED" {
		t.Errorf("%v", err)
	}
}
