package io.lockkeeper.server.core.api;

/** How much one account may have on one coordinator. */
public interface Quota {

  /** As much as it likes. */
  Quota UNLIMITED =
      new Quota() {
        @Override
        public int leases() {
          return Integer.MAX_VALUE;
        }

        @Override
        public int acquisitions() {
          return Integer.MAX_VALUE;
        }

        @Override
        public long entryBytes() {
          return Long.MAX_VALUE;
        }

        @Override
        public long pathBytes() {
          return Long.MAX_VALUE;
        }

        @Override
        public int freezes() {
          return Integer.MAX_VALUE;
        }

        @Override
        public int queuePlaces() {
          return Integer.MAX_VALUE;
        }

        @Override
        public int acquisitionsIn(String namespace) {
          return Integer.MAX_VALUE;
        }
      };

  /** Returns how many leases may be open, streams that are leases included. */
  int leases();

  /** Returns how many acquisitions may hold or wait. */
  int acquisitions();

  /** Returns how many bytes their entries may take in ZooKeeper. */
  long entryBytes();

  /**
   * Returns how many bytes the paths of their entries, of the leases' records, and of the limits
   * and lock delays in the whole cluster may take in ZooKeeper.
   */
  long pathBytes();

  /** Returns how many prefixes it may keep frozen, and how many forced releases may wait. */
  int freezes();

  /** Returns how many places it may have in a queue that is half full. */
  int queuePlaces();

  /** Returns how many acquisitions of all accounts may hold or wait for a lock of a namespace. */
  int acquisitionsIn(String namespace);
}
