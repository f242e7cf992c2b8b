package io.lockkeeper.integration.curator;

import java.util.List;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMultiLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;

/** Which of Curator's recipes a peer uses. */
enum Recipe {
  /** {@link InterProcessMutex}. */
  MUTEX {
    @Override
    InterProcessLock make(CuratorFramework client, String path) {
      return new InterProcessMutex(client, path);
    }
  },
  /** The reading side of {@link InterProcessReadWriteLock}. */
  READ {
    @Override
    InterProcessLock make(CuratorFramework client, String path) {
      return new InterProcessReadWriteLock(client, path).readLock();
    }
  },
  /** The writing side of {@link InterProcessReadWriteLock}. */
  WRITE {
    @Override
    InterProcessLock make(CuratorFramework client, String path) {
      return new InterProcessReadWriteLock(client, path).writeLock();
    }
  },
  /** {@link InterProcessMultiLock} of mutexes: the paths have commas between them. */
  MULTI {
    @Override
    InterProcessLock make(CuratorFramework client, String paths) {
      return new InterProcessMultiLock(client, List.of(paths.split(",", -1)));
    }
  };

  abstract InterProcessLock make(CuratorFramework client, String path);
}
