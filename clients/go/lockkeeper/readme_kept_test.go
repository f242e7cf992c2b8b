// The example of locks that are kept, as it stands in the README.

package lockkeeper_test

import (
	"context"
	"testing"
	"time"

	"lockkeeper.io/lockkeeper"
	"lockkeeper.io/lockkeeper/lockkeepertest"
)

func countAll(ctx context.Context, client *lockkeeper.Client, items []string, count func(ctx context.Context, item string, token int64) error) error {
	kept := lockkeeper.KeepUnused(10 * time.Second)
	for _, item := range items {
		err := client.Do(ctx, "stock/warehouse-7", func(ctx context.Context, lock *lockkeeper.Lock) error {
			return count(ctx, item, lock.FencingToken())
		}, kept)
		if err != nil {
			return err
		}
	}
	return nil
}

func TestOneRequestDoesForManyItems(t *testing.T) {
	server := lockkeepertest.NewServer(t)
	client := newClient(t, server.Address())
	counted := 0
	err := countAll(limited(t), client, []string{"bolts", "nuts", "nails"}, func(context.Context, string, int64) error {
		counted++
		return nil
	})
	if err != nil || counted != 3 || server.Requests() != 1 {
		t.Errorf("%v, %d counted, %d requests", err, counted, server.Requests())
	}
}
