package io.lockkeeper.server.app;

/** What a server is started for; decides some defaults. */
public enum Profile {
  /** A coordinator of an existing ZooKeeper ensemble. */
  SERVE,
  /** A coordinator with its own embedded ZooKeeper, for this machine only. */
  DEV
}
