// Package lockkeeper acquires locks from Lockkeeper, a lock coordinator on ZooKeeper.
//
// A [Client] keeps one lease alive, resumes it after a broken connection at whichever server is there, and knows by its own clock until
// when its locks may be used. Make one per process and share it among goroutines:
//
//	client, err := lockkeeper.New("lock1:7420,lock2:7420")
//	if err != nil {
//		return err
//	}
//	defer client.Close()
//
//	lock, err := client.Lock(ctx, "orders/42")
//	if err != nil {
//		return err
//	}
//	defer lock.Unlock(ctx)
//	return stock.Decrement(lock.Context(), item, lock.FencingToken())
//
// A distributed lock is no mutex: a process that pauses may go on after its lock has passed to another. Hand [Lock.FencingToken] to what the
// lock protects, and let that refuse any token below the highest that it has seen.
package lockkeeper
