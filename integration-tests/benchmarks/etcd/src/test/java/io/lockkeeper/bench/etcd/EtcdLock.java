package io.lockkeeper.bench.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

/**
 * etcd's lock under one lease, as a {@link Lock}, so that it can be the old half of a move. For one
 * task at a time: to etcd, all who share a lease are one holder. Who made the lease keeps it alive.
 */
final class EtcdLock implements Lock {

  private final Client etcd;
  private final ByteSequence name;
  private final long lease;
  private ByteSequence key = ByteSequence.EMPTY;

  EtcdLock(Client etcd, String name, long lease) {
    this.etcd = etcd;
    this.name = ByteSequence.from(name, StandardCharsets.UTF_8);
    this.lease = lease;
  }

  @Override
  public void lock() {
    key = etcd.getLockClient().lock(name, lease).join().getKey();
  }

  @Override
  public void unlock() {
    etcd.getLockClient().unlock(key).join();
  }

  @Override
  public void lockInterruptibly() {
    throw new UnsupportedOperationException("lock and unlock only");
  }

  @Override
  public boolean tryLock() {
    throw new UnsupportedOperationException("etcd's service has no tryLock");
  }

  @Override
  public boolean tryLock(long time, TimeUnit unit) {
    throw new UnsupportedOperationException("lock and unlock only");
  }

  @Override
  public Condition newCondition() {
    throw new UnsupportedOperationException("a distributed lock has no conditions");
  }
}
