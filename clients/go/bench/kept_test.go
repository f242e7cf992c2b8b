package main

import (
	"testing"
	"time"

	"lockkeeper.io/lockkeeper"
	"lockkeeper.io/lockkeeper/lockkeepertest"
)

// BenchmarkKeptLock locks and unlocks what the client keeps, on a server in memory, which hears of the first lock only.
func BenchmarkKeptLock(b *testing.B) {
	client, err := lockkeeper.New(lockkeepertest.NewServer(b).Address())
	if err != nil {
		b.Fatal(err)
	}
	defer client.Close()
	kept := lockkeeper.KeepUnused(time.Minute)
	for b.Loop() {
		lock, err := client.Lock(b.Context(), "orders/42", kept)
		if err != nil {
			b.Fatal(err)
		}
		if err := lock.Unlock(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "cycles/s")
}
