package io.lockkeeper.server.core;

/**
 * The kind of one hold, as the admission rule sees it.
 *
 * <p>Sealed so that a new kind cannot compile unhandled.
 */
public sealed interface Mode {

  /** The mutex. */
  Mode EXCLUSIVE = new Exclusive();

  /** The reading side of the read/write lock. */
  Mode READ = new Read();

  /** The writing side of the read/write lock. */
  Mode WRITE = new Write();

  /**
   * Which recipes share a queue: modes of different families never wait for each other on purpose.
   */
  enum Family {
    /** Exclusive holds. */
    MUTEX,
    /** Read and write holds. */
    READ_WRITE,
    /** Permits. */
    PERMITS
  }

  /** Returns the family. */
  Family family();

  /**
   * Returns what stands between the uuid and the sequence number in the entry's name, as Curator
   * writes it.
   */
  String marker();

  /** One holder at a time. */
  record Exclusive() implements Mode {
    @Override
    public Family family() {
      return Family.MUTEX;
    }

    @Override
    public String marker() {
      return "lock-";
    }
  }

  /** Shared with other reads. */
  record Read() implements Mode {
    @Override
    public Family family() {
      return Family.READ_WRITE;
    }

    @Override
    public String marker() {
      return "__READ__";
    }
  }

  /** Excludes reads and writes. */
  record Write() implements Mode {
    @Override
    public Family family() {
      return Family.READ_WRITE;
    }

    @Override
    public String marker() {
      return "__WRIT__";
    }
  }

  /**
   * Some permits of a limit.
   *
   * @param permits how many are held together, 1 to {@code limit}
   * @param limit how many there are in all
   */
  record Permits(int permits, int limit) implements Mode {

    /**
     * Checks the range.
     *
     * @throws IllegalArgumentException if permits is not 1 to limit
     */
    public Permits {
      if (permits < 1 || permits > limit) {
        throw new IllegalArgumentException(
            "permits must be 1 to limit (" + limit + "): " + permits);
      }
    }

    @Override
    public Family family() {
      return Family.PERMITS;
    }

    @Override
    public String marker() {
      return "permit-" + permits + "-" + limit + "-";
    }
  }
}
